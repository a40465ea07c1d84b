"""The hard constraint: the paper's metric ``d_{M,alpha}``."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sinkdist.ground import Ground
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.pair import mean_cost
from sinkdist.problem.stopping import Stopping
from sinkdist.solution.certificates import bracket_pair, least_at, rounding_of
from sinkdist.solution.plans import Plan
from sinkdist.solution.reductions import entropy
from sinkdist.solvers.bins import cut, dense_rows, in_double, sparse_rows
from sinkdist.solvers.compiled.constrained import NEARLY, constrained_pair, is_vacuous
from sinkdist.solvers.compiled.lam_search import Searches
from sinkdist.solvers.compiled.large_search import is_large
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER
from sinkdist.solvers.compiled.simplex.batch import transport
from sinkdist.solvers.compiled.upper_end import upper_end
from sinkdist.solvers.explored import Explored, Plane
from sinkdist.solvers.members.base import Member, Solved
from sinkdist.solvers.members.exact import exact_outcome, knows_metric
from sinkdist.solvers.members.independent import independence_table
from sinkdist.solvers.outcome import (
    CONSTRAINED,
    SIMPLEX,
    STATUS_CONVERGED,
    STATUS_OF,
    Answers,
    Outcome,
)
from sinkdist.solvers.planes import hard_planes, soft_plane
from sinkdist.solvers.prepared import Prepared, Wishes

__all__ = ["Constrained"]

TIGHT = 1e-8  #: a tolerance that rounding may keep the search for alpha from
SMALL_BALL = 1e-9  #: the same of an alpha
_LOOSELY = 0.99 * NEARLY  #: what is certainly asked about, whoever computes the entropies
_LARGE = 1 << 20  #: entries of a pair's kernel above which it is solved as if it were alone
_CHUNK = 2e8  #: kernel entries read in one compiled call over pairs, so that Ctrl-C is answered


class _Tried:
    """Exact plans of some pairs: values, and whether they satisfy the constraint.

    ``below`` bounds exact distances from below; it is ``-inf`` where they have not been solved.
    """

    def __init__(self, pairs: int) -> None:
        self.inside = np.zeros(pairs, bool)
        self.below = np.full(pairs, -np.inf)
        self.value, self.error = np.zeros((2, pairs))
        self.pivots = np.zeros(pairs, np.int64)


@dataclass(frozen=True, slots=True)
class Constrained(Member):
    """A positive, finite ``alpha``."""

    alpha: float
    word: ClassVar[str] = "constrained"
    lam: float = field(default=math.nan, init=False, repr=False)
    long_entries: ClassVar[float] = 1 << 14
    has_divergence: ClassVar[bool] = False
    has_planes: ClassVar[bool] = True

    def facts(self, stopping: Stopping) -> dict[str, Any]:
        """The radius, and the tolerance of the search."""
        return {
            "lam": None, "alpha": self.alpha, "tol": stopping.tol, "max_iter": stopping.max_iter
        }  # fmt: skip

    def seconds_per_entry(self, stopping: Stopping) -> float:
        """A search over several lam."""
        return 5e-8

    def _operators(self, ground: Ground, dtype: np.dtype[Any], wishes: Wishes) -> dict[str, Any]:
        alone = wishes.workers if wishes.pairs == 1 else 1
        return {"metric": knows_metric(ground, wishes), "workers": alone}

    def solve_pair(self, task: Prepared, r: Array, c: Array) -> Solved:
        """One pair; the exact distance where the ball holds every plan."""
        (rows, a), (columns, b) = cut(r), cut(c)
        below = -np.inf
        if is_vacuous(self.alpha / _LOOSELY, a, b) and not self._must_prove(task):
            tried = self._exact_plans(task, in_double(r)[None], in_double(c)[None])
            if tried.inside[0]:
                value, error, pivots = (x.item() for x in (tried.value, tried.error, tried.pivots))
                ran = STATUS_CONVERGED, SIMPLEX
                return Outcome(value, error, int(pivots), *ran, lam=np.inf), None, None
            below = float(tried.below[0])
        if is_vacuous(self.alpha, a, b):
            return exact_outcome(task, r, c, task.tol), None, None
        outcome = self._search(task, rows, columns, a, b, below)
        if outcome.plan is not None:
            outcome.plan = outcome.plan.placed(rows, columns, task.ground.shape)
        return outcome, rows, columns

    def solve_on_bins(
        self, task: Prepared, rows: Array | None, columns: Array | None, r: Array, c: Array
    ) -> Outcome:
        """The search for lam; the exact distance where its plan satisfies the constraint."""
        return self._search(task, rows, columns, r, c, -np.inf)

    def _search(
        self, task: Prepared, rows: Array | None, columns: Array | None, r: Array, c: Array,
        below: float,
    ) -> Outcome:  # fmt: skip
        """The same, with a bound on the exact distance where that has been tried."""
        costs = task.ground.block(rows, columns)
        mean = mean_cost(costs, r, c)
        least = least_at(mean, task.ground.max - task.ground.min, self.alpha)
        if mean - least <= 0.5 * task.tol * mean:  # too small to be seen
            outcome = independence_table(costs, r, c)
            rounding = 3.0 * rounding_of(r.size + c.size) * mean
            outcome.bracket = max(0.0, least - rounding), mean + rounding
            return outcome
        end = constrained_pair(
            costs, r, c, self.alpha, task.tol, task.max_iter, task.stop,
            certify=self._must_prove(task), below=below, workers=task.workers,
        )  # fmt: skip
        plan: Plan | None = end.plan
        status, ran, bracket = STATUS_OF[end.act], CONSTRAINED, end.bracket
        if end.exact is not None:
            ran, plan = SIMPLEX, end.exact.plan
            bracket = end.exact.lower, end.exact.upper
        return Outcome(
            end.value, end.error, end.n_iter, status, ran, end.f, end.g, end.lam, plan, bracket
        )

    def solve_batch(self, task: Prepared, R: Array, C: Array, answers: Answers) -> None:
        """Pairs in compiled chunks; what is left over is solved alone."""
        sizes = np.count_nonzero(R, axis=1) * np.count_nonzero(C, axis=1)
        if self._must_prove(task) or sizes.max(initial=0) > _LARGE:
            Member.solve_batch(self, task, R, C, answers)
            return
        R, C = (np.array(in_double(H), order="C") for H in (R, C))
        tried = self._exact_plans(task, R, C)
        inside, large = tried.inside, np.broadcast_to(is_large(sizes, task.max_iter), len(C))
        left, alone = np.flatnonzero(~inside & ~large), np.flatnonzero(~inside & large)
        answers.value[inside], answers.error[inside] = tried.value[inside], tried.error[inside]
        answers.n_iter[inside], answers.lam[inside] = tried.pivots[inside], np.inf
        answers.status[inside], answers.solver[inside] = STATUS_CONVERGED, SIMPLEX
        for k in alone:
            if task.stop.is_set():
                return
            self.solve_alone(task, R, C, int(k), answers)
        if left.size == 0:
            return
        some_R, some_C = R if len(R) == 1 else R[left], C[left]
        spread = task.ground.max - task.ground.min
        largest = int(np.broadcast_to(sizes, len(C))[left].max())
        searches = Searches(task.ground.dense, some_R, some_C, largest, keep_potentials=False)
        searches.below[:] = tried.below[left]
        step = max(1, int(_CHUNK / (100 * sizes.mean())))
        for first in range(0, left.size, step):
            if task.stop.is_set():
                return
            searches.run(
                first, min(first + step, left.size), self.alpha, task.tol, task.max_iter, spread,
                task.stop,
            )  # fmt: skip
        lam, value, error, n_iter, act = searches.found
        answers.lam[left], answers.value[left], answers.error[left] = lam, value, error
        answers.n_iter[left] = n_iter
        answers.status[left], answers.solver[left] = STATUS_CONVERGED, CONSTRAINED
        for k in left[act != CONVERGED]:
            if task.stop.is_set():
                return
            self.solve_alone(task, R, C, int(k), answers)

    def _exact_plans(self, task: Prepared, R: Array, C: Array) -> _Tried:
        """Exact plans of the pairs whose ball is nearly vacuous; one way for one pair and many."""
        out = _Tried(len(C))
        least = np.minimum(entropy(np, R), entropy(np, C))
        asked = np.flatnonzero(self.alpha >= NEARLY * least)
        if asked.size == 0 or task.ground.structure is not None or not task.ground.is_dense:
            return out
        R, C = np.broadcast_to(R, (len(C), R.shape[1]))[asked], C[asked]
        found = transport(
            task.ground.dense, task.ground.max, sparse_rows(R), sparse_rows(C),
            metric=task.ground.is_made_metric, stop=task.stop,
            bend=task.ground.metric_slack, keep=True,
        )  # fmt: skip
        known = asked[found.solved]
        out.value[asked], out.error[asked], out.pivots[asked] = (
            found.value, found.error, found.pivots,
        )  # fmt: skip
        out.below[known] = found.lower[found.solved]
        out.inside[asked] = found.solved & (found.information(R, C) <= self.alpha)
        return out

    def explore(self, task: Prepared, r: Array, C: Any, enough: float) -> Explored:
        """In one compiled chunk; what is left over is solved alone. Upper ends are proven later."""
        R, C = np.array(in_double(r[None]), order="C"), np.array(in_double(dense_rows(C)))
        rows = np.flatnonzero(r)
        out = Explored.blank(len(C), rows.size, STATUS_CONVERGED)
        act, F, G = np.full(len(C), HANDED_OVER), np.zeros((len(C), r.size)), np.zeros(C.shape)
        if not self._must_prove(task):
            self._explore_together(task, R, C, act, F, G, out)
        for k in range(len(C)):
            if act[k] == CONVERGED and out.lam[k] > 0.0:
                f, g = F[k], G[k]
                out.f[k] = f[rows]
                pair = out.value[k], out.lam[k], R[0], C[k], f, g
                out.prove_later(k, lambda pair=pair: self._ends(task, *pair))
            else:
                self._explore_alone(task, r, C[k], k, out)
        return out

    def _explore_together(
        self, task: Prepared, R: Array, C: Array, act: Array, F: Array, G: Array, out: Explored
    ) -> None:
        """Lam, value and error of all candidates, how each search ended, and its potentials.

        The same searches as those of `solve_batch`.
        """
        rows = np.flatnonzero(R[0])
        sizes = rows.size * np.count_nonzero(C, axis=1)
        large = np.broadcast_to(is_large(sizes, task.max_iter), len(C))
        some = np.flatnonzero(~large)
        if some.size:
            ground, most = task.ground, int(sizes[some].max())
            searches = Searches(ground.dense, R, C[some], most, keep_potentials=True)
            spread = ground.max - ground.min
            searches.run(0, some.size, self.alpha, task.tol, task.max_iter, spread, task.stop)
            out.lam[some], out.value[some], out.error[some], _, act[some] = searches.found
            F[some], G[some] = searches.F, searches.G
        task.stop.check()
        for k in np.flatnonzero(large):
            columns = np.flatnonzero(C[k])
            end = constrained_pair(
                task.ground.block(rows, columns), R[0, rows], C[k, columns], self.alpha, task.tol,
                task.max_iter, task.stop, certify=False,
            )  # fmt: skip
            out.lam[k], out.value[k], out.error[k] = end.lam, end.value, end.error
            act[k] = end.act if end.exact is None else HANDED_OVER
            F[k, rows], G[k, columns] = end.f, end.g

    def _explore_alone(self, task: Prepared, r: Array, c: Array, k: int, out: Explored) -> None:
        """One candidate, with the proof of its bracket; as good as `solve_batch` where that fails.

        A proof may stay wider than the tolerance where the value is not.
        """
        task.stop.check()
        end, rows, _ = self.solve_pair(task._replace(keep_potentials=True), r, c)
        assert end.bracket is not None and end.f is not None
        told = end if end.status == STATUS_CONVERGED else self.solve_pair(task, r, c)[0]
        out.value[k], out.error[k], out.status[k] = told.value, told.error, told.status
        out.lam[k], (out.lower[k], out.upper[k]) = end.lam, end.bracket
        out.upper[k] = max(out.upper[k], told.value)
        whole = rows is None and end.f.size == r.size
        out.f[k] = end.f[np.flatnonzero(r)] if whole else end.f

    def _ends(
        self, task: Prepared, value: float, lam: float, r: Array, c: Array, f: Array, g: Array
    ) -> tuple[float, float]:  # fmt: skip
        """An upper end that potentials prove; the sharper, slower bracket where it is far off."""
        rows, columns = np.flatnonzero(r), np.flatnonzero(c)
        costs = np.ascontiguousarray(task.ground.block(rows, columns))
        pair = costs, lam, f[rows], g[columns], r[rows], c[columns], self.alpha
        unit = rounding_of(rows.size + columns.size)
        scratch = np.empty(costs.shape), np.empty(rows.size), np.empty(columns.size)
        upper = upper_end(*pair, unit, task.ground.max, *scratch)
        return (0.0, upper) if upper <= value * (1.0 + 3.0 * task.tol) else bracket_pair(*pair)

    def planes(self, M: Array, r: Array, F: Array, lam: Array) -> list[Plane]:
        """Soft planes at the lam of each potential; hard ones where that is inf."""
        hard = iter(hard_planes(M, r, F[lam == math.inf]))
        return [
            next(hard) if mu == math.inf else soft_plane(M, r, f, mu, self.alpha)
            for f, mu in zip(F, lam.tolist(), strict=True)
            if mu > 0.0
        ]

    def _must_prove(self, task: Prepared) -> bool:
        """Whether a pair has to prove its bracket to be called solved.

        Where tolerance and alpha are far above rounding, the search's own bounds are good enough.
        """
        return task.keep_potentials or task.tol <= TIGHT or self.alpha < SMALL_BALL
