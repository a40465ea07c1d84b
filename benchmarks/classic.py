"""The classic distances between two families of MNIST digits, against SciPy and scikit-learn.

All on one thread, and between two different families, so that nobody computes half a matrix.
Values are compared: whoever is off by more than rounding has lost.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

import sinkdist as sd
from benchmarks.problems import mnist
from benchmarks.table import Row, Section, show
from benchmarks.timing import Contestant, race
from sinkdist import classic

TITLE = "Classic distances between two families of MNIST digits, one thread, float64"
WIDTH = 1.0  # of the Mahalanobis matrix exp(-t M^2), per squared pixel
ALIKE = 1e-7  # relative; products and differences round differently


def measure(quick: bool = False) -> Section:
    """Time each distance against the packages that have it."""
    n = 200 if quick else 1_500
    found = mnist(2 * n)
    if found is None:
        print("classic: skipped, because SINKDIST_DATA does not name a folder with MNIST.")
        return Section("classic", TITLE, (), ("Skipped: MNIST is not there (SINKDIST_DATA).",))
    rows = tuple(
        _row(name, against, ours, theirs, found[:n], found[n:])
        for name, against, ours, theirs in _contests()
    )
    return Section(
        "classic", TITLE, rows,
        (f"{n:,} x {n:,} distances; SciPy's Mahalanobis distance on 20 rows, scaled up.",),
    )  # fmt: skip


def _contests() -> list[tuple[str, str, Callable[..., Any], Callable[..., Any]]]:
    """Name, opponent, and both functions of two families."""
    from sklearn.metrics.pairwise import additive_chi2_kernel

    ground = sd.Ground.grid(20, 20)
    A = np.exp(-WIDTH * ground.matrix**2)

    def by_cdist(metric: str, factor: float = 1.0) -> Callable[..., Any]:
        return lambda X, Y: factor * cdist(X, Y, metric)

    def mahalanobis(X: Any, Y: Any) -> Any:
        return classic.mahalanobis(X, Y, ground=ground, t=WIDTH, workers=1)

    def alone(distance: Callable[..., Any]) -> Callable[..., Any]:
        return lambda X, Y: distance(X, Y, workers=1)

    def chi2(X: Any, Y: Any) -> Any:
        return -0.5 * additive_chi2_kernel(X, Y)

    def few_mahalanobis(X: Any, Y: Any) -> Any:
        return cdist(X[:20], Y, "mahalanobis", VI=A)

    halved = by_cdist("cityblock", 0.5)
    return [
        ("euclidean", "SciPy cdist", alone(classic.euclidean), by_cdist("euclidean")),
        ("sqeuclidean", "SciPy cdist", alone(classic.sqeuclidean), by_cdist("sqeuclidean")),
        ("total_variation", "SciPy cdist", alone(classic.total_variation), halved),
        ("chi2", "scikit-learn", alone(classic.chi2), chi2),
        ("mahalanobis", "SciPy cdist", mahalanobis, few_mahalanobis),
    ]


def _row(name: str, against: str, ours: Any, theirs: Any, X: Any, Y: Any) -> Row:
    """One distance, timed in turn and compared."""
    times = race(
        (
            Contestant("ours", lambda _: ours(X, Y), threads=1),
            Contestant("theirs", lambda _: theirs(X, Y), threads=1),
        ),
        turns=3,
    )
    mine, other = times["ours"], times["theirs"]
    scale = len(X) / len(other.result)
    off = np.abs(mine.result[: len(other.result)] - other.result).max() / np.abs(other.result).max()
    wrong = f"off by {off:.1g}" if off > ALIKE else ""
    return Row(name, against, mine.seconds, scale * other.seconds, wrong=wrong)


if __name__ == "__main__":
    show(measure)
