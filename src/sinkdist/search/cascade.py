"""Which bounds hold for a ground and a member, and in which order they are used.

Every bound here is proven: there is no other way by which a candidate is dropped. A bound on the
exact distance holds for every member that is at least the exact distance; `iterations=` gives plans
that are no couplings, whose cost nothing bounds.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from sinkdist.kernels.compiled import Array
from sinkdist.problem.problem import Problem
from sinkdist.search import projections, transforms
from sinkdist.search.candidates import Candidates, Survivors
from sinkdist.search.projections import Features, Projections
from sinkdist.search.ranking import Ranking
from sinkdist.search.transforms import Transforms
from sinkdist.solvers.explored import Explored, Plane
from sinkdist.solvers.members import Exact
from sinkdist.solvers.planes import hard_plane
from sinkdist.solvers.prepared import Prepared, Wishes

__all__ = ["MANY", "Bounds", "Cascade"]

PLANES, NOTHING = "planes", ()
MANY = 1000  #: candidates from which projections are worth their preparation
_SHARP = 10  #: potentials of a round that are transformed twice, at most
_WORTH = 1 / 64  #: of the candidates that one has to drop: its time over that of a solve, about
_LOOK = 256  #: candidates that are looked at closely before the first solve
_ALONE = 2  #: planes of the nearest candidates that are used before the others


class Cascade:
    """The bounds that hold for a problem, prepared for its candidates.

    Attributes
    ----------
    task : Prepared
        The member that is asked for.
    exact : Prepared or None
        The exact distance in the same unit, where its solves sharpen bounds: its potentials have
        planes, and those of the member have none.
    names : tuple of str
        Of the bounds that are used.
    """

    def __init__(
        self, problem: Problem, candidates: Candidates, pairs: int,
        features: Features | None = None,
    ) -> None:  # fmt: skip
        self.candidates, problem = candidates, _with_matrix(problem)
        self.task: Prepared = problem.member.prepare(problem, Wishes(pairs=pairs))
        self.is_bounded = problem.stopping.iterations is None
        self.has_planes = self.is_bounded and self.task.member.has_planes
        self.exact: Prepared | None = None
        if self.is_bounded and self.task.member.bounded_by_exact:
            self.exact = Exact().prepare(problem, Wishes(pairs=pairs))
        self.projections: Projections | None = None
        worth = features is not None or (candidates.n >= MANY and self.task.ground.is_dense)
        if worth and (self.exact is not None or self.has_planes):
            self.projections = Projections.of(self.task.ground, candidates, features)
        self._used: Array | None = None  # bins of candidates, where costs are computed on demand
        if not self.task.ground.is_dense:
            self._used = candidates.used_bins()
        metric = (self.exact or self.task).metric
        self.has_transforms = self.is_bounded and candidates.is_sparse and metric
        self.names: tuple[str, ...] = NOTHING
        if self.is_bounded:
            self.names = (
                *((projections.NAME,) if self.projections is not None else ()),
                *((transforms.NAME,) if self.has_transforms else ()),
                PLANES,
            )  # fmt: skip

    def with_potentials(self, problem: Problem) -> Cascade:
        """The same where the member's own potentials are wanted, for estimates."""
        other = copy(self)
        other.task = problem.member.prepare(_with_matrix(problem), Wishes(True))
        return other

    def start(self, R: Array) -> Array:
        """Bounds on the distances from each row of ``R`` to all candidates, before any solve."""
        if self.projections is not None:
            return self.projections.bounds(R)
        return np.zeros((len(R), self.candidates.n))

    def columns(self, bins: Array) -> Array | None:
        """Bins that a query with mass on ``bins`` has costs to; None for all of them."""
        if self._used is None:
            return None
        rows, columns = self.task.ground.shape
        return np.union1d(self._used, bins) if rows == columns else self._used

    def for_query(self, r: Array) -> Bounds:
        """The bounds of one query."""
        return Bounds(self, r)


def _with_matrix(problem: Problem) -> Problem:
    """The same on the matrix of costs, where it is small enough to be made."""
    ground = problem.ground
    if ground.is_dense or ground.refusal("costs", "") is not None:
        return problem
    rows, columns = (np.arange(size) for size in ground.shape)
    return replace(problem, ground=ground.on(rows, columns))


