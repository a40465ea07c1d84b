"""The formulas: each distance as a function of two blocks of histograms, all pairs at once.

Each is a matrix product, or a sum over the bins that have mass, in a form that cancels where
histograms are close. The few entries concerned are computed afresh from their differences.

Nothing here is compiled, so that these distances need no Numba.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

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
_BLOCK = 1 << 17  # entries that a sum over bins works on: they stay in the cache
_BINS_AT_ONCE = 512  # of them, for short sums
_CROWDED = 0.5  # of the bins: a row with mass in more of them gains nothing from leaving out others


class Term(Protocol):
    """A function of entries of `Y` and of one entry of `X` per row."""

    def __call__(self, y: Array, x: Array, /, *, out: Array) -> Any:
        """Compute it."""


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
    is_summed : bool
        Whether it is a sum over bins that is no matrix product.
    """

    name: str
    between: Formula
    copies: int = 0
    seconds_per_bin: float = 1e-10
    is_summed: bool = False

    def bytes_at_once(self, side: int, bins: int, itemsize: int) -> int:
        """What a square tile takes beside its result, at most."""
        summed = 2 * max(_BLOCK, bins) if self.is_summed else 0
        blocks = side * self.copies * bins + summed + 2 * side * side
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
    """``sum_k (x + y) / 2 - 2 x y / (x + y)``, which is half the sum of (x - y)^2 / (x + y).

    Since ``x y / (x + y) = x - x^2 / (x + y)``, a bin costs an addition and a division.
    """
    eps = float(np.finfo(X.dtype).eps)
    least = eps * eps  # a bin adds no more than its mass, so the tiniest are not seen next to 1
    seen = np.where(least < X, X, 0)
    distances = _by_crowding(
        seen, Y, _quotients, lambda x, y: _over_mass(x, y, _inverse_sum, np.square)
    )
    distances -= seen.sum(axis=1)[:, None]
    distances *= 2
    distances += _half_masses(X, Y)
    _redo(distances, X, Y, distances < math.sqrt(eps), _chi2_of_rows)
    return np.minimum(distances, 1, out=distances)


def _total_variation(X: Array, Y: Array) -> Array:
    """Half of the sum of |x - y|."""
    distances = _by_crowding(X, Y, _half_absolute, _without_overlap)
    return np.minimum(distances, 1, out=distances)


EUCLIDEAN = Distance("euclidean", _euclidean)
SQEUCLIDEAN = Distance("sqeuclidean", _sqeuclidean)
HELLINGER = Distance("hellinger", _hellinger, copies=2)
MAHALANOBIS = Distance("mahalanobis", _mahalanobis)
CHI2 = Distance("chi2", _chi2, copies=4, seconds_per_bin=1e-9, is_summed=True)
TOTAL_VARIATION = Distance(
    "total_variation", _total_variation, copies=3, seconds_per_bin=5e-10, is_summed=True
)


def _squared(X: Array, Y: Array) -> Array:
    """Squared distances, by ``|x|^2 + |y|^2 - 2 x.y`` wherever that keeps half of the digits."""
    norms = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", Y, Y)
    squared: Array = X @ Y.T
    squared *= -2
    squared += norms
    norms *= math.sqrt(np.finfo(X.dtype).eps)
    _redo(squared, X, Y, squared < norms, _squared_of_rows)
    return squared


def _by_crowding(X: Array, Y: Array, crowded: Formula, sparse: Formula) -> Array:
    """One formula for rows of `X` with mass in most bins, another one for the rest."""
    many = np.count_nonzero(X, axis=1) > _CROWDED * X.shape[1]
    if many.all() or not many.any():
        return (crowded if many.all() else sparse)(X, Y)
    values = np.empty((len(X), len(Y)), X.dtype)
    for rows, formula in ((many, crowded), (~many, sparse)):
        values[rows] = formula(X[rows], Y)
    return values


def _half_absolute(X: Array, Y: Array) -> Array:
    """Half the sums of |x - y|, bin by bin."""
    from scipy.spatial.distance import cdist  # takes a while to import

    distances = cdist(X, Y, "cityblock").astype(X.dtype, copy=False)
    distances *= 0.5
    return np.asarray(distances)


def _without_overlap(X: Array, Y: Array) -> Array:
    """The same as ``sum_k (x + y) / 2 - min(x, y)``, where only bins with mass overlap."""
    distances = _half_masses(X, Y)
    distances -= _over_mass(X, Y, np.minimum, np.ones_like)
    small = distances < math.sqrt(np.finfo(X.dtype).eps)
    _redo(distances, X, Y, small, _total_variation_of_rows)
    return distances


def _quotients(X: Array, Y: Array) -> Array:
    """``sum_k x^2 / (x + y)`` over the bins in which x has mass, one row of `X` at a time."""
    sums = np.empty((len(X), len(Y)), X.dtype)
    weights, positive = np.square(X), np.where(X > 0, X, 1)
    for columns in _slices(len(Y), max(1, _BLOCK // max(1, X.shape[1]))):
        y = Y[columns]
        terms = np.empty_like(y)
        for i in range(len(X)):
            _inverse_sum(y, positive[i], out=terms)
            np.dot(terms, weights[i], out=sums[i, columns])
    return sums


def _over_mass(X: Array, Y: Array, term: Term, weight: Callable[[Array], Array]) -> Array:
    """``sum_k weight(x) term(y, x)`` over the bins in which x has mass, one row of `X` at a time.

    `Y` comes transposed: bins without mass are then whole rows, which are left out.
    """
    sums = np.zeros((len(X), len(Y)), X.dtype)
    columns_at_once = min(len(Y), _BLOCK // _BINS_AT_ONCE)
    scratch = np.empty(min(X.shape[1], _BINS_AT_ONCE) * columns_at_once, X.dtype)
    for bins in _slices(X.shape[1], _BINS_AT_ONCE):
        occupied = [np.flatnonzero(x) for x in X[:, bins]]
        for columns in _slices(len(Y), columns_at_once):
            T = np.ascontiguousarray(Y[columns, bins].T)
            for i, chosen in enumerate(occupied):
                x = X[i, bins][chosen]
                terms = scratch[: len(chosen) * T.shape[1]].reshape(len(chosen), T.shape[1])
                np.take(T, chosen, axis=0, out=terms, mode="clip")
                term(terms, x[:, None], out=terms)
                sums[i, columns] += weight(x) @ terms
    return sums


def _inverse_sum(y: Array, x: Array, /, *, out: Array) -> Array:
    """``1 / (x + y)``."""
    np.add(y, x, out=out)
    return np.divide(1, out, out=out)


def _half_masses(X: Array, Y: Array) -> Array:
    """Half the mass of each pair of rows."""
    return np.asarray(0.5 * (X.sum(axis=1)[:, None] + Y.sum(axis=1)))


def _slices(size: int, step: int) -> Iterator[slice]:
    """A range in parts."""
    return (slice(start, start + step) for start in range(0, size, step))


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
