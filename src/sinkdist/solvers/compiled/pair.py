"""One pair at a finite lam, on the bins that have mass: what its solver tries, in order."""

from __future__ import annotations

import numpy as np

from sinkdist.ground.gibbs import Gibbs
from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.pair import mean_cost, plan_cost
from sinkdist.scale import threads
from sinkdist.solution.plans import ScaledPlan, SparsePlan, is_blurred, value_and_error
from sinkdist.solvers.compiled.accelerated import (
    Reached,
    accelerated,
    accelerated_path,
    is_accelerated,
    may_be_accelerated,
)
from sinkdist.solvers.compiled.algorithm1 import (
    algorithm1_log,
    algorithm1_pair,
    plan_with_exact_columns,
)
from sinkdist.solvers.compiled.ladder import ContinuationResult, climb, climb_through
from sinkdist.solvers.compiled.limit import at_the_limit, is_lost, reconsidered
from sinkdist.solvers.compiled.log import log_sweeps, plan_of
from sinkdist.solvers.compiled.relaxation import (
    CONVERGED,
    FIELDS,
    HANDED_OVER,
    OMEGA,
    RESUME,
    RUNNING,
    SWEEPS,
    THETA2,
)
from sinkdist.solvers.compiled.scaling import rows_exact, scale_pair
from sinkdist.solvers.compiled.symmetric import (
    MOST_SWEEPS,
    is_against_itself,
    symmetric_pair,
)
from sinkdist.solvers.outcome import (
    ALGORITHM1,
    LOG,
    NEWTON,
    STATUS_CONVERGED,
    STATUS_FIXED,
    STATUS_OF,
    SYMMETRIC,
    Outcome,
)
from sinkdist.solvers.policy import SHARED_ENTRIES
from sinkdist.solvers.prepared import Prepared

__all__ = ["fall_back", "fixed", "is_hopeless", "may_be_hopeless", "solve_along", "to_tolerance"]

HOPELESS = 25.0  #: lam times the mean cost beyond which Newton is not preceded by sweeps
EASY = 30.0  #: lam times the largest cost below which that is not even asked
READ_AT_ONCE = 5e7  #: kernel entries read in one compiled call, so that Ctrl-C is answered


def _of_large(task: Prepared, costs: Array, r: Array, c: Array, whole: bool) -> Outcome:
    """Accelerated sweeps; where they are given up, Newton's method, from there or on its ladder."""
    end = accelerated(task, costs, r, c, whole)
    if not isinstance(end, Reached):
        return fall_back(task, costs, r, c, 0) if end is None else end
    return fall_back(task, costs, r, c, end.n_iter, end.start)


def fall_back(
    task: Prepared, costs: Array, r: Array, c: Array, made: int,
    start: tuple[Array, Array] | None = None,
) -> Outcome:  # fmt: skip
    """What sweeps hand over after ``made`` of them: Newton on a ladder, or log-domain sweeps.

    ``start`` holds potentials near the solution, where they are known.
    """
    lam, tol, allowance = task.member.lam, task.tol, max(1, task.max_iter - made)
    if is_lost(costs, lam, r, c):
        outcome = at_the_limit(costs, lam, r, c, tol, task.stop)
        if outcome.status == STATUS_CONVERGED:
            outcome.n_iter += made
            return outcome
    if task.solver.symmetric and is_against_itself(costs, r, c):
        with np.errstate(over="ignore"):
            K = np.exp(-lam * costs)
        u, v, off, few = symmetric_pair(K, r, tol, min(MOST_SWEEPS, allowance), task.stop)
        made, allowance = made + few, max(1, allowance - few)
        if off <= tol:
            return _outcome(task, K, costs, u, v, off, made, STATUS_CONVERGED, SYMMETRIC)
    if task.solver.fallback == "newton":
        end = climb(costs, lam, r, c, tol, allowance, task.stop, start, task.workers)
        outcome = _climbed(end, lam)
    else:
        f, g = np.zeros(r.size), np.zeros(c.size)
        sweeps, swept = log_sweeps(costs, lam, r, c, f, g, tol, allowance, task.stop)
        plan, value, error = plan_of(costs, lam, f, g, r, c, tol, resweep=swept <= tol)
        act = CONVERGED if error <= tol else (HANDED_OVER if swept <= tol else RUNNING)
        outcome = Outcome(value, error, sweeps, STATUS_OF[act], LOG, f, g, lam, plan)
    outcome.n_iter += made
    return reconsidered(outcome, costs, r, c, tol, task.stop)


def solve_along(
    costs: Array, lams: list[float], r: Array, c: Array, tol: float, max_iter: int, stop: Stop,
    workers: int = 1,
) -> list[Outcome]:  # fmt: skip
    """One pair on bins with mass at each of the rising ``lams``, which help one another."""
    if may_be_accelerated(costs.size, max_iter):
        found = accelerated_path(costs, lams, r, c, tol, max_iter, stop, workers)
        return [
            _climbed_on(end, costs, lam, r, c, tol, max_iter, stop)
            if isinstance(end, Reached) else end
            for lam, end in zip(lams, found, strict=True)
        ]  # fmt: skip
    ends = zip(lams, climb_through(costs, lams, r, c, tol, max_iter, stop), strict=True)
    return [reconsidered(_climbed(end, lam), costs, r, c, tol, stop) for lam, end in ends]


