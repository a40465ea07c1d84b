"""Which bounds hold for a ground and a member, and in which order they are used.

Every bound here is proven: there is no other way by which a candidate is dropped. A bound on the
exact distance holds for every member that is at least the exact distance; `iterations=` gives plans
that are no couplings, whose cost nothing bounds.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from sinkdist.ground import Ground
from sinkdist.kernels.compiled import Array
from sinkdist.problem.problem import Problem
from sinkdist.search import projections, relaxed, transforms
from sinkdist.search.bounds import Bounds
from sinkdist.search.candidates import Candidates
from sinkdist.search.projections import Features, Projections
from sinkdist.search.relaxed import Relaxed
from sinkdist.solvers.bins import SparseRows
from sinkdist.solvers.members import Exact
from sinkdist.solvers.prepared import Prepared, Wishes

__all__ = ["MANY", "Cascade", "copies_costs"]

PLANES, NOTHING = "planes", ()
MANY = 1000  #: candidates from which projections are worth their preparation
_COPIED = 2  #: pairs for every bin from which a copy of the costs is worth making


class Cascade:
    """The bounds that hold for a problem, prepared for its candidates.

    Attributes
    ----------
    task : Prepared
        The member that is asked for.
    exact : Prepared or None
        The exact distance in the same unit, where its solves sharpen bounds: its potentials have
        planes, and those of the member have none.
    single : ndarray or None
        The matrix of costs in single precision, as bounds of compressed rows take them anyway: half
        as much to read. None where too few pairs are expected to make it worth the copy.
    rows : SparseRows or None
        Candidates in compressed rows, with bins as short integers: bounds read them again and
        again.
    most : int
        Bins with mass in any of these, at most.
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
        ground = self.task.ground
        # Costs on demand are computed once for bounds and once for solves, each rounded; and so are
        # the three of a triangle.
        self.blur = 5.0 * ground.rounding * ground.max
        self.relaxed: Relaxed | None = None
        self.single: Array | None = None
        self.rows: SparseRows | None = None
        self.most = 0
        if self.is_bounded and candidates.sparse is not None:
            start, bins, mass = candidates.sparse
            self.rows = SparseRows(start, bins.astype(np.int32), mass)
            self.most = self.rows.most
            if copies_costs(ground, pairs) and (metric or self.projections is None):
                self.single = ground.dense.astype(np.float32)
            if self.projections is None:
                self.relaxed = Relaxed(
                    ground, self.rows, self._used, metric, self.blur, self.single
                )  # fmt: skip
        self.names: tuple[str, ...] = NOTHING
        if self.is_bounded:
            self.names = (
                *((projections.NAME,) if self.projections is not None else ()),
                *((relaxed.NAME,) if self.relaxed is not None else ()),
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
        if self.relaxed is not None:
            return self.relaxed.bounds(R)
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


def copies_costs(ground: Ground, pairs: int) -> bool:
    """Whether so many pairs are worth a copy of the costs in single precision."""
    return ground.is_dense and pairs >= _COPIED * ground.shape[1]


def _with_matrix(problem: Problem) -> Problem:
    """The same on the matrix of costs, where it is small enough to be made."""
    ground = problem.ground
    if ground.is_dense or ground.refusal("costs", "") is not None:
        return problem
    rows, columns = (np.arange(size) for size in ground.shape)
    return replace(problem, ground=ground.on(rows, columns))
