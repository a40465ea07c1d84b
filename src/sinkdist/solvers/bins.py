"""Bins with mass: histograms and matrices cut down to them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sinkdist.kernels.compiled import Array

__all__ = [
    "SparseRows", "all_bins", "cut", "dense_row", "dense_rows", "in_double", "occupied",
    "sparse_rows", "support", "union",
]  # fmt: skip


def in_double(weights: Array) -> Array:
    """Histograms (the last axis) in float64; what float32 summed to 1 is made to sum to 1 again."""
    if weights.dtype == np.float64:
        return weights
    weights = weights.astype(np.float64)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def support(histogram: Array) -> Array | None:
    """The bins with mass, or None when that is all of them."""
    return None if np.count_nonzero(histogram) == histogram.size else np.flatnonzero(histogram)


def occupied(histogram: Array) -> Array:
    """The bins with mass; NumPy looks at truths several times as fast as at numbers."""
    return np.asarray((histogram > 0.0).nonzero()[0])


def cut(histogram: Array) -> tuple[Array | None, Array]:
    """The bins with mass, None for all of them, and the masses there, as kernels take them."""
    bins, masses = support(histogram), in_double(histogram)
    if bins is not None:
        masses = masses[bins]
    elif not masses.flags.writeable:  # one compiled type for all
        masses = masses.copy()
    return bins, masses


def union(H: Array) -> Array | None:
    """Bins with mass in any of the histograms; None for all of them."""
    occupied = H.any(axis=0)
    return None if occupied.all() else np.flatnonzero(occupied)


def all_bins(rows: Array | None, columns: Array | None, R: Array, C: Array) -> tuple[Array, Array]:
    """Bins as indices, where None stands for all."""
    return (
        np.arange(R.shape[1]) if rows is None else rows,
        np.arange(C.shape[1]) if columns is None else columns,
    )


def dense_row(H: Any, k: int) -> Array:
    """Row ``k`` of dense or CSR rows, or the only one; dense.

    Examples
    --------
    >>> dense_row(np.eye(3), 1), dense_row(np.eye(1), 7)
    (array([0., 1., 0.]), array([1.]))
    """
    k = k if H.shape[0] > 1 else 0
    return np.asarray(H[k] if isinstance(H, np.ndarray) else H[[k]].toarray()[0])


def dense_rows(H: Any) -> Array:
    """Dense or CSR rows, dense."""
    return np.asarray(H if isinstance(H, np.ndarray) else H.toarray())


class SparseRows(NamedTuple):
    """Histograms as their bins with mass, in compressed rows; float64, bins sorted."""

    start: Array
    bins: Array
    mass: Array

    @property
    def most(self) -> int:
        """Bins with mass in a row, at most."""
        if self.start.size == 2:  # one row, as often as not
            return self.bins.size
        return int((self.start[1:] - self.start[:-1]).max(initial=0))


def sparse_rows(H: Any) -> SparseRows:
    """Rows, dense or CSR without stored zeros, as `SparseRows`.

    Examples
    --------
    >>> start, bins, mass = sparse_rows(np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]))
    >>> start.tolist(), bins.tolist(), mass.tolist()
    ([0, 2, 3], [0, 2, 1], [0.5, 0.5, 1.0])
    """
    if isinstance(H, np.ndarray):
        H = in_double(H)
        if len(H) == 1:
            bins = occupied(H[0])
            return SparseRows(np.array([0, bins.size]), bins, H[0][bins])
        n, d = H.shape
        counts, start = np.count_nonzero(H, axis=1), np.zeros(n + 1, np.int64)
        np.cumsum(counts, out=start[1:])
        if start[-1] == H.size:
            return SparseRows(start, np.tile(np.arange(d), n), H.flatten())
        at = np.flatnonzero(H)  # several times as fast as both indices at once
        return SparseRows(start, at - np.repeat(np.arange(n) * d, counts), H.ravel()[at])
    start, bins = H.indptr.astype(np.int64), H.indices.astype(np.int64)
    mass = H.data.astype(np.float64)
    if H.dtype != np.float64:
        sums = np.add.reduceat(mass, start[:-1]) if mass.size else mass
        mass /= np.repeat(sums, np.diff(start))
    return SparseRows(start, bins, mass)