def _climbed_on(
    reached: Reached, costs: Array, lam: float, r: Array, c: Array, tol: float, max_iter: int,
    stop: Stop,
) -> Outcome:  # fmt: skip
    """One pair by Newton's method, from where sweeps were given up."""
    allowance = max(1, max_iter - reached.n_iter)
    end = climb(costs, lam, r, c, tol, allowance, stop, reached.start)
    outcome = _climbed(end, lam)
    outcome.n_iter += reached.n_iter
    return reconsidered(outcome, costs, r, c, tol, stop)


def _climbed(end: ContinuationResult, lam: float) -> Outcome:
    """Where a climb ended, as an outcome."""
    return Outcome(
        end.value, end.error, end.n_iter, STATUS_OF[end.act], NEWTON, end.f, end.g, lam, end.plan
    )


def is_hopeless(task: Prepared, mean: float | Array) -> bool | Array:
    """Whether sweeps would be too many, by the mean cost under independence."""
    lam: float = task.member.lam
    return lam * mean > HOPELESS


def may_be_hopeless(task: Prepared) -> bool:
    """Whether to ask at all: only a solver with a better fallback, at a lam that is not small."""
    lam, largest = task.member.lam, task.ground.max
    return task.solver.fallback == "newton" and lam * largest > EASY


def to_tolerance(
    task: Prepared, costs: Array, rows: Array | None, columns: Array | None, r: Array, c: Array
) -> Outcome:
    """Scaling where it promises something, then the fallback."""
    gibbs, patience, made = task.gibbs, task.solver.patience, 0
    assert gibbs is not None
    if is_accelerated(task, costs.size) and not is_against_itself(costs, r, c):
        return _of_large(task, costs, r, c, rows is None and columns is None)
    tried = gibbs.fits and patience is not None
    if tried and may_be_hopeless(task):
        tried = not is_hopeless(task, mean_cost(costs, r, c))
    if tried and patience is not None:
        kernel = _kernel(task, gibbs, rows, columns)
        outcome, made = _scaled(task, patience, kernel, costs, r, c)
        if outcome is not None:
            return outcome
    return fall_back(task, costs, r, c, made)


def _kernel(task: Prepared, gibbs: Gibbs, rows: Array | None, columns: Array | None) -> Array:
    """The block of the kernel between some bins; a large kernel is built on threads."""
    if task.workers > 1 and gibbs.size >= SHARED_ENTRIES:
        gibbs.build(lambda bands, fill: threads.run(bands, fill, task.workers))
    return gibbs.on(rows, columns)


def _scaled(
    task: Prepared, patience: float, K: Array, costs: Array, r: Array, c: Array
) -> tuple[Outcome | None, int]:
    """Sweeps; None for a pair that is handed over, and the sweeps made."""
    u, v, acc, state = np.empty(r.size), np.empty(c.size), np.empty(c.size), np.zeros(FIELDS)
    v.fill(1.0)
    state[OMEGA] = state[RESUME] = 1.0  # as by `begin`, without a call of compiled code
    step = max(1, int(READ_AT_ONCE / K.size))
    act, error, left = RUNNING, np.inf, task.max_iter
    while act == RUNNING and left > 0:
        task.stop.check()
        some = min(step, left)
        act, error = scale_pair(K, r, c, u, v, acc, state, task.tol, patience, some)
        left -= some
    made = int(state[SWEEPS])
    if act == RUNNING:
        error = rows_exact(K, r, c, u, v, acc)
    elif act != CONVERGED:
        return None, made
    ran = int(state[THETA2] > 0.0)
    return _outcome(task, K, costs, u, v, error, made, STATUS_OF[act], ran), made


def _outcome(
    task: Prepared, K: Array, costs: Array, u: Array, v: Array, error: float, made: int,
    status: int, ran: int,
) -> Outcome:  # fmt: skip
    """The plan ``diag(u) K diag(v)``, as an outcome."""
    lam = task.member.lam
    outcome = Outcome(plan_cost(K, costs, u, v), error, made, status, ran, lam=lam)
    if task.keep_potentials:
        outcome.f, outcome.g = np.log(u) / lam, np.log(v) / lam
        if is_blurred(lam, outcome.f, outcome.g, task.tol):
            outcome.plan = ScaledPlan(np.zeros(u.size), np.zeros(v.size), u, v)
    return outcome


def fixed(
    task: Prepared, costs: Array, rows: Array | None, columns: Array | None, r: Array, c: Array
) -> Outcome:
    """Algorithm 1; in the log domain where the kernel or a scaling is not representable."""
    gibbs, steps, lam = task.gibbs, task.iterations, task.member.lam
    assert gibbs is not None and steps is not None
    K = _kernel(task, gibbs, rows, columns) if gibbs.fits else None
    scalings = None if K is None else algorithm1_pair(K, r, c, steps, task.stop)
    if K is not None and scalings is not None:
        u, v = scalings
        wanted = task.keep_potentials or task.need_error
        error = float(np.abs(u * (K @ v) - r).sum()) if wanted else np.nan  # columns are exact
        outcome = Outcome(
            plan_cost(K, costs, u, v), error, steps, STATUS_FIXED, ALGORITHM1, lam=lam
        )
        if task.keep_potentials:
            outcome.f, outcome.g = np.log(u) / lam, np.log(v) / lam
        return outcome
    f, g = algorithm1_log(costs, lam, r, c, steps, task.stop)
    P = plan_with_exact_columns(costs, lam, f, c)
    value, error = value_and_error(P, costs, r, c)
    outcome = Outcome(value, error, steps, STATUS_FIXED, ALGORITHM1, f, g, lam)
    if is_blurred(lam, f, g, task.tol):  # the potentials do not give this plan
        outcome.plan = SparsePlan.of(P)
    return outcome
