"""The formulas: each distance as a function of two blocks of histograms, all pairs at once.

Each is a matrix product, or a sum over the bins that have mass (`summed`), in a form that cancels
where histograms are close. The few entries concerned are computed afresh from their differences.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sinkdist.classic.summed import (
    BLOCK,
    ENTRIES_AT_ONCE,
    Array,
    Formula,
    chi2,
    chi2_of_many,
    redo,
    total_variation,
    total_variation_of_many,
)

__all__ = [
    "CHI2",
    "EUCLIDEAN",
    "HELLINGER",
    "MAHALANOBIS",
    "SQEUCLIDEAN",
    "TOTAL_VARIATION",
    "Distance",
]

#: Pairs times bins from which a compiled sum is taken. Loading it takes a third of a second, once,
#: which the first call makes up for from 2e8 (chi squared) or 4e8 (total variation) on.
_MANY = 1e8


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
    of_many : callable, optional
        The same for large families, where it is a sum over bins that can be compiled.
    """

    name: str
    between: Formula
    copies: int = 0
    seconds_per_bin: float = 1e-10
    of_many: Formula | None = None

    def formula(self, pairs: int, bins: int) -> Formula:
        """How to compute so many pairs; it depends on nothing else, so a call repeats itself."""
        return self.of_many if self.of_many and pairs * bins >= _MANY else self.between

    def bytes_at_once(self, side: int, bins: int, itemsize: int) -> int:
        """What a square tile takes beside its result, at most."""
        summed = 2 * max(BLOCK, bins) if self.of_many else 0
        blocks = side * self.copies * bins + summed + 2 * side * side
        return itemsize * (blocks + 4 * max(ENTRIES_AT_ONCE, bins))


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


EUCLIDEAN = Distance("euclidean", _euclidean)
SQEUCLIDEAN = Distance("sqeuclidean", _sqeuclidean)
HELLINGER = Distance("hellinger", _hellinger, copies=2)
MAHALANOBIS = Distance("mahalanobis", _mahalanobis)
CHI2 = Distance("chi2", chi2, copies=4, seconds_per_bin=1e-9, of_many=chi2_of_many)
TOTAL_VARIATION = Distance(
    "total_variation", total_variation, copies=3, seconds_per_bin=5e-10,
    of_many=total_variation_of_many,
)  # fmt: skip


def _squared(X: Array, Y: Array) -> Array:
    """Squared distances, by ``|x|^2 + |y|^2 - 2 x.y`` wherever that keeps half of the digits."""
    norms = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", Y, Y)
    squared: Array = X @ Y.T
    squared *= -2
    squared += norms
    norms *= math.sqrt(np.finfo(X.dtype).eps)
    redo(squared, X, Y, squared < norms, _squared_of_rows)
    return squared


def _squared_of_rows(x: Array, y: Array) -> Array:
    """Sums of squared differences, row by row."""
    difference = x - y
    return np.asarray(np.einsum("ij,ij->i", difference, difference))
