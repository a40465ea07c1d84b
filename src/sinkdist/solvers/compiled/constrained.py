"""The hard constraint: the least cost of a coupling with ``KL(P || r c^T) <= alpha``.

It is the paper's metric d_{M,alpha}, and equals ``d^lam`` at the lam where the information ``I(lam)
= KL(P^lam || r c^T)`` reaches alpha. `lam_search` is the compiled search for that lam. Here is what
surrounds it: the proof of what it finds, the exact distance where the constraint is vacuous, and
the same search on a ladder where one kernel cannot carry it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.pair import mean_cost, plan_cost
from sinkdist.solution import certificates as bounds
from sinkdist.solution.plans import ScaledPlan, SparsePlan, entropic_plan, is_blurred
from sinkdist.solvers.compiled.exact import exact_pair
from sinkdist.solvers.compiled.ladder import ContinuationResult, climb
from sinkdist.solvers.compiled.lam_policy import BEYOND, VACUOUS, next_lam, unstuck
from sinkdist.solvers.compiled.lam_search import Searches, entropy
from sinkdist.solvers.compiled.large_search import is_large, search_large
from sinkdist.solvers.compiled.log import plan_of
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, RUNNING
from sinkdist.solvers.compiled.symmetric import MOST_SWEEPS, is_against_itself, symmetric_pair
from sinkdist.solvers.exact_result import Exact
from sinkdist.solvers.policy import AIM, FARTHEST, GROWTH


@dataclass(frozen=True, slots=True)
class Constrained:
    """Where a search ended; ``exact`` is there where its plan satisfies the constraint."""

    lam: float
    value: float
    error: float
    n_iter: int
    act: int
    f: Array
    g: Array
    bracket: tuple[float, float] | None = None
    exact: Exact | None = None
    plan: ScaledPlan | None = None


SOME = 300  #: reads of a kernel, at least, before a search at large lam is left to ladders
NEARLY = 0.7  #: of the least entropy: from this alpha on the exact plan is tried before a search


def is_vacuous(alpha: float, r: Array, c: Array) -> bool:
    """Whether no coupling can have more information than alpha, up to rounding."""
    return alpha >= (1.0 - 1e-12) * min(entropy(r), entropy(c))


def constrained_pair(
    M: Array,
    r: Array,
    c: Array,
    alpha: float,
    tol: float,
    max_iter: int,
    stop: Stop,
    *,
    certify: bool,
    below: float = -np.inf,
    workers: int = 1,
) -> Constrained:
    """One pair on bins with mass; ``certify`` asks for a proven bracket narrower than tol.

    ``below`` is a bound on the exact distance from below, where its plan has been tried already.
    """
    large = is_large(M.size, max_iter)
    made, inner, bracket, exact, own = 0, tol, None, None, is_against_itself(M, r, c)
    if certify and alpha >= NEARLY * min(entropy(r), entropy(c)):
        exact = exact_pair(M, r, c, metric=False, stop=stop, within=tol)
        if (inside := _if_inside(exact, r, c, alpha, made)) is not None:
            return inside
        below = exact.lower
    for _ in range(5):
        most = max_iter - made
        if below > -np.inf:  # if it takes long at a large lam, ladders take less
            most = min(most, SOME if own else max(SOME, max_iter // 2))
        if large and not own:
            found = search_large(M, r, c, alpha, below, inner, most, stop, workers)
        else:
            found = _constrain_one(M, r, c, alpha, below, inner, most, stop)
        lam, value, error, reads, act, f, g = found
        made += reads
        if act in (VACUOUS, HANDED_OVER) or (act == RUNNING and made < max_iter):
            if exact is None:
                exact = exact_pair(M, r, c, metric=False, stop=stop, within=tol)
                if (inside := _if_inside(exact, r, c, alpha, made)) is not None:
                    return inside
                below = exact.lower
                if act == VACUOUS:
                    continue  # it is not: search on, now without that end
            lam = min(lam, BEYOND / mean_cost(M, r, c))
            return _by_climbing(M, r, c, alpha, tol, lam, exact.lower, made, max_iter, stop)
        if act != CONVERGED or not certify:
            break
        bracket = _bracket(M, lam, f, g, r, c, alpha, value)
        bracket = max(bracket[0], min(below, bracket[1])), bracket[1]
        if lam == 0.0 and not _is_narrow(bracket, value, tol):  # nothing else to search for
            exact = exact or exact_pair(M, r, c, metric=False, stop=stop, within=tol)
            bracket = max(bracket[0], min(exact.lower, bracket[1])), bracket[1]
            act = CONVERGED if _is_narrow(bracket, value, tol) else HANDED_OVER
            break
        if _is_narrow(bracket, value, tol):
            break
        inner *= 0.1
    else:
        act = HANDED_OVER  # the proof stays wider than asked for
    plan = None
    if lam > 0.0 and is_blurred(lam, f, g, tol):
        plan, value, error = plan_of(M, lam, f, g, r, c, tol, resweep=act == CONVERGED)
        act = HANDED_OVER if act == CONVERGED and error > tol else act
    if bracket is None and certify:
        bracket = _bracket(M, lam, f, g, r, c, alpha, value)
    return Constrained(lam, value, error, made, act, f, g, bracket, plan=plan)


def _constrain_one(
    M: Array, r: Array, c: Array, alpha: float, below: float, tol: float, max_iter: int, stop: Stop
) -> tuple[float, float, float, int, int, Array, Array]:
    """One pair by `lam_search`: lam, value, error, reads, act and potentials."""
    searches = Searches(M, r[None], c[None], M.size, keep_potentials=True)
    searches.below[:] = below
    searches.run(0, 1, alpha, tol, max_iter, np.inf, stop)
    stop.check()
    lam, value, error, reads, act = searches.found[:, 0].tolist()
    return lam, value, error, int(reads), int(act), searches.F[0], searches.G[0]


def _bracket(
    M: Array, lam: float, f: Array, g: Array, r: Array, c: Array, alpha: float, value: float
) -> tuple[float, float]:
    """What is proven of the distance; at lam = 0 all plans cost the same, up to rounding."""
    if lam > 0.0:
        return bounds.bracket_pair(M, lam, f, g, r, c, alpha)
    upper = value * (1.0 + 3.0 * bounds.rounding_of(r.size + c.size))
    return min(bounds.emd_below(M, 0.0, M @ c, r @ M, r, c), upper), upper


def _is_narrow(bracket: tuple[float, float], value: float, tol: float) -> bool:
    """Whether a bracket that holds the value as well is narrower than ``tol``."""
    low, high = min(bracket[0], value), max(bracket[1], value)
    return high - low <= tol * high


def _if_inside(exact: Exact, r: Array, c: Array, alpha: float, made: int) -> Constrained | None:
    """The exact distance as the answer, where its plan satisfies the constraint."""
    if not _information(exact.plan, r, c) <= alpha:
        return None
    error = exact.plan.marginal_error(r, c)
    act = CONVERGED if exact.solved else HANDED_OVER
    return Constrained(np.inf, exact.value, error, made, act, exact.f, exact.g, exact=exact)


def _information(plan: SparsePlan, r: Array, c: Array) -> float:
    """``KL(P || r c^T)`` of a sparse plan."""
    return float(plan.mass @ np.log(plan.mass / (r[plan.rows] * c[plan.columns])))


def _by_climbing(
    M: Array, r: Array, c: Array, alpha: float, tol: float, lam: float, exact: float, made: int,
    max_iter: int, stop: Stop,
) -> Constrained:  # fmt: skip
    """The same search where one kernel cannot carry it: every lam by its own ladder.

    The ``exact`` distance is a lower bound too, and soon the better one: the constraint may be
    satisfied by another optimal plan than the one the simplex found.
    """
    low, high = (0.0, 0.0, mean_cost(M, r, c), 0.0), (np.inf, np.inf, 0.0, np.inf)
    there, top, streak, own = low, float(M.max()), 0, is_against_itself(M, r, c)
    best = (exact, low[2] * (1.0 + 3.0 * bounds.rounding_of(r.size + c.size)))
    while True:
        finest = max(0.2 * tol * max(exact, tol * low[2]) / top, 1e-13)
        end = _solve_at(M, lam, r, c, finest, max(1, max_iter - made), stop, own=own)
        made += end.n_iter
        phi = lam * float(end.f @ r + end.g @ c) + entropy(r) + entropy(c)
        P = entropic_plan(M, lam, end.f, end.g) if end.plan is None else end.plan.dense(M, lam)
        here = (lam, phi, end.value, bounds.information(P, r, c))
        low, high = (here, high) if here[3] <= alpha else (low, here)
        proven = bounds.bracket_pair(M, lam, end.f, end.g, r, c, alpha)
        best = max(best[0], proven[0]), min(best[1], proven[1])
        inside = here[3] <= alpha and end.error <= tol
        narrow = inside and _is_narrow(best, end.value, tol)
        failed = end.act != CONVERGED and end.error > tol
        if narrow or failed or made >= max_iter or lam * top > FARTHEST:
            act = (
                CONVERGED
                if narrow
                else (end.act if failed else (RUNNING if made >= max_iter else HANDED_OVER))
            )
            return Constrained(
                lam, end.value, end.error, made, act, end.f, end.g, best, plan=end.plan
            )
        aim = alpha - min(AIM * tol * end.value * lam, 0.5 * alpha)
        streak = streak + 1 if (here[3] <= alpha) == (there[3] <= alpha) else 0
        if high[0] == np.inf:
            lam = GROWTH * lam
        else:
            lam = next_lam(there, here, aim, low, high)
            lam = unstuck(lam, here[0], low[0], high[0], streak) if low[0] > 0.0 else lam
        there = here


def _solve_at(
    M: Array, lam: float, r: Array, c: Array, tol: float, max_iter: int, stop: Stop, *, own: bool
) -> ContinuationResult:
    """One lam: by the symmetric fixed point for a histogram against itself, else by a ladder."""
    if own:
        with np.errstate(over="ignore"):
            K = np.exp(-lam * M)
        u, v, error, made = symmetric_pair(K, r, tol, min(MOST_SWEEPS, max_iter), stop)
        if error <= tol:
            f, g = np.log(u) / lam, np.log(v) / lam
            plan = ScaledPlan(np.zeros(r.size), np.zeros(c.size), u, v)
            kept = plan if is_blurred(lam, f, g, tol) else None
            return ContinuationResult(f, g, plan_cost(K, M, u, v), error, made, CONVERGED, kept)
    return climb(M, lam, r, c, tol, max_iter, stop)
