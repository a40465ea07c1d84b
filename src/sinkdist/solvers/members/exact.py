"""The exact distance: no entropy at all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sinkdist.ground import Ground
from sinkdist.ground.metric import BENT, looks_metric
from sinkdist.kernels.compiled import Array
from sinkdist.problem.stopping import Stopping
from sinkdist.solution.certificates import rounding_of
from sinkdist.solvers.bins import SparseRows, dense_row, dense_rows, in_double, sparse_rows
from sinkdist.solvers.closed_forms import CLOSED_FORMS
from sinkdist.solvers.compiled.exact import exact_pair
from sinkdist.solvers.compiled.relaxation import HANDED_OVER
from sinkdist.solvers.compiled.simplex.batch import NONE, transport
from sinkdist.solvers.exact_result import GAP
from sinkdist.solvers.explored import Explored, Plane
from sinkdist.solvers.members.base import Member, Solved
from sinkdist.solvers.outcome import SIMPLEX, STATUS_CONVERGED, STATUS_OF, Answers, Outcome
from sinkdist.solvers.planes import hard_planes
from sinkdist.solvers.prepared import Prepared, Wishes

__all__ = ["Exact", "exact_outcome", "knows_metric"]

#: Seconds, about: a look at one triangle, and what cancelling saves for every entry of a pair.
_CHECK, _SAVING = 2e-10, 2e-9


@dataclass(frozen=True, slots=True)
class Exact(Member):
    """``lam = inf`` or ``alpha = inf``."""

    word: ClassVar[str] = "exact"
    lam: float = field(default=math.inf, init=False, repr=False)
    long_entries: ClassVar[float] = 1 << 16
    reads_sparse: ClassVar[bool] = True
    has_closed_forms: ClassVar[bool] = True
    has_planes: ClassVar[bool] = True
    explores_parts: ClassVar[bool] = True

    def facts(self, stopping: Stopping) -> dict[str, Any]:
        """Solved to the end, whatever the tolerance."""
        return {"lam": math.inf, "alpha": None, "tol": None, "max_iter": None}

    def seconds_per_entry(self, stopping: Stopping) -> float:
        """By the transport simplex."""
        return 1e-8

    def _operators(self, ground: Ground, dtype: np.dtype[Any], wishes: Wishes) -> dict[str, Any]:
        return {"metric": knows_metric(ground, wishes)}

    def needs_matrix(self, task: Prepared) -> bool:
        """Not where there is a closed form."""
        return task.ground.structure is None

    def solve_pair(self, task: Prepared, r: Array, c: Array) -> Solved:
        """One pair on all bins."""
        if not task.keep_potentials and task.ground.structure is None:
            found = transport(
                task.ground.dense, task.ground.max, sparse_rows(r[None]), sparse_rows(c[None]),
                metric=task.metric, stop=task.stop, bend=task.ground.metric_slack,
            )  # fmt: skip
            if found.solved[0]:
                value, error, pivots = (x.item() for x in (found.value, found.error, found.pivots))
                ran = STATUS_CONVERGED, SIMPLEX
                return Outcome(value, error, pivots, *ran, lam=np.inf), None, None
        return exact_outcome(task, r, c, GAP), None, None

    def solve_batch(self, task: Prepared, R: Any, C: Any, answers: Answers) -> None:
        """All pairs in one call; those on which floats fall short are solved alone."""
        if task.ground.structure is None:
            known = self._by_simplex(task, R, C, answers)
        elif not task.keep_potentials:
            known = self._by_closed_form(task, R, C, answers)
        else:
            known = np.zeros(C.shape[0], bool)
        for k in np.flatnonzero(~known):
            task.stop.check()
            self.solve_alone(task, R, C, int(k), answers)

    def explore(self, task: Prepared, r: Array, C: Any, enough: float) -> Explored:
        """By the simplex, which gives a candidate up once it is proven to be farther."""
        rows = sparse_rows(r[None])
        out, unsure = self._explored(task, task.ground.dense, rows, sparse_rows(C), enough, NONE)
        careful = task._replace(keep_potentials=True)
        for k in unsure:
            task.stop.check()
            end = exact_outcome(careful, r, dense_row(C, int(k)), GAP)
            assert end.bracket is not None and end.f is not None
            out.value[k], out.error[k], out.status[k] = end.value, end.error, end.status
            out.lower[k], out.upper[k] = end.bracket
            out.f[k] = end.f[rows.bins]
        return out

    def explore_part(
        self, task: Prepared, M: Array, r: Array, C: SparseRows, enough: float, nearest: Array
    ) -> Explored:
        """By the simplex; NaN where floats fall short."""
        rows = SparseRows(np.array([0, r.size]), np.arange(r.size), r)
        out, unsure = self._explored(task, M, rows, C, enough, nearest)
        out.value[unsure] = np.nan
        return out

    def _explored(
        self, task: Prepared, M: Array, rows: SparseRows, others: SparseRows, enough: float,
        nearest: Array,
    ) -> tuple[Explored, Array]:  # fmt: skip
        """What the simplex finds on some costs, and the pairs that are left to a slower path."""
        count = others.start.size - 1
        slack = _margin_of_dual(rows.most, others.most, task.ground.max)
        found = transport(
            M, task.ground.max, rows, others, metric=task.metric, stop=task.stop,
            bend=task.ground.metric_slack, keep=True, enough=np.full(count, enough + slack),
            nearest=nearest, slack=slack,
        )  # fmt: skip
        out = Explored(
            found.value, found.error, found.lower, found.upper,
            np.full(count, STATUS_CONVERGED, np.int8), np.full(count, np.inf),
            found.F if found.F.shape[1] == rows.bins.size else found.F[:, rows.bins], {},
        )  # fmt: skip
        return out, np.flatnonzero(~(found.solved | found.abandoned))

    def planes(self, M: Array, r: Array, F: Array, lam: Array) -> list[Plane]:
        """Hard planes."""
        return hard_planes(M, r, F)

    def _by_simplex(self, task: Prepared, R: Any, C: Any, answers: Answers) -> Array:
        """Answer what the simplex proves; which pairs these are."""
        found = transport(
            task.ground.dense, task.ground.max, sparse_rows(R), sparse_rows(C),
            metric=task.metric, stop=task.stop, bend=task.ground.metric_slack,
            keep=task.keep_potentials,
        )  # fmt: skip
        answers.value[:], answers.error[:] = found.value, found.error
        answers.n_iter[:] = found.pivots
        answers.status[:], answers.solver[:] = STATUS_CONVERGED, SIMPLEX
        if task.keep_potentials:
            answers.f, answers.g = found.F, found.G
            answers.brackets = list(zip(found.lower.tolist(), found.upper.tolist(), strict=True))
            answers.plans = [found.plan(k) for k in range(C.shape[0])]
        return found.solved

    def _by_closed_form(self, task: Prepared, R: Any, C: Any, answers: Answers) -> Array:
        """Answer values that are a formula; which pairs these are."""
        structure = task.ground.structure
        assert structure is not None
        form = CLOSED_FORMS[structure.kind]
        value, known = form.values(structure, in_double(dense_rows(R)), in_double(dense_rows(C)))
        answers.value[known], answers.error[known], answers.n_iter[known] = value[known], 0.0, 1
        answers.status[known], answers.solver[known] = STATUS_CONVERGED, form.ran
        return known


def _margin_of_dual(m: int, n: int, top: float) -> float:
    """What rounding may add to the dual value by which the simplex gives a candidate up.

    Potentials on a spanning tree of ``m + n`` nodes differ by no more than that many costs. Where
    common mass has been cancelled, costs may violate triangles by `BENT` of the largest.
    """
    nodes = m + n
    return float((2.0 * (nodes + 1) * rounding_of(nodes) + BENT + 3.0 * rounding_of(nodes)) * top)


def knows_metric(ground: Ground, wishes: Wishes) -> bool:
    """Whether the costs are a metric by construction, or it is worth finding out.

    It is not where there is a closed form, nor where the pairs take less time than a look at all
    triangles; some are looked at first, since most costs that are no metric have many bad ones.
    A look that somebody else had does not count: the same call gives the same bits.
    """
    if ground.is_made_metric:
        return True
    if wishes.keep_potentials or ground.structure is not None:
        return False  # a plan must not depend on how many pairs there are
    d, entries = max(ground.shape), wishes.entries or ground.shape[0] * ground.shape[1]
    worth = wishes.pairs * entries * _SAVING > d**3 * _CHECK
    return worth and looks_metric(ground.dense) and bool(ground.is_metric)


def exact_outcome(task: Prepared, r: Array, c: Array, within: float) -> Outcome:
    """The exact distance of one pair on all bins; a closed form where the ground has one."""
    r, c = in_double(r), in_double(c)
    ground, structure = task.ground, task.ground.structure
    if structure is not None:
        form = CLOSED_FORMS[structure.kind]
        if not task.keep_potentials:
            value, known = form.values(structure, r[None], c[None])
            if known[0]:
                return Outcome(float(value[0]), 0.0, 1, STATUS_CONVERGED, form.ran, lam=np.inf)
        end, ran = form.exact(ground, structure, r, c), form.ran
    else:
        end = exact_pair(
            ground.dense, r, c, metric=task.metric, stop=task.stop, top=ground.max, within=within,
            bend=lambda: ground.metric_slack,
            finds_metric=lambda: looks_metric(ground.dense) and bool(ground.is_metric),
        )  # fmt: skip
        ran = SIMPLEX
    error = end.plan.marginal_error(r, c)
    status = STATUS_CONVERGED if end.solved else STATUS_OF[HANDED_OVER]
    bracket = end.lower, end.upper
    return Outcome(
        end.value, error, end.pivots, status, ran, end.f, end.g, np.inf, end.plan, bracket
    )
