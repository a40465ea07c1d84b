"""Passes for Newton's method on the dual of one pair.

With ``u`` eliminated (exact rows), the dual is a concave function of ``log v`` with gradient
``c - P^T 1`` and Hessian ``-(diag(P^T 1) - P^T diag(1/r) P)``, a weighted graph Laplacian. Products
with it take one read of the dense kernel, or of a sparse copy of ``P`` where most of ``P`` is
negligible.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import (
    FLOAT,
    MATRIX,
    SHORT_INTEGERS,
    VECTOR,
    Array,
    one_version,
    shared,
)


@shared(MATRIX, VECTOR, VECTOR, VECTOR)
def dense_product(K: Array, w: Array, scale: Array, acc: Array) -> None:
    """``acc = K^T (scale * (K w))`` in one read."""
    one_version()
    m, n = K.shape
    whole = m - m % 4
    for j in range(n):
        acc[j] = 0.0
    for i in range(0, whole, 4):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            s0 += K[i, j] * w[j]
            s1 += K[i + 1, j] * w[j]
            s2 += K[i + 2, j] * w[j]
            s3 += K[i + 3, j] * w[j]
        s0, s1, s2, s3 = s0 * scale[i], s1 * scale[i + 1], s2 * scale[i + 2], s3 * scale[i + 3]
        for j in range(n):
            acc[j] += (s0 * K[i, j] + s1 * K[i + 1, j]) + (s2 * K[i + 2, j] + s3 * K[i + 3, j])
    for i in range(whole, m):
        s = 0.0
        for j in range(n):
            s += K[i, j] * w[j]
        s *= scale[i]
        for j in range(n):
            acc[j] += s * K[i, j]


@shared(MATRIX, VECTOR, VECTOR)
def dense_diagonal(K: Array, scale: Array, acc: Array) -> None:
    """``acc_j = sum_i scale_i K_ij^2``: the diagonal of the matrix in `dense_product`."""
    one_version()
    m, n = K.shape
    for j in range(n):
        acc[j] = 0.0
    for i in range(m):
        for j in range(n):
            acc[j] += scale[i] * K[i, j] * K[i, j]


CHUNK = 64  #: columns looked at together: most of a sparse row is passed over at vector speed


@shared(
    MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, FLOAT, SHORT_INTEGERS, SHORT_INTEGERS, VECTOR
)
def sparsify(
    K: Array, u: Array, v: Array, acc: Array, r: Array, c: Array, cut: float,
    starts: Array, columns: Array, values: Array,
) -> int:  # fmt: skip
    """Rows of ``P`` without entries up to ``cut * min(r_i, c_j, s_j)``, rescaled to sum to ``r``.

    ``s = v acc`` are the column sums: while a column is far from its mass ``c_j``, it keeps what
    is large for it. So with ``cut < 1 / max(m, n)`` no row and no column is left without entries.
    Rescaling keeps the Laplacian exactly singular on constants, so dropping entries costs a
    relative, not an absolute, error. Returns the number of entries, or -1 when they do not fit
    into ``values``.
    """
    one_version()
    m, n = K.shape
    low_column = np.empty(n)
    for j in range(n):
        low_column[j] = cut * min(c[j] / v[j], acc[j])
    filled = 0
    starts[0] = 0
    for i in range(m):
        if filled + n > values.size:
            return -1
        first = filled
        kept = 0.0
        low_row = cut * r[i]
        for start in range(0, n, CHUNK):
            # Slices: a loop over range(a, b) guards against negative indices and stays scalar.
            part, scale, low = (
                K[i, start : start + CHUNK],
                v[start : start + CHUNK],
                low_column[start : start + CHUNK],
            )
            hits = 0.0
            for j in range(part.size):
                p = u[i] * part[j]
                hits += (1.0 if p * scale[j] > low_row else 0.0) + (1.0 if p > low[j] else 0.0)
            if hits == 0.0:
                continue
            for j in range(part.size):
                p = u[i] * part[j]
                if p * scale[j] > low_row or p > low[j]:
                    columns[filled] = start + j
                    values[filled] = p * scale[j]
                    kept += values[filled]
                    filled += 1
        for k in range(first, filled):
            values[k] *= r[i] / kept
        starts[i + 1] = filled
    return filled


@shared(SHORT_INTEGERS, SHORT_INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR)
def sparse_product(
    starts: Array, columns: Array, values: Array, r: Array, y: Array, acc: Array
) -> None:
    """``acc = P^T (P y / r)`` for sparse rows."""
    one_version()
    for j in range(acc.size):
        acc[j] = 0.0
    for i in range(r.size):
        s = 0.0
        for k in range(starts[i], starts[i + 1]):
            s += values[k] * y[columns[k]]
        s /= r[i]
        for k in range(starts[i], starts[i + 1]):
            acc[columns[k]] += s * values[k]


@shared(SHORT_INTEGERS, SHORT_INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR)
def sparse_diagonals(
    starts: Array, columns: Array, values: Array, r: Array, sums: Array, acc: Array
) -> None:
    """Column sums of the sparse plan and what it takes off the Hessian's diagonal."""
    one_version()
    for j in range(acc.size):
        sums[j] = 0.0
        acc[j] = 0.0
    for i in range(r.size):
        for k in range(starts[i], starts[i + 1]):
            sums[columns[k]] += values[k]
            acc[columns[k]] += values[k] * values[k] / r[i]
