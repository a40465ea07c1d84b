"""Sweeps in the log domain: slow, and right at any lam; what the faster solvers fall back on."""

from __future__ import annotations

import numpy as np

from sinkdist.passes.compiled import Array
from sinkdist.passes.exponential import log_column_update, log_row_update


def log_sweeps(
    M: Array, lam: float, r: Array, c: Array, f: Array, g: Array, tol: float, sweeps: int
) -> tuple[int, float]:
    """Sweep ``f, g`` in place until the L1 marginal error is at most ``tol``.

    Returns the sweeps made and the error. Where it ends by ``tol``, rows are exact and the error
    is the columns'.
    """
    row = np.empty(M.shape[1])
    bits = row.view(np.int64)
    error = np.inf
    for sweep in range(1, sweeps + 1):
        log_row_update(M, lam, r, f, g, row, bits)
        error = log_column_update(M, lam, c, f, g, row, bits, tol)
        if error <= tol:
            return sweep, error
    log_row_update(M, lam, r, f, g, row, bits)
    return sweeps, log_column_update(M, lam, c, f, g, row, bits, np.inf)