class Bounds:
    """What is known of the distances from one histogram.

    Attributes
    ----------
    costs : ndarray
        From the bins with mass of the histogram to those that candidates use.
    first : ndarray or None
        Candidates to begin with, where others are not bounded as well yet.
    """

    def __init__(self, cascade: Cascade, r: Array) -> None:
        self._cascade, ground = cascade, cascade.task.ground
        self._bins = np.flatnonzero(r)
        self._r = r[self._bins]
        self._columns = cascade.columns(self._bins)
        self.costs = np.ascontiguousarray(ground.block(self._bins, self._columns))
        # Costs on demand are computed once for bounds and once for solves, each rounded; and so are
        # the three of a triangle.
        self._blur = 5.0 * ground.rounding * ground.max
        self._transforms: Transforms | None = None
        self._plane: Plane | None = None  # of no potential, until all survivors have its transforms
        self.first: Array | None = None
        if cascade.has_transforms:
            self._transforms = Transforms(
                self.costs, self._columns, ground.max, r, cascade.candidates, self._blur
            )

    def begin(self, survivors: Survivors) -> None:
        """Bounds that need no solve, beyond those of `Cascade.start`.

        Two transforms take longer than a plane: at first only the most promising candidates have
        them, which `first` names; `complete` gives them to those that their solves leave.
        """
        cascade = self._cascade
        if not cascade.is_bounded or cascade.projections is not None:
            return
        plane = self._proven(hard_plane(self.costs, self._r, np.zeros(self._r.size)))
        cascade.candidates.raise_bounds(survivors, [plane])
        if self._transforms is None:
            return
        self._plane = plane
        if survivors.index.size > _LOOK:
            at = np.argpartition(survivors.bound, _LOOK - 1)[:_LOOK]
            some = Survivors(survivors.index[at], survivors.bound[at])
            self._transforms.begin(some, plane)
            survivors.bound[at] = some.bound
            self.first = some.index

    def complete(self, survivors: Survivors, ranking: Ranking) -> None:
        """Give all survivors the bounds of `begin`, once."""
        if self._plane is not None and self._transforms is not None:
            self._transforms.begin(survivors, self._plane)
            ranking.drop(survivors)
        self._plane, self.first = None, None

    def learn(
        self, survivors: Survivors, found: Explored, task: Prepared, ranking: Ranking
    ) -> None:  # fmt: skip
        """Raise bounds to what the potentials of some solves prove, and drop what is too far.

        The nearest candidates' planes come first, and alone: they drop most, and the other planes
        are then read for fewer candidates.
        """
        order = np.argsort(found.value, kind="stable")
        order = order[np.isfinite(found.f[order]).all(axis=1)]
        proven = [self._plane_of(task, found.f[k], float(found.lam[k])) for k in order]
        planes = [x for x in proven if x is not None]
        for some in (planes[:_ALONE], planes[_ALONE:]):
            self._cascade.candidates.raise_bounds(survivors, some)
            ranking.drop(survivors)
        self.complete(survivors, ranking)
        if self._transforms is not None and task.member.lam == np.inf:
            for k, plane in enumerate(planes[:_SHARP]):
                before = survivors.index.size
                self._transforms.raise_bounds(survivors, plane.g)
                ranking.drop(survivors)
                if k >= _ALONE and survivors.index.size > (1.0 - _WORTH) * before:
                    break

    def on_all_bins(self, plane: Plane) -> Plane:
        """A plane of the bins that candidates use; no candidate has mass on the others."""
        if self._columns is None:
            return plane
        g = np.zeros(self._cascade.task.ground.shape[1])
        g[self._columns] = plane.g
        return Plane(g, plane.constant)

    def _plane_of(self, task: Prepared, f: Array, lam: float) -> Plane | None:
        plane: Plane | None = task.member.plane(self.costs, self._r, f, lam)
        return None if plane is None else self._proven(plane)

    def _proven(self, plane: Plane) -> Plane:
        """A plane with the rounding of costs on demand."""
        return self.on_all_bins(Plane(plane.g, plane.constant - self._blur))
