"""Rows of a plan between two clouds: one read of the costs for a row update and for the columns.

The plan is ``exp(phi_i + psi_j - lam M_ij)``. A row is summed by the potential that it had, which
is nearly right: no maximum has to be found first, and since a term is a share of its row, it is
known of whole runs beforehand that they are too small to matter. With the sum known, the same terms
go to the columns: a sweep takes one exponential for a pair of bins.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.cloud import RUN
from sinkdist.kernels.cloud.exponentials import exponential
from sinkdist.kernels.cloud.runs import costs_of_run, least_of_box
from sinkdist.kernels.compiled import Array, compiled, part

__all__ = ["largest_terms", "sweep_rows"]

_LEAST, _MOST = 1e-3, 1e30  #: sums of shares beyond which the potential is not nearly right


@part
def largest_term(
    x: Array, i: int, y: Array, low: Array, high: Array, metric: int, lam: float, psi: Array,
    heights: Array, costs: Array,
) -> float:  # fmt: skip
    """``max_j (psi_j - lam M_ij)``."""
    top, scale = -np.inf, psi.dtype.type(lam)
    for run in range(y.shape[0]):
        if heights[run] - lam * least_of_box(x, i, low, high, run, metric) <= top:
            continue
        costs_of_run(x, i, y, run, metric, costs)
        for j in range(RUN):
            top = max(top, psi[run, j] - scale * costs[j])
    return float(top)


@part
def _shares(
    x: Array, i: int, y: Array, low: Array, high: Array, metric: int, lam: float, psi: Array,
    heights: Array, shift: float, cut: float, costs: Array, terms: Array, used: Array,
) -> tuple[int, float, float]:  # fmt: skip
    """Shares of the runs that matter to a row: how many runs, the sum, the sum with costs."""
    count, total, paid = 0, 0.0, 0.0
    unit, scale = psi.dtype.type(shift), psi.dtype.type(lam)
    for run in range(y.shape[0]):
        if heights[run] + shift - lam * least_of_box(x, i, low, high, run, metric) < -cut:
            continue
        costs_of_run(x, i, y, run, metric, costs)
        of_run, costs_of = psi.dtype.type(0.0), psi.dtype.type(0.0)
        for j in range(RUN):
            e = exponential((psi[run, j] - scale * costs[j]) + unit)
            terms[count, j] = e
            of_run += e
            costs_of += e * costs[j]
        total += of_run
        paid += costs_of
        used[count] = run
        count += 1
    return count, total, paid


@compiled
def sweep_rows(
    x: Array, y: Array, low: Array, high: Array, metric: int, lam: float, psi: Array,
    heights: Array, cut: float, omega: float, log_r: Array, start: int, stop: int, phi: Array,
    columns: Array, exponents: Array,
) -> None:  # fmt: skip
    """Update ``phi`` of some rows, by ``omega``, and add their rows of the plan to ``columns``.

    ``phi`` is -inf where nothing is known yet: then the update is a whole one. ``heights`` are the
    largest ``psi`` of every run; a run whose shares are below ``exp(-cut)`` is left out.
    ``exponents`` are the means of ``lam M_ij`` of every row.
    """
    runs = y.shape[0]
    costs, terms = np.empty(RUN, x.dtype), np.empty((runs, RUN), x.dtype)
    used = np.empty(runs, np.int64)
    for i in range(start, stop):
        shift, move, count, total, paid = phi[i] - log_r[i], -omega, 0, 0.0, 0.0
        if shift > -np.inf:
            count, total, paid = _shares(
                x, i, y, low, high, metric, lam, psi, heights, shift, cut, costs, terms, used
            )
        if not _LEAST < total < _MOST:
            shift = -largest_term(x, i, y, low, high, metric, lam, psi, heights, costs)
            count, total, paid = _shares(
                x, i, y, low, high, metric, lam, psi, heights, shift, cut, costs, terms, used
            )
            phi[i] = log_r[i] + shift
            move = -1.0
        exponents[i] = lam * paid / total
        move *= math.log(total)
        phi[i] += move
        scale = math.exp(log_r[i] + move)
        for k in range(count):
            run = used[k]
            for j in range(RUN):
                columns[run, j] += scale * terms[k, j]


@compiled
def largest_terms(
    x: Array, y: Array, low: Array, high: Array, metric: int, lam: float, psi: Array,
    heights: Array, start: int, stop: int, out: Array,
) -> None:  # fmt: skip
    """``max_j (psi_j - lam M_ij)`` of some rows."""
    costs = np.empty(RUN, x.dtype)
    for i in range(start, stop):
        out[i] = largest_term(x, i, y, low, high, metric, lam, psi, heights, costs)
