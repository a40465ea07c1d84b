"""Solving one pair: whichever member of the family is asked for, on the bins that have mass."""

from __future__ import annotations

import numpy as np

from sinkdist.interrupts import Stop, beside_main
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.pair import gather, mean_cost, plan_cost
from sinkdist.problem.strength import Kind
from sinkdist.solution.certificates import least_at, rounding_of
from sinkdist.solution.plans import Plan, ScaledPlan, SparsePlan, is_blurred, value_and_error
from sinkdist.solvers.compiled.algorithm1 import (
    algorithm1_log,
    algorithm1_pair,
    plan_with_exact_columns,
)
from sinkdist.solvers.compiled.constrained import constrained_pair, is_vacuous
from sinkdist.solvers.compiled.exact import GAP, exact_on_line, exact_pair
from sinkdist.solvers.compiled.ladder import ContinuationResult, climb, climb_through
from sinkdist.solvers.compiled.limit import at_the_limit, is_lost, reconsidered
from sinkdist.solvers.compiled.log import log_sweeps, plan_of
from sinkdist.solvers.compiled.relaxation import (
    CONVERGED,
    FIELDS,
    HANDED_OVER,
    RUNNING,
    SWEEPS,
    THETA2,
    begin,
)
from sinkdist.solvers.compiled.scaling import rows_exact, scale_pair
from sinkdist.solvers.outcome import (
    ALGORITHM1,
    CONSTRAINED,
    INDEPENDENCE,
    LINE,
    LOG,
    NEWTON,
    SIMPLEX,
    STATUS_CONVERGED,
    STATUS_FIXED,
    STATUS_OF,
    Outcome,
)
from sinkdist.solvers.task import Task

__all__ = [
    "block_of", "fall_back", "in_double", "is_certified", "is_hopeless",
    "solve_along", "solve_in_units", "solve_interruptibly", "solve_pair",
]  # fmt: skip

TIGHT = 1e-8  #: a tolerance that rounding may keep the search for alpha from
SMALL_BALL = 1e-9  #: the same of an alpha
HOPELESS = 25.0  #: lam times the mean cost beyond which Newton is not preceded by sweeps
EASY = 30.0  #: lam times the largest cost below which that is not even asked
#: Entries of a pair's kernel from which one compiled call may take longer than Ctrl-C may wait.
LONG_ENTRIES = {Kind.PENALISED: 1 << 20, Kind.CONSTRAINED: 1 << 14, Kind.EXACT: 1 << 16}
READ_AT_ONCE = 5e7  #: kernel entries read in one compiled call, so that Ctrl-C is answered


def solve_interruptibly(
    task: Task, r: Array, c: Array
) -> tuple[Outcome, Array | None, Array | None]:
    """`solve_pair` for the caller of a verb: beside the main thread where it may take long."""
    enough = LONG_ENTRIES.get(task.strength.kind, np.inf)
    if r.size * c.size <= enough or np.count_nonzero(r) * np.count_nonzero(c) <= enough:
        return solve_pair(task, r, c)
    return beside_main(lambda: solve_pair(task, r, c), task.stop)


def solve_pair(task: Task, r: Array, c: Array) -> tuple[Outcome, Array | None, Array | None]:
    """One pair; the outcome, and the bins with mass of both sides (None for all)."""
    outcome, rows, columns = solve_in_units(task, r, c)
    if task.unit != 1.0:
        outcome.in_units_of(task.unit, task.asked_lam)
    return outcome, rows, columns


def solve_in_units(task: Task, r: Array, c: Array) -> tuple[Outcome, Array | None, Array | None]:
    """The same in the task's own unit of cost."""
    kind = task.strength.kind
    if kind is Kind.EXACT:
        return _exact(task, r, c), None, None
    whole_r, whole_c, rows, columns = r, c, _support(r), _support(c)
    r, c = in_double(r), in_double(c)
    if rows is not None:
        r = r[rows]
    if columns is not None:
        c = c[columns]
    r, c = (x if x.flags.writeable else x.copy() for x in (r, c))  # one compiled type for all
    costs = block_of(task.ground.costs, rows, columns)
    if kind is Kind.INDEPENDENCE:
        return _independent(costs, r, c), rows, columns
    if kind is Kind.CONSTRAINED:
        if is_vacuous(task.strength.alpha, r, c):
            return _exact(task, whole_r, whole_c), None, None
        outcome = _constrained(task, costs, r, c)
    elif task.iterations is not None:
        outcome = _fixed(task, costs, rows, columns, r, c)
    else:
        outcome = _penalised(task, costs, rows, columns, r, c)
    if outcome.plan is not None:
        outcome.plan = outcome.plan.placed(rows, columns, task.ground.shape)
    return outcome, rows, columns


