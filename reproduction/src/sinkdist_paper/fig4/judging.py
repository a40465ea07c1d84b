"""The paper's claims about speed, and tables of the times."""

from __future__ import annotations

import math

import numpy as np

from sinkdist_paper.fig4.contestants import EXACT, FAMILY, GPU, LAMS, OURS, PAIR, PRINTED, SINKHORN
from sinkdist_paper.fig4.times import Times, dimensions, last_common, of, state, times_of
from sinkdist_paper.figure import Claim, Records, View
from sinkdist_paper.verdict import Verdict

__all__ = ["claims", "views"]

LAM = 9.0  # the slower of the two
PAPERS = ("Rubner", "FastEMD")  # the solvers that the paper compares with
TODAY = ("POT", OURS)
SEVERAL_ORDERS = 100.0
PAPERS_FACTOR = 100_000.0

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))


def claims(records: Records) -> list[Claim]:
    """Judge what the paper says about speed."""
    times = times_of(records)
    judged = [_orders_of_magnitude(times), _against_today(times), _hundred_thousand(times)]
    return [claim for claim in judged if claim is not None] + ([_gpu(times)] if times else [])


def _orders_of_magnitude(times: Times) -> Claim | None:
    """Whether Algorithm 1 is much faster than the paper's two solvers."""
    found, enough = [], []
    for solver in PAPERS:
        d = last_common(times, (solver, math.inf), (PRINTED, LAM))
        if d is None:
            continue
        emd = times[solver, math.inf, d]
        factors = [emd / times[way, LAM, d] for way in (PRINTED, PAIR, FAMILY)]
        enough.append(factors[0] >= SEVERAL_ORDERS)
        found.append(
            f"{solver} at d = {d:,} takes {_seconds(emd)}, which is {_factor(factors[0])} as long "
            f"as Algorithm 1 in NumPy, {_factor(factors[1])} as long as sinkdist for one pair and "
            f"{_factor(factors[2])} as long as a pair in a family"
        )
    if not found:
        return None
    return Claim(
        "Sinkhorn distances are computed several orders of magnitude faster than EMD solvers do "
        "(Rubner's, and Pele and Werman's).",
        f"For lambda = {LAM:g}: {'; '.join(found)}.",
        Verdict.of(*enough),
    )


def _against_today(times: Times) -> Claim | None:
    """Whether the same is true of newer exact solvers."""
    timed = [name for name in TODAY if last_common(times, (name, math.inf), (PRINTED, LAM))]
    if not timed:
        return None
    d = min(last_common(times, (name, math.inf), (PRINTED, LAM)) or 0 for name in timed)
    fastest = min(timed, key=lambda name: times[name, math.inf, d])
    emd = times[fastest, math.inf, d]
    one, pair, many = (emd / times[way, LAM, d] for way in (PRINTED, PAIR, FAMILY))
    return Claim(
        "Sinkhorn distances are several orders of magnitude faster than EMD solvers: tested with "
        "solvers that are newer than the paper.",
        f"The fastest exact solver at d = {d:,} is {fastest}, with {_seconds(emd)}. For lambda = "
        f"{LAM:g} Algorithm 1 in NumPy is {_factor(one)} as fast, sinkdist for one pair "
        f"{_factor(pair)}, and for a pair in a family {_factor(many)}.",
        Verdict.of(one >= SEVERAL_ORDERS, many >= SEVERAL_ORDERS),
    )


def _hundred_thousand(times: Times) -> Claim | None:
    """Whether the paper's largest factor is reached."""
    factors = {}
    for solver in PAPERS:
        for way in (PRINTED, PAIR, FAMILY):
            for lam in LAMS:
                d = last_common(times, (solver, math.inf), (way, lam))
                if d is not None:
                    factor = times[solver, math.inf, d] / times[way, lam, d]
                    factors[solver, way, lam, d] = factor
    if not factors:
        return None
    solver, way, lam, d = max(factors, key=lambda name: factors[name])
    return Claim(
        "For large dimensions and on the same CPU, Sinkhorn distances are more than 100,000 times "
        "faster than EMD solvers, given a threshold of 0.01.",
        f"The largest factor here is {factors[solver, way, lam, d]:,.0f}: {solver} against "
        f"{way} with lambda = {lam:g} at d = {d:,}, the largest d at which that solver was run.",
        Verdict.of(factors[solver, way, lam, d] > PAPERS_FACTOR),
    )


def _gpu(times: Times) -> Claim:
    """Whether a GPU makes it another ten times faster."""
    said = "Using a GPU results in a speed-up of a supplementary order of magnitude."
    d = last_common(times, (GPU, LAM), (FAMILY, LAM))
    if d is None:
        return Claim(said, "There was no GPU here, so this was not measured.", Verdict.OPEN)
    factor = times[FAMILY, LAM, d] / times[GPU, LAM, d]
    return Claim(
        said,
        f"At d = {d:,} and lambda = {LAM:g}, the GPU is {_factor(factor)} as fast as one thread of "
        "the CPU, per pair in a family, in float64.",
        Verdict.of(factor >= 10.0),
    )


def views(records: Records) -> list[View]:
    """All times, and the accuracy of what was computed."""
    times, sizes = times_of(records), dimensions(records)
    lines = [(name, math.inf) for name in EXACT]
    lines += [(name, lam) for lam in LAMS for name in SINKHORN if of(records, name, lam)]
    rows = tuple(
        (
            _label(name, lam),
            *(
                _seconds(times[name, lam, d])
                if (name, lam, d) in times
                else state(records, name, d)
                for d in sizes
            ),
        )
        for name, lam in lines
    )
    off = tuple(
        (_label(name, lam), *(_accuracy(records, name, lam, d) for d in sizes))
        for name, lam in lines
    )
    head = ("solver", *(f"d = {d:,}" for d in sizes))
    return [
        View("Time per distance", head, rows),
        View("Mean difference to the exact EMD, and mean number of iterations", head, off),
    ]


def _label(name: str, lam: float) -> str:
    """A contestant in a table."""
    return f"EMD: {name}" if name in EXACT else f"{name}, lambda = {lam:g}"


def _accuracy(records: Records, name: str, lam: float, d: int) -> str:
    """How far from the EMD a contestant's distances are, and after how many iterations."""
    mine = [record for record in of(records, name, lam, d) if "error" in record]
    if not mine:
        return "-"
    off = float(np.mean([float(record["error"]) for record in mine]))
    if name in EXACT:
        return "exact" if abs(off) < 1e-9 else f"{off:+.1e}"
    iterations = np.mean([int(record["iterations"]) for record in mine])
    return f"{off:+.1%} ({iterations:.0f})"


def _seconds(seconds: float) -> str:
    """A time in three digits."""
    unit, name = next((u for u in _UNITS if seconds >= u[0]), _UNITS[-1])
    return f"{seconds / unit:.3g} {name}"


def _factor(factor: float) -> str:
    """How many times, in two digits."""
    return f"{float(f'{factor:.2g}'):,g} times" if factor < 1e6 else f"{factor:.1e} times"
