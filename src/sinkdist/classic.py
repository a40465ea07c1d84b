"""Distances that look at one bin at a time: what Sinkhorn distances are compared with.

They know no ground cost, so they stand apart from everything that does. All rows against all rows
is one matrix product; where that product cancels, the few entries concerned are computed afresh.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.histograms import Histograms, check_same_bins, read, working_dtype

__all__ = ["euclidean", "hellinger"]

Array: TypeAlias = npt.NDArray[Any]

_ENTRIES_AT_ONCE = 1 << 20  # of differences held in memory while entries are computed afresh


def euclidean(X: Any, Y: Any = None, *, normalize: bool = False, on_empty: str = "raise") -> Array:
    """Euclidean distances ``sqrt(sum_k (X[i, k] - Y[j, k])^2)`` between all rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Histograms, one per row.
    Y : array-like of shape (m, d), optional
        Other histograms; `X` itself by default.
    normalize : bool
        Divide by the row sums; without it rows must sum to 1.
    on_empty : {"raise", "nan"}
        Whether rows without mass are an error or have NaN for their distances.

    Returns
    -------
    ndarray of shape (n, m)
        The distances; float32 when all rows are float32, else float64. Equal rows have distance 0.

    See Also
    --------
    hellinger : the same on square roots, bounded by 1.

    Examples
    --------
    >>> from sinkdist.classic import euclidean
    >>> euclidean([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]).round(3)
    array([[0.   , 1.414, 0.707],
           [1.414, 0.   , 0.707],
           [0.707, 0.707, 0.   ]])
    """
    rows, columns = _read(X, Y, normalize=normalize, on_empty=on_empty)
    distances = _squared(_dense(rows), None if columns is None else _dense(columns))
    np.sqrt(distances, out=distances)
    return _mark_empty(distances, rows, columns)


def hellinger(X: Any, Y: Any = None, *, normalize: bool = False, on_empty: str = "raise") -> Array:
    """Hellinger distances ``sqrt(sum_k (sqrt(X[i, k]) - sqrt(Y[j, k]))^2 / 2)`` between all rows.

    Parameters
    ----------
    X : array-like of shape (n, d)
        Histograms, one per row.
    Y : array-like of shape (m, d), optional
        Other histograms; `X` itself by default.
    normalize : bool
        Divide by the row sums; without it rows must sum to 1.
    on_empty : {"raise", "nan"}
        Whether rows without mass are an error or have NaN for their distances.

    Returns
    -------
    ndarray of shape (n, m)
        The distances, between 0 (equal rows) and 1 (rows without a common bin); float32 when all
        rows are float32, else float64.

    See Also
    --------
    euclidean : the same without square roots.

    Examples
    --------
    >>> from sinkdist.classic import hellinger
    >>> hellinger([[1.0, 0.0], [0.0, 1.0], [0.5, 0.5]]).round(3)
    array([[0.   , 1.   , 0.541],
           [1.   , 0.   , 0.541],
           [0.541, 0.541, 0.   ]])
    """
    rows, columns = _read(X, Y, normalize=normalize, on_empty=on_empty)
    other = None if columns is None else np.sqrt(_dense(columns))
    distances = _squared(np.sqrt(_dense(rows)), other)
    distances *= 0.5
    np.minimum(distances, 1, out=distances)  # rounding alone can take it over 1
    np.sqrt(distances, out=distances)
    return _mark_empty(distances, rows, columns)


def _read(
    X: Any, Y: Any, *, normalize: bool, on_empty: str
) -> tuple[Histograms, Histograms | None]:
    """Both families, checked, with equally many bins; None for the second when it is the first."""
    dtype = working_dtype(X, Y)
    first = read(X, "X", dtype=dtype, normalize=normalize, on_empty=on_empty)
    second = None
    if Y is not None:
        check_same_bins(X, Y, "X", "Y")
        second = read(
            Y,
            "Y",
            dtype=dtype,
            bins=first.d,
            normalize=normalize,
            on_empty=on_empty,
            against="'X'",
        )
    for name, family in (("X", first), ("Y", second)):
        if family is not None and family.is_vector:
            raise InputError(
                f"'{name}' must be a family of histograms of shape (n, d). "
                f"Got shape ({family.d},) instead: pass {name}[None, :] for a family of one."
            )
    return first, second


def _dense(family: Histograms) -> Array:
    """All rows as one array; it may be the caller's own and is only read."""
    return family.dense(slice(None))


def _mark_empty(distances: Array, rows: Histograms, columns: Histograms | None) -> Array:
    """The distances, with NaN for the families' rows without mass."""
    columns = rows if columns is None else columns
    if rows.empty is not None:
        distances[rows.empty] = np.nan
    if columns.empty is not None:
        distances[:, columns.empty] = np.nan
    return distances


def _squared(X: Array, Y: Array | None) -> Array:
    """Squared distances, by ``|x|^2 + |y|^2 - 2 x.y`` wherever that keeps half of the digits."""
    other = X if Y is None else Y
    norms = np.einsum("ij,ij->i", X, X)[:, None] + np.einsum("ij,ij->i", other, other)
    squared = X @ other.T
    squared *= -2
    squared += norms
    norms *= math.sqrt(np.finfo(X.dtype).eps)
    _redo(squared, X, other, np.nonzero(squared < norms))
    if Y is None:
        np.fill_diagonal(squared, 0)
    return squared


def _redo(
    squared: Array,
    X: Array,
    Y: Array,
    places: tuple[npt.NDArray[np.intp], ...],
) -> None:
    """Replace the entries at `places` by sums of squared differences, a bounded number at once."""
    step = max(1, _ENTRIES_AT_ONCE // max(1, X.shape[1]))
    for start in range(0, len(places[0]), step):
        i, j = (index[start : start + step] for index in places)
        difference = X[i] - Y[j]
        squared[i, j] = np.einsum("ij,ij->i", difference, difference)
