"""The paper's claims about the number of iterations, and tables of the counts."""

from __future__ import annotations

import itertools

import numpy as np

from sinkdist_paper.fig5.counts import (
    column,
    covering,
    dimensions,
    of,
    share_stopped,
    strengths,
)
from sinkdist_paper.fig5.measuring import IMAGES, SIMPLEX
from sinkdist_paper.figure import Claim, Records, View
from sinkdist_paper.verdict import Verdict

__all__ = ["claims", "views"]

CLOSE = 0.01  # a relative error of the distance that is small compared with its gap to the EMD
SAME = 2.0  # medians of iterations that differ by less than this factor are the same number
LESS = 10.0  # times: how much less the dimension has to matter than lambda


def claims(records: Records) -> list[Claim]:
    """Judge what the paper says about the number of iterations."""
    counted = of(records)
    if len(strengths(counted)) < 2 or not column(records, "advised_error").size:
        return []
    return [_grow_with_lambda(counted), _depend_on_lambda_only(counted), _advice(records)]


def _grow_with_lambda(counted: Records) -> Claim:
    """Whether the medians rise with lambda at every dimension."""
    rising = [
        all(before < after for before, after in itertools.pairwise(_by_lambda(counted, d)))
        for d in dimensions(counted)
    ]
    listed = ", ".join(
        f"{np.median(column(of(counted, lam=lam), 'iterations')):,.0f} at {lam:g}"
        for lam in strengths(counted)
    )
    return Claim(
        "The number of iterations increases as exp(-lambda M) becomes diagonally dominant.",
        f"The median number rises with lambda at {sum(rising)} of {len(rising)} d; over all d it "
        f"is {listed}.",
        Verdict.of(*rising),
    )


def _depend_on_lambda_only(counted: Records) -> Claim:
    """Whether the dimension matters less than lambda does, and whether it does not matter."""
    spreads = {lam: _spread(_by_dimension(counted, lam)) for lam in strengths(counted)}
    least = min(_spread(_by_lambda(counted, d)) for d in dimensions(counted))
    most = max(spreads.values())
    listed = ", ".join(
        f"{'at least ' * _is_cut(counted, lam)}{spread:.1f} at {lam:g}"
        for lam, spread in spreads.items()
    )
    return Claim(
        "The number of iterations can be chosen by lambda alone, whatever the dimension.",
        f"At the same lambda, medians at different d differ by a factor of {listed}; at the same "
        f"d, medians at different lambda differ by a factor of {least:,.0f} or more. Two tests: "
        f"the dimension matters less than lambda, by a factor of {LESS:g} or more; and it does "
        f"not matter, all factors are below {SAME:g}.",
        Verdict.of(most < least / LESS, most < SAME),
    )


def _advice(records: Records) -> Claim:
    """Whether a fixed number of iterations is enough."""
    mine = [record for record in of(records) if "advised_error" in record]
    largest, most = max(strengths(mine)), max(dimensions(mine))
    counted = [record for record in of(records) if float(record["lam"]) <= largest]
    rest = float(np.mean(column(counted, "iterations") <= column(counted, "advised")))
    simplex = np.percentile(column(mine, "advised_error"), 95)
    images = np.percentile(column(of(records, IMAGES), "advised_error"), 95)
    return Claim(
        "We recommend setting a fixed number of iterations that only depends on lambda.",
        f"With iterations_for(lambda), for lambda median(M) up to {largest:g}, x passes the "
        f"paper's test in {rest:.1%} of the random pairs. 95 % of the distances are then within "
        f"a relative {simplex:.1g} of their limits (up to d = {most:,}); on images, within "
        f"{images:.1g}.",
        Verdict.of(rest >= 0.95, bool(max(simplex, images) <= CLOSE)),
    )


def _median(counted: Records, lam: float, d: int) -> float | None:
    """The median count of one lambda and dimension, if they were measured together."""
    mine = column(of(counted, lam=lam, d=d), "iterations")
    return float(np.median(mine)) if mine.size else None


def _by_lambda(counted: Records, d: int) -> list[float]:
    """Median counts at one dimension, lambda increasing."""
    medians = (_median(counted, lam, d) for lam in strengths(counted))
    return [median for median in medians if median is not None]


def _by_dimension(counted: Records, lam: float) -> list[float]:
    """Median counts at one lambda, the dimension increasing."""
    medians = (_median(counted, lam, d) for d in dimensions(counted))
    return [median for median in medians if median is not None]


def _is_cut(counted: Records, lam: float) -> bool:
    """Whether half of the pairs or more were given up at this lambda and some dimension."""
    return any(
        share_stopped(of(counted, lam=lam, d=d)) <= 0.5 for d in dimensions(of(counted, lam=lam))
    )


def _spread(medians: list[float]) -> float:
    """The largest over the smallest."""
    return max(medians) / min(medians)


def views(records: Records) -> list[View]:
    """The counts, and the errors of the distances."""
    counted = of(records)
    if not counted:
        return []
    lams, sizes = strengths(counted), dimensions(counted)
    medians = tuple((f"{lam:g}", *(_cell(_median(counted, lam, d)) for d in sizes)) for lam in lams)
    rows = tuple(
        _row(of(records, on, lam), name, lam)
        for on, name in ((SIMPLEX, "random, all d"), (IMAGES, "images"))
        for lam in strengths(of(records, on))
    )
    head = (
        "pairs", "lambda median(M)", "median", "95 %", "given up", "error when stopped",
        "advised", "error after these",
    )  # fmt: skip
    return [
        View("Median number of iterations", ("lambda", *(f"d = {d:,}" for d in sizes)), medians),
        View(
            "Iterations, and relative errors that 95 % of the distances do not exceed", head, rows
        ),
    ]


def _cell(median: float | None) -> str:
    """A median in a table."""
    return "-" if median is None else f"{median:,.0f}"


def _row(mine: Records, name: str, lam: float) -> tuple[str, ...]:
    """A row of the table."""
    off = column(mine, "advised_error")
    return (
        name,
        f"{lam:g}",
        f"{np.median(column(mine, 'iterations')):,.0f}",
        f"{covering(mine):,.0f}",
        f"{1 - share_stopped(mine):.1%}",
        f"{np.percentile(column(mine, 'error'), 95):.1e}",
        f"{column(mine, 'advised')[0]:,.0f}",
        f"{np.percentile(off, 95):.1e}" if off.size else "not measured",
    )
