"""The hard constraint: the least cost of a coupling with ``KL(P || r c^T) <= alpha``, the paper's metric d_{M,alpha}.

It is ``d^lam`` at the lam where ``I(lam) = KL(P^lam || r c^T)`` reaches alpha. ``sqrt(2 I)`` is nearly linear in lam, 0
at 0, and known near 0, so a bracketed secant on it needs few values of lam. Potentials are carried from one lam
to the next, and early solves are loose: the value is ``max_lam (Phi(lam) - alpha) / lam``, so errors in lam
count only to second order.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.passes.compiled import compiled
from sinkdist.passes.exponential import stabilised_kernel
from sinkdist.passes.pair import gather, plan_cost
from sinkdist.solvers import newton
from sinkdist.solvers.newton import newton_pair
from sinkdist.solvers.relaxation import BROKEN, DONE, FIELDS, GO, SLOW, SWEEPS, begin
from sinkdist.solvers.scaling import scale_pair, support

#: Beside DONE and SLOW: lam has become so large that the constraint may be vacuous.
VACUOUS = 4

LOOSE = 1e-3  #: marginal error of the first solves
PATIENCE = 40.0  #: sweeps that may be projected before Newton takes over
NEWTON_READS = 500
TRIALS = 40  #: values of lam at most
BEYOND = 2e3  #: lam times the mean cost from which the exact distance is asked first
GROWTH = 4.0  #: from one lam to the next where none is large enough yet


@compiled
def spread_of_costs(M, r, c):
    """Mean of ``M`` under ``r c^T``, and the standard deviation that its row and column means leave."""
    m, n = M.shape
    columns = np.zeros(n)
    mean, square, rows_square = 0.0, 0.0, 0.0
    for i in range(m):
        row, row_square = 0.0, 0.0
        for j in range(n):
            row += c[j] * M[i, j]
            row_square += c[j] * M[i, j] * M[i, j]
            columns[j] += r[i] * M[i, j]
        mean += r[i] * row
        square += r[i] * row_square
        rows_square += r[i] * row * row
    columns_square = 0.0
    for j in range(n):
        columns_square += c[j] * columns[j] * columns[j]
    return mean, math.sqrt(max(square - rows_square - columns_square + mean * mean, 0.0))


@compiled
def _entropy(weights):
    """``h`` of a histogram with mass in every bin."""
    total = 0.0
    for i in range(weights.size):
        total -= weights[i] * math.log(weights[i])
    return total


@compiled
def _at(M, K, bits, lam, r, c, f, g, tol):
    """Solve at one lam from potentials ``f, g``, which move on; value, information, dual, error, sweeps, act.

    The dual is a lower bound of ``Phi(lam) = min lam <P, M> + KL(P || r c^T)``.
    """
    u, v, acc = np.ones(r.size), np.ones(c.size), np.empty(c.size)
    state, control = np.empty(FIELDS), np.empty(newton.FIELDS)
    stabilised_kernel(M, lam, f, g, K, bits)
    begin(state)
    act, error = scale_pair(K, r, c, u, v, acc, state, tol, PATIENCE, 4 * int(PATIENCE))
    reads = int(state[SWEEPS])
    if act == SLOW or act == GO:
        newton.begin(control)
        act, error = newton_pair(K, r, c, u, v, acc, control, tol, NEWTON_READS)
        reads += int(control[newton.READS])
    if act == BROKEN:
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


@compiled
def constrain_pair(M, r, c, alpha, tol, f, g):
    """Search lam for one pair on bins with mass; returns lam, value, information, error, reads, act.

    ``f, g`` hold the potentials at the end. DONE means that the bracket of the value, by duality from
    below and by a feasible mixture of plans from above, is narrower than ``tol``, and that the plan lies
    in that bracket.
    """
    K = np.empty(M.shape)
    bits = K.view(np.int64)
    f[:], g[:] = 0.0, 0.0
    mean, deviation = spread_of_costs(M, r, c)
    top = M.max()
    if deviation <= 1e-15 * top:
        return 0.0, mean, 0.0, 0.0, 1, DONE
    # Nodes are (lam, Phi, value, information); the bracket's ends, then the last two.
    low, high = (0.0, 0.0, mean, 0.0), (np.inf, np.inf, 0.0, np.inf)
    there, old_f, old_g = low, np.zeros(f.size), np.zeros(g.size)
    lam, lower, inner, reads = math.sqrt(2.0 * alpha) / deviation, -np.inf, LOOSE, 1
    for _ in range(TRIALS):
        value, information, dual, error, made, act = _at(M, K, bits, lam, r, c, f, g, inner)
        reads += made
        if act == BROKEN or act == SLOW:
            return lam, value, information, error, reads, act
        here = (lam, dual, value, information)
        if information < alpha:
            low = here if lam > low[0] else low
        else:
            high = here if lam < high[0] else high
        lower = max(lower, (dual - alpha) / lam)
        upper = _mixture(low, high, alpha) + 0.5 * top * error
        off = abs(math.sqrt(information / alpha) - 1.0)
        finest = max(0.25 * tol * value / top, 1e-13)
        if upper - lower <= tol * upper and abs(value - lower) <= tol * upper:
            return lam, value, information, error, reads, DONE
        if high[0] == np.inf and lam * mean > BEYOND:
            return lam, value, information, error, reads, VACUOUS
        if error > max(0.2 * off, finest):
            inner = max(0.1 * error, finest)
            continue  # solve better before moving on
        inner = max(min(inner, 0.05 * off), finest)
        lam = _next_lam(there, here, alpha, low, high)
        _extrapolate(f, old_f, there[0], here[0], lam)
        _extrapolate(g, old_g, there[0], here[0], lam)
        there = here
    return lam, value, information, error, reads, GO


@compiled
def _extrapolate(potential, old, there, here, lam):
    """Move a potential on to ``lam``, linearly in ``1 / lam`` through the last two; the last becomes old."""
    step = 0.0
    if there > 0.0:
        step = (1.0 / here - 1.0 / lam) / (1.0 / there - 1.0 / here)
    step = min(max(step, -2.0), 2.0)
    for i in range(potential.size):
        last = potential[i]
        potential[i] += step * (last - old[i])
        old[i] = last


@compiled
def _mixture(low, high, alpha):
    """Cost of the mixture of two plans whose information is at most alpha, by convexity."""
    if high[3] == np.inf:
        return low[2]
    share = (alpha - low[3]) / (high[3] - low[3])
    return (1.0 - share) * low[2] + share * high[2]


@compiled
def _next_lam(there, here, alpha, low, high):
    """Where the information will be alpha, by the cubic through the last two values and slopes of Phi.

    In lam where one of them is lam = 0, else in log lam, in which ``I = Phi - dPhi/dlog(lam)`` is smooth from end to
    end. Inside the bracket, or within `GROWTH` where there is none; a secant where the cubic has no root there.
    """
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
        return guess
    return end if high[0] == np.inf else 0.5 * (start + end)
