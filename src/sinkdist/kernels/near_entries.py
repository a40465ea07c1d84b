"""The part of a kernel that can matter, as compressed rows: for plans with little mass elsewhere.

At a large lam nearly all entries of ``exp(lam (f_i + g_j - M_ij))`` are far below all others once
``f, g`` are near the potentials of the plan. Passes take as long as there are others.
"""

from __future__ import annotations

from sinkdist.kernels.compiled import (
    FLOAT,
    MATRIX,
    SHORT_INTEGERS,
    VECTOR,
    Array,
    one_version,
    shared,
)
from sinkdist.kernels.exp import exp_of
from sinkdist.kernels.hessian import CHUNK
from sinkdist.kernels.pair import representable

__all__ = ["large_part", "near_entries", "near_row_pass"]


@shared(
    MATRIX, FLOAT, VECTOR, VECTOR, VECTOR, VECTOR, SHORT_INTEGERS, SHORT_INTEGERS, VECTOR,
    allocates=False,
)  # fmt: skip
def near_entries(
    M: Array, lam: float, f: Array, g: Array, low_rows: Array, low_columns: Array, starts: Array,
    columns: Array, values: Array,
) -> int:  # fmt: skip
    """Entries whose exponent is above that of their row in ``low_rows``, or that of their column.

    Returns their number, or -1 when they do not fit into ``values``.
    """
    one_version()
    m, n = M.shape
    filled = 0
    starts[0] = 0
    for i in range(m):
        if filled + n > values.size:
            return -1
        first, low_row = filled, low_rows[i]
        for start in range(0, n, CHUNK):
            costs, heights, low = (
                M[i, start : start + CHUNK],
                g[start : start + CHUNK],
                low_columns[start : start + CHUNK],
            )
            hits = 0.0
            for j in range(costs.size):
                x = lam * ((f[i] + heights[j]) - costs[j])
                hits += 1.0 if x > min(low_row, low[j]) else 0.0
            if hits == 0.0:
                continue
            for j in range(costs.size):
                x = lam * ((f[i] + heights[j]) - costs[j])
                if x > min(low_row, low[j]):
                    columns[filled] = start + j
                    values[filled] = x
                    filled += 1
        row = values[first:filled]
        for k in range(row.size):
            row[k] = exp_of(row[k])
        starts[i + 1] = filled
    return filled


@shared(SHORT_INTEGERS, SHORT_INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, allocates=False)
def near_row_pass(
    starts: Array, columns: Array, values: Array, r: Array, v: Array, u: Array, acc: Array
) -> bool:
    """`pair.row_pass` over compressed rows."""
    one_version()
    ok = True
    for j in range(acc.size):
        acc[j] = 0.0
    for i in range(r.size):
        s = 0.0
        for k in range(starts[i], starts[i + 1]):
            s += values[k] * v[columns[k]]
        ok &= representable(s)
        u[i] = r[i] / s
        for k in range(starts[i], starts[i + 1]):
            acc[columns[k]] += u[i] * values[k]
    return ok


@shared(
    SHORT_INTEGERS, SHORT_INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, FLOAT,
    SHORT_INTEGERS, SHORT_INTEGERS, VECTOR, allocates=False,
)  # fmt: skip
def large_part(
    near: Array, at: Array, kernel: Array, u: Array, v: Array, acc: Array, r: Array, c: Array,
    cut: float, starts: Array, columns: Array, values: Array,
) -> int:  # fmt: skip
    """`hessian.sparsify` of a kernel in compressed rows ``near, at, kernel``; they always fit."""
    one_version()
    filled = 0
    starts[0] = 0
    for i in range(r.size):
        first, kept, low_row = filled, 0.0, cut * r[i]
        for k in range(near[i], near[i + 1]):
            j = at[k]
            p = u[i] * kernel[k] * v[j]
            if p > low_row or p > cut * min(c[j], v[j] * acc[j]):
                columns[filled] = j
                values[filled] = p
                kept += p
                filled += 1
        for k in range(first, filled):
            values[k] *= r[i] / kept
        starts[i + 1] = filled
    return filled
