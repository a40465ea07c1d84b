"""Half sweeps over scalings that are kept as logarithms: what lies between two matrix products.

Pairs lie on axis 0, bins on axis 1; arrays are float32 or float64. Exponentials of the
data's side are computed where a histogram has mass and nowhere else.
"""

from __future__ import annotations

import math

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.log_sums import NONE

__all__ = ["column_errors", "move_columns", "move_rows"]


@compiled
def move_columns(
    log_v: Array, column_log: Array, B: Array, log_B: Array, histogram: Array, omega: Array
) -> None:
    """``log v += omega (log b - log v - log(K^T u))`` on the bins of each pair's histogram."""
    for p in range(log_v.shape[0]):
        v, sums, w = log_v[p], column_log[p], omega[p]
        b, log_b = B[histogram[p]], log_B[histogram[p]]
        for j in range(v.size):
            if b[j] > 0.0:
                v[j] += w * ((log_b[j] - v[j]) - sums[j])
            else:
                v[j] = NONE


@compiled
def column_errors(
    column_log: Array, log_v: Array, B: Array, histogram: Array, error: Array
) -> None:
    """The L1 error of ``v * K^T u`` against each pair's histogram."""
    for p in range(log_v.shape[0]):
        sums, v, b = column_log[p], log_v[p], B[histogram[p]]
        total = 0.0
        for j in range(v.size):
            if b[j] > 0.0:
                total += abs(math.exp(sums[j] + v[j]) - b[j])
        error[p] = total


@compiled
def move_rows(
    log_u: Array, row_log: Array, mean: Array, old_z: Array, z: Array, owner: Array, omega: Array
) -> None:
    """``log u = z + (1 - omega) (log u - old_z) + omega (mean - log(K v))`` for every pair.

    ``mean``, the two ``z`` and ``omega`` belong to barycentres, ``owner`` says to which.
    """
    for p in range(log_u.shape[0]):
        k = owner[p]
        u, sums, m, old, new, w = log_u[p], row_log[p], mean[k], old_z[k], z[k], omega[k]
        for i in range(u.size):
            u[i] = new[i] + (1.0 - w) * (u[i] - old[i]) + w * (m[i] - sums[i])
