"""Which bounds hold for a ground and a member, and in which order they are used.

Every bound here is proven: there is no other way by which a candidate is dropped. A bound on the
exact distance holds for every member that is at least the exact distance; `iterations=` gives plans
that are no couplings, whose cost nothing bounds.
"""

from __future__ import annotations

from copy import copy

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

__all__ = ["Bounds", "Cascade"]

PLANES, NOTHING = "planes", ()
_MANY = 1000  #: candidates from which projections are worth their preparation
_SHARP = 10  #: potentials of a round that are transformed twice
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
        self.candidates = candidates
        self.task: Prepared = problem.member.prepare(problem, Wishes(pairs=pairs))
        self.is_bounded = problem.stopping.iterations is None
        self.has_planes = self.is_bounded and self.task.member.has_planes
        self.exact: Prepared | None = None
        if self.is_bounded and self.task.member.bounded_by_exact:
            self.exact = Exact().prepare(problem, Wishes(pairs=pairs))
        self.projections: Projections | None = None
        worth = features is not None or candidates.n >= _MANY
        if worth and (self.exact is not None or self.has_planes):
            self.projections = Projections.of(self.task.ground, candidates, features)
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
        other.task = problem.member.prepare(problem, Wishes(True))
        return other

    def start(self, R: Array) -> Array:
        """Bounds on the distances from each row of ``R`` to all candidates, before any solve."""
        if self.projections is not None:
            return self.projections.bounds(R)
        return np.zeros((len(R), self.candidates.n))

    def for_query(self, r: Array) -> Bounds:
        """The bounds of one query."""
        return Bounds(self, r)


class Bounds:
    """What is known of the distances from one histogram."""

    def __init__(self, cascade: Cascade, r: Array) -> None:
        self._cascade, ground = cascade, cascade.task.ground
        self._bins = np.flatnonzero(r)
        self._r = r[self._bins]
        self._costs = np.ascontiguousarray(ground.block(self._bins, None))
        self._transforms: Transforms | None = None
        if cascade.has_transforms:
            self._transforms = Transforms(self._costs, ground.max, r, cascade.candidates)

    def begin(self, survivors: Survivors) -> None:
        """Bounds that need no solve, beyond those of `Cascade.start`."""
        cascade = self._cascade
        if not cascade.is_bounded or cascade.projections is not None:
            return
        plane = hard_plane(self._costs, self._r, np.zeros(self._r.size))
        if self._transforms is not None:
            self._transforms.begin(survivors, plane)
        else:
            cascade.candidates.raise_bounds(survivors, [plane])

    def learn(
        self, survivors: Survivors, found: Explored, task: Prepared, ranking: Ranking
    ) -> None:  # fmt: skip
        """Raise bounds to what the potentials of some solves prove, and drop what is too far.

        The nearest candidates' planes come first, and alone: they drop most, and the other planes
        are then read for fewer candidates.
        """
        order = np.argsort(found.value, kind="stable")
        order = order[np.isfinite(found.f[order]).all(axis=1)]
        proven = [self._plane(task, found.f[k], float(found.lam[k])) for k in order]
        planes = [x for x in proven if x is not None]
        for some in (planes[:_ALONE], planes[_ALONE:]):
            self._cascade.candidates.raise_bounds(survivors, some)
            ranking.drop(survivors)
        if self._transforms is not None and task.member.lam == np.inf:
            for plane in planes[:_SHARP]:
                self._transforms.raise_bounds(survivors, plane.g)
                ranking.drop(survivors)

    def _plane(self, task: Prepared, f: Array, lam: float) -> Plane | None:
        plane: Plane | None = task.member.plane(self._costs, self._r, f, lam)
        return plane
