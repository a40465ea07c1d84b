"""The formulas: each distance as a function of two blocks of histograms, all pairs at once.

Each is a matrix product, or a compiled pass over the bins that have mass, in a form that cancels
where histograms are close. The few entries concerned are computed afresh from their differences.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "CHI2",
    "EUCLIDEAN",
    "HELLINGER",
    "MAHALANOBIS",
    "SQEUCLIDEAN",
    "TOTAL_VARIATION",
    "Distance",
]

Array: TypeAlias = npt.NDArray[Any]
Formula: TypeAlias = Callable[[Array, Array], Array]

_ENTRIES_AT_ONCE = 1 << 18  # of differences held in memory while entries are computed afresh
_BINS_AT_ONCE = 512  # of a compiled pass: a block that stays in the cache, and short sums


@dataclass(frozen=True, slots=True)
class Distance:
    """A distance, and what it takes.

    Attributes
    ----------
    name : str
        As stores write it down.
    between : callable
        From blocks of shape (n, d) and (m, d) to a new (n, m) block.
    copies : int
        How many blocks of the size of its arguments it makes.
    seconds_per_bin : float
        For a pair, to the nearest power of ten or so.
    is_compiled : bool
        Whether it runs a compiled pass.
    """

    name: str
    between: Formula
    copies: int = 0
    seconds_per_bin: float = 1e-10
    is_compiled: bool = False

    def bytes_at_once(self, side: int, bins: int, itemsize: int) -> int:
        """What a square tile takes beside its result, at most."""
        passed = 2 * min(bins, _BINS_AT_ONCE) if self.is_compiled else 0
        blocks = side * (self.copies * bins + passed) + 2 * side * side
        return itemsize * (blocks + 4 * max(_ENTRIES_AT_ONCE, bins))


def _sqeuclidean(X: Array, Y: Array) -> Array:
    """Squared Euclidean distances."""
    squared = _squared(X, Y)
    return np.minimum(squared, 2, out=squared)  # rounding alone can take it over 2


def _euclidean(X: Array, Y: Array) -> Array:
    """Euclidean distances."""
    distances = _sqeuclidean(X, Y)
    return np.sqrt(distances, out=distances)


def _hellinger(X: Array, Y: Array) -> Array:
    """Hellinger distances."""
    distances = _squared(np.sqrt(X), np.sqrt(Y))
    distances *= 0.5
    np.minimum(distances, 1, out=distances)
    return np.sqrt(distances, out=distances)


def _mahalanobis(X: Array, Y: Array) -> Array:
    """Euclidean distances of vectors of any length."""
    distances = _squared(X, Y)
    return np.sqrt(distances, out=distances)


def _chi2(X: Array, Y: Array) -> Array:
    """``1 - 2 sum_k x y / (x + y)``, which is half the sum of (x - y)^2 / (x + y)."""
    from sinkdist.kernels.binwise import harmonic

    eps = float(np.finfo(X.dtype).eps)
    # A bin adds no more than its mass to the sum, so the tiniest are not seen next to 1.
    distances = _summed(
        X, Y, lambda x, T, bins, out: harmonic(x, T, x.dtype.type(eps * eps), bins, out)
    )
    distances *= -2
    distances += 1
    _redo(distances, X, Y, distances < math.sqrt(eps), _chi2_of_rows)
    return np.minimum(distances, 1, out=distances)


def _total_variation(X: Array, Y: Array) -> Array:
    """``sum_k max(x - y, 0)``, which is half of the sum of |x - y| where both rows sum to 1."""
    from sinkdist.kernels.binwise import excess

    distances = _summed(X, Y, excess)
    small = distances < math.sqrt(np.finfo(X.dtype).eps)
    _redo(distances, X, Y, small, _total_variation_of_rows)
    return np.minimum(distances, 1, out=distances)


EUCLIDEAN = Distance("euclidean", _euclidean)
SQEUCLIDEAN = Distance("sqeuclidean", _sqeuclidean)
HELLINGER = Distance("hellinger", _hellinger, copies=2)
MAHALANOBIS = Distance("mahalanobis", _mahalanobis)
CHI2 = Distance("chi2", _chi2, seconds_per_bin=3e-10, is_compiled=True)
TOTAL_VARIATION = Distance("total_variation", _total_variation, is_compiled=True)


def _squared(X: Array, Y: Array) -> Array:
    """Squared distances, by ``|x|^2 + |y|^2 - 2 x.y`` wherever that keeps half of the digits."""
    norms = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", Y, Y)
    squared: Array = X @ Y.T
    squared *= -2
    squared += norms
    norms *= math.sqrt(np.finfo(X.dtype).eps)
    _redo(squared, X, Y, squared < norms, _squared_of_rows)
    return squared


def _summed(X: Array, Y: Array, sums: Callable[[Array, Array, Array, Array], None]) -> Array:
    """What a compiled pass sums over bins, some bins at a time."""
    total = np.zeros((len(X), len(Y)), X.dtype)
    part = np.empty_like(total)
    bins = np.empty(_BINS_AT_ONCE, np.intp)
    for start in range(0, X.shape[1], _BINS_AT_ONCE):
        chosen = slice(start, start + _BINS_AT_ONCE)
        # Writeable as well, though nothing is written: for others they would be compiled again.
        first, second = (
            np.require(Z, requirements=["C", "W"]) for Z in (X[:, chosen], Y[:, chosen].T)
        )
        sums(first, second, bins, part)
        total += part
    return total


def _redo(values: Array, X: Array, Y: Array, where: Array, of_rows: Formula) -> None:
    """Replace entries by what their rows give one by one, a bounded number at once."""
    rows, columns = np.nonzero(where)
    step = max(1, _ENTRIES_AT_ONCE // max(1, X.shape[1]))
    for start in range(0, len(rows), step):
        i, j = rows[start : start + step], columns[start : start + step]
        values[i, j] = of_rows(X[i], Y[j])


def _squared_of_rows(x: Array, y: Array) -> Array:
    """Sums of squared differences, row by row."""
    difference = x - y
    return np.asarray(np.einsum("ij,ij->i", difference, difference))


def _chi2_of_rows(x: Array, y: Array) -> Array:
    """Half the sums of ``(x - y)^2 / (x + y)``, row by row; a bin without mass adds 0."""
    difference, both = x - y, x + y
    # One factor after the other: the square of a small difference may not be representable.
    ratio = np.divide(difference, both, out=np.zeros_like(both), where=both > 0)
    return np.asarray(0.5 * np.einsum("ij,ij->i", ratio, difference))


def _total_variation_of_rows(x: Array, y: Array) -> Array:
    """Half the sums of absolute differences, row by row."""
    return np.asarray(0.5 * np.abs(x - y).sum(axis=1))
