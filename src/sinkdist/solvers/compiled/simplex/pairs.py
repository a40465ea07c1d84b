"""Many pairs in one compiled call: cut each down to what has to move, solve it, prove it.

Histograms come as bins with mass, sorted. Where the costs are a metric, the mass that both
histograms have in a bin stays there, which the triangle inequality makes optimal. Masses are
divided by their sums, which rounding has left a little off 1, so that what is left of histograms
that are nearly the same is known to its own last digits. The side with clearly fewer bins becomes
the rows. Costs are taken in a unit, a power of two, that makes them at most 1.

A pair counts as `SOLVED` here only if primal and dual values agree to half of what is promised,
with all that rounding may have done. All others are `UNSURE`, and left to a slower path.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import (
    BOOL,
    FLOAT,
    INT,
    INTEGERS,
    MATRIX,
    VECTOR,
    Array,
    compiled,
    one_version,
    shared,
)
from sinkdist.kernels.views import matrix_in
from sinkdist.kernels.work_space import aligned, kept
from sinkdist.solvers.compiled.simplex.optimum import ABANDONED as GIVEN_UP
from sinkdist.solvers.compiled.simplex.optimum import dual_value, optimise
from sinkdist.solvers.compiled.simplex.pricing import (
    COLUMNS,
    HUGE,
    LINE,
    ROWS,
    SINGLE_MATRIX,
    padded,
)
from sinkdist.solvers.compiled.simplex.proof import list_moves, lower_bound, upper_bound
from sinkdist.solvers.compiled.simplex.start import GROUP
from sinkdist.solvers.compiled.simplex.tree import FOLLOWING, LINKS, NODES, PARENT, flows

__all__ = ["ABANDONED", "GAP", "SOLVED", "STOPPED", "UNSURE", "transport_each", "work_space"]

SOLVED, UNSURE, ABANDONED, STOPPED = 0, 1, 2, 3  #: how a pair ended
GAP = 1e-9  #: of the value: what counts as solved
SMALL, FINE_SMALL, FINE = 2048, 1e-13, 1e-11  #: what misplaced mass may cost, by number of moves
SINGLE = 40_000  #: moves from which pricing begins in single precision
TURN = 1.25  #: rows to a column beyond which they change places: columns of M take long to read
LINES = 8  #: rows of M whose costs are read together where they become columns
NUMBERS = 5  #: rows of floats in the work space
EPS = 2.0**-53


@kept
def work_space(m: int, n: int) -> tuple[Array, ...]:
    """For pairs of at most ``m`` and ``n`` bins, as `transport_each` takes it."""
    block = max(math.prod(padded(m, n)), math.prod(padded(n, m)))  # either may be the rows
    nodes, large = sum(padded(max(m, n), max(m, n))), m * n >= SINGLE
    row = 2 * nodes + 2 * GROUP
    return (
        aligned(block),
        aligned(block if large else 0, np.float32),
        aligned(nodes if large else 0, np.float32),
        aligned(NUMBERS * row).reshape(NUMBERS, row),
        np.empty(nodes, np.int64),
        np.empty((LINKS + 1, nodes), np.uint32),
        np.empty((2, nodes), np.int64),
    )


@shared(VECTOR, reorder=False, allocates=False)
def _excess(mass: Array) -> float:
    """What is to be taken off masses, as a part of them, so that they sum to 1.

    The sum carries along what its additions lose (Neumaier 1974).
    """
    one_version()
    total, lost = -1.0, 0.0
    for k in range(mass.size):
        new = total + mass[k]
        larger, smaller = (total, mass[k]) if abs(total) >= abs(mass[k]) else (mass[k], total)
        lost += (larger - new) + smaller
        total = new
    over = total + lost
    return over / (1.0 + over)


@shared(INTEGERS, VECTOR, INTEGERS, VECTOR, reorder=False, allocates=False)
def _surplus(r_bins: Array, r: Array, c_bins: Array, c: Array) -> float:
    """``sum(r) - sum(c)``, to the last digits of what the two differ by in their bins.

    The difference of two sums would be known to the last digits of the sums.
    """
    one_version()
    total = lost = 0.0
    i = j = 0
    while i < r_bins.size or j < c_bins.size:
        ahead = j == c_bins.size or (i < r_bins.size and r_bins[i] < c_bins[j])
        behind = i == r_bins.size or (j < c_bins.size and c_bins[j] < r_bins[i])
        more = (0.0 if behind else r[i]) - (0.0 if ahead else c[j])
        new = total + more
        larger, smaller = (total, more) if abs(total) >= abs(more) else (more, total)
        lost += (larger - new) + smaller
        total = new
        i += 0 if behind else 1
        j += 0 if ahead else 1
    return total + lost


@shared(
    INTEGERS, VECTOR, INTEGERS, VECTOR, BOOL, FLOAT, INTEGERS, VECTOR, INTEGERS, VECTOR,
    allocates=False,
)  # fmt: skip
def _what_moves(
    r_bins: Array, r: Array, c_bins: Array, c: Array, metric: bool, surplus: float, rows: Array,
    a: Array, columns: Array, b: Array,
) -> tuple[int, int]:  # fmt: skip
    """Bins and masses of both sides, without the common mass if it may stay; how many bins.

    ``r / sum(r) - c / sum(c)`` is ``(r - c) / sum(r) - c surplus / (sum(r) sum(c))``.
    """
    one_version()
    off_r, off_c = _excess(r), _excess(c)
    stretched = surplus * (1.0 - off_r) * (1.0 - off_c)
    m = n = i = j = 0
    while i < r_bins.size or j < c_bins.size:
        ahead = j == c_bins.size or (i < r_bins.size and r_bins[i] < c_bins[j])
        behind = i == r_bins.size or (j < c_bins.size and c_bins[j] < r_bins[i])
        more_r = r[i] - r[i] * off_r if not behind else 0.0
        more_c = c[j] - c[j] * off_c if not ahead else 0.0
        if not ahead and not behind and metric:  # what one has more than the other
            apart = r[i] - c[j]
            more_r = (apart - apart * off_r) - c[j] * stretched
            more_c = -more_r
        if not behind:
            if more_r > 0.0:
                rows[m], a[m] = r_bins[i], more_r
                m += 1
            i += 1
        if not ahead:
            if more_c > 0.0:
                columns[n], b[n] = c_bins[j], more_c
                n += 1
            j += 1
    return m, n


@shared(MATRIX, INTEGERS, INTEGERS, allocates=False)
def _least_move(M: Array, rows: Array, columns: Array) -> float:
    """The least cost of leaving a bin, among some."""
    one_version()
    least = np.inf
    for i in range(rows.size):
        for j in range(columns.size):
            if rows[i] != columns[j]:
                least = min(least, M[rows[i], columns[j]])
    return least


@shared(MATRIX, INTEGERS, INTEGERS, BOOL, FLOAT, INT, INT, MATRIX, SINGLE_MATRIX, allocates=False)
def _gather(
    M: Array, rows: Array, columns: Array, turned: bool, unit: float, m: int, n: int, C: Array,
    coarse: Array,
) -> None:  # fmt: skip
    """The block of costs, padded; ``turned`` if rows of the block are columns of ``M``."""
    one_version()
    at, to = rows[:m], columns[:n]
    if turned:  # some rows of M at a time, so that they stay in the cache
        for start in range(0, n, LINES):
            end = min(start + LINES, n)
            for i in range(m):
                x = np.uint64(at[i])  # unsigned: no entries are counted from the end
                for j in range(start, end):
                    C[i, j] = M[np.uint64(to[j]), x] * unit
    for i in range(m):
        if not turned:
            x = np.uint64(at[i])
            for j in range(to.size):
                C[i, j] = M[x, np.uint64(to[j])] * unit
        for j in range(n, C.shape[1]):
            C[i, j] = HUGE
        if coarse.shape[0] > 0:
            for j in range(C.shape[1]):
                coarse[i, j] = C[i, j]
    for i in range(m, -(-m // ROWS) * ROWS):
        for j in range(C.shape[1]):
            C[i, j] = HUGE
            if coarse.shape[0] > 0:
                coarse[i, j] = HUGE


@shared(NODES, MATRIX, INT, INT, INT, VECTOR, VECTOR, VECTOR, INT, allocates=False)
def _misplaced(
    links: Array, C: Array, m: int, n: int, root: int, mass: Array, flow: Array, sums: Array,
    top: int,
) -> tuple[float, float]:  # fmt: skip
    """By how much rows and columns sum to too much or too little, and what mending would cost.

    By way of the largest move, ``top`` and its parent, as `proof.upper_bound` does.
    """
    one_version()
    parent, following, first = links[PARENT], links[FOLLOWING], C.shape[0]
    for i in range(m):
        sums[i] = -mass[i]
    for j in range(n):
        sums[first + j] = -mass[first + j]
    x = following[root]
    while x != root:
        sums[x] += flow[x]
        sums[parent[x]] += flow[x]
        x = following[x]
    row, column = (top, parent[top] - first) if top < first else (parent[top], top - first)
    off = cost = 0.0
    for i in range(m):
        over = sums[i]
        off += abs(over)
        cost += max(-over, 0.0) * C[i, column]
        sums[i] = over / (mass[i] + over) if over > 0.0 else 0.0
    for j in range(n):
        over = sums[first + j]
        off += abs(over)
        cost += max(-over, 0.0) * C[row, j]
        sums[first + j] = over / (mass[first + j] + over) if over > 0.0 else 0.0
    x = following[root]
    while x != root:  # what one side has too much of, the other lacks once it is taken away
        i, j = (x, parent[x] - first) if x < first else (parent[x], x - first)
        cost += flow[x] * (sums[i] * C[row, j] + sums[first + j] * C[i, column])
        x = following[x]
    return off, cost


@shared(VECTOR, VECTOR, INT, INT, INT, allocates=False)
def _sizes(potential: Array, mass: Array, m: int, first: int, n: int) -> float:
    """Centred potentials, weighted by mass: what the rounding of a dual value is a part of."""
    one_version()
    total = mean = 0.0
    for x in range(m):
        total += mass[x]
        mean += mass[x] * potential[x]
    mean /= total
    size = 0.0
    for x in range(m):
        size += mass[x] * abs(potential[x] - mean)
    for x in range(first, first + n):
        size += 2.0 * mass[x] * abs(potential[x] - mean)
    return size


@shared(VECTOR, FLOAT, allocates=False)
def _insert(nearest: Array, x: float) -> None:
    """Put a number among sorted ones, the largest of which is dropped."""
    one_version()
    k = nearest.size - 1
    if k < 0 or x >= nearest[k]:
        return
    while k > 0 and nearest[k - 1] > x:
        nearest[k] = nearest[k - 1]
        k -= 1
    nearest[k] = x


@compiled
def transport_each(
    M: Array, r_start: Array, r_bins: Array, r_mass: Array, c_start: Array, c_bins: Array,
    c_mass: Array, begin: int, end: int, metric: bool, bend: float, unit: float, top: float,
    enough: Array, nearest: Array, slack: float,
    value: Array, lower: Array, upper: Array, error: Array, pivots: Array, state: Array, F: Array,
    G: Array, moves: Array, moved: Array, stop: Array, costs: Array, coarse: Array, single: Array,
    numbers: Array, whole: Array, links: Array, bins: Array,
) -> None:  # fmt: skip
    """Solve the pairs ``begin`` to ``end`` of rows given as bins with mass.

    Parameters
    ----------
    r_start, r_bins, r_mass, c_start, c_bins, c_mass : ndarray
        Rows of both sides in compressed form; the first side may have one row, shared by all.
    metric : bool
        Whether common mass may stay where it is.
    bend : float
        Of the largest cost: by how much a metric may violate triangle inequalities.
    unit, top : float
        What costs are multiplied by, and the largest of them after that.
    enough : ndarray
        For every pair: a distance that need not be told from larger ones, in the caller's unit.
    nearest, slack : ndarray and float
        Upper ends, sorted, the largest of which and ``slack`` need not be told from larger ones
        either; with potentials, the upper end of every pair that is solved takes its place here.
    value, lower, upper, error, pivots, state : ndarray
        Results. Bounds without potentials are good enough to tell whether a pair is `SOLVED`; they
        rely on the costs being a metric, if ``metric`` says so.
    F, G, moves, moved : ndarray
        Potentials on bins with mass, and the moves of the plan (row and column, -1 after the last)
        with their masses; without rows if they are not wanted. A pair that was given up has
        potentials and no moves.
    """
    wanted = F.shape[0] > 0
    mass, potential, flow = numbers[0], numbers[1], numbers[2]
    sums, scratch = numbers[3], numbers[4]
    order, tree = links[LINKS], links[:LINKS]
    for k in range(begin, end):
        if stop[0] != 0:
            state[k] = STOPPED
            continue
        i = k if r_start.size > 2 else 0
        r, c = r_mass[r_start[i] : r_start[i + 1]], c_mass[c_start[k] : c_start[k + 1]]
        rows_of_r = r_bins[r_start[i] : r_start[i + 1]]
        columns_of_c = c_bins[c_start[k] : c_start[k + 1]]
        rows, columns, a, b = bins[0], bins[1], sums, scratch
        cancels = metric
        surplus = _surplus(rows_of_r, r, columns_of_c, c)
        m, n = _what_moves(rows_of_r, r, columns_of_c, c, cancels, surplus, rows, a, columns, b)
        if (m == 0) != (n == 0):  # one of them is a bit larger everywhere
            cancels = not metric
            m, n = _what_moves(rows_of_r, r, columns_of_c, c, cancels, surplus, rows, a, columns, b)
        limit = enough[k]
        if nearest.size > 0:
            limit = min(limit, nearest[nearest.size - 1] + slack)
        if m == 0:
            _insert(nearest, 0.0)
            value[k] = lower[k] = upper[k] = error[k] = 0.0
            pivots[k], state[k] = 0, SOLVED
            if wanted:
                for x in range(r.size):
                    moves[k, 0, x] = moves[k, 1, x] = rows_of_r[x]
                    moved[k, x] = r[x]
                    F[k, rows_of_r[x]] = G[k, rows_of_r[x]] = 0.0
                moves[k, 0, r.size] = -1
            continue
        turned = m > TURN * n
        if turned:
            rows, columns, a, b, m, n = columns, rows, b, a, n, m
        first = -(-m // LINE) * LINE
        width = -(-n // COLUMNS) * COLUMNS
        for x in range(m):
            mass[x] = a[x]
        for x in range(n):
            mass[first + x] = b[x]
        C = matrix_in(costs, first, width)
        large = m * n >= SINGLE
        half = matrix_in(coarse, first if large else 0, width)
        _gather(M, rows, columns, turned, unit, m, n, C, half)
        root, pivots[k] = optimise(
            C, half, m, n, mass, whole, potential, single, tree, order, scratch,
            limit * unit, stop,
        )  # fmt: skip
        given_up, ended = pivots[k] == -GIVEN_UP, pivots[k] >= 0
        if given_up or stop[0] != 0:
            state[k] = ABANDONED if given_up else STOPPED
            value[k] = upper[k] = error[k] = np.inf
            lower[k] = limit if given_up else 0.0
            if wanted and given_up:  # potentials prove something wherever they stop
                known, given = (rows[:m], sums[:m]) if turned else (columns[:n], sums[:n])
                for x in range(known.size):
                    given[x] = (potential[x] if turned else -potential[first + x]) / unit
                lower_bound(M, rows_of_r, r, columns_of_c, c, known, given, F[k], G[k])
            continue
        pivots[k] = abs(pivots[k])
        cost, largest = flows(tree, C, root, mass, flow)
        error[k], left_out = _misplaced(tree, C, m, n, root, mass, flow, sums, largest)
        dual = dual_value(C, m, n, mass, potential, scratch)
        rounding = (r.size + c.size + 16) * EPS * (cost + _sizes(potential, mass, m, first, n))
        if cancels:  # potentials of what stays are no larger than costs
            bent = (bend + 3.0 * (r.size + c.size + 16) * EPS) * top
            most = cost + left_out + rounding
            if bent > 0.25 * GAP * cost and most > 0.0:
                # It is lost on what moves in an optimal plan, and each move costs something.
                least = _least_move(M, rows_of_r, columns_of_c) * unit
                bent *= most / max(least, most)
            # What sums differ by is spread over all bins, and may be large beside what moves.
            rounding += bent + 8.0 * EPS * abs(surplus) * top
        fine = FINE if m * n > SMALL else FINE_SMALL
        near = cost + left_out - dual + rounding <= 0.5 * GAP * cost
        state[k] = SOLVED if ended and near and left_out <= fine * cost else UNSURE
        value[k] = cost / unit
        lower[k] = max(dual - rounding, 0.0) / unit
        upper[k] = (cost + left_out + rounding) / unit
        if not wanted:
            continue
        count = list_moves(
            tree, first, root, rows, columns, turned, flow, rows_of_r, r, columns_of_c, c, cancels,
            moves[k], moved[k],
        )  # fmt: skip
        moves[k, 0, count] = -1
        low, high = lower[k], upper[k]
        upper[k], error[k] = upper_bound(
            M, rows_of_r, r, columns_of_c, c, moves[k], moved[k], count, value[k], F[k], G[k]
        )
        known, given = (rows[:m], sums[:m]) if turned else (columns[:n], sums[:n])
        for x in range(known.size):
            given[x] = (potential[x] if turned else -potential[first + x]) / unit
        lower[k] = lower_bound(M, rows_of_r, r, columns_of_c, c, known, given, F[k], G[k])
        # Nothing but rounding is between these bounds, which rely on no metric: then the ones from
        # the part that moves hold too.
        rounding = 64.0 * (r.size + c.size + 16) * EPS * top / unit
        if cancels and upper[k] - lower[k] <= rounding:
            lower[k], upper[k] = max(lower[k], low), min(upper[k], high)
        lower[k] = min(lower[k], upper[k])
        if upper[k] - lower[k] > GAP * upper[k]:
            state[k] = UNSURE
        if state[k] == SOLVED:
            _insert(nearest, upper[k])
