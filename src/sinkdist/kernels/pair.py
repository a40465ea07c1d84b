"""Passes over the kernel of one pair: each reads the ``m x n`` matrix once.

``P = diag(u) K diag(v)``. A *row pass* takes ``v``, sets ``u = r / (K v)`` and returns the column
sums ``K^T u`` from the same read, so the state after it has exact rows and known column sums.
Vectors are float64 whatever the kernel's dtype: only the traffic of ``K`` costs.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import (
    FLOAT,
    INTEGERS,
    MATRIX,
    VECTOR,
    Array,
    one_version,
    part,
    shared,
)

#: Row sums outside these limits cannot be trusted to be representable: the log domain takes over.
SMALLEST = 1e-280
LARGEST = 1e280


@shared(MATRIX, INTEGERS, INTEGERS, MATRIX)
def gather(K: Array, rows: Array, columns: Array, out: Array) -> None:
    """Copy the block of ``K`` on the given bins."""
    one_version()
    for a in range(rows.size):
        i = rows[a]
        for b in range(columns.size):
            out[a, b] = K[i, columns[b]]


@shared(MATRIX, VECTOR, VECTOR)
def column_sums(K: Array, u: Array, acc: Array) -> None:
    """``acc = K^T u``."""
    one_version()
    m, n = K.shape
    for j in range(n):
        acc[j] = 0.0
    for i in range(m):
        for j in range(n):
            acc[j] += u[i] * K[i, j]


@part
def representable(s: float) -> bool:
    """Whether a row sum lies where float64 can be trusted; False for NaN too."""
    return s > SMALLEST and s < LARGEST


@shared(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR)
def row_pass(K: Array, r: Array, v: Array, u: Array, acc: Array) -> bool:
    """``u = r / (K v)`` and ``acc = K^T u`` in one read; False when a row sum is not representable.

    Four rows at a time, which halves the traffic of ``v`` and ``acc``.
    """
    one_version()
    m, n = K.shape
    whole = m - m % 4
    ok = True
    for j in range(n):
        acc[j] = 0.0
    for i in range(0, whole, 4):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            s0 += K[i, j] * v[j]
            s1 += K[i + 1, j] * v[j]
            s2 += K[i + 2, j] * v[j]
            s3 += K[i + 3, j] * v[j]
        ok &= representable(s0) and representable(s1) and representable(s2) and representable(s3)
        u0, u1, u2, u3 = r[i] / s0, r[i + 1] / s1, r[i + 2] / s2, r[i + 3] / s3
        u[i], u[i + 1], u[i + 2], u[i + 3] = u0, u1, u2, u3
        for j in range(n):
            acc[j] += (u0 * K[i, j] + u1 * K[i + 1, j]) + (u2 * K[i + 2, j] + u3 * K[i + 3, j])
    for i in range(whole, m):
        s = 0.0
        for j in range(n):
            s += K[i, j] * v[j]
        ok &= representable(s)
        u[i] = r[i] / s
        for j in range(n):
            acc[j] += u[i] * K[i, j]
    return ok


@part
def power(x: float, w: float) -> float:
    """``x**w`` to second order around 1, all that a relaxed step needs; plain where far from 1."""
    e = x - 1.0
    if abs(e) > 0.5:
        return x
    return 1.0 + w * e * (1.0 + 0.5 * (w - 1.0) * e)


@part
def relaxed_row(have: float, want: float, u: float, w: float) -> float:
    """One bin's relaxed update ``u (want / have)^w``."""
    return u * power(want / have, w)


@shared(MATRIX, VECTOR, VECTOR, VECTOR, VECTOR, FLOAT)
def relaxed_row_pass(K: Array, r: Array, v: Array, u: Array, acc: Array, w: float) -> float:
    """Like `row_pass` with ``u <- u (r / (u K v))^w``; returns the rows' L1 error before it.

    Infinite when a row sum is not representable.
    """
    one_version()
    m, n = K.shape
    whole = m - m % 4
    ok = True
    error = 0.0
    for j in range(n):
        acc[j] = 0.0
    for i in range(0, whole, 4):
        s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
        for j in range(n):
            s0 += K[i, j] * v[j]
            s1 += K[i + 1, j] * v[j]
            s2 += K[i + 2, j] * v[j]
            s3 += K[i + 3, j] * v[j]
        ok &= representable(s0) and representable(s1) and representable(s2) and representable(s3)
        s0, s1, s2, s3 = s0 * u[i], s1 * u[i + 1], s2 * u[i + 2], s3 * u[i + 3]
        error += (abs(s0 - r[i]) + abs(s1 - r[i + 1])) + (abs(s2 - r[i + 2]) + abs(s3 - r[i + 3]))
        u0 = relaxed_row(s0, r[i], u[i], w)
        u1 = relaxed_row(s1, r[i + 1], u[i + 1], w)
        u2 = relaxed_row(s2, r[i + 2], u[i + 2], w)
        u3 = relaxed_row(s3, r[i + 3], u[i + 3], w)
        u[i], u[i + 1], u[i + 2], u[i + 3] = u0, u1, u2, u3
        for j in range(n):
            acc[j] += (u0 * K[i, j] + u1 * K[i + 1, j]) + (u2 * K[i + 2, j] + u3 * K[i + 3, j])
    for i in range(whole, m):
        s = 0.0
        for j in range(n):
            s += K[i, j] * v[j]
        ok &= representable(s)
        error += abs(u[i] * s - r[i])
        u[i] = relaxed_row(u[i] * s, r[i], u[i], w)
        for j in range(n):
            acc[j] += u[i] * K[i, j]
    return error if ok else np.inf


@shared(VECTOR, VECTOR, VECTOR, FLOAT)
def relaxed_column_step(c: Array, v: Array, acc: Array, w: float) -> float:
    """``v <- v (c / (v acc))^w``; returns the columns' L1 error before the update."""
    one_version()
    error = 0.0
    for j in range(c.size):
        have = v[j] * acc[j]
        if not (have > 0.0 and have < LARGEST):
            return np.inf
        error += abs(have - c[j])
        v[j] *= power(c[j] / have, w)
    return error


@shared(MATRIX, MATRIX, VECTOR, VECTOR)
def plan_cost(K: Array, M: Array, u: Array, v: Array) -> float:
    """``<P, M>`` from one read of ``K`` and ``M``."""
    one_version()
    m, n = K.shape
    total = 0.0
    for i in range(m):
        cost = 0.0
        for j in range(n):
            cost += K[i, j] * v[j] * M[i, j]
        total += u[i] * cost
    return total


@shared(MATRIX, VECTOR, VECTOR)
def mean_cost(M: Array, r: Array, c: Array) -> float:
    """``r^T M c`` in one read."""
    one_version()
    m, n = M.shape
    total = 0.0
    for i in range(m):
        cost = 0.0
        for j in range(n):
            cost += M[i, j] * c[j]
        total += r[i] * cost
    return total
