"""Unequal masses: a finite lam, and marginals that are held by a penalty.

With ``m, n`` the masses of ``r, c``, plans are any non-negative tables, and the best one minimises

    <P, M> + KL(P | r c^T / sqrt(m n)) / lam + rho_1 KL(P 1 | r) + rho_2 KL(P^T 1 | c)

where ``KL(x | y) = sum x log(x / y) - x + y``. The reference has the mean mass ``sqrt(m n)``, so
that the unit of mass does not matter: twice the masses have twice the plan. As both penalties grow
the plan tends to the balanced one where masses are equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from sinkdist.errors import InputError
from sinkdist.ground import Ground
from sinkdist.inputs.histograms import Histograms
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.masses import INVERSE1, INVERSE2
from sinkdist.kernels.pair import plan_cost
from sinkdist.problem.masses import MassPenalty
from sinkdist.problem.stopping import Stopping
from sinkdist.scale import threads
from sinkdist.solution.mass_certificates import pulled
from sinkdist.solution.mass_evidence import MassEvidence
from sinkdist.solution.plans import Plan, ScaledPlan, entropic_plan, is_blurred
from sinkdist.solvers.bins import all_bins, support
from sinkdist.solvers.compiled import unbalanced as scaling
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, RUNNING
from sinkdist.solvers.compiled.scaling import LONG
from sinkdist.solvers.compiled.unbalanced_batch import scale_together
from sinkdist.solvers.compiled.unbalanced_newton import climb
from sinkdist.solvers.members.base import Member, Solved
from sinkdist.solvers.outcome import NEWTON, STATUS_OF, Answers, Outcome
from sinkdist.solvers.prepared import Prepared, Wishes
from sinkdist.wording import option, setting

__all__ = ["Unbalanced", "refuse_strength"]

_FLOAT64 = np.dtype(np.float64)
_LARGE_KERNEL = 1 << 19  #: entries from which a kernel is built on threads
_LARGE = 1 << 20  #: entries of a pair's kernel above which it is solved as if it were alone
_AT_ONCE = 5e7  #: kernel entries read in one compiled call, so that Ctrl-C is answered


class _Side(NamedTuple):
    """A histogram on its bins with mass, divided by its mass."""

    bins: Array | None
    shape: Array
    mass: float


@dataclass(frozen=True, slots=True)
class Unbalanced(Member):
    """A positive, finite ``lam``, and a penalty on either side, one of which may be infinite."""

    lam: float
    rho: MassPenalty
    word: ClassVar[str] = "unbalanced"
    long_entries: ClassVar[float] = 1 << 16
    any_total: ClassVar[bool] = True
    has_kernel: ClassVar[bool] = True

    @property
    def is_symmetric(self) -> bool:
        """Whether both sides are held alike."""
        return self.rho[0] == self.rho[1]

    def facts(self, stopping: Stopping) -> dict[str, Any]:
        """Both strengths, and the tolerance."""
        rho = [str(side) if side == math.inf else side for side in self.rho]
        return {
            "lam": self.lam, "alpha": None, "mass_penalty": rho, "tol": stopping.tol,
            "max_iter": stopping.max_iter,
        }  # fmt: skip

    def seconds_per_entry(self, stopping: Stopping) -> float:
        """About as long as balanced pairs."""
        return 1e-8

    def check(self, iterations: int | None, solver: str) -> None:
        """Raise for a choice that there is none of."""
        if iterations is not None:
            raise InputError(
                "{} counts steps of Algorithm 1, which holds marginals exactly: leave out {}.",
                option("iterations"), option("mass_penalty"),
            )  # fmt: skip
        if solver != "auto":
            raise InputError(
                "{} is for marginals that are held exactly; with {} there is one way: leave it "
                "out.",
                setting("solver", solver), option("mass_penalty"),
            )  # fmt: skip

    def evidence(
        self, R: Histograms, C: Histograms, plans: list[Plan | None] | None,
        brackets: list[tuple[float, float] | None] | None,
    ) -> MassEvidence:  # fmt: skip
        """What a solution rests on."""
        return MassEvidence(R, C, plans, brackets, self.rho)

    def in_unit(self, unit: float) -> Unbalanced:
        """The same penalties where costs have been divided by ``unit``."""
        one, two = self.rho
        return Unbalanced(min(max(self.lam * unit, 1e-300), 1e300), (one / unit, two / unit))

    def _operators(self, ground: Ground, dtype: np.dtype[Any], wishes: Wishes) -> dict[str, Any]:
        gibbs = ground.gibbs(self.lam, _FLOAT64)
        if gibbs.fits and gibbs.size > _LARGE_KERNEL and wishes.workers > 1:
            gibbs.build(lambda bands, fill: threads.run(bands, fill, wishes.workers))
        return {"gibbs": gibbs}

    def solve_pair(self, task: Prepared, r: Array, c: Array) -> Solved:
        """One pair: sweeps where the kernel is representable, then Newton."""
        one, two = _side(r), _side(c)
        gibbs, made, outcome = task.gibbs, 0, None
        assert gibbs is not None
        if gibbs.fits:
            outcome, made = self._scaled(task, gibbs.on(one.bins, two.bins), one, two)
        if outcome is None:
            outcome = self._climbed(task, one, two, made)
        if outcome.plan is not None:
            outcome.plan = outcome.plan.placed(one.bins, two.bins, task.ground.shape)
        return outcome, one.bins, two.bins

    def solve_batch(self, task: Prepared, R: Array, C: Array, answers: Answers) -> None:
        """Pairs one by one on their own bins, or together as matrix products."""
        sizes = np.count_nonzero(R, axis=1) * np.count_nonzero(C, axis=1)
        assert task.gibbs is not None
        act = np.full(len(C), LONG)
        if task.gibbs.fits and sizes.max(initial=0) <= _LARGE:
            act = self._scale(task, R, C, answers)
        for k in np.flatnonzero((act != CONVERGED) & (act != RUNNING)):
            if task.stop.is_set():
                break
            if act[k] == LONG:
                self.solve_alone(task, R, C, int(k), answers)
                continue
            one, two = _side(R[k if len(R) > 1 else 0]), _side(C[k])
            outcome = self._climbed(task, one, two, int(answers.n_iter[k]))
            rows, columns = all_bins(one.bins, two.bins, R, C)
            answers.put(k, outcome)
            answers.put_potentials(k, rows, columns, outcome.f, outcome.g)
            if answers.plans is not None and outcome.plan is not None:
                answers.plans[k] = outcome.plan.placed(rows, columns, task.ground.shape)

    def _scaled(
        self, task: Prepared, K: Array, one: _Side, two: _Side
    ) -> tuple[Outcome | None, int]:
        """Sweeps; None for a pair that is handed over, and the sweeps made."""
        law, log_t = scaling.law_of(self.lam, self.rho), _log_t(one.mass, two.mass)
        x, y, u, v, tau, act, error, made, relaxed = scaling.scale_one(
            K, one.shape, two.shape, log_t, law, task.tol, task.max_iter, task.stop, _AT_ONCE
        )
        if act not in (CONVERGED, RUNNING):
            return None, made
        costs = task.ground.block(one.bins, two.bins)
        value = math.sqrt(one.mass) * math.sqrt(two.mass) * plan_cost(K, costs, u, v)
        outcome = Outcome(value, error, made, STATUS_OF[act], int(relaxed), lam=self.lam)
        if task.keep_potentials:
            f, g = self._bare(x, y, one, two)
            shift = _translation(law, log_t, tau[0], tau[1]) / self.lam
            outcome.f, outcome.g = f + shift, g - shift
            if is_blurred(self.lam, outcome.f, outcome.g, task.tol):
                nothing = np.zeros(x.size), np.zeros(y.size)
                scaled = u * math.sqrt(one.mass), v * math.sqrt(two.mass)
                outcome.plan = ScaledPlan(*nothing, *scaled)
        return outcome, made

    def _climbed(self, task: Prepared, one: _Side, two: _Side, made: int) -> Outcome:
        """Newton's method; value, error and status are those of the plan that is returned."""
        costs, log_t = task.ground.block(one.bins, two.bins), _log_t(one.mass, two.mass)
        end = climb(
            costs, self.lam, self.rho, one.shape, two.shape, log_t, task.tol,
            max(1, task.max_iter - made), task.stop,
        )  # fmt: skip
        law = scaling.law_of(self.lam, self.rho)
        f, g = self._bare(end.x, end.y, one, two)
        shift = _translation(law, log_t, *end.tau) / self.lam
        P = entropic_plan(costs, self.lam, f, g)
        r, c = one.shape * one.mass, two.shape * two.mass
        pulls = pulled(f + shift, g - shift, r, c, self.lam, self.rho)
        error = sum(float(np.abs(P.sum(axis=1 - k) - pulls[k]).sum()) for k in (0, 1))
        error /= math.sqrt(one.mass) * math.sqrt(two.mass)
        act = end.act
        if act == CONVERGED and not error <= task.tol:
            act = HANDED_OVER
        outcome = Outcome(
            float(np.vdot(P, costs)), error, made + end.n_iter, STATUS_OF[act], NEWTON,
            f + shift, g - shift, self.lam,
        )  # fmt: skip
        outcome.plan = ScaledPlan(f, g, np.ones(f.size), np.ones(g.size))
        return outcome

    def _bare(self, x: Array, y: Array, one: _Side, two: _Side) -> tuple[Array, Array]:
        """Potentials of the plan, in the gauge that log scalings are in."""
        f = (x + np.log(one.shape) + 0.5 * math.log(one.mass)) / self.lam
        return f, (y + np.log(two.shape) + 0.5 * math.log(two.mass)) / self.lam

    def _scale(self, task: Prepared, R: Array, C: Array, answers: Answers) -> Array:
        """Sweeps of all pairs; how each stands."""
        (R, m), (C, n) = _shapes(R), _shapes(C)
        log_t, law = (
            0.5 * (np.log(m) - np.log(n)) + np.zeros(len(C)),
            scaling.law_of(self.lam, self.rho),
        )
        mean = np.sqrt(m) * np.sqrt(n)
        value, found = scale_together(task, R, C, log_t, law)
        over = np.flatnonzero((found.act == CONVERGED) | (found.act == RUNNING))
        answers.n_iter[:] = found.n_iter
        answers.value[over], answers.error[over] = (mean * value)[over], found.error[over]
        answers.status[over] = [STATUS_OF[act] for act in found.act[over]]
        answers.solver[over] = found.relaxed[over]
        if task.keep_potentials:
            self._keep(task, R, C, m, n, log_t, law, found, over, answers)
        return found.act

    def _keep(
        self, task: Prepared, R: Array, C: Array, m: Array, n: Array, log_t: Array, law: Array,
        found: scaling.Scaled, over: Array, answers: Answers,
    ) -> None:  # fmt: skip
        """Potentials of the pairs that are over, and plans where those do not give them."""
        assert answers.f is not None and answers.g is not None and answers.plans is not None
        for k in over:
            i, j = (k if len(H) > 1 else 0 for H in (m, n))
            one = _Side(np.flatnonzero(R[k if len(R) > 1 else 0]), R[k if len(R) > 1 else 0], m[i])
            two = _Side(np.flatnonzero(C[k]), C[k], n[j])
            one, two = (side._replace(shape=side.shape[side.bins]) for side in (one, two))
            f, g = self._bare(found.X[k, one.bins], found.Y[k, two.bins], one, two)
            shift = _translation(law, log_t[k], *found.tau[k]) / self.lam
            answers.f[k, one.bins], answers.g[k, two.bins] = f + shift, g - shift
            if is_blurred(self.lam, f + shift, g - shift, task.tol):
                plan = ScaledPlan(f, g, np.ones(f.size), np.ones(g.size))
                answers.plans[k] = plan.placed(one.bins, two.bins, task.ground.shape)


