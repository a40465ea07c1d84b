"""Algorithm 1 of the paper to the letter, with a fixed number of steps and no test.

Start at ``x = 1/m``, update ``x`` the asked number of times, then ``u = 1/x``, ``v = c / (K^T u)``
and the value. Written with ``u = 1/x``, one update is ``v = c / (K^T u)``, ``u = r / (K v)``.
"""

from __future__ import annotations

import math
import threading

import numpy as np

from sinkdist.passes.compiled import Array, compiled
from sinkdist.passes.exponential import log_column_update, log_row_update, stabilised_kernel
from sinkdist.passes.pair import column_sums, plan_cost, row_pass


@compiled
def _updates(K: Array, r: Array, c: Array, u: Array, v: Array, iterations: int) -> None:
    """The loop of Algorithm 1 and its last line but one."""
    acc = np.empty(c.size)
    u[:] = float(r.size)  # x = ones / length(r)
    column_sums(K, u, acc)
    for _ in range(iterations):
        for j in range(c.size):
            v[j] = c[j] / acc[j]
        row_pass(K, r, v, u, acc)
    for j in range(c.size):
        v[j] = c[j] / acc[j]


def algorithm1_pair(
    K: Array, M: Array, lam: float, r: Array, c: Array, iterations: int
) -> tuple[Array, Array, float] | None:
    """One pair on bins with mass; potentials and value, or None where not representable."""
    u, v = np.empty(r.size), np.empty(c.size)
    _updates(K, r, c, u, v, iterations)
    if not (min(u.min(), v.min()) > 0.0 and max(u.max(), v.max()) < np.inf):
        return None
    return np.log(u) / lam, np.log(v) / lam, plan_cost(K, M, u, v)


def algorithm1_log(
    M: Array, lam: float, r: Array, c: Array, iterations: int
) -> tuple[Array, Array, float]:
    """The same in the log domain, for where the kernel is not representable."""
    f, g = np.full(r.size, math.log(r.size) / lam), np.zeros(c.size)
    row = np.empty(c.size)
    bits = row.view(np.int64)
    for _ in range(iterations):
        log_column_update(M, lam, c, f, g, row, bits, -1.0)
        log_row_update(M, lam, r, f, g, row, bits)
    log_column_update(M, lam, c, f, g, row, bits, -1.0)
    K = np.empty(M.shape)
    stabilised_kernel(M, lam, f, g, K, K.view(np.int64))
    return f, g, plan_cost(K, M, np.ones(r.size), np.ones(c.size))


def algorithm1_block(
    K: Array, R: Array, C: Array, iterations: int, stop: threading.Event
) -> tuple[Array, Array]:
    """Many pairs by matrix products; ``R`` has one row, shared, or one per pair. Returns U, V.

    Bins without mass in some pairs are harmless: their weight is 0 and so is their scaling.
    """
    start = np.where(R > 0, np.count_nonzero(R, axis=1)[:, None], 0).astype(K.dtype)
    U = np.array(np.broadcast_to(start, (len(C), len(K))))
    V = np.empty_like(C)
    for _ in range(iterations):
        if stop.is_set():  # nobody waits for it
            break
        np.divide(C, np.matmul(U, K, out=V), out=V)
        np.divide(R, np.matmul(V, K.T, out=U), out=U)
    np.divide(C, np.matmul(U, K, out=V), out=V)
    return U, V
