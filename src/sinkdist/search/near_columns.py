"""The bins that a few candidates use, with the costs from the bins of one query to them.

A first bound leaves few candidates, which use few of all bins: planes and solves read a small block
of costs, again and again, instead of lines of a large matrix.
"""

from __future__ import annotations

import numpy as np

from sinkdist.ground import Ground
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.near_columns import costs_between, number_columns, renumber_rows
from sinkdist.search.candidates import raise_by_planes
from sinkdist.solvers.bins import SparseRows
from sinkdist.solvers.explored import Plane

__all__ = ["NearColumns"]


class NearColumns:
    """Columns of one query: those that the candidates ``index`` use.

    The costs are taken from those of ``wider`` ones where it has them all.

    Attributes
    ----------
    bins : ndarray of int
        Those of the columns: first the query's own, where both sides have the same bins.
    label : ndarray of int
        The column of every bin; negative for bins that are not used.
    own : int
        How many columns are bins of the query.
    costs : ndarray
        From the bins with mass of the query to the columns.
    """

    def __init__(
        self, ground: Ground, bins: Array, rows: SparseRows, index: Array,
        wider: NearColumns | None = None,
    ) -> None:  # fmt: skip
        self._rows = rows
        own, d = bins if ground.shape[0] == ground.shape[1] else bins[:0], ground.shape[1]
        self.own, self.label, columns = own.size, np.empty(d, np.int64), np.empty(d, np.int64)
        count = number_columns(rows.start, rows.bins, index, own, self.label, columns)
        self.bins = columns[:count]

        at = None if wider is None else wider.label[self.bins]
        if wider is not None and at is not None and (at >= 0).all():
            self.costs = np.empty((bins.size, count))
            costs_between(wider.costs, np.arange(bins.size), at, self.costs)
        elif ground.is_dense:
            self.costs = np.empty((bins.size, count))
            costs_between(ground.dense, bins, self.bins, self.costs)
        else:
            self.costs = np.ascontiguousarray(ground.block(bins, self.bins))

    def rows(self, index: Array) -> SparseRows:
        """Some candidates on these columns."""
        start = self._rows.start
        size = int((start[index + 1] - start[index]).sum())
        out = np.empty(index.size + 1, np.int64), np.empty(size, np.int64), np.empty(size)
        renumber_rows(*self._rows, index, self.label, self.own, *out)
        return SparseRows(*out)

    def raise_bounds(self, index: Array, planes: list[Plane], bound: Array) -> None:
        """Raise what is known of some candidates to what planes on these columns prove."""
        raise_by_planes(self._rows, self.label, index, planes, bound)