def refuse_strength(name: str, value: float) -> InputError:
    """The error for a penalty on masses beside something else than a finite lam."""
    return InputError(
        "{} needs a positive, finite {} or {}. Got {} = {:g} instead.",
        option("mass_penalty"), option("lam"), option("reg"), name, value,
    )  # fmt: skip


def _side(histogram: Array) -> _Side:
    """One histogram in float64; its masses are not divided by what rounding made their sum."""
    bins = support(histogram)
    masses = np.array(histogram if bins is None else histogram[bins], np.float64)
    total = float(masses.sum())
    return _Side(bins, masses / total, total)


def _shapes(H: Array) -> tuple[Array, Array]:
    """Histograms of a batch, each divided by its mass, and the masses."""
    H = np.array(H, np.float64, order="C")
    totals = H.sum(axis=1)
    return H / totals[:, None], totals


def _log_t(first: float, second: float) -> float:
    """How unequal two masses are."""
    return 0.5 * (math.log(first) - math.log(second))


def _translation(law: Array, log_t: float, first: float, second: float) -> float:
    """The constant, in units of 1 / lam, between log scalings and the first potential.

    From the side that is held less: it knows it to more digits.
    """
    if law[INVERSE1] >= law[INVERSE2]:
        return float((log_t - first) / law[INVERSE1])
    return float((log_t + second) / law[INVERSE2])
