"""Climbing to a large lam: Newton on a ladder of smaller ones, in the log domain.

At a large lam Newton's method needs a start near the solution. Potentials change little with lam,
so the ladder solves loosely at ``lam / 4^k``, carries the potentials up, extrapolated linearly in
``1 / lam``, and is strict on the last rung only. Each rung works on the stabilised kernel
``exp(lam (f_i + g_j - M_ij))``, which is nearly the plan and therefore representable at any lam.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.exponential import stabilised_kernel
from sinkdist.kernels.pair import mean_cost, plan_cost, row_pass
from sinkdist.solution.plans import ScaledPlan, entropic_plan, is_blurred, value_and_error
from sinkdist.solvers.compiled import newton
from sinkdist.solvers.compiled.from_exact import from_exact, is_nearly_exact
from sinkdist.solvers.compiled.log import log_sweeps, plan_of
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, OVERFLOW, RUNNING
from sinkdist.solvers.policy import LOOSE_START, TRUSTED

RATIO = 4.0  #: from one rung to the next
FIRST = 12.0  #: lam times the mean cost on the lowest rung, at most
FEW = 12  #: reads that a rung needs at least
PLAIN_SWEEPS = 3  #: before Newton on each rung
FARTHEST_STEP = 3.0  #: distances of the last two rungs that potentials are extrapolated over
OUTLIER = 4.0  #: times what a plan may have to use: costs above are clipped
UNDERFLOW = 745.0  #: the exponent below which exp is 0
WORK = 1e8  #: kernel entries read between two looks at the outside world


class ContinuationResult(NamedTuple):
    """Where a climb ended: potentials, value and error of their plan, and how it stands.

    ``plan`` is the same plan without the rounding of the potentials; None where that is not seen.
    """

    f: Array
    g: Array
    value: float
    error: float
    n_iter: int
    act: int
    plan: ScaledPlan | None


def climb(
    M: Array, lam: float, r: Array, c: Array, tol: float, max_iter: int, stop: Stop,
    start: tuple[Array, Array] | None = None, workers: int = 1,
) -> ContinuationResult:  # fmt: skip
    """Solve one pair at ``lam``; costs ``M`` and marginals hold positive mass only.

    ``start`` holds potentials near the solution: no rung is needed if Newton's method ends there.
    Nor is one where lam is so large that the exact distance is near (`from_exact`).
    """
    if start is not None:
        K = np.empty(M.shape)
        end = _rung(M, K, lam, r, c, *start, tol, max_iter, stop)
        if end.act == CONVERGED or end.n_iter >= max_iter:
            return _as_returned(end, M, M, lam, r, c, tol)
        max_iter -= end.n_iter
    costs = _without_outliers(M, lam, r, c)
    end = _climb(costs, lam, r, c, tol, max_iter, stop, workers)
    end = _as_returned(end, M, costs, lam, r, c, tol)
    if costs is not M and end.act != CONVERGED and end.n_iter < max_iter:  # an outlier is needed
        rest = max_iter - end.n_iter
        again = _climb(M, lam, r, c, tol, rest, stop, workers)
        again = _as_returned(again, M, M, lam, r, c, tol)
        end = again if again.error < end.error else end
    return end


def _without_outliers(M: Array, lam: float, r: Array, c: Array) -> Array:
    """Costs clipped where no sensible plan moves mass; what comes out is measured with ``M``.

    A plan that avoids the dearest moves differs from one that does not by cycles of at most
    ``2 min(m, n)`` moves, which bounds how far potentials lie apart. The cost that no plan can
    avoid is estimated by the cheapest move of every bin.
    """
    top, fewest = float(M.max()), min(M.shape)
    if lam * top <= OUTLIER * fewest * UNDERFLOW:  # below the bound, whatever is needed
        return M
    needed = max(float(M.min(axis=1).max()), float(M.min(axis=0).max()))
    entropy = UNDERFLOW + 2.0 * abs(math.log(min(float(r.min()), float(c.min()))))
    bound = 2.0 * fewest * needed + fewest * entropy / lam
    return M if top <= OUTLIER * bound else np.minimum(M, bound)


def _as_returned(
    end: ContinuationResult, M: Array, costs: Array, lam: float, r: Array, c: Array, tol: float
) -> ContinuationResult:
    """The result for costs ``M`` from that for clipped ones; the plan, where potentials blur it."""
    blurred = is_blurred(lam, end.f, end.g, tol)
    if costs is M:
        return end if blurred else end._replace(plan=None)
    P = entropic_plan(M, lam, end.f, end.g) if end.plan is None else end.plan.dense(M, lam)
    value, error = value_and_error(P, M, r, c)
    act = CONVERGED if error <= tol else (HANDED_OVER if end.act == CONVERGED else end.act)
    return end._replace(value=value, error=error, act=act, plan=end.plan if blurred else None)


def _climb(
    M: Array, lam: float, r: Array, c: Array, tol: float, max_iter: int, stop: Stop, workers: int
) -> ContinuationResult:
    """Climb to ``lam``, or come from beyond; costs that no plan can use are clipped already."""
    mean = mean_cost(M, r, c)
    if is_nearly_exact(lam * mean, M.size, max_iter):
        begun = from_exact(M, lam, r, c, tol, max_iter, stop, workers)
        if begun is not None:
            found, reads = begun
            return ContinuationResult(
                found.f, found.g, found.value, found.error, reads, CONVERGED, found.plan
            )
    rungs = rungs_to(lam * mean)
    f, g = np.zeros(r.size), np.zeros(c.size)
    if max_iter < FEW * (rungs + 1):  # too few reads to climb: sweep, which is better than nothing
        made, error = log_sweeps(M, lam, r, c, f, g, tol, max_iter, stop)
        return _swept(M, lam, r, c, f, g, tol, made, CONVERGED if error <= tol else RUNNING)
    K = np.empty(M.shape)
    before = None
    n_iter = 0
    for rung in range(rungs, -1, -1):
        here = lam / RATIO**rung
        goal = tol if rung == 0 else max(LOOSE_START, tol)
        end = _rung(M, K, here, r, c, f, g, goal, max_iter - n_iter, stop)
        n_iter += end.n_iter
        if rung > 0 and n_iter >= max_iter:  # the allowance is used up: end at lam, as it is
            end = _rung(M, K, lam, r, c, end.f, end.g, tol, 1, stop)
            n_iter += end.n_iter
            break
        f, g = end.f, end.g
        if rung > 0:
            f, g, before = (*extrapolated(f, g, before, here, RATIO * here), (f, g, here))
    return end._replace(n_iter=n_iter)


def climb_through(
    M: Array, lams: Sequence[float], r: Array, c: Array, tol: float, max_iter: int, stop: Stop
) -> Iterator[ContinuationResult]:
    """Solve one pair at each of the rising ``lams``, starting from the potentials before."""
    K = np.empty(M.shape)
    before: tuple[Array, Array, float] | None = None  # the solution before the last one
    last: tuple[Array, Array, float] | None = None
    for lam in lams:
        end = None
        if last is not None and lam <= 2.0 * RATIO * last[2]:
            f, g = extrapolated(last[0], last[1], before, last[2], lam)
            costs = _without_outliers(M, lam, r, c)
            end = _rung(costs, K, lam, r, c, f, g, tol, max_iter, stop)
            end = _as_returned(end, M, costs, lam, r, c, tol)
        if end is None or (end.act == HANDED_OVER and end.error > tol):
            end = climb(M, lam, r, c, tol, max_iter, stop)
        before, last = last, (end.f, end.g, lam)
        yield end


def rungs_to(height: float) -> int:
    """The rungs below lam, by lam times the mean cost."""
    height = min(max(height, 1e-300), 1e300)
    return max(0, math.ceil(math.log(height / FIRST) / math.log(RATIO)))


def extrapolated(
    f: Array, g: Array, before: tuple[Array, Array, float] | None, here: float, there: float
) -> tuple[Array, Array]:
    """Potentials at the next rung: linear in ``1 / lam`` through the last two."""
    if before is None:
        return f, g
    old_f, old_g, last = before
    step = (1.0 / here - 1.0 / there) / (1.0 / last - 1.0 / here)
    if step > FARTHEST_STEP:  # the last two lie too close together to show a direction
        return f, g
    return f + step * (f - old_f), g + step * (g - old_g)


def _rung(
    M: Array, K: Array, lam: float, r: Array, c: Array, f: Array, g: Array,
    tol: float, allowance: int, stop: Stop,
) -> ContinuationResult:  # fmt: skip
    """Newton at one lam from the given potentials, with log-domain sweeps where the kernel breaks.

    Ends with CONVERGED, RUNNING (the allowance is used up) or HANDED_OVER (no further progress in
    this precision).
    """
    reads, failures, best = 0, 0, np.inf
    control = np.empty(newton.FIELDS)
    newton.begin(control)
    while True:
        stabilised_kernel(M, lam, f, g, K)
        u, v, act, error, made = _newton_on(K, r, c, control, tol, allowance - reads, stop)
        reads += made
        new_f, new_g = np.empty(r.size), np.empty(c.size)
        largest = _absorb(f, g, u, v, lam, new_f, new_g) if act != OVERFLOW else np.nan
        if math.isnan(largest):
            act = OVERFLOW
        else:
            plan, f, g = ScaledPlan(f, g, u, v), new_f, new_g
            if largest < TRUSTED and (act == CONVERGED or (act == RUNNING and reads >= allowance)):
                return ContinuationResult(f, g, plan_cost(K, M, u, v), error, reads, act, plan)
            stuck = act == RUNNING and np.array_equal(f, plan.f) and np.array_equal(g, plan.g)
            if stuck or reads >= allowance:  # lost in rounding, or at the end
                return _swept(M, lam, r, c, f, g, tol, reads, HANDED_OVER if stuck else RUNNING)
        if act in (OVERFLOW, HANDED_OVER):
            failures += 1
            newton.begin(control)
            sweeps = max(1, min(10 * 2**failures, (allowance - reads) // 2))
            made, error = log_sweeps(M, lam, r, c, f, g, tol, sweeps, stop)
            reads += 2 * made
            stuck = failures > 2 and not error < 0.5 * best
            best = min(best, error)
            if error <= tol or reads >= allowance or stuck:
                act = CONVERGED if error <= tol else (HANDED_OVER if stuck else RUNNING)
                return _swept(M, lam, r, c, f, g, tol, reads, act)


@compiled
def _absorb(
    f: Array, g: Array, u: Array, v: Array, lam: float, new_f: Array, new_g: Array
) -> float:
    """Potentials with the scalings in them; the largest logarithm of ``u v``, NaN for one of 0."""
    largest_u, largest_v = -np.inf, -np.inf
    for i in range(u.size):
        if not (u[i] > 0.0 and u[i] < np.inf):
            return np.nan
        log_u = math.log(u[i])
        largest_u = max(largest_u, log_u)
        new_f[i] = f[i] + log_u / lam
    for j in range(v.size):
        if not (v[j] > 0.0 and v[j] < np.inf):
            return np.nan
        log_v = math.log(v[j])
        largest_v = max(largest_v, log_v)
        new_g[j] = g[j] + log_v / lam
    return largest_u + largest_v


def _swept(
    M: Array, lam: float, r: Array, c: Array, f: Array, g: Array, tol: float, reads: int, act: int
) -> ContinuationResult:
    """The result of sweeps in the log domain: value and error are those of the returned plan."""
    plan, value, error = plan_of(M, lam, f, g, r, c, tol, resweep=act == CONVERGED)
    act = CONVERGED if error <= tol else (HANDED_OVER if act == CONVERGED else act)
    return ContinuationResult(f, g, value, error, reads, act, plan)


def _newton_on(
    K: Array, r: Array, c: Array, control: Array, tol: float, allowance: int, stop: Stop
) -> tuple[Array, Array, int, float, int]:
    """A few plain sweeps, which mend what extrapolation got wrong, then Newton.

    Ends with RUNNING when the allowance is used up or the scalings want to be absorbed.
    """
    m, n = K.shape
    at_once = max(2, int(WORK / (m * n)))
    u, v, acc = np.empty(m), np.ones(n), np.empty(n)
    scratch = newton.scratch_for(m, n)
    control[newton.READS], control[newton.DAMPING] = 0.0, newton.DAMPED
    for _ in range(PLAIN_SWEEPS):
        if not row_pass(K, r, v, u, acc) or not acc.min() > 0.0:
            return u, v, OVERFLOW, np.inf, PLAIN_SWEEPS
        v[:] = c / acc
    while True:
        stop.check()
        until = float(min(control[newton.READS] + at_once, allowance))
        act, error = newton.newton_pair(
            K, *newton.NO_ENTRIES, r, c, u, v, acc, control, tol, until, *scratch
        )
        if act != RUNNING or control[newton.READS] >= allowance or newton.needs_absorption(v):
            return u, v, act, error, PLAIN_SWEEPS + int(control[newton.READS])
