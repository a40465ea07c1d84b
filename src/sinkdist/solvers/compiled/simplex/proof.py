"""What a basis proves of the distance between the whole histograms: potentials, moves, bounds.

The same formulas as in `solution.certificates`, on the bins with mass of one pair, compiled: the
c-transform of any potential is feasible, whether or not the costs are a metric, and a plan whose
rows and columns are a little off can be mended: bins that hold too much are scaled down, and what
others lack then goes by way of the largest move (`solution.certificates.many_pairs.misfit`).
"""

from __future__ import annotations

import numpy as np
from numba import types

from sinkdist.kernels.compiled import (
    BOOL,
    FLOAT,
    INT,
    INTEGERS,
    MATRIX,
    VECTOR,
    Array,
    one_version,
    shared,
)
from sinkdist.kernels.minimum import lesser
from sinkdist.solvers.compiled.simplex.tree import FOLLOWING, NODES, PARENT

__all__ = ["list_moves", "lower_bound", "upper_bound"]

EPS = 2.0**-53
MOVES = types.int64[:, ::1]


@shared(
    NODES, INT, INT, INTEGERS, INTEGERS, BOOL, VECTOR, INTEGERS, VECTOR, INTEGERS, VECTOR, BOOL,
    MOVES, VECTOR,
    allocates=False,
)  # fmt: skip
def list_moves(
    links: Array, first: int, root: int, rows: Array, columns: Array, turned: bool, flow: Array,
    r_bins: Array, r: Array, c_bins: Array, c: Array, metric: bool, moves: Array, moved: Array,
) -> int:  # fmt: skip
    """All moves of the plan, what stays included: their bins and masses; how many."""
    one_version()
    parent, following = links[PARENT], links[FOLLOWING]
    count, x = 0, following[root]
    while x != root:
        if flow[x] > 0.0:
            y = parent[x]
            i, j = (rows[x], columns[y - first]) if x < first else (rows[y], columns[x - first])
            moves[0, count], moves[1, count] = (j, i) if turned else (i, j)
            moved[count] = flow[x]
            count += 1
        x = following[x]
    if metric:
        p = q = 0
        while p < r_bins.size and q < c_bins.size:
            if r_bins[p] == c_bins[q]:
                moves[0, count] = moves[1, count] = r_bins[p]
                moved[count] = min(r[p], c[q])
                count += 1
            step = r_bins[p] <= c_bins[q]
            if c_bins[q] <= r_bins[p]:
                q += 1
            if step:
                p += 1
    return count


@shared(
    MATRIX, INTEGERS, VECTOR, INTEGERS, VECTOR, MOVES, VECTOR, INT, FLOAT, VECTOR, VECTOR,
    allocates=False,
)  # fmt: skip
def upper_bound(
    M: Array, r_bins: Array, r: Array, c_bins: Array, c: Array, moves: Array, moved: Array,
    count: int, value: float, row_sums: Array, column_sums: Array,
) -> tuple[float, float]:  # fmt: skip
    """The cost of the plan and of mending it, and the plan's marginal error.

    The cost is infinite where no move is large enough to mend the plan by way of it.

    ``row_sums`` and ``column_sums`` are scratch, of all bins.
    """
    one_version()
    unit = (r.size + c.size + 16) * EPS
    for p in range(r.size):
        row_sums[r_bins[p]] = 0.0
    for q in range(c.size):
        column_sums[c_bins[q]] = 0.0
    top = 0
    for k in range(count):
        row_sums[moves[0, k]] += moved[k]
        column_sums[moves[1, k]] += moved[k]
        if moved[k] > moved[top]:
            top = k
    i, j = moves[0, top], moves[1, top]
    missing = detour = error = 0.0
    for p in range(r.size):
        x, total = r_bins[p], row_sums[r_bins[p]]
        off, slack = r[p] - total, 3.0 * unit * r[p]
        error += abs(off)
        lacks = max(off, 0.0) + slack
        missing += lacks
        detour += lacks * M[x, j]
        row_sums[x] = (max(-off, 0.0) + slack) / total if total > 0.0 else 0.0
    for q in range(c.size):
        y, total = c_bins[q], column_sums[c_bins[q]]
        off, slack = c[q] - total, 3.0 * unit * c[q]
        error += abs(off)
        lacks = max(off, 0.0) + slack
        missing += lacks
        detour += lacks * M[i, y]
        column_sums[y] = (max(-off, 0.0) + slack) / total if total > 0.0 else 0.0
    for k in range(count):  # what one side has too much of, the other lacks once it is taken away
        x, y = moves[0, k], moves[1, k]
        from_row, from_column = moved[k] * row_sums[x], moved[k] * column_sums[y]
        missing += from_row + from_column
        detour += from_column * M[x, j] + from_row * M[i, y]
    if moved[top] <= 2.0 * missing:
        return np.inf, error
    return value * (1.0 + unit) + detour * (1.0 + 2.0 * unit), error


@shared(
    MATRIX, INTEGERS, VECTOR, INTEGERS, VECTOR, INTEGERS, VECTOR, VECTOR, VECTOR, allocates=False
)
def lower_bound(
    M: Array, r_bins: Array, r: Array, c_bins: Array, c: Array, known: Array, given: Array,
    f: Array, g: Array,
) -> float:  # fmt: skip
    """Feasible potentials ``f, g`` on bins with mass, and what they prove with their rounding.

    From potentials ``given`` for some columns, ``known``: rows get their c-transform, centred, and
    all columns the c-transform of the rows.
    """
    one_version()
    mean = 0.0
    for p in range(r.size):  # unsigned: no columns are counted from the end
        line, least = M[r_bins[p]], np.inf
        for q in range(known.size):
            least = lesser(least, line[np.uint64(known[q])] - given[q])
        f[r_bins[p]] = least
        mean += r[p] * least
    for q in range(c.size):
        g[c_bins[q]] = np.inf
    total = 0.0
    for p in range(r.size):
        f[r_bins[p]] -= mean
        line, x = M[r_bins[p]], f[r_bins[p]]
        total += r[p] * x
        for q in range(c.size):
            j = np.uint64(c_bins[q])
            g[j] = lesser(g[j], line[j] - x)
    other = sizes = 0.0
    for q in range(c.size):
        other += c[q] * g[c_bins[q]]
    shift = 0.5 * (total - other)
    for p in range(r.size):
        sizes += r[p] * abs(f[r_bins[p]] - shift)
    for q in range(c.size):
        sizes += c[q] * (abs(g[c_bins[q]] + shift) + abs(g[c_bins[q]]))
    return max(total + other - (r.size + c.size + 16) * EPS * sizes, 0.0)
