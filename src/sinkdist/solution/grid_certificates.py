"""Certificates of one pair on a grid without a matrix.

The same bounds as in `certificates`, from what a `GridPlan` answers: sums of rows and columns,
costs, and distance transforms. The plan of potentials ``f, g`` is ``diag(m) A``, with the rows of
``A`` summing to 1, so everything is a mean under ``A``.

Margins. Sums over bins are pairwise (NumPy's), sums over windows have at most ``n`` terms, and
every plan here is made of the same weights, so its rows, columns and cost are those of one matrix
up to `_unit`; under Euclidean distances sums have an error of their own, which is part of it. What
that leaves out of a coupling is repaired at no more than the largest cost. A
distance transform (`grid_transforms`) drops a source only if others are as good up to rounding; at
most ``n`` times on a line.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.ground.grid import GridCosts
from sinkdist.ground.grid_plan import GridPlan, kernel_of, plan_of
from sinkdist.solution.certificates import Measures
from sinkdist.solution.grid_transforms import FINE, ROUGH, largest_height, least_costs, stretch

__all__ = ["bracket_on_grid", "mean_cost", "measure_independence", "measure_on_grid"]

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

_EPS = 2.0**-52


def measure_on_grid(
    grid: GridCosts, lam: float, f: Array, g: Array, r: Array, c: Array
) -> Measures:
    """All certificates; ``f, g`` are -inf on bins without mass."""
    phi, psi, r, c = (x.reshape(grid.sides) for x in (lam * f, lam * g, r, c))
    plan = plan_of(psi, kernel_of(grid, lam))
    m = np.exp(phi + plan.log_sums)
    columns, exponents = plan.spread(m), plan.exponents()[1]
    value, total = float(np.vdot(m, exponents)) / lam, float(m.sum())
    minus_entropy = _weighted(m, phi) + _weighted(columns, psi) - lam * value
    information = minus_entropy - _weighted(m, _log(r)) - _weighted(columns, _log(c))
    cost, upper, divergence = _coupling(grid, plan, lam, m, phi, psi, r, c)
    gap = max(divergence + (total - 1.0), 0.0) / lam
    lower = min(_emd_below(grid, lam, f, g, r, c), upper)
    return Measures(value, -minus_entropy, max(information, 0.0), lower, upper, gap, cost)


def measure_independence(grid: GridCosts, f: Array, g: Array, r: Array, c: Array) -> Measures:
    """Certificates of the independence table ``r c^T``, whose potentials are means of costs."""
    f, g, r, c = (x.reshape(grid.sides) for x in (f, g, r, c))
    value = mean_cost(grid, r, c)
    entropy = -_weighted(r, _log(r)) - _weighted(c, _log(c))
    lower = max(_dual_value(grid, x, a, b) for x, a, b in ((0.0 * r, r, c), (f, r, c), (g, c, r)))
    upper = value * (1.0 + 3.0 * _unit(grid))
    return Measures(value, entropy, 0.0, max(lower, 0.0), upper, 0.0, value)


def bracket_on_grid(
    grid: GridCosts, pair: Measures, lam: float, r: Array, c: Array
) -> tuple[float, float]:
    """Proven bounds on ``d^lam``; see `certificates.bracket_of_penalised`."""
    unit = _unit(grid)
    r, c = r.reshape(grid.sides), c.reshape(grid.sides)
    mean = mean_cost(grid, r, c)
    if lam == 0.0:
        return mean * (1.0 - 3.0 * unit), mean * (1.0 + 3.0 * unit)
    slack = 0.5 * grid.max * math.sqrt(2.0 * lam * float(pair.gap))
    most = min(-_weighted(r, _log(r)), -_weighted(c, _log(c))) * (1.0 + unit) / lam
    upper = min(float(pair.upper) + min(slack, most), mean * (1.0 + 3.0 * unit))
    lower = max(
        float(pair.lower), float(pair.cost) - (float(pair.upper) - float(pair.cost)) - slack
    )
    return min(lower, upper), upper


def mean_cost(grid: GridCosts, r: Array, c: Array) -> float:
    """``r^T M c``: a sum over axes of a form in the marginals, or a convolution."""
    if grid.kind == "euclidean":
        return float(np.vdot(grid.mean_costs(r.reshape(1, -1))[0], c))
    total = 0.0
    for axis, (side, step) in enumerate(zip(grid.sides, grid.steps, strict=True)):
        others = tuple(a for a in range(r.ndim) if a != axis)
        x = np.arange(float(side))
        far = np.abs(x[:, None] - x) ** (2 if grid.metric == "sqeuclidean" else 1)
        total += step * float(r.sum(axis=others) @ far @ c.sum(axis=others))
    return total


def _unit(grid: GridCosts) -> float:
    """The relative rounding of sums over windows, axes and bins."""
    own = 8.0 * kernel_of(grid, 1.0).rounding
    return own + _EPS * (sum(grid.sides) + 4.0 * math.log2(grid.bins + 1.0) + 64.0)


def _coupling(
    grid: GridCosts, plan: GridPlan, lam: float, m: Array, phi: Array, psi: Array, r: Array,
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
        detour = mean_cost(grid, left, missing) / under
        cost += detour
        logs = _log(left / over) - np.where(left > 0.0, phi, 0.0)
        others = _log(missing / under) - np.where(missing > 0.0, psi, 0.0)
        divergence += _weighted(left, logs) + over * _weighted(missing / under, others)
        divergence += lam * detour
    unit = _unit(grid)
    off = abs(over - under) + unit
    sizes = 1.0 + lam * cost + abs(_weighted(r, np.where(r > 0.0, phi, 0.0))) + abs(
        _weighted(c, np.where(c > 0.0, psi, 0.0))
    )  # fmt: skip
    return cost, cost * (1.0 + unit) + 2.0 * off * grid.max, divergence + 4.0 * unit * sizes


def _emd_below(grid: GridCosts, lam: float, f: Array, g: Array, r: Array, c: Array) -> float:
    """The best dual value that the potentials lead to; see `certificates`.

    Where values are dear, rough ones say which potential is worth a fine one.
    """
    tried = [(np.zeros_like(r), r, c)]
    for potential, a, b in ((f, r, c), (g, c, r)):
        potential = potential.reshape(grid.sides)
        tried += [(potential, a, b), (potential - np.where(a > 0.0, _log(a), 0.0) / lam, a, b)]
    if grid.kind != "euclidean":
        return max(0.0, *(_dual_value(grid, *x) for x in tried))
    rough = [_dual_value(grid, *x, ROUGH) for x in tried]
    return max(0.0, *rough, _dual_value(grid, *tried[int(np.argmax(rough))]))


def _dual_value(grid: GridCosts, f: Array, r: Array, c: Array, ratio: float = FINE) -> float:
    """``<f, r> + <g, c>`` with the least costs ``g`` for ``f``, less its rounding."""
    centre = _weighted(r, f)
    f = np.where(r > 0.0, f - centre, -np.inf)
    g = least_costs(grid, f, ratio)
    largest = float(np.abs(f[r > 0.0]).max()) + largest_height(grid)
    dropped = 16.0 * _EPS * sum(grid.sides) * largest
    sums = _unit(grid) * (_weighted(r, np.abs(f)) + _weighted(c, np.abs(g)))
    return (_weighted(r, f) + _weighted(c, g)) / stretch(grid, ratio) - dropped - sums


def _log(x: Array) -> Array:
    """Logarithms, 0 where there is none."""
    return np.log(x, out=np.zeros_like(x), where=x > 0.0)


def _weighted(weights: Array, values: Array) -> float:
    """``sum w x``, where values without weight count for nothing."""
    out = np.zeros_like(weights)
    return float(np.multiply(weights, values, out=out, where=weights > 0.0).sum())
