"""The histograms that are searched, as bounds read them; and those that are still possible.

Rows are kept once: dense, or compressed where most bins are empty.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sinkdist.inputs.histograms import Histograms
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.planes import raise_dense, raise_sparse
from sinkdist.solvers.bins import SparseRows, in_double, sparse_rows
from sinkdist.solvers.explored import Plane

__all__ = ["Candidates", "Survivors", "is_sparse", "raise_by_planes"]

_SPARSE = 0.125  #: of all bins with mass, below which rows are compressed


@dataclass(slots=True)
class Survivors:
    """Candidates that may still be among the nearest, and what their distances are at least.

    ``estimate`` is what they may be, where a search goes by that; nothing proves it.
    """

    index: Array
    bound: Array
    estimate: Array | None = None

    @classmethod
    def all_of(cls, bounds: Array, left_out: Array) -> Survivors:
        """All candidates but some."""
        if not left_out.any():
            return cls(np.arange(bounds.size), bounds.copy())
        index = np.flatnonzero(~left_out)
        return cls(index, bounds[index])

    @property
    def least(self) -> float:
        """The least distance that any of them may have; inf if there are none."""
        return float(self.bound.min(initial=np.inf))

    def keep(self, which: Array) -> None:
        """Drop the others."""
        self.index, self.bound = self.index[which], self.bound[which]
        if self.estimate is not None:
            self.estimate = self.estimate[which]

    def take(self, count: int, among: Array | None = None) -> Survivors:
        """The most promising ones, in order of their bounds, then of their index; removed here.

        ``among`` are the places of candidates to choose from, where these are not all.
        """
        key = self.bound if self.estimate is None else self.estimate
        at = np.arange(key.size) if among is None else among
        if count < at.size:
            at = at[np.argpartition(key[at], count - 1)[:count]]
        at = at[np.lexsort((self.index[at], key[at]))]
        taken = Survivors(self.index[at], self.bound[at])
        rest = np.ones(self.index.size, bool)
        rest[at] = False
        self.keep(rest)
        return taken


class Candidates:
    """Checked histograms of one family, in float64.

    Attributes
    ----------
    n, d : int
        Histograms and bins.
    empty : ndarray of bool
        Those without mass, which are nobody's neighbours.
    dense : ndarray or None
        Rows, where they are kept dense.
    sparse : SparseRows or None
        The same where most bins are empty.
    """

    def __init__(
        self, shape: tuple[int, int], empty: Array, dense: Array | None, sparse: SparseRows | None
    ) -> None:
        self.n, self.d = shape
        self.empty, self.dense, self.sparse = empty, dense, sparse

    @classmethod
    def of(cls, family: Histograms) -> Candidates:
        """The rows of a family, in memory of our own."""
        empty = np.zeros(family.n, bool) if family.empty is None else family.empty
        rows, shape = family.rows, (family.n, family.d)
        if is_sparse(family):
            return cls(shape, empty, None, _compressed(rows, empty))
        whole = rows if isinstance(rows, np.ndarray) else rows.toarray()
        return cls(shape, empty, _in_double(np.array(whole), empty), None)

    def joined(self, others: Candidates) -> Candidates:
        """These and others behind them, kept as these are."""
        shape, empty = (self.n + others.n, self.d), np.concatenate([self.empty, others.empty])
        if self.dense is not None:
            more = others.dense_rows(0, others.n)
            return Candidates(shape, empty, np.concatenate([self.dense, more]), None)
        assert self.sparse is not None
        more_rows = others.sparse or sparse_rows(others.dense)
        start = np.concatenate([self.sparse.start, self.sparse.start[-1] + more_rows.start[1:]])
        parts = zip(self.sparse[1:], more_rows[1:], strict=True)
        return Candidates(shape, empty, None, SparseRows(start, *map(np.concatenate, parts)))

    @property
    def is_sparse(self) -> bool:
        """Whether rows are compressed."""
        return self.sparse is not None

    def used_bins(self) -> Array:
        """Bins with mass in any row."""
        if self.dense is not None:
            return np.flatnonzero(self.dense.any(axis=0))
        assert self.sparse is not None
        return np.unique(self.sparse.bins)

    def rows(self, index: Array) -> Any:
        """Some rows: dense, or CSR."""
        if self.dense is not None:
            return self.dense[index]
        assert self.sparse is not None
        from scipy.sparse import csr_array

        start, bins, mass = self.sparse
        counts = start[index + 1] - start[index]
        indptr = np.zeros(index.size + 1, np.int64)
        np.cumsum(counts, out=indptr[1:])
        at = np.arange(indptr[-1]) + np.repeat(start[index] - indptr[:-1], counts)
        return csr_array((mass[at], bins[at], indptr), shape=(index.size, self.d))

    def dense_rows(self, first: int, last: int) -> Array:
        """Consecutive rows, dense."""
        if self.dense is not None:
            return self.dense[first:last]
        return np.asarray(self.rows(np.arange(first, last)).toarray())

    def raise_bounds(self, survivors: Survivors, planes: list[Plane]) -> None:
        """Raise what is known of survivors to what planes prove."""
        if not planes or survivors.index.size == 0:
            return
        if self.dense is not None:
            planes = planes + planes[: len(planes) % 2]
            G = np.array([plane.g for plane in planes])
            constants = np.array([plane.constant for plane in planes])
            raise_dense(self.dense, survivors.index, G, constants, survivors.bound)
        else:
            assert self.sparse is not None
            every = np.arange(self.d)
            raise_by_planes(self.sparse, every, survivors.index, planes, survivors.bound)


def is_sparse(family: Histograms) -> bool:
    """Whether most bins are empty, so that rows are compressed."""
    rows = family.rows
    stored = np.count_nonzero(rows) if isinstance(rows, np.ndarray) else rows.nnz
    return bool(stored <= _SPARSE * family.n * family.d)


def raise_by_planes(
    rows: SparseRows, label: Array, index: Array, planes: list[Plane], bound: Array
) -> None:  # fmt: skip
    """Raise bounds on some rows to what planes prove; ``label`` is where a bin is in these."""
    if planes and index.size:
        T = np.ascontiguousarray(np.array([plane.g for plane in planes]).T)
        constants = np.array([plane.constant for plane in planes])
        raise_sparse(*rows, label, index, T, constants, np.empty(len(planes)), bound)


def _compressed(rows: Any, empty: Array) -> SparseRows:
    """Compressed rows; those in float32 are made to sum to 1 again."""
    if isinstance(rows, np.ndarray):
        from scipy.sparse import csr_array

        rows = csr_array(rows)
    full = sparse_rows(rows[np.flatnonzero(~empty)] if empty.any() else rows)
    counts = np.zeros(empty.size, np.int64)
    counts[~empty] = np.diff(full.start)
    start = np.concatenate([[0], np.cumsum(counts)])
    return SparseRows(start, *(np.array(x) for x in full[1:]))


def _in_double(rows: Array, empty: Array) -> Array:
    """Rows in float64; those without mass stay zero."""
    if rows.dtype == np.float64 or not empty.any():
        return in_double(rows)
    out = np.zeros(rows.shape)
    out[~empty] = in_double(rows[~empty])
    return out
