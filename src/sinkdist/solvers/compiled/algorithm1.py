"""Algorithm 1 of the paper to the letter, with a fixed number of steps and no test.

Start at ``x = 1/m``, update ``x`` the asked number of times, then ``u = 1/x``, ``v = c / (K^T u)``
and the value. Written with ``u = 1/x``, one update is ``v = c / (K^T u)``, ``u = r / (K v)``.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.exponential import log_column_update, log_row_update
from sinkdist.kernels.pair import column_sums, row_pass

_LARGEST = 1e290  #: lam times cost
_AT_ONCE = 5e7  #: kernel entries read in one compiled call, so that Ctrl-C is answered


@compiled
def _updates(K: Array, r: Array, c: Array, u: Array, v: Array, acc: Array, updates: int) -> None:
    """Some turns of the loop of Algorithm 1; ``acc`` holds ``K^T u``, before and after."""
    for _ in range(updates):
        for j in range(c.size):
            v[j] = c[j] / acc[j]
        row_pass(K, r, v, u, acc)


def algorithm1_pair(
    K: Array, r: Array, c: Array, iterations: int, stop: Stop
) -> tuple[Array, Array] | None:
    """One pair on bins with mass; its scalings ``u, v``, or None where not representable."""
    u, v, acc = np.full(r.size, float(r.size)), np.empty(c.size), np.empty(c.size)
    column_sums(K, u, acc)  # x = ones / length(r)
    step = max(1, int(_AT_ONCE / K.size))
    for done in range(0, iterations, step):
        stop.check()
        _updates(K, r, c, u, v, acc, min(step, iterations - done))
    with np.errstate(all="ignore"):  # what is not representable is found below
        np.divide(c, acc, out=v)
    if not (min(u.min(), v.min()) > 0.0 and max(u.max(), v.max()) < np.inf):
        return None
    return u, v


def algorithm1_log(
    M: Array, lam: float, r: Array, c: Array, iterations: int, stop: Stop
) -> tuple[Array, Array]:
    """The potentials in the log domain, for where the kernel is not representable.

    A lam whose product with costs overflows gives the same plan as one whose product does not.
    """
    lam = min(lam, _LARGEST / max(float(M.max()), 1.0 / _LARGEST))
    f, g = np.full(r.size, math.log(r.size) / lam), np.zeros(c.size)
    row = np.empty(c.size)
    for _ in range(iterations):
        stop.check()
        log_column_update(M, lam, c, f, g, row, -1.0)
        log_row_update(M, lam, r, f, g, row)
    log_column_update(M, lam, c, f, g, row, -1.0)
    return f, g


def plan_with_exact_columns(M: Array, lam: float, f: Array, c: Array) -> Array:
    """The plan after a column update, from the potential of the rows alone."""
    lam = min(lam, _LARGEST / max(float(M.max()), 1.0 / _LARGEST))
    P = lam * (f[:, None] - M)
    P -= P.max(axis=0)
    np.exp(P, out=P)
    P *= c / P.sum(axis=0)
    return P


def algorithm1_block(
    K: Array, R: Array, C: Array, iterations: int, stop: Stop
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
