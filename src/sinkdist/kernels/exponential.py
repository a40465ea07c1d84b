"""Exponentials of whole rows: Gibbs kernels and the log-domain updates.

Arguments below `FLOOR` give ``exp(FLOOR)``, a normal number too small to matter, because denormal
arithmetic is very slow.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import (
    FLOAT,
    MATRIX,
    VECTOR,
    Array,
    compiled,
    one_version,
    shared,
)
from sinkdist.kernels.exp import CEILING, FLOOR, exp_of

__all__ = [
    "CEILING", "FLOOR", "exp_in_place", "gibbs_kernel", "log_column_update", "log_row_update",
    "stabilised_kernel",
]  # fmt: skip


@shared(VECTOR, allocates=False)
def exp_in_place(x: Array) -> None:
    """``x <- exp(x)``."""
    one_version()
    for j in range(x.size):
        x[j] = exp_of(x[j])


@compiled
def gibbs_kernel(M: Array, lam: float, K: Array) -> None:
    """``K = exp(-lam M)``, computed in float64 whatever the dtype of ``K``."""
    m, n = M.shape
    for i in range(m):
        for j in range(n):
            K[i, j] = exp_of(-lam * M[i, j])


@shared(MATRIX, FLOAT, VECTOR, VECTOR, MATRIX)
def stabilised_kernel(M: Array, lam: float, f: Array, g: Array, K: Array) -> None:
    """``K = exp(lam (f_i + g_j - M_ij))``: the plan itself when ``f, g`` are its potentials."""
    one_version()
    m, n = M.shape
    for i in range(m):
        for j in range(n):
            K[i, j] = exp_of(lam * ((f[i] + g[j]) - M[i, j]))


@compiled
def log_row_update(M: Array, lam: float, r: Array, f: Array, g: Array, row: Array) -> None:
    """``f_i = (log r_i - log sum_j exp(lam (g_j - M_ij))) / lam``: an exact row update at any lam.

    ``row`` is scratch of ``n`` float64.
    """
    m, n = M.shape
    for i in range(m):
        top = -np.inf
        for j in range(n):
            row[j] = lam * (g[j] - M[i, j])
            top = max(top, row[j])
        for j in range(n):
            row[j] -= top
        exp_in_place(row)
        s = 0.0
        for j in range(n):
            s += row[j]
        f[i] = (math.log(r[i]) - top - math.log(s)) / lam


@compiled
def log_column_update(
    M: Array, lam: float, c: Array, f: Array, g: Array, row: Array, tol: float
) -> float:
    """The same for the columns, given ``f``, unless their L1 error is at most ``tol``; that error.

    Sums run over rows of ``M``, in step for all columns, so that memory is read in order.
    """
    m, n = M.shape
    top, new = np.empty(n), np.empty(n)
    for j in range(n):
        top[j] = -np.inf
        new[j] = 0.0
    for i in range(m):
        for j in range(n):
            top[j] = max(top[j], lam * (f[i] - M[i, j]))
    for i in range(m):
        for j in range(n):
            row[j] = lam * (f[i] - M[i, j]) - top[j]
        exp_in_place(row)
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