def in_double(weights: Array) -> Array:
    """Histograms (the last axis) in float64; what float32 summed to 1 is made to sum to 1 again."""
    if weights.dtype == np.float64:
        return weights
    weights = weights.astype(np.float64)
    return np.asarray(weights / weights.sum(axis=-1, keepdims=True))


def fall_back(task: Task, costs: Array, r: Array, c: Array, made: int) -> Outcome:
    """What scaling hands over after ``made`` sweeps: Newton on a ladder, or log-domain sweeps."""
    lam, tol, allowance = task.strength.lam, task.tol, max(1, task.max_iter - made)
    if is_lost(costs, lam, r, c):
        outcome = at_the_limit(costs, lam, r, c, tol, task.stop)
        if outcome.status == STATUS_CONVERGED:
            outcome.n_iter += made
            return outcome
    if task.solver.fallback == "newton":
        end = climb(costs, lam, r, c, tol, allowance, task.stop)
        outcome = _climbed(end, lam)
    else:
        f, g = np.zeros(r.size), np.zeros(c.size)
        sweeps, swept = log_sweeps(costs, lam, r, c, f, g, tol, allowance, task.stop)
        plan, value, error = plan_of(costs, lam, f, g, r, c, tol, mended=swept <= tol)
        act = CONVERGED if error <= tol else (HANDED_OVER if swept <= tol else RUNNING)
        outcome = Outcome(value, error, sweeps, STATUS_OF[act], LOG, f, g, lam, plan)
    outcome.n_iter += made
    return reconsidered(outcome, costs, r, c, tol, task.stop)


def solve_along(
    costs: Array, lams: list[float], r: Array, c: Array, tol: float, max_iter: int, stop: Stop
) -> list[Outcome]:
    """One pair on bins with mass at each of the rising ``lams``, which help one another."""
    found = []
    for lam, end in zip(lams, climb_through(costs, lams, r, c, tol, max_iter, stop), strict=True):
        found.append(reconsidered(_climbed(end, lam), costs, r, c, tol, stop))
    return found


def _climbed(end: ContinuationResult, lam: float) -> Outcome:
    """Where a climb ended, as an outcome."""
    return Outcome(
        end.value, end.error, end.n_iter, STATUS_OF[end.act], NEWTON, end.f, end.g, lam, end.plan
    )


def is_hopeless(task: Task, mean: float | Array) -> bool | Array:
    """Whether sweeps would be too many, by the mean cost under independence."""
    return task.strength.lam * mean > HOPELESS


def may_be_hopeless(task: Task) -> bool:
    """Whether to ask at all: only a solver with a better fallback, at a lam that is not small."""
    lam, largest = task.strength.lam, task.ground.max
    return task.solver.fallback == "newton" and lam * largest > EASY


def block_of(matrix: Array, rows: Array | None, columns: Array | None) -> Array:
    """The part of a matrix on the given bins; the matrix itself where that is all of it."""
    if rows is None and columns is None:
        return matrix
    rows = np.arange(matrix.shape[0]) if rows is None else rows
    columns = np.arange(matrix.shape[1]) if columns is None else columns
    out = np.empty((rows.size, columns.size), matrix.dtype)
    gather(matrix, rows, columns, out)
    return out


def _support(histogram: Array) -> Array | None:
    """The bins with mass, or None when that is all of them."""
    return None if np.count_nonzero(histogram) == histogram.size else np.flatnonzero(histogram)


def _exact(task: Task, r: Array, c: Array) -> Outcome:
    """The exact distance; a closed form where the bins lie on a line."""
    r, c = in_double(r), in_double(c)
    line = task.ground.line
    if line is not None:
        end, ran = exact_on_line(line, task.ground.costs, r, c), LINE
    else:
        within = GAP if task.strength.kind is Kind.EXACT else task.tol
        end = exact_pair(task.ground.costs, r, c, metric=task.metric, stop=task.stop, within=within)
        ran = SIMPLEX
    error = end.plan.marginal_error(r, c)
    status = STATUS_CONVERGED if end.solved else STATUS_OF[HANDED_OVER]
    bracket = end.lower, end.upper
    return Outcome(end.value, error, 1, status, ran, end.f, end.g, np.inf, end.plan, bracket)


