"""The compiled search for lam: one pair under ``KL(P || r c^T) <= alpha``, one lam after another.

``Phi(lam) = min lam <P, M> + I(P)`` is concave with slope ``d^lam``, and ``I = Phi - lam Phi'``:
two solves give a cubic of Phi, whose root of ``I = alpha`` is the next lam. Potentials are carried
from one lam to the next, and early solves are loose: the value is ``max_lam (Phi(lam) - alpha) /
lam``, so errors in lam count only to second order. What is proven of the result, and what to do
where one kernel cannot carry the search, is in `constrained`.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import (
    FLOAT,
    INT,
    INTEGERS,
    MATRIX,
    NODE,
    SHORT_INTEGERS,
    VECTOR,
    Array,
    compiled,
    one_version,
    part,
    shared,
)
from sinkdist.kernels.exponential import stabilised_kernel
from sinkdist.kernels.pair import gather, mean_cost, plan_cost
from sinkdist.kernels.views import bits_of, matrix_in
from sinkdist.kernels.work_space import aligned, kept
from sinkdist.solvers.compiled import newton
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
from sinkdist.solvers.compiled.scaling import most_bins, rows_exact, scale_pair, support
from sinkdist.solvers.policy import AIM, GROWTH, LOOSE_SEARCH, TRIALS, TRUSTED

#: ``lam, Phi, value, information`` at one lam.
Node = tuple[float, float, float, float]

#: Beside CONVERGED and HANDED_OVER: lam has become so large that the constraint may be vacuous.
VACUOUS = 4

PATIENCE = 40.0  #: sweeps that may be projected before Newton takes over
NEWTON_READS = 500.0
STREAK = 2  #: steps from the same side after which it takes more than the cubic
BEYOND = 3e2  #: lam times the mean cost from which the exact distance is asked first


def scratch_for(R: Array, C: Array) -> tuple[Array, Array, Array, Array]:
    """Work space of `constrain_each`: bins, vectors, two blocks for the largest pair, indices."""
    return scratch_of(R.shape[1], C.shape[1], most_bins(R), most_bins(C))


@kept
def scratch_of(d1: int, d2: int, m: int, n: int) -> tuple[Array, Array, Array, Array]:
    """The same for so many bins, with mass in at most ``m`` and ``n`` of them."""
    numbers, indices = newton.scratch_for(m, n)
    vectors = aligned(4 * d1 + 5 * d2 + FIELDS + newton.FIELDS + numbers.size)
    return np.empty(d1 + d2, np.int64), vectors, aligned(2 * m * n), indices


@compiled
def constrain_each(
    M: Array, R: Array, C: Array, first: int, last: int, alpha: float, tol: float, max_iter: int,
    spread: float, value: Array, error: Array, n_iter: Array, lam: Array, act: Array, stop: Array,
    F: Array, G: Array, bins: Array, vectors: Array, blocks: Array, indices: Array,
) -> None:  # fmt: skip
    """Search lam for the pairs ``first`` to ``last`` of a tile, each on its own bins.

    Potentials go to ``F, G``, on bins with mass, unless these have no rows. The last four are
    `scratch_for`. A pair alone comes this way too, so that there is one way.
    """
    d1, d2 = M.shape
    for k in range(first, last):
        if stop[0] != 0:  # nobody waits for it
            return
        i = k if R.shape[0] > 1 else 0
        m, n = support(R[i], bins), support(C[k], bins[d1:])
        rows, columns = bins[:m], bins[d1 : d1 + n]
        r, f = vectors[:m], vectors[m : 2 * m]
        at = 2 * m
        c, g = vectors[at : at + n], vectors[at + n : at + 2 * n]
        for a in range(m):
            r[a] = R[i, rows[a]]
        for b in range(n):
            c[b] = C[k, columns[b]]
        if alpha >= min(entropy(r), entropy(c)):
            act[k] = VACUOUS
            continue
        whole = m == d1 and n == d2
        sub = M if whole else matrix_in(blocks[m * n :], m, n)
        if not whole:
            gather(M, rows, columns, sub)
        mean = mean_cost(sub, r, c)
        if 0.5 * spread * math.sqrt(2.0 * alpha) <= 0.5 * tol * mean:  # too small to be seen
            lam[k], value[k], error[k], n_iter[k], act[k] = 0.0, mean, 0.0, 1, CONVERGED
            continue
        lam[k], value[k], _, error[k], n_iter[k], act[k] = constrain_pair(
            sub, r, c, alpha, tol, max_iter, f, g, stop,
            matrix_in(blocks, m, n), vectors[at + 2 * n :], indices,
        )  # fmt: skip
        if F.shape[0] > 0:
            for a in range(m):
                F[k, rows[a]] = f[a]
            for b in range(n):
                G[k, columns[b]] = g[b]


@shared(MATRIX, VECTOR, VECTOR, VECTOR)
def spread_of_costs(M: Array, r: Array, c: Array, columns: Array) -> tuple[float, float, float]:
    """Mean of ``M`` under ``r c^T``, the deviation its row and column means leave, its maximum.

    In units of the largest cost, so that squares neither overflow nor vanish; ``columns`` is
    scratch.
    """
    one_version()
    m, n = M.shape
    top = M[0, 0]
    for i in range(m):
        for j in range(n):
            top = max(top, M[i, j])
    if not top > 0.0:
        return 0.0, 0.0, top
    for j in range(n):
        columns[j] = 0.0
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
    return top * mean, top * math.sqrt(variance), top


@shared(VECTOR)
def entropy(weights: Array) -> float:
    """``h`` of a histogram with mass in every bin."""
    one_version()
    total = 0.0
    for i in range(weights.size):
        total -= weights[i] * math.log(weights[i])
    return total


@shared(MATRIX, MATRIX, FLOAT, VECTOR, VECTOR, VECTOR, VECTOR, FLOAT, INT, VECTOR, SHORT_INTEGERS)
def _solve_at(
    M: Array, K: Array, lam: float, r: Array, c: Array, f: Array, g: Array, tol: float,
    allowance: int, vectors: Array, indices: Array,
) -> tuple[float, float, float, float, int, int]:  # fmt: skip
    """Solve at one lam from potentials ``f, g``, which move on, in about ``allowance`` reads.

    Returns value, information, dual, error, reads and act. The dual is a lower bound of ``Phi(lam)
    = min lam <P, M> + KL(P || r c^T)``.
    """
    one_version()
    m, n = K.shape
    state, control = vectors[:FIELDS], vectors[FIELDS : FIELDS + newton.FIELDS]
    at = FIELDS + newton.FIELDS
    u, v, acc = (
        vectors[at : at + m],
        vectors[at + m : at + m + n],
        vectors[at + m + n : at + m + 2 * n],
    )
    for i in range(m):
        u[i] = 1.0
    for j in range(n):
        v[j] = 1.0
    stabilised_kernel(M, lam, f, g, K, bits_of(K))
    begin(state)
    sweeps = min(4 * int(PATIENCE), allowance)
    act, error = scale_pair(K, r, c, u, v, acc, state, tol, PATIENCE, sweeps)
    reads = int(state[SWEEPS])
    if act != CONVERGED and act != OVERFLOW and reads < allowance:
        newton.begin(control)
        most = min(NEWTON_READS, float(allowance - reads))
        rest = vectors[at + m + 2 * n :]
        act, error = newton_pair(K, r, c, u, v, acc, control, tol, most, rest, indices)
        reads += int(control[newton.READS])
    elif act != CONVERGED and act != OVERFLOW:
        error = rows_exact(K, r, c, u, v, acc)
    if act != OVERFLOW and not math.log(_largest(u)) + math.log(_largest(v)) < TRUSTED:
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


@part
def _largest(x: Array) -> float:
    """The maximum, NaN where there is one."""
    most: float = x[0]
    for i in range(x.size):
        if math.isnan(x[i]):
            return math.nan
        most = max(most, x[i])
    return most


@shared(
    MATRIX, VECTOR, VECTOR, FLOAT, FLOAT, INT, VECTOR, VECTOR, INTEGERS, MATRIX, VECTOR,
    SHORT_INTEGERS,
)  # fmt: skip
def constrain_pair(
    M: Array, r: Array, c: Array, alpha: float, tol: float, max_iter: int, f: Array, g: Array,
    stop: Array, K: Array, vectors: Array, indices: Array,
) -> tuple[float, float, float, float, int, int]:  # fmt: skip
    """Search lam for one pair on bins with mass.

    Returns lam, value, information, error, reads and act; ``f, g`` hold the potentials at the end.
    CONVERGED means that the plan satisfies the constraint and that its value is within ``tol`` of
    the lower bound that duality gives.
    """
    one_version()
    m, n = M.shape
    old_f, old_g, vectors = vectors[:m], vectors[m : m + n], vectors[m + n :]
    for i in range(m):
        f[i], old_f[i] = 0.0, 0.0
    mean, deviation, top = spread_of_costs(M, r, c, old_g)
    for j in range(n):
        g[j], old_g[j] = 0.0, 0.0
    if deviation <= 1e-15 * mean:
        return 0.0, mean, 0.0, 0.0, 1, CONVERGED
    # Nodes are (lam, Phi, value, information): the bracket's ends, and the last one but one.
    nothing, everything = (0.0, 0.0, mean, 0.0), (np.inf, np.inf, 0.0, np.inf)
    low, high, there = nothing, everything, nothing
    lam, lower, inner = math.sqrt(2.0 * alpha) / deviation, -np.inf, LOOSE_SEARCH
    value, information, error, reads, streak = mean, 0.0, np.inf, 1, 0
    for _ in range(TRIALS):
        value, information, dual, error, made, act = _solve_at(
            M, K, lam, r, c, f, g, inner, max(1, max_iter - reads), vectors, indices
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
        lam = next_lam(there, here, alpha - min(AIM * room, 0.5 * alpha), low, high)
        if high[0] == np.inf and information < 0.3 * alpha:  # far: in larger and larger strides
            lam = max(lam, here[0] * GROWTH ** min(streak, 10))
        elif low[0] > 0.0 and high[0] < np.inf:
            lam = unstuck(lam, here[0], low[0], high[0], streak)
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
def unstuck(lam: float, here: float, low: float, high: float, streak: int) -> float:
    """A step that comes from one side again and again: overshoot, then halve the bracket."""
    one_version()
    if streak < STREAK:
        return lam
    if streak % 3 == STREAK % 3:
        return min(max(here + 2.0 * (lam - here), 0.5 * (low + here)), 0.5 * (high + here))
    return math.sqrt(low * high) if streak % 3 == (STREAK + 1) % 3 else lam


@shared(NODE, NODE, FLOAT, NODE, NODE)
def next_lam(there: Node, here: Node, alpha: float, low: Node, high: Node) -> float:
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
