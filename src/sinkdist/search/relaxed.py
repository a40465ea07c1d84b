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
from sinkdist.kernels.relaxed import HUGE, LANES, least_costs, relaxed_alone, relaxed_transport
from sinkdist.solvers.bins import SparseRows

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
    """

    def __init__(
        self, ground: Ground, rows: SparseRows, used: Array | None, metric: bool, blur: float
    ) -> None:
        self._ground, self._rows, self._used = ground, rows, used
        self._metric, self._blur = metric, blur

    def bounds(self, R: Array) -> Array:
        """Lower bounds on the distances from each row of ``R`` to every candidate."""
        n = self._rows.start.size - 1
        out = np.empty((len(R), n))
        for first in range(0, len(R), LANES):
            out[first : first + LANES] = self._some(R[first : first + LANES])
        return out

    def _some(self, R: Array) -> Array:
        """For as many queries as there are lanes."""
        queries, d = len(R), self._ground.shape[1]
        lanes = 1 if queries == 1 else LANES  # whole vectors
        pays, free = np.zeros((2, d, lanes), np.float32)
        largest = np.empty(queries)
        for q, r in enumerate(R):
            bins = np.flatnonzero(r)
            least = self._least(bins)
            largest[q] = least.max()
            pays[:, q] = least
            if self._metric:
                free[bins, q] = r[bins]
        found = np.empty((lanes, self._rows.start.size - 1), np.float32)
        if queries == 1:
            relaxed_alone(*self._rows, pays[:, 0], free[:, 0], found[0])
        else:
            relaxed_transport(*self._rows, pays, free, np.empty(LANES, np.float32), found)
        margins = 2.0 * (self._rows.most + 8) * _UNIT * largest + self._blur
        if self._metric:
            margins += BENT * self._ground.max
        bounds = found[:queries] - margins[:, None]
        return np.maximum(bounds, 0.0, out=bounds)

    def _least(self, bins: Array) -> Array:
        """The least cost of a unit of mass in every bin that comes from elsewhere."""
        ground = self._ground
        none = np.full(bins.size, -1)
        least = np.zeros(ground.shape[1])
        if self._used is None:
            least_costs(ground.dense, bins, bins if self._metric else none, least)
        else:
            costs = np.ascontiguousarray(ground.block(bins, self._used))
            own = none
            if self._metric:  # where the bins of the query are among the used ones
                at = np.minimum(np.searchsorted(self._used, bins), self._used.size - 1)
                own = np.where(self._used[at] == bins, at, -1)
            found = np.empty(self._used.size)
            least_costs(costs, np.arange(bins.size), own, found)
            least[self._used] = found
        least[least >= HUGE] = 0.0  # a query of one bin, in that bin: nothing comes from elsewhere
        return least
