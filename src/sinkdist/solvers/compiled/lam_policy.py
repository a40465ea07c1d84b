"""Which lam to try next, and when to stop: the policy of one pair's search under ``alpha``.

``Phi(lam) = min lam <P, M> + I(P)`` is concave with slope ``d^lam``, and ``I = Phi - lam Phi'``:
two solves give a cubic of Phi, whose root of ``I = alpha`` is the next lam. Early solves are loose:
the value is ``max_lam (Phi(lam) - alpha) / lam``, so errors in lam count only to second order.

A search is a row of numbers. It stands apart from the loops that solve at a lam (`lam_search`), so
that these can be left in the middle of a search and entered again.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import (
    FLOAT,
    INT,
    MATRIX,
    NODE,
    VECTOR,
    Array,
    one_version,
    part,
    shared,
)
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, RUNNING
from sinkdist.solvers.policy import AIM, GROWTH, LOOSE_SEARCH, TRIALS

#: ``lam, Phi, value, information`` at one lam.
Node = tuple[float, float, float, float]

#: Beside those of `relaxation`: lam has become so large that the constraint may be vacuous; solve
#: at the next lam. RUNNING is a search that may read the kernel no more.
VACUOUS, SEARCHING = 4, 5

STREAK_LENGTH = 2  #: steps from the same side after which it takes more than the cubic
#: lam times the mean cost from which the exact distance is asked first; a hundred times that where
#: it is known not to answer.
BEYOND = 3e2

# Fields of a search. LAM and INNER are where to solve next, and to which marginal error; ACT to
# MADE (reads of the kernel) are what came of the last solve.
LAM, INNER, ACT, VALUE, INFORMATION, DUAL, ERROR, MADE = range(8)
READS, TRIALS_MADE, STREAK, LOWER, MEAN, TOP, FAR = range(8, 15)
LOW, HIGH, LAST = 15, 19, 23  #: nodes: the ends of the bracket, and the last solve but one
FIELDS = 27


@part
def _node(search: Array, at: int) -> Node:
    """Four fields."""
    return search[at], search[at + 1], search[at + 2], search[at + 3]


@part
def _put_node(search: Array, at: int, node: Node) -> None:
    """Set four fields."""
    search[at], search[at + 1], search[at + 2], search[at + 3] = node


@shared(MATRIX, VECTOR, VECTOR, FLOAT, FLOAT, VECTOR, VECTOR)
def begin_search(
    M: Array, r: Array, c: Array, alpha: float, below: float, columns: Array, search: Array
) -> int:
    """A fresh pair on bins with mass: CONVERGED where all plans cost the same, else SEARCHING.

    ``below`` is a bound on the exact distance from below, or ``-inf`` where nobody has asked for it
    yet. ``columns`` is scratch.
    """
    one_version()
    mean, deviation, top = spread_of_costs(M, r, c, columns)
    for field in range(FIELDS):
        search[field] = 0.0
    search[VALUE], search[MEAN], search[TOP], search[READS] = mean, mean, top, 1.0
    if deviation <= 1e-15 * mean:
        return CONVERGED
    search[LAM], search[INNER] = math.sqrt(2.0 * alpha) / deviation, LOOSE_SEARCH
    search[LOWER], search[ERROR] = below, np.inf
    search[FAR] = BEYOND / mean * (1.0 if below == -np.inf else 100.0)
    search[LOW + 2], search[LAST + 2] = mean, mean  # the node of lam = 0
    search[HIGH], search[HIGH + 1], search[HIGH + 3] = np.inf, np.inf, np.inf
    return SEARCHING


@shared(VECTOR, FLOAT, FLOAT, INT, VECTOR, VECTOR, VECTOR, VECTOR)
def next_step(
    search: Array, alpha: float, tol: float, max_iter: int,
    f: Array, g: Array, old_f: Array, old_g: Array,
) -> int:  # fmt: skip
    """Take what came of the last solve; set the next lam, and move the potentials on to it.

    CONVERGED means that the plan satisfies the constraint and that its value is within ``tol`` of
    the lower bound that duality gives. LAM stays where a better solve is wanted first.
    """
    one_version()
    lam, value, information, dual = search[LAM], search[VALUE], search[INFORMATION], search[DUAL]
    error, mean, top = search[ERROR], search[MEAN], search[TOP]
    search[READS] += search[MADE]
    search[TRIALS_MADE] += 1.0
    if search[ACT] != CONVERGED:  # broken, stalled, or too slow for one kernel; or no more reads
        short = search[ACT] == RUNNING and search[READS] >= max_iter
        return RUNNING if short else HANDED_OVER
    here, there = (lam, dual, value, information), _node(search, LAST)
    if information <= alpha:  # a better solve may contradict an end of the bracket
        _put_node(search, LOW, here)
        if not search[HIGH] > lam:
            _put_node(search, HIGH, (np.inf, np.inf, 0.0, np.inf))
    else:
        _put_node(search, HIGH, here)
        if not search[LOW] < lam:
            _put_node(search, LOW, (0.0, 0.0, mean, 0.0))
    search[LOWER] = max(search[LOWER], (dual - alpha) / lam)
    lower = search[LOWER]
    close = information <= alpha and value - lower <= tol * value
    inside = close and value + 0.5 * top * error - lower <= tol * value
    if inside and error <= tol and lower - value <= 0.5 * tol * value:
        return CONVERGED
    if search[READS] >= max_iter:
        return RUNNING
    if search[HIGH] == np.inf and lam > search[FAR]:
        return VACUOUS
    if search[TRIALS_MADE] >= TRIALS:
        return HANDED_OVER
    off = abs(information - alpha) / alpha
    finest = max(0.5 * tol * min(value / top, 1.0), 1e-13)
    if error > (finest if close else max(0.3 * off, finest)):
        search[INNER] = max(0.1 * error, finest)
        return SEARCHING  # solve better before moving on
    search[INNER] = max(min(search[INNER], 0.05 * off), finest)
    search[STREAK] = search[STREAK] + 1.0 if (information <= alpha) == (there[3] <= alpha) else 0.0
    room = tol * value * lam  # the plan may hold this much less information than alpha
    low, high, streak = _node(search, LOW), _node(search, HIGH), int(search[STREAK])
    new = next_lam(there, here, alpha - min(AIM * room, 0.5 * alpha), low, high)
    if high[0] == np.inf and information < 0.3 * alpha:  # far: in larger and larger strides
        new = max(new, lam * GROWTH ** min(streak, 10))
    elif low[0] > 0.0 and high[0] < np.inf:
        new = unstuck(new, lam, low[0], high[0], streak)
    _extrapolate(f, old_f, there[0], lam, new)
    _extrapolate(g, old_g, there[0], lam, new)
    _put_node(search, LAST, here)
    search[LAM] = new
    return SEARCHING


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


@shared(FLOAT, FLOAT, FLOAT, FLOAT, INT)
def unstuck(lam: float, here: float, low: float, high: float, streak: int) -> float:
    """A step that comes from one side again and again: overshoot, then halve the bracket."""
    one_version()
    if streak < STREAK_LENGTH:
        return lam
    if streak % 3 == STREAK_LENGTH % 3:
        return min(max(here + 2.0 * (lam - here), 0.5 * (low + here)), 0.5 * (high + here))
    return math.sqrt(low * high) if streak % 3 == (STREAK_LENGTH + 1) % 3 else lam


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
