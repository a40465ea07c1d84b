"""Chi squared and total variation: sums over bins that are no matrix products.

Each in two ways that agree up to rounding. NumPy's needs no Numba, whose import takes longer than
the distances of a small family; the compiled one is several times as fast, and for large families.
Both leave out bins without mass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "BLOCK",
    "ENTRIES_AT_ONCE",
    "chi2",
    "chi2_of_many",
    "redo",
    "total_variation",
    "total_variation_of_many",
]

Array: TypeAlias = npt.NDArray[Any]
Formula: TypeAlias = Callable[[Array, Array], Array]

ENTRIES_AT_ONCE = 1 << 18  #: of differences held in memory while entries are computed afresh
BLOCK = 1 << 17  #: entries that a sum over bins works on: they stay in the cache
_BINS_AT_ONCE = 512  # of them, for short sums
_CROWDED = 0.5  # of the bins: a row with mass in more of them gains nothing from leaving out others


class Term(Protocol):
    """A function of entries of `Y` and of one entry of `X` per row."""

    def __call__(self, y: Array, x: Array, /, *, out: Array) -> Any:
        """Compute it."""


def chi2(X: Array, Y: Array) -> Array:
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
    redo(distances, X, Y, distances < math.sqrt(eps), _chi2_of_rows)
    return np.minimum(distances, 1, out=distances)


def total_variation(X: Array, Y: Array) -> Array:
    """Half of the sum of |x - y|."""
    distances = _by_crowding(X, Y, _half_absolute, _without_overlap)
    return np.minimum(distances, 1, out=distances)


def chi2_of_many(X: Array, Y: Array) -> Array:
    """The same as `chi2`, compiled."""
    from sinkdist.kernels.binwise import harmonic  # Numba, on first use

    eps = float(np.finfo(X.dtype).eps)
    distances = _summed(X, Y, harmonic, eps * eps)
    distances *= -2
    distances += 0.5 * X.sum(axis=1)[:, None]
    distances += 0.5 * Y.sum(axis=1)
    redo(distances, X, Y, distances < math.sqrt(eps), _chi2_of_rows)
    return np.minimum(distances, 1, out=distances)


def total_variation_of_many(X: Array, Y: Array) -> Array:
    """The same as `total_variation`, compiled: ``sum_k max(x - y, 0) - (x - y) / 2``."""
    from sinkdist.kernels.binwise import excess  # Numba, on first use

    distances = _summed(X, Y, excess, 0.0)
    distances -= 0.5 * X.sum(axis=1)[:, None]
    distances += 0.5 * Y.sum(axis=1)
    small = distances < math.sqrt(np.finfo(X.dtype).eps)
    redo(distances, X, Y, small, _total_variation_of_rows)
    return np.minimum(distances, 1, out=distances)


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
    redo(distances, X, Y, small, _total_variation_of_rows)
    return distances


def _quotients(X: Array, Y: Array) -> Array:
    """``sum_k x^2 / (x + y)`` over the bins in which x has mass, one row of `X` at a time."""
    sums = np.empty((len(X), len(Y)), X.dtype)
    weights, positive = np.square(X), np.where(X > 0, X, 1)
    for columns in _slices(len(Y), max(1, BLOCK // max(1, X.shape[1]))):
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
    columns_at_once = min(len(Y), BLOCK // _BINS_AT_ONCE)
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


def _summed(X: Array, Y: Array, kernel: Callable[..., None], least: float) -> Array:
    """What a compiled kernel sums over the bins with more than the `least` mass."""
    total = np.zeros((len(X), len(Y)), X.dtype)
    part, bins = np.empty_like(total), np.empty(_BINS_AT_ONCE, np.intp)
    for chosen in _slices(X.shape[1], _BINS_AT_ONCE):
        # Writeable as well, though nothing is written: for others it would be compiled again.
        first, second = (
            np.require(Z, requirements=["C", "W"]) for Z in (X[:, chosen], Y[:, chosen].T)
        )
        kernel(first, second, least, bins, part)
        total += part
    return total


def _half_masses(X: Array, Y: Array) -> Array:
    """Half the mass of each pair of rows."""
    return np.asarray(0.5 * (X.sum(axis=1)[:, None] + Y.sum(axis=1)))


def _slices(size: int, step: int) -> Iterator[slice]:
    """A range in parts."""
    return (slice(start, start + step) for start in range(0, size, step))


def redo(values: Array, X: Array, Y: Array, where: Array, of_rows: Formula) -> None:
    """Replace entries by what their rows give one by one, a bounded number at once."""
    rows, columns = np.nonzero(where)
    step = max(1, ENTRIES_AT_ONCE // max(1, X.shape[1]))
    for start in range(0, len(rows), step):
        i, j = rows[start : start + step], columns[start : start + step]
        values[i, j] = of_rows(X[i], Y[j])


def _chi2_of_rows(x: Array, y: Array) -> Array:
    """Half the sums of ``(x - y)^2 / (x + y)``, row by row; a bin without mass adds 0."""
    difference, both = x - y, x + y
    # One factor after the other: the square of a small difference may not be representable.
    ratio = np.divide(difference, both, out=np.zeros_like(both), where=both > 0)
    return np.asarray(0.5 * np.einsum("ij,ij->i", ratio, difference))


def _total_variation_of_rows(x: Array, y: Array) -> Array:
    """Half the sums of absolute differences, row by row."""
    return np.asarray(0.5 * np.abs(x - y).sum(axis=1))
