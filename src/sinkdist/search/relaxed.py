"""Relaxed transport: a first bound on the exact distance for candidates in compressed rows.

*Conditions.* None on the costs. Where they are a metric, common mass stays, which makes the bound
several times as sharp. It bounds every distance that is at least the exact one.

*Proof.* Every unit of mass that a candidate ``c`` has in bin ``j`` comes from some bin with mass of
the query ``r``, at no less than the least of their costs: ``EMD(r, c) >= sum_j c_j min_i M_ij``.
Under a metric the mass that both share may stay, and ``(c_j - r_j)+`` moves in an optimal plan,
from bins where ``r`` has more than ``c``; bin ``j`` is none of them. So the minimum is over ``i !=
j``.

*Rounding.* Costs, masses and their differences are rounded to single precision, each by at most
2^-24 of itself, and masses and what they pay are at most 1 and the largest of the minima. A sum of
``n`` products of no negative number loses at most ``n`` units of 2^-24 of itself. The margin is
twice the sum of these; a metric may violate triangles by `BENT` of the largest cost, and costs that
are computed on demand may differ by the ``blur``.
"""

from __future__ import annotations

import numpy as np

from sinkdist.ground import Ground
from sinkdist.ground.metric import BENT
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.relaxed import least_costs, relaxed_alone, relaxed_transport
from sinkdist.kernels.vectors import LANES
from sinkdist.solvers.bins import SparseRows, occupied

__all__ = ["NAME", "Relaxed"]

NAME = "relaxed transport"
_UNIT = 2.0**-24


class Relaxed:
    """The bound for some queries at once, so that one read of the candidates serves all.

    Parameters
    ----------
    ground : Ground
        The costs.
    rows : SparseRows
        The candidates.
    used : ndarray of int or None
        The bins that these have mass in, where costs are computed on demand; None for all.
    metric : bool
        Whether common mass may stay.
    blur : float
        By how much costs may differ from those that solves are made with.
    single : ndarray, optional
        All costs in single precision, which are read instead.
    """

    def __init__(
        self,
        ground: Ground,
        rows: SparseRows,
        used: Array | None,
        metric: bool,
        blur: float,
        single: Array | None = None,
    ) -> None:
        self._ground, self._used = ground, used
        self._matrix = ground.dense if single is None and used is None else single
        self._start, self._most = rows.start, rows.most
        self._bins, self._mass = rows.bins, rows.mass.astype(np.float32)
        self._metric, self._blur = metric, blur

    def bounds(self, R: Array) -> Array:
        """Lower bounds on the distances from each row of ``R`` to every candidate."""
        out = np.empty((len(R), self._start.size - 1))
        for first in range(0, len(R), LANES):
            self._bound(R[first : first + LANES], out[first : first + LANES])
        return out

    def _bound(self, R: Array, out: Array) -> None:
        """For as many queries as there are lanes."""
        lanes = 1 if len(R) == 1 else LANES  # whole vectors
        d = self._ground.shape[1]
        pays, table = np.zeros((lanes, d), np.float32), np.zeros((d, 2, lanes), np.float32)
        for q, r in enumerate(R):
            bins = occupied(r)
            self._least(bins, pays[q])
            if self._metric:
                table[bins, 1, q] = r[bins]
        largest = pays[: len(R)].max(axis=1)
        margins = 2.0 * (self._most + 8) * _UNIT * largest.astype(np.float64) + self._blur
        if self._metric:
            margins += BENT * self._ground.max
        rows = self._start, self._bins, self._mass
        if lanes == 1:
            relaxed_alone(*rows, pays[0], table[:, 1, 0].copy(), margins[0], out[0])
        else:
            table[:, 0] = pays.T
            relaxed_transport(
                *rows, table.reshape(d, 2 * lanes), margins, np.empty(lanes, np.float32), out
            )

    def _least(self, bins: Array, out: Array) -> None:
        """The least cost of a unit of mass in every bin that comes from elsewhere.

        0 where nothing does: of a query of one bin, that bin.
        """
        ground = self._ground
        none = np.full(bins.size, -1)
        if self._matrix is not None:
            least_costs(self._matrix, bins, bins if self._metric else none, out)
            return
        assert self._used is not None
        costs = np.ascontiguousarray(ground.block(bins, self._used))
        own = none
        if self._metric:  # where the bins of the query are among the used ones
            at = np.minimum(np.searchsorted(self._used, bins), self._used.size - 1)
            own = np.where(self._used[at] == bins, at, -1)
        found = np.empty(self._used.size, np.float32)
        least_costs(costs, np.arange(bins.size), own, found)
        out[self._used] = found
