"""The hard constraint: the least cost of a coupling with ``KL(P || r c^T) <= alpha``.

It is the paper's metric d_{M,alpha}, and equals ``d^lam`` at the lam where the information ``I(lam)
= KL(P^lam || r c^T)`` reaches alpha. ``Phi(lam) = min lam <P, M> + I(P)`` is concave with slope
``d^lam``, and ``I = Phi - lam Phi'``: two solves give a cubic of Phi, whose root of ``I = alpha``
is the next lam. Potentials are carried from one lam to the next, and early solves are loose: the
value is ``max_lam (Phi(lam) - alpha) / lam``, so errors in lam count only to second order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import (
    FLOAT,
    INT,
    INTEGERS,
    MATRIX,
    NODE,
    VECTOR,
    Array,
    compiled,
    one_version,
    part,
    shared,
)
from sinkdist.kernels.exponential import stabilised_kernel
from sinkdist.kernels.pair import gather, mean_cost, plan_cost
from sinkdist.solution import certificates as bounds
from sinkdist.solution.plans import ScaledPlan, SparsePlan, entropic_plan, is_blurred
from sinkdist.solvers.compiled import newton
from sinkdist.solvers.compiled.exact import Exact, exact_pair
from sinkdist.solvers.compiled.ladder import climb
from sinkdist.solvers.compiled.log import plan_of
from sinkdist.solvers.compiled.newton import newton_pair
from sinkdist.solvers.compiled.relaxation import (
    CONVERGED,
    FIELDS,
    HANDED_OVER,
    OVERFLOW,
    RUNNING,
    SWEEPS,
    begin,
)
from sinkdist.solvers.compiled.scaling import rows_exact, scale_pair, support
from sinkdist.solvers.policy import AIM, FARTHEST, GROWTH, LOOSE_SEARCH, TRIALS, TRUSTED

#: ``lam, Phi, value, information`` at one lam.
Node = tuple[float, float, float, float]

#: Beside CONVERGED and HANDED_OVER: lam has become so large that the constraint may be vacuous.
VACUOUS = 4

PATIENCE = 40.0  #: sweeps that may be projected before Newton takes over
NEWTON_READS = 500.0
STREAK = 2  #: steps from the same side after which it takes more than the cubic
BEYOND = 3e2  #: lam times the mean cost from which the exact distance is asked first


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


def is_vacuous(alpha: float, r: Array, c: Array) -> bool:
    """Whether no coupling can have more information than alpha, up to rounding."""
    return alpha >= (1.0 - 1e-12) * min(_entropy(r), _entropy(c))


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
) -> Constrained:
    """One pair on bins with mass; ``certify`` asks for a proven bracket narrower than tol."""
    made, inner, bracket = 0, tol, None
    for _ in range(4):
        lam, value, error, reads, act, f, g = _constrain_one(
            M, r, c, alpha, inner, max_iter - made, stop
        )
        made += reads
        if act in (VACUOUS, HANDED_OVER):
            exact = exact_pair(M, r, c, metric=False, stop=stop, within=tol)
            if _information(exact.plan, r, c) <= alpha:
                error = exact.plan.marginal_error(r, c)
                act = CONVERGED if exact.solved else HANDED_OVER
                return Constrained(
                    np.inf, exact.value, error, made, act, exact.f, exact.g, exact=exact
                )
            return _by_climbing(M, r, c, alpha, tol, lam, exact.lower, made, max_iter, stop)
        if act != CONVERGED or not certify:
            break
        bracket = _bracket(M, lam, f, g, r, c, alpha, value)
        if lam == 0.0 and not _is_narrow(bracket, value, tol):  # nothing else to search for
            exact = exact_pair(M, r, c, metric=False, stop=stop, within=tol)
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
        plan, value, error = plan_of(M, lam, f, g, r, c, tol, mended=act == CONVERGED)
        act = HANDED_OVER if act == CONVERGED and error > tol else act
    if bracket is None and certify:
        bracket = _bracket(M, lam, f, g, r, c, alpha, value)
    return Constrained(lam, value, error, made, act, f, g, bracket, plan=plan)


def _constrain_one(
    M: Array, r: Array, c: Array, alpha: float, tol: float, max_iter: int, stop: Stop
) -> tuple[float, float, float, int, int, Array, Array]:
    """One pair by `constrain_each`: lam, value, error, reads, act and potentials."""
    value, error, lam = np.zeros(1), np.zeros(1), np.zeros(1)
    n_iter, act = np.zeros(1, np.int64), np.zeros(1, np.int64)
    F, G = np.zeros((1, r.size)), np.zeros((1, c.size))
    constrain_each(
        M, r[None], c[None], 0, 1, alpha, tol, max_iter, np.inf, value, error, n_iter, lam, act,
        stop.flag, F, G,
    )  # fmt: skip
    stop.check()
    return float(lam[0]), float(value[0]), float(error[0]), int(n_iter[0]), int(act[0]), F[0], G[0]


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
    there, top, streak = low, float(M.max()), 0
    best = (exact, low[2] * (1.0 + 3.0 * bounds.rounding_of(r.size + c.size)))
    while True:
        finest = max(0.2 * tol * max(exact, tol * low[2]) / top, 1e-13)
        end = climb(M, lam, r, c, finest, max(1, max_iter - made), stop)
        made += end.n_iter
        phi = lam * float(end.f @ r + end.g @ c) + _entropy(r) + _entropy(c)
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
            lam = _next_lam(there, here, aim, low, high)
            lam = _unstuck(lam, here[0], low[0], high[0], streak) if low[0] > 0.0 else lam
        there = here


@compiled
def constrain_each(
    M: Array, R: Array, C: Array, first: int, last: int, alpha: float, tol: float, max_iter: int,
    spread: float, value: Array, error: Array, n_iter: Array, lam: Array, act: Array, stop: Array,
    F: Array, G: Array,
) -> None:  # fmt: skip
    """Search lam for the pairs ``first`` to ``last`` of a tile, each on its own bins.

    Potentials go to ``F, G``, on bins with mass, unless these have no rows. A pair alone comes this
    way too: Numba's other copy of the search might round differently.
    """
    d1, d2 = M.shape
    rows, columns = np.empty(d1, np.int64), np.empty(d2, np.int64)
    costs = np.empty(0)
    for k in range(first, last):
        if stop[0] != 0:  # nobody waits for it
            return
        i = k if R.shape[0] > 1 else 0
        m, n = support(R[i], rows), support(C[k], columns)
        r, c = R[i][rows[:m]], C[k][columns[:n]]
        if alpha >= min(_entropy(r), _entropy(c)):
            act[k] = VACUOUS
            continue
        whole = m == d1 and n == d2
        if not whole and costs.size < m * n:
            costs = np.empty(m * n)
        sub = M if whole else costs[: m * n].reshape((m, n))
        if not whole:
            gather(M, rows[:m], columns[:n], sub)
        mean = mean_cost(sub, r, c)
        if 0.5 * spread * math.sqrt(2.0 * alpha) <= 0.5 * tol * mean:  # too small to be seen
            lam[k], value[k], error[k], n_iter[k], act[k] = 0.0, mean, 0.0, 1, CONVERGED
            continue
        f, g = np.empty(m), np.empty(n)
        lam[k], value[k], _, error[k], n_iter[k], act[k] = constrain_pair(
            sub, r, c, alpha, tol, max_iter, f, g, stop
        )
        if F.shape[0] > 0:
            for a in range(m):
                F[k, rows[a]] = f[a]
            for b in range(n):
                G[k, columns[b]] = g[b]


@shared(MATRIX, VECTOR, VECTOR)
def spread_of_costs(M: Array, r: Array, c: Array) -> tuple[float, float]:
    """Mean of ``M`` under ``r c^T``, and the deviation that its row and column means leave.

    In units of the largest cost, so that squares neither overflow nor vanish.
    """
    one_version()
    m, n = M.shape
    top = M.max()
    if not top > 0.0:
        return 0.0, 0.0
    columns = np.zeros(n)
    mean, square, rows_square = 0.0, 0.0, 0.0
    for i in range(m):
        row, row_square = 0.0, 0.0
        for j in range(n):
            cost = M[i, j] / top
            row += c[j] * cost
            row_square += c[j] * cost * cost
            columns[j] += r[i] * cost
        mean += r[i] * row
        square += r[i] * row_square
        rows_square += r[i] * row * row
    columns_square = 0.0
    for j in range(n):
        columns_square += c[j] * columns[j] * columns[j]
    variance = max(square - rows_square - columns_square + mean * mean, 0.0)
    return top * mean, top * math.sqrt(variance)


@shared(VECTOR)
def _entropy(weights: Array) -> float:
    """``h`` of a histogram with mass in every bin."""
    one_version()
    total = 0.0
    for i in range(weights.size):
        total -= weights[i] * math.log(weights[i])
    return total


@part
def _solve_at(
    M: Array, K: Array, bits: Array, lam: float, r: Array, c: Array, f: Array, g: Array, tol: float,
    allowance: int,
) -> tuple[float, float, float, float, int, int]:  # fmt: skip
    """Solve at one lam from potentials ``f, g``, which move on, in about ``allowance`` reads.

    Returns value, information, dual, error, reads and act. The dual is a lower bound of ``Phi(lam)
    = min lam <P, M> + KL(P || r c^T)``.
    """
    u, v, acc = np.ones(r.size), np.ones(c.size), np.empty(c.size)
    state, control = np.empty(FIELDS), np.empty(newton.FIELDS)
    stabilised_kernel(M, lam, f, g, K, bits)
    begin(state)
    sweeps = min(4 * int(PATIENCE), allowance)
    act, error = scale_pair(K, r, c, u, v, acc, state, tol, PATIENCE, sweeps)
    reads = int(state[SWEEPS])
    if act != CONVERGED and act != OVERFLOW and reads < allowance:
        newton.begin(control)
        most = min(NEWTON_READS, float(allowance - reads))
        act, error = newton_pair(K, r, c, u, v, acc, control, tol, most)
        reads += int(control[newton.READS])
    elif act in (RUNNING, HANDED_OVER):
        error = rows_exact(K, r, c, u, v, acc)
    if act != OVERFLOW and not math.log(u.max()) + math.log(v.max()) < TRUSTED:
        act = OVERFLOW  # entries of the kernel that were floored might matter
    if act == OVERFLOW:
        return 0.0, 0.0, 0.0, np.inf, reads, act
    value = plan_cost(K, M, u, v)
    information, dual = -lam * value, 0.0
    for i in range(r.size):
        f[i] += math.log(u[i]) / lam
        information += r[i] * (lam * f[i] - math.log(r[i]))
        dual += r[i] * (lam * f[i] - math.log(r[i]))
    for j in range(c.size):
        g[j] += math.log(v[j]) / lam
        information += v[j] * acc[j] * (lam * g[j] - math.log(c[j]))
        dual += c[j] * (lam * g[j] - math.log(c[j]))
    return value, max(information, 0.0), dual, error, reads, act


@shared(MATRIX, VECTOR, VECTOR, FLOAT, FLOAT, INT, VECTOR, VECTOR, INTEGERS)
def constrain_pair(
    M: Array, r: Array, c: Array, alpha: float, tol: float, max_iter: int, f: Array, g: Array,
    stop: Array,
) -> tuple[float, float, float, float, int, int]:  # fmt: skip
    """Search lam for one pair on bins with mass.

    Returns lam, value, information, error, reads and act; ``f, g`` hold the potentials at the end.
    CONVERGED means that the plan satisfies the constraint and that its value is within ``tol`` of
    the lower bound that duality gives.
    """
    one_version()
    K = np.empty(M.shape)
    bits = K.view(np.int64)
    f[:], g[:] = 0.0, 0.0
    mean, deviation = spread_of_costs(M, r, c)
    top = M.max()
    if deviation <= 1e-15 * mean:
        return 0.0, mean, 0.0, 0.0, 1, CONVERGED
    # Nodes are (lam, Phi, value, information): the bracket's ends, and the last one but one.
    nothing, everything = (0.0, 0.0, mean, 0.0), (np.inf, np.inf, 0.0, np.inf)
    low, high, there = nothing, everything, nothing
    old_f, old_g = np.zeros(f.size), np.zeros(g.size)
    lam, lower, inner = math.sqrt(2.0 * alpha) / deviation, -np.inf, LOOSE_SEARCH
    value, information, error, reads, streak = mean, 0.0, np.inf, 1, 0
    for _ in range(TRIALS):
        value, information, dual, error, made, act = _solve_at(
            M, K, bits, lam, r, c, f, g, inner, max(1, max_iter - reads)
        )
        reads += made
        if act != CONVERGED:  # broken, stalled, or too slow for one kernel; or no more reads
            short = act == RUNNING and reads >= max_iter
            return lam, value, information, error, reads, RUNNING if short else HANDED_OVER
        here = (lam, dual, value, information)
        if information <= alpha:  # a better solve may contradict an end of the bracket
            low, high = here, high if high[0] > lam else everything
        else:
            low, high = low if low[0] < lam else nothing, here
        lower = max(lower, (dual - alpha) / lam)
        inside = information <= alpha and value + 0.5 * top * error - lower <= tol * value
        if inside and error <= tol and lower - value <= 0.5 * tol * value:
            return lam, value, information, error, reads, CONVERGED
        if reads >= max_iter or stop[0] != 0:
            return lam, value, information, error, reads, RUNNING
        if high[0] == np.inf and lam * mean > BEYOND:
            return lam, value, information, error, reads, VACUOUS
        room = tol * value * lam  # the plan may hold this much less information than alpha
        off = abs(information - alpha) / alpha
        finest = max(0.5 * tol * min(value / top, 1.0), 1e-13)
        if error > (finest if inside else max(0.3 * off, finest)):
            inner = max(0.1 * error, finest)
            continue  # solve better before moving on
        inner = max(min(inner, 0.05 * off), finest)
        streak = streak + 1 if (here[3] <= alpha) == (there[3] <= alpha) else 0
        lam = _next_lam(there, here, alpha - min(AIM * room, 0.5 * alpha), low, high)
        if high[0] == np.inf and information < 0.3 * alpha:  # far: in larger and larger strides
            lam = max(lam, here[0] * GROWTH ** min(streak, 10))
        elif low[0] > 0.0 and high[0] < np.inf:
            lam = _unstuck(lam, here[0], low[0], high[0], streak)
        _extrapolate(f, old_f, there[0], here[0], lam)
        _extrapolate(g, old_g, there[0], here[0], lam)
        there = here
    return lam, value, information, error, reads, HANDED_OVER


@part
def _extrapolate(potential: Array, old: Array, there: float, here: float, lam: float) -> None:
    """Move a potential on to ``lam``, linearly in ``1 / lam``; the last one becomes the old one."""
    step = 0.0
    if there > 0.0:
        step = (1.0 / here - 1.0 / lam) / (1.0 / there - 1.0 / here)
    step = min(max(step, -2.0), 2.0)
    for i in range(potential.size):
        last = potential[i]
        potential[i] += step * (last - old[i])
        old[i] = last


@shared(FLOAT, FLOAT, FLOAT, FLOAT, INT)
def _unstuck(lam: float, here: float, low: float, high: float, streak: int) -> float:
    """A step that comes from one side again and again: overshoot, then halve the bracket."""
    one_version()
    if streak < STREAK:
        return lam
    if streak % 3 == STREAK % 3:
        return min(max(here + 2.0 * (lam - here), 0.5 * (low + here)), 0.5 * (high + here))
    return math.sqrt(low * high) if streak % 3 == (STREAK + 1) % 3 else lam


@shared(NODE, NODE, FLOAT, NODE, NODE)
def _next_lam(there: Node, here: Node, alpha: float, low: Node, high: Node) -> float:
    """Where the information will be alpha, by the cubic through two values and slopes of Phi.

    In lam where one of them is lam = 0, else in log lam, in which ``I = Phi - dPhi/dlog(lam)`` is
    smooth from end to end. Inside the bracket, or within `GROWTH` where there is none; a secant
    where the cubic has no root there.
    """
    one_version()
    lam = here[0]
    in_log = there[0] > 0.0
    a, b = (math.log(there[0]), math.log(lam)) if in_log else (0.0, lam)
    width = b - a
    slope_a = width * there[2] * (there[0] if in_log else 1.0)
    slope_b = width * here[2] * (lam if in_log else 1.0)
    rise = here[1] - there[1]
    square, cube = 3.0 * rise - 2.0 * slope_a - slope_b, slope_a + slope_b - 2.0 * rise
    first, last = max(low[0], lam / GROWTH), min(high[0], lam * GROWTH)
    start, end = first, last
    for _ in range(50):  # bisection: the information grows with lam
        middle = 0.5 * (first + last)
        x = ((math.log(middle) if in_log else middle) - a) / width
        phi = there[1] + x * (slope_a + x * (square + x * cube))
        slope = (slope_a + x * (2.0 * square + x * 3.0 * cube)) / width
        if phi - slope * (1.0 if in_log else middle) < alpha:
            first = middle
        else:
            last = middle
    edge = 1e-3 * (end - start)
    if start + edge < middle < end - edge:
        return middle
    power = 0.5  # near 0 the information grows like lam^2
    if in_log and there[3] > 0.0 and (here[3] > there[3]) == (lam > there[0]):
        power = min(max((b - a) / math.log(here[3] / there[3]), 0.1), 10.0)
    guess = lam * (alpha / here[3]) ** power
    if start < guess < end:
        return float(guess)
    return float(end if high[0] == np.inf else 0.5 * (start + end))
