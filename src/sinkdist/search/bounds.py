"""What is known of the distances from one query, and what its solves add to that.

Candidates in compressed rows are looked at twice: at first the most promising ones, which are
solved first, then all that these leave. Where costs are a metric, `transforms` bound them; planes
of other costs are on the columns that are left (`near_columns`).
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sinkdist.kernels.compiled import Array
from sinkdist.search.candidates import Survivors
from sinkdist.search.near_columns import NearColumns
from sinkdist.search.ranking import Ranking
from sinkdist.search.transforms import Transforms
from sinkdist.solvers.bins import occupied
from sinkdist.solvers.explored import Explored, Plane
from sinkdist.solvers.members import explore
from sinkdist.solvers.planes import hard_planes
from sinkdist.solvers.prepared import Prepared

if TYPE_CHECKING:
    from sinkdist.search.cascade import Cascade

__all__ = ["Bounds"]

_LOOK = 64  #: candidates that are looked at closely before the first solve
_ALONE = 2  #: planes of the nearest candidates that are used before the others


class Bounds:
    """What is known of the distances from one histogram.

    Attributes
    ----------
    first : ndarray or None
        Places, among the survivors, of candidates to begin with, where others are not bounded as
        well yet.
    """

    def __init__(self, cascade: Cascade, r: Array) -> None:
        self._cascade, self._whole = cascade, r
        self._bins = occupied(r)
        self._r = r[self._bins]
        self._near: NearColumns | None = None
        self._waits = False  # for the limit of the first solves
        self.first: Array | None = None

    @cached_property
    def _columns(self) -> Array | None:
        """The bins that candidates use; None for all."""
        return self._cascade.columns(self._bins)

    @cached_property
    def costs(self) -> Array:
        """From the bins with mass of the histogram to those that candidates use."""
        return np.ascontiguousarray(self._cascade.task.ground.block(self._bins, self._columns))

    @cached_property
    def _transforms(self) -> Transforms:
        """Where costs are a metric and candidates compressed rows."""
        cascade = self._cascade
        assert cascade.rows is not None
        return Transforms(
            cascade.task.ground, self._bins, self._r, cascade.rows, cascade.most, cascade.blur,
            cascade.single,
        )  # fmt: skip

    def begin(self, survivors: Survivors, ranking: Ranking) -> None:
        """Bounds that need no solve, beyond those of `Cascade.start`.

        Closer bounds than those take a while: at first only the most promising candidates have
        them, which `first` names; `complete` gives them to those that their solves leave.
        """
        cascade = self._cascade
        if not cascade.is_bounded:
            return
        if not cascade.candidates.is_sparse:
            if cascade.projections is None:
                zero = hard_planes(self.costs, self._r, np.zeros((1, self._r.size)))
                cascade.candidates.raise_bounds(survivors, self._proven(zero))
            return
        self._waits = True
        if survivors.index.size <= _LOOK:
            self.complete(survivors, ranking)
        elif cascade.has_transforms:
            count = max(_LOOK, 2 * (ranking.rule.k or 0))
            at = np.argpartition(survivors.bound, min(count, survivors.bound.size) - 1)[:count]
            some = Survivors(survivors.index[at], survivors.bound[at])
            self._transforms.begin(some, np.inf)
            survivors.bound[at] = some.bound
            self.first = at

    def complete(self, survivors: Survivors, ranking: Ranking) -> None:
        """Give all survivors the bounds that `begin` has given to some, once."""
        if self._waits:
            self._waits, self.first = False, None
            if self._cascade.has_transforms and survivors.index.size:
                self._transforms.begin(survivors, ranking.limit[0])
            ranking.drop(survivors)

    def explore(self, task: Prepared, index: Array, enough: float, nearest: Array) -> Explored:
        """Solve some candidates, on the columns that they use where the member can.

        ``nearest`` are upper ends of the distance that is solved, as `Member.explore_part` takes
        them.
        """
        candidates = self._cascade.candidates
        if candidates.sparse is None or not task.member.explores_parts:
            return explore(task, self._whole, candidates.rows(index), enough)
        near = NearColumns(task.ground, self._bins, candidates.sparse, index, self._near)
        found: Explored = task.member.explore_part(
            task, near.costs, self._r, near.rows(index), enough, nearest
        )  # fmt: skip
        for k in np.flatnonzero(np.isnan(found.value)):
            found.put(int(k), explore(task, self._whole, candidates.rows(index[[k]]), enough))
        return found

    def learn(
        self, survivors: Survivors, found: Explored, task: Prepared, ranking: Ranking
    ) -> None:  # fmt: skip
        """Raise bounds to what the potentials of some solves prove, and drop what is too far.

        The nearest candidates' potentials come first: they drop most, and the others are then used
        for fewer candidates.
        """
        order = np.argsort(found.value, kind="stable")
        order = order[np.isfinite(found.f[order]).all(axis=1)]
        F, rows = found.f[order], self._cascade.candidates.sparse
        if self._cascade.has_transforms and task.member.lam == np.inf and order.size:
            self._waits, self.first = False, None  # these prove more than the bounds of `begin`
            if survivors.index.size:
                self._transforms.raise_bounds(survivors, F, ranking.limit[0])
                ranking.drop(survivors)
            return
        self.complete(survivors, ranking)
        if order.size == 0 or survivors.index.size == 0:
            return
        if self._near is None and rows is not None:
            self._near = NearColumns(self._cascade.task.ground, self._bins, rows, survivors.index)
        costs = self.costs if self._near is None else self._near.costs
        planes = self._proven(task.member.planes(costs, self._r, F, found.lam[order]))
        for some in (planes[:_ALONE], planes[_ALONE:]):
            self._raise(survivors, some)
            ranking.drop(survivors)

    def on_all_bins(self, plane: Plane) -> Plane:
        """A plane of the bins that candidates use; no candidate has mass on the others."""
        if self._columns is None:
            return plane
        g = np.zeros(self._cascade.task.ground.shape[1])
        g[self._columns] = plane.g
        return Plane(g, plane.constant)

    def _raise(self, survivors: Survivors, planes: list[Plane]) -> None:
        """Raise bounds to what planes prove."""
        if self._near is None:
            self._cascade.candidates.raise_bounds(survivors, planes)
        else:
            self._near.raise_bounds(survivors.index, planes, survivors.bound)

    def _proven(self, planes: list[Plane]) -> list[Plane]:
        """Planes with the rounding of costs on demand."""
        blur = self._cascade.blur
        if self._near is not None:
            return [Plane(x.g, x.constant - blur) for x in planes]
        return [self.on_all_bins(Plane(x.g, x.constant - blur)) for x in planes]
