"""One histogram against 2,000 of full support, d = 400, 20 iterations of Algorithm 1.

Targets: 90 % of the rate of the bare matrix products; in float32 15 times POT's vectorised path
and OTT's vmap, and faster than the lines a torch user writes.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import batch_peers, ours
from benchmarks.machine import gemm
from benchmarks.problems import ground, simplex
from benchmarks.table import Row, Section, show
from benchmarks.timing import CORES, SETTLE_WELL, Contestant, Time, race, with_threads

BINS, ITERATIONS, LAM = 400, 20, 9.0
# Algorithm 1: two products in each of its iterations, one for v, one for the value.
PRODUCTS = 2 * ITERATIONS + 2
# Loss of digits that 20 iterations may show against the same iterations in float64.
CLOSE = {"float32": 1e-4, "float64": 1e-9}
TARGETS = {
    "float32": {"GEMM": 0.9, "POT vectorised": 15.0, "OTT vmap": 15.0, "torch": 1.0},
    "float64": {"GEMM": 0.9},
}
Prepare = Callable[..., Callable[[object], Any]]
PEERS: dict[str, tuple[str, Prepare]] = {
    "POT vectorised": ("ot", batch_peers.pot_vectorised),
    "OTT vmap": ("ott", batch_peers.ott_fixed),
    "torch": ("torch", batch_peers.torch_lines),
}


def installed(peers: dict[str, tuple[str, Prepare]]) -> dict[str, Prepare]:
    """The peers whose module is there; the others are named and left out."""
    for name, (module, _) in peers.items():
        if importlib.util.find_spec(module) is None:
            print(f"{name}: skipped, because {module} is not installed.")
    return {n: p for n, (m, p) in peers.items() if importlib.util.find_spec(m) is not None}


def contest(dtype: str, n: int, turns: int) -> list[Row]:
    """Race on n pairs in one floating type."""
    cost = ground("grid", BINS).astype(dtype)
    histograms = simplex(n + 1, BINS, seed=3).astype(dtype)
    histograms /= histograms.sum(axis=1, keepdims=True)
    r, many = histograms[0], histograms[1:]
    product = gemm(n, BINS, dtype, CORES)
    contestants = [Contestant("GEMM", product.call, threads=CORES)]
    if ours.package() is not None:
        call = ours.one_to_many(r, many, LAM, ITERATIONS, dtype)
        contestants.append(Contestant(ours.NAME, call, ours.fresh_ground(ground("grid", BINS))))
    for name, prepare in installed(PEERS).items():
        entry = Contestant(name, prepare(r, many, cost, LAM, ITERATIONS))
        contestants += with_threads(entry) if name.startswith("POT") else (entry,)
    times = race(contestants, turns=turns, budget=20.0, settle=SETTLE_WELL)
    return rows(dtype, n, times, batch_peers.reference(r, many, cost, LAM, ITERATIONS))


def rows(dtype: str, n: int, times: dict[str, Time], truth: Any) -> list[Row]:
    """One row per opponent; the bare products count as often as Algorithm 1 needs them."""
    own = times.get(ours.NAME)
    off = float(np.abs(np.asarray(own.result) / truth - 1.0).max()) if own else 0.0
    wrong = "" if off <= CLOSE[dtype] else f"off by {off:.0e}"
    return [
        Row(
            case=f"{n} pairs, {dtype}",
            against=name,
            ours=own.seconds if own else None,
            theirs=taken.seconds * (PRODUCTS if name == "GEMM" else 1),
            target=TARGETS[dtype].get(name),
            wrong=wrong,
        )
        for name, taken in times.items()
        if name != ours.NAME
    ]


def measure(quick: bool = False) -> Section:
    """Both types; ``quick`` takes 500 pairs and fewer turns."""
    n, turns = (500, 3) if quick else (2000, 9)
    return Section(
        "many_pairs",
        f"One against many, full support, d={BINS}, {ITERATIONS} iterations",
        tuple(row for dtype in TARGETS for row in contest(dtype, n, turns)),
        (
            f"GEMM is the time of the {PRODUCTS} products that Algorithm 1 consists of, by NumPy's "
            f"BLAS with {CORES} threads; its ratio is the share of the GEMM rate that is reached.",
            "Unless products are saved, no ratio can exceed that peer's time over GEMM's.",
            "sinkdist's values agree with Algorithm 1 in float64 to "
            + ", ".join(f"{close:.0e} in {dtype}" for dtype, close in CLOSE.items())
            + "; otherwise its column says how far they are off.",
        ),
    )


if __name__ == "__main__":
    show(measure)
