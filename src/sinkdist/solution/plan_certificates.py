"""Certificates of one pair on costs without a matrix: a grid, or clouds of points.

The same bounds as in `certificates`, from what a `GridPlan` answers: sums of rows and columns,
costs, and least costs. The plan of potentials ``f, g`` is ``diag(m) A``, with the rows of ``A``
summing to 1, so everything is a mean under ``A``.

Margins. Every plan here is made of the same weights, so its rows, columns and cost are those of one
matrix up to `PlanSums.unit`: sums over bins are pairwise (NumPy's), sums over windows or runs have
a known number of terms, and under Euclidean distances on a grid sums have an error of their own,
which is part of it. What that leaves out of a coupling is repaired at no more than the largest
cost. Least costs are off by no more than `PlanSums.dropped`.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.ground.grid_plan import GridPlan
from sinkdist.solution.certificates import Measures
from sinkdist.solution.grid_transforms import FINE, ROUGH
from sinkdist.solution.plan_sums import PlanSums

__all__ = ["bracket_without_matrix", "measure_independence", "measure_without_matrix"]

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]


def measure_without_matrix(
    sums: PlanSums, lam: float, f: Array, g: Array, r: Array, c: Array
) -> Measures:
    """All certificates, from numbers on the bins with mass."""
    f, r = sums.rows(f, -np.inf), sums.rows(r, 0.0)
    g, c = sums.columns(g, -np.inf), sums.columns(c, 0.0)
    phi, psi = lam * f, lam * g
    plan = sums.plan(lam, psi)
    m = np.exp(phi + plan.log_sums)
    columns, exponents = plan.spread(m), plan.exponents()[1]
    value, total = float(np.vdot(m, exponents)) / lam, float(m.sum())
    minus_entropy = _weighted(m, phi) + _weighted(columns, psi) - lam * value
    information = minus_entropy - _weighted(m, _log(r)) - _weighted(columns, _log(c))
    cost, upper, divergence = _coupling(sums, plan, lam, m, phi, psi, r, c)
    gap = max(divergence + (total - 1.0), 0.0) / lam
    lower = min(_emd_below(sums, lam, f, g, r, c), upper)
    return Measures(value, -minus_entropy, max(information, 0.0), lower, upper, gap, cost)


def measure_independence(sums: PlanSums, f: Array, g: Array, r: Array, c: Array) -> Measures:
    """Certificates of the independence table ``r c^T``, whose potentials are means of costs."""
    f, r = sums.rows(f, -np.inf), sums.rows(r, 0.0)
    g, c = sums.columns(g, -np.inf), sums.columns(c, 0.0)
    value = sums.mean_cost(r, c)
    entropy = -_weighted(r, _log(r)) - _weighted(c, _log(c))
    tried = (sums, np.zeros_like(r), r, c), (sums, f, r, c), (sums.swapped, g, c, r)
    lower = max(_dual_value(*x) for x in tried)
    upper = value * (1.0 + 3.0 * sums.unit)
    return Measures(value, entropy, 0.0, max(lower, 0.0), upper, 0.0, value)


def bracket_without_matrix(
    sums: PlanSums, pair: Measures, lam: float, r: Array, c: Array
) -> tuple[float, float]:
    """Proven bounds on ``d^lam``; see `certificates.bracket_of_penalised`."""
    unit, r, c = sums.unit, sums.rows(r, 0.0), sums.columns(c, 0.0)
    mean = sums.mean_cost(r, c)
    if lam == 0.0:
        return mean * (1.0 - 3.0 * unit), mean * (1.0 + 3.0 * unit)
    slack = 0.5 * sums.max * math.sqrt(2.0 * lam * float(pair.gap))
    most = min(-_weighted(r, _log(r)), -_weighted(c, _log(c))) * (1.0 + unit) / lam
    upper = min(float(pair.upper) + min(slack, most), mean * (1.0 + 3.0 * unit))
    lower = max(
        float(pair.lower), float(pair.cost) - (float(pair.upper) - float(pair.cost)) - slack
    )
    return min(lower, upper), upper


def _coupling(
    sums: PlanSums, plan: GridPlan, lam: float, m: Array, phi: Array, psi: Array, r: Array,
    c: Array,
) -> tuple[float, float, float]:  # fmt: skip
    """A coupling near the plan: its cost, a bound above with rounding, and ``KL(it || plan)``.

    The plan is scaled down until no marginal is exceeded, and what is left goes in proportion to
    what is missing. The divergence is convex, so that of the sum is at most the mean of both.
    """
    rows = np.minimum(m, r)
    columns = plan.spread(rows)
    some = columns > 0.0
    y = np.divide(np.minimum(c, columns), columns, out=np.zeros_like(c), where=some)
    part, exponents = plan.exponents(y)
    inside, kept = rows * part, columns * y
    left, missing = np.maximum(r - inside, 0.0), np.maximum(c - kept, 0.0)
    over, under = float(left.sum()), float(missing.sum())
    cost, divergence = float(np.vdot(rows, exponents)) / lam, 0.0
    share = 1.0 - over
    if share > 0.0:
        x = np.divide(rows, m, out=np.ones_like(m), where=m > 0.0)
        divergence = _weighted(inside, _log(x)) + _weighted(kept, _log(y))
        divergence -= share * math.log(share)
    if over > 0.0 and under > 0.0:
        detour = sums.mean_cost(left, missing) / under
        cost += detour
        logs = _log(left / over) - np.where(left > 0.0, phi, 0.0)
        others = _log(missing / under) - np.where(missing > 0.0, psi, 0.0)
        divergence += _weighted(left, logs) + over * _weighted(missing / under, others)
        divergence += lam * detour
    unit = sums.unit
    off = abs(over - under) + unit
    sizes = 1.0 + lam * cost + abs(_weighted(r, np.where(r > 0.0, phi, 0.0))) + abs(
        _weighted(c, np.where(c > 0.0, psi, 0.0))
    )  # fmt: skip
    return cost, cost * (1.0 + unit) + 2.0 * off * sums.max, divergence + 4.0 * unit * sizes


def _emd_below(sums: PlanSums, lam: float, f: Array, g: Array, r: Array, c: Array) -> float:
    """The best dual value that the potentials lead to; see `certificates`.

    Where values are dear, rough ones say which potential is worth a fine one.
    """
    tried = [(sums, np.zeros_like(r), r, c)]
    for costs, potential, a, b in ((sums, f, r, c), (sums.swapped, g, c, r)):
        flat = potential - np.where(a > 0.0, _log(a), 0.0) / lam
        tried += [(costs, potential, a, b), (costs, flat, a, b)]
    if not sums.is_rough:
        return max(0.0, *(_dual_value(*x) for x in tried))
    rough = [_dual_value(*x, ROUGH) for x in tried]
    return max(0.0, *rough, _dual_value(*tried[int(np.argmax(rough))]))


def _dual_value(sums: PlanSums, f: Array, r: Array, c: Array, ratio: float = FINE) -> float:
    """``<f, r> + <g, c>`` with the least costs ``g`` for ``f``, less its rounding."""
    centre = _weighted(r, f)
    f = np.where(r > 0.0, f - centre, -np.inf)
    g = sums.least(f, ratio)
    dropped = sums.dropped(float(np.abs(f[r > 0.0]).max()))
    rounding = sums.unit * (_weighted(r, np.abs(f)) + _weighted(c, np.abs(g)))
    return (_weighted(r, f) + _weighted(c, g)) / sums.stretch(ratio) - dropped - rounding


def _log(x: Array) -> Array:
    """Logarithms, 0 where there is none."""
    return np.log(x, out=np.zeros_like(x), where=x > 0.0)


def _weighted(weights: Array, values: Array) -> float:
    """``sum w x``, where values without weight count for nothing."""
    out = np.zeros_like(weights)
    return float(np.multiply(weights, values, out=out, where=weights > 0.0).sum())
