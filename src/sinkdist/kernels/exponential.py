"""Exponentials of whole rows: the stabilised kernel and the log-domain updates.

``math.exp`` inside a compiled loop is a scalar call. A polynomial on the reduced argument, scaled
by writing the exponent's bits, vectorises and costs a fifth (relative error below 4e-16). Arguments
below ``FLOOR`` give ``exp(FLOOR)``, a normal number too small to matter, because denormal
arithmetic is very slow.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import (
    FLOAT,
    INTEGER_MATRIX,
    INTEGERS,
    MATRIX,
    VECTOR,
    Array,
    compiled,
    one_version,
    shared,
)
from sinkdist.kernels.views import bits_of

FLOOR = -690.0
CEILING = 690.0
LOG2E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10


@shared(VECTOR, INTEGERS, INTEGERS, reorder=False)
def exp_in_place(x: Array, bits: Array, exponents: Array) -> None:
    """``x <- exp(x)``; ``bits`` is its int64 view, ``exponents`` int64 scratch of its size."""
    one_version()
    for j in range(x.size):
        t = min(max(x[j], FLOOR), CEILING)
        k = np.floor(t * LOG2E + 0.5)
        exponents[j] = np.int64(k)
        t = (t - k * LN2_HIGH) - k * LN2_LOW
        p = 1.0 / 6227020800.0
        p = p * t + 1.0 / 479001600.0
        p = p * t + 1.0 / 39916800.0
        p = p * t + 1.0 / 3628800.0
        p = p * t + 1.0 / 362880.0
        p = p * t + 1.0 / 40320.0
        p = p * t + 1.0 / 5040.0
        p = p * t + 1.0 / 720.0
        p = p * t + 1.0 / 120.0
        p = p * t + 1.0 / 24.0
        p = p * t + 1.0 / 6.0
        p = p * t + 0.5
        p = p * t + 1.0
        x[j] = p * t + 1.0
    for j in range(x.size):  # apart from the loop above, where x and bits would be one memory
        bits[j] += exponents[j] << 52


@compiled
def gibbs_kernel(M: Array, lam: float, K: Array) -> None:
    """``K = exp(-lam M)``, computed in float64 whatever the dtype of ``K``."""
    m, n = M.shape
    row, exponents = np.empty(n), np.empty(n, np.int64)
    bits = bits_of(row)
    for i in range(m):
        for j in range(n):
            row[j] = -lam * M[i, j]
        exp_in_place(row, bits, exponents)
        for j in range(n):
            K[i, j] = row[j]


@shared(MATRIX, FLOAT, VECTOR, VECTOR, MATRIX, INTEGER_MATRIX)
def stabilised_kernel(M: Array, lam: float, f: Array, g: Array, K: Array, bits: Array) -> None:
    """``K = exp(lam (f_i + g_j - M_ij))``: the plan itself when ``f, g`` are its potentials."""
    one_version()
    m, n = M.shape
    exponents = np.empty(n, np.int64)
    for i in range(m):
        shift = f[i]
        for j in range(n):
            K[i, j] = lam * ((shift + g[j]) - M[i, j])
        exp_in_place(K[i], bits[i], exponents)


@compiled
def log_row_update(
    M: Array, lam: float, r: Array, f: Array, g: Array, row: Array, bits: Array
) -> None:
    """``f_i = (log r_i - log sum_j exp(lam (g_j - M_ij))) / lam``: an exact row update at any lam.

    ``row`` is scratch of ``n`` float64, ``bits`` its int64 view.
    """
    m, n = M.shape
    exponents = np.empty(n, np.int64)
    for i in range(m):
        top = -np.inf
        for j in range(n):
            row[j] = lam * (g[j] - M[i, j])
            top = max(top, row[j])
        for j in range(n):
            row[j] -= top
        exp_in_place(row, bits, exponents)
        s = 0.0
        for j in range(n):
            s += row[j]
        f[i] = (math.log(r[i]) - top - math.log(s)) / lam


@compiled
def log_column_update(
    M: Array, lam: float, c: Array, f: Array, g: Array, row: Array, bits: Array, tol: float
) -> float:
    """The same for the columns, given ``f``, unless their L1 error is at most ``tol``; that error.

    Sums run over rows of ``M``, in step for all columns, so that memory is read in order.
    """
    m, n = M.shape
    top, new, exponents = np.empty(n), np.empty(n), np.empty(n, np.int64)
    for j in range(n):
        top[j] = -np.inf
        new[j] = 0.0
    for i in range(m):
        for j in range(n):
            top[j] = max(top[j], lam * (f[i] - M[i, j]))
    for i in range(m):
        for j in range(n):
            row[j] = lam * (f[i] - M[i, j]) - top[j]
        exp_in_place(row, bits, exponents)
        for j in range(n):
            new[j] += row[j]
    error = 0.0
    for j in range(n):
        new[j] = (math.log(c[j]) - top[j] - math.log(new[j])) / lam
        error += c[j] * abs(math.exp(min(lam * (g[j] - new[j]), 700.0)) - 1.0)
    if error > tol:
        for j in range(n):
            g[j] = new[j]
    return error
