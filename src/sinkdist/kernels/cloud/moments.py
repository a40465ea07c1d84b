"""Means under a plan between two clouds, and its adjoint, for potentials that no longer change."""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.cloud import RUN
from sinkdist.kernels.cloud.exponentials import exponential
from sinkdist.kernels.cloud.runs import costs_of_run, least_of_box
from sinkdist.kernels.compiled import Array, compiled

__all__ = ["mean_costs", "plan_moments"]


@compiled
def plan_moments(
    x: Array, y: Array, low: Array, high: Array, metric: int, lam: float, psi: Array,
    heights: Array, cut: float, shift: Array, weights: Array, values: Array, start: int, stop: int,
    means: Array, exponents: Array, columns: Array,
) -> None:  # fmt: skip
    """Of some rows with shares ``a_ij = exp(shift_i + psi_j - lam M_ij)``.

    ``means_i = sum_j a_ij v_j`` and ``exponents_i = sum_j a_ij v_j lam M_ij``; to ``columns`` goes
    ``sum_i w_i a_ij``.
    """
    costs, shares = np.empty(RUN), np.empty(RUN)
    for i in range(start, stop):
        mean, paid, unit, weight = 0.0, 0.0, shift[i], weights[i]
        for run in range(y.shape[0]):
            if heights[run] + unit - lam * least_of_box(x, i, low, high, run, metric) < -cut:
                continue
            costs_of_run(x, i, y, run, metric, costs)
            for j in range(RUN):
                shares[j] = exponential((psi[run, j] - lam * costs[j]) + unit)
            for j in range(RUN):
                e = shares[j] * values[run, j]
                mean += e
                paid += e * costs[j]
            for j in range(RUN):
                columns[run, j] += weight * shares[j]
        means[i], exponents[i] = mean, lam * paid


@compiled
def mean_costs(
    x: Array, y: Array, metric: int, values: Array, start: int, stop: int, out: Array
) -> None:
    """``sum_j M_ij v_j`` of some rows."""
    costs = np.empty(RUN)
    for i in range(start, stop):
        total = 0.0
        for run in range(y.shape[0]):
            costs_of_run(x, i, y, run, metric, costs)
            for j in range(RUN):
                total += values[run, j] * costs[j]
        out[i] = total