def _constrained(task: Task, costs: Array, r: Array, c: Array) -> Outcome:
    """The hard constraint; the exact distance where its plan satisfies it."""
    alpha, mean = task.strength.alpha, mean_cost(costs, r, c)
    least = least_at(mean, task.ground.max - task.ground.min, alpha)
    if mean - least <= 0.5 * task.tol * mean:  # too small to be seen
        outcome = _independent(costs, r, c)
        rounding = 3.0 * rounding_of(r.size + c.size) * mean
        outcome.bracket = max(0.0, least - rounding), mean + rounding
        return outcome
    end = constrained_pair(
        costs, r, c, alpha, task.tol, task.max_iter, task.stop, certify=is_certified(task)
    )
    plan: Plan | None = end.plan
    status, ran, bracket = STATUS_OF[end.act], CONSTRAINED, end.bracket
    if end.exact is not None:
        ran, plan = SIMPLEX, end.exact.plan
        bracket = end.exact.lower, end.exact.upper
    return Outcome(
        end.value, end.error, end.n_iter, status, ran, end.f, end.g, end.lam, plan, bracket
    )


def is_certified(task: Task) -> bool:
    """Whether a pair under the hard constraint has to prove its bracket to be called solved.

    Where tolerance and alpha are far above rounding, what the search knows is as good as a proof.
    """
    return task.keep_potentials or task.tol <= TIGHT or task.strength.alpha < SMALL_BALL


def _independent(costs: Array, r: Array, c: Array) -> Outcome:
    """The independence table; its potentials are the limit of the others', centred."""
    value = mean_cost(costs, r, c)
    f, g = costs @ c - 0.5 * value, r @ costs - 0.5 * value
    return Outcome(value, 0.0, 1, STATUS_CONVERGED, INDEPENDENCE, f, g, 0.0)


def _penalised(
    task: Task, costs: Array, rows: Array | None, columns: Array | None, r: Array, c: Array
) -> Outcome:
    """Scaling where it promises something, then the fallback."""
    gibbs, patience, made = task.gibbs, task.solver.patience, 0
    assert gibbs is not None
    tried = gibbs.fits and patience is not None
    if tried and may_be_hopeless(task):
        tried = not is_hopeless(task, mean_cost(costs, r, c))
    if tried and patience is not None:
        kernel = block_of(gibbs.kernel, rows, columns)
        outcome, made = _scaled(task, patience, kernel, costs, r, c)
        if outcome is not None:
            return outcome
    return fall_back(task, costs, r, c, made)


def _scaled(
    task: Task, patience: float, K: Array, costs: Array, r: Array, c: Array
) -> tuple[Outcome | None, int]:
    """Sweeps; None for a pair that is handed over, and the sweeps made."""
    u, v, acc, state = np.ones(r.size), np.ones(c.size), np.empty(c.size), np.empty(FIELDS)
    begin(state)
    step = max(1, int(READ_AT_ONCE / K.size))
    act, error, left = RUNNING, np.inf, task.max_iter
    while act == RUNNING and left > 0:
        task.stop.check()
        some = min(step, left)
        act, error = scale_pair(K, r, c, u, v, acc, state, task.tol, patience, some)
        left -= some
    made, lam = int(state[SWEEPS]), task.strength.lam
    if act == RUNNING:
        error = rows_exact(K, r, c, u, v, acc)
    elif act != CONVERGED:
        return None, made
    value, ran = plan_cost(K, costs, u, v), int(state[THETA2] > 0.0)
    outcome = Outcome(value, error, made, STATUS_OF[act], ran, lam=lam)
    if task.keep_potentials:
        outcome.f, outcome.g = np.log(u) / lam, np.log(v) / lam
        if is_blurred(lam, outcome.f, outcome.g, task.tol):
            outcome.plan = ScaledPlan(np.zeros(r.size), np.zeros(c.size), u, v)
    return outcome, made


def _fixed(
    task: Task, costs: Array, rows: Array | None, columns: Array | None, r: Array, c: Array
) -> Outcome:
    """Algorithm 1; in the log domain where the kernel or a scaling is not representable."""
    gibbs, steps, lam = task.gibbs, task.iterations, task.strength.lam
    assert gibbs is not None and steps is not None
    K = block_of(gibbs.kernel, rows, columns) if gibbs.fits else None
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
