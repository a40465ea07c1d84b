"""Sweeps in the log domain: slow, and right at any lam; what the faster solvers fall back on."""

from __future__ import annotations

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.exponential import log_column_update, log_row_update, stabilised_kernel
from sinkdist.kernels.pair import plan_cost, row_pass
from sinkdist.solution.plans import ScaledPlan, entropic_plan, is_blurred, value_and_error

_FEW = 30  #: sweeps that make up for rounding


def log_sweeps(
    M: Array,
    lam: float,
    r: Array,
    c: Array,
    f: Array,
    g: Array,
    tol: float,
    sweeps: int,
    stop: Stop,
) -> tuple[int, float]:
    """Sweep ``f, g`` in place until the L1 marginal error is at most ``tol``.

    Returns the sweeps made and the error. Where it ends by ``tol``, rows are exact and the error
    is the columns'.
    """
    row = np.empty(M.shape[1])
    error = np.inf
    for sweep in range(1, sweeps + 1):
        stop.check()
        log_row_update(M, lam, r, f, g, row)
        error = log_column_update(M, lam, c, f, g, row, tol)
        if error <= tol:
            return sweep, error
    log_row_update(M, lam, r, f, g, row)
    return sweeps, log_column_update(M, lam, c, f, g, row, np.inf)


def plan_of(
    M: Array, lam: float, f: Array, g: Array, r: Array, c: Array, tol: float, *, resweep: bool
) -> tuple[ScaledPlan | None, float, float]:
    """The plan of some potentials, None where they are enough to know it; its value and error.

    Where rounding the potentials would show, a row pass makes up for it, and more sweeps where the
    potentials should be within ``tol`` but for their rounding (``resweep``).
    """
    if not is_blurred(lam, f, g, tol):
        return None, *value_and_error(entropic_plan(M, lam, f, g), M, r, c)
    K = np.empty(M.shape)
    stabilised_kernel(M, lam, f, g, K)
    u, v, acc = np.empty(r.size), np.ones(c.size), np.empty(c.size)
    for left in range(_FEW if resweep else 1, 0, -1):
        if not (row_pass(K, r, v, u, acc) and acc.min() > 0.0):
            u, v = np.ones(r.size), np.ones(c.size)
            return ScaledPlan(f, g, u, v), *value_and_error(entropic_plan(M, lam, f, g), M, r, c)
        error = float(np.abs(acc * v - c).sum())
        if error <= tol or left == 1:
            break
        v = c / acc
    return ScaledPlan(f, g, u, v), plan_cost(K, M, u, v), error
