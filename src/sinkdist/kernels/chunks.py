"""Passes over a part of the rows of one large pair: what a thread does at a time.

A chunk writes to memory of its own (``out``), except that `FILL` writes its rows of the kernel,
from potentials that nothing else reads. Its result depends on the chunk alone, so sums over chunks
in their order are the same to the bit whoever made them. The kernel is in float32, vectors and sums
are in float64.
"""

from __future__ import annotations

from numba import types

from sinkdist.kernels.compiled import FLOAT, INT, MATRIX, VECTOR, Array, one_version, part, shared
from sinkdist.kernels.exp import exp_of, exp_single
from sinkdist.kernels.pair import representable

__all__ = [
    "ACC",
    "COLUMNS",
    "COST",
    "FILL",
    "FILLED_F",
    "FILLED_G",
    "FINISH",
    "GOOD",
    "MADE",
    "ROWS",
    "SINGLE_MATRIX",
    "SQUARED",
    "SQUARES",
    "SWEEP",
    "C",
    "F",
    "G",
    "R",
    "U",
    "V",
    "chunk_of_rows",
    "width_of",
]  # fmt: skip

SINGLE_MATRIX = types.float32[:, ::1]

# What is done to a chunk.
FILL, SWEEP, SQUARES, FINISH = range(4)

# Vectors over rows and over columns that all chunks read.
R, F, U, FILLED_F = range(4)
ROWS = 4
C, G, V, ACC, SQUARED, FILLED_G = range(6)
COLUMNS = 6

# Where a chunk writes: numbers, then its rows' scalings, then one number for each column, twice.
COST, GOOD, MADE = range(3)


def width_of(rows: int, columns: int) -> int:
    """Numbers that a chunk of so many rows writes."""
    return MADE + rows + 2 * columns


@shared(INT, FLOAT, INT, INT, MATRIX, SINGLE_MATRIX, MATRIX, MATRIX, VECTOR, allocates=False)
def chunk_of_rows(
    what: int, lam: float, first: int, last: int, M: Array, K: Array, rows: Array, columns: Array,
    out: Array,
) -> None:  # fmt: skip
    """Do ``what`` to the rows from ``first`` to before ``last``."""
    one_version()
    n, count = K.shape[1], last - first
    if what == FILL:
        _fill(lam, M[first:last], K[first:last], rows[FILLED_F, first:last], columns[FILLED_G])
        return
    u, acc = out[MADE : MADE + count], out[MADE + count : MADE + count + n]
    for j in range(n):
        acc[j] = 0.0
    if what == SWEEP:
        _sweep(K[first:last], rows[R, first:last], columns[V], u, acc, out)
    elif what == SQUARES:
        _squares(K[first:last], rows[R, first:last], rows[U, first:last], acc)
    else:
        row = out[MADE + count + n : MADE + count + 2 * n]
        _finish(
            lam,
            M[first:last],
            rows[R, first:last],
            rows[F, first:last],
            columns[G],
            u,
            acc,
            row,
            out,
        )


@part
def _fill(lam: float, M: Array, K: Array, f: Array, g: Array) -> None:
    """``K = exp(lam (f_i + g_j - M_ij))``, 0 where that is tiny."""
    for i in range(M.shape[0]):
        for j in range(M.shape[1]):
            K[i, j] = exp_single(lam * ((f[i] + g[j]) - M[i, j]))


@part
def _sweep(K: Array, r: Array, v: Array, u: Array, acc: Array, out: Array) -> None:
    """``u = r / (K v)`` and ``acc = K^T u`` in one read, and whether ``K v`` is representable."""
    m, n = K.shape
    whole = m - m % 4
    ok = True
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
    out[GOOD] = ok


@part
def _squares(K: Array, r: Array, u: Array, acc: Array) -> None:
    """``acc_j = sum_i u_i^2 K_ij^2 / r_i``."""
    for i in range(K.shape[0]):
        weight = u[i] * u[i] / r[i]
        for j in range(K.shape[1]):
            k = float(K[i, j])
            acc[j] += weight * k * k


@part
def _finish(
    lam: float, M: Array, r: Array, f: Array, g: Array, u: Array, acc: Array, row: Array,
    out: Array,
) -> None:  # fmt: skip
    """A sweep with ``exp(lam (f_i + g_j - M_ij))`` in float64, made row by row, and ``<P, M>``."""
    ok, total = True, 0.0
    for i in range(M.shape[0]):
        s, cost = 0.0, 0.0
        for j in range(M.shape[1]):
            k = exp_of(lam * ((f[i] + g[j]) - M[i, j]))
            row[j] = k
            s += k
            cost += k * M[i, j]
        ok &= representable(s)
        u[i] = r[i] / s
        total += u[i] * cost
        for j in range(M.shape[1]):
            acc[j] += u[i] * row[j]
    out[GOOD], out[COST] = ok, total
