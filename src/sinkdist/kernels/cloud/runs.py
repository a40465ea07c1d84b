"""Costs from one point to a run of others: the inner loops of all work on clouds.

Points are in runs of neighbours (`RUN` of them), the coordinates of a run one after another in
memory, so that every loop here is a few vectors long. A run has a box around it: the least cost
from a point to the box says, in a few operations, whether any term of the run can matter. All of it
is in the precision of the points.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.cloud import METRICS, RUN
from sinkdist.kernels.compiled import Array, part

__all__ = ["costs_of_run", "least_of_box"]

EUCLIDEAN, SQUARED, CITYBLOCK = (METRICS[m] for m in ("euclidean", "sqeuclidean", "cityblock"))


@part
def costs_of_run(x: Array, i: int, y: Array, run: int, metric: int, out: Array) -> None:
    """``out``: the costs from point ``i`` of ``x`` (m, k) to a run of ``y`` (runs, k, RUN)."""
    k, a = x.shape[1], 0
    for j in range(RUN):
        out[j] = 0.0
    if metric <= SQUARED:
        while a + 3 <= k:
            x0, x1, x2 = x[i, a], x[i, a + 1], x[i, a + 2]
            for j in range(RUN):
                d0, d1, d2 = x0 - y[run, a, j], x1 - y[run, a + 1, j], x2 - y[run, a + 2, j]
                out[j] += d0 * d0 + d1 * d1 + d2 * d2
            a += 3
        while a < k:
            x0 = x[i, a]
            for j in range(RUN):
                d0 = x0 - y[run, a, j]
                out[j] += d0 * d0
            a += 1
        if metric == EUCLIDEAN:
            for j in range(RUN):
                out[j] = np.sqrt(out[j])
    elif metric == CITYBLOCK:
        for a in range(k):
            x0 = x[i, a]
            for j in range(RUN):
                out[j] += abs(x0 - y[run, a, j])
    else:
        for a in range(k):
            x0 = x[i, a]
            for j in range(RUN):
                out[j] = max(out[j], abs(x0 - y[run, a, j]))


@part
def least_of_box(x: Array, i: int, low: Array, high: Array, run: int, metric: int) -> float:
    """At most the cost from point ``i`` to any point in the box around a run."""
    total = 0.0
    for a in range(x.shape[1]):
        d = max(low[run, a] - x[i, a], x[i, a] - high[run, a], 0.0)
        if metric <= SQUARED:
            total += d * d
        elif metric == CITYBLOCK:
            total += d
        else:
            total = max(total, d)
    return float(np.sqrt(total)) if metric == EUCLIDEAN else total
