"""`iterations_for` against a tolerance: what a fixed number of iterations costs and leaves.

One histogram against a family, 400 bins, on one thread: Algorithm 1 with the advised number of
iterations, and the default tolerance, which comes with a guarantee.
"""

from __future__ import annotations

import numpy as np

import sinkdist as sd
from benchmarks.problems import ground, simplex
from benchmarks.table import Row, Section, show
from benchmarks.timing import Contestant, race

TITLE = "The default tolerance against the advised number of iterations, 400 bins, one thread"


def measure(quick: bool = False) -> Section:
    """Time both at several strengths; the error of the fixed number is in a remark."""
    M, family = sd.Ground(ground("random", 400)), simplex(65 if quick else 257, 400, 1)
    r, C = family[0], family[1:]
    rows, remarks = [], []
    for L in (5, 9) if quick else (5, 9, 15, 25):
        advised = sd.iterations_for(L, M)
        times = race(
            (
                Contestant("tol", lambda _, L=L: sd.distance(r, C, M, lam=L, workers=1)),
                Contestant(
                    "iterations",
                    lambda _, L=L, n=advised: sd.distance(r, C, M, lam=L, iterations=n, workers=1),
                ),
            ),
            turns=3,
        )
        exact = sd.distance(r, C, M, lam=L, tol=1e-10)
        off = np.quantile(np.abs(times["iterations"].result / exact - 1), 0.95)
        remarks.append(f"L = {L}: {advised} iterations, 95 % of distances within {off:.1g}.")
        rows.append(
            Row(f"L = {L}", "advised iterations", times["tol"].seconds, times["iterations"].seconds)
        )
    return Section("advice", TITLE, tuple(rows), tuple(remarks))


if __name__ == "__main__":
    show(measure)
