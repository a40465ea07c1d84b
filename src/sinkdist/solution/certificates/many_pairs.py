"""Bounds as formulas: over pairs on axis 0, for arrays of any library ``xp``.

Costs are one matrix, bins without mass count for nothing, and margins come from the dtype.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from sinkdist.solution.reductions import Array, entropy, inverse, log, weighted

__all__ = [
    "Measures", "bracket", "bracket_of_penalised", "carried", "cost_above", "dual_value",
    "emd_below", "entropy_of", "information", "information_above", "least_at", "mean_cost",
    "measure", "misfit",
    "potentials_to_try", "rounding_of", "shrunk", "spread", "unit_of", "with_detour",
]  # fmt: skip

_EPS = 2.0**-53
_LARGEST_LOG = 1e3  #: of the inverse of a mass: what a little mass out of place may count for
_LITTLE = 1e-3  #: below this, ``(1 + x) log(1 + x) - x`` is summed as a series


def rounding_of(terms: int, eps: float = _EPS) -> float:
    """A bound on the relative error of a sum of so many terms of one sign, each rounded as well."""
    return (terms + 16) * eps


def least_at(mean: float, spread: float, alpha: float) -> float:
    """A lower bound on ``d_{M,alpha}`` from ``r^T M c`` alone, by Pinsker's inequality."""
    return max(0.0, mean - 0.5 * spread * math.sqrt(2.0 * alpha))


class Measures(NamedTuple):
    """Numbers that take a look at whole plans, one entry per pair.

    Attributes
    ----------
    value, entropy, alpha : array
        ``<P, M>``, ``h(P)`` and ``KL(P || r c^T)``.
    lower, upper : array
        Bounds on the exact distance.
    gap : array
        How far the rounded plan is from optimal for its own objective.
    cost : array
        That of the rounded plan.
    """

    value: Array
    entropy: Array
    alpha: Array
    lower: Array
    upper: Array
    gap: Array
    cost: Array


def measure(
    xp: Any, P: Array, M: Array, lam: Array, F: Array, G: Array, R: Array, C: Array,
    total: Array | None = None, coupling: Array | None = None, below: Array | None = None,
) -> Measures:  # fmt: skip
    """All certificates of some pairs; ``lam`` of shape (n,) may be 0 or inf.

    ``total`` is the mass of the plans that the potentials give, if these are not ``P``. The
    ``coupling`` near ``P`` is that of `spread`, and what is ``below`` the exact distance that of
    `emd_below`, unless they are given.
    """
    unit = unit_of(xp, R, C)
    H = spread(xp, *shrunk(xp, P, R, C)) if coupling is None else coupling
    cost = _sum(xp, H * M)
    upper = cost_above(xp, cost, H, M, R, C, unit)
    below = emd_below(xp, M, lam, F, G, R, C, unit) if below is None else below
    lower = xp.minimum(below, upper)
    some = (lam > 0) & (lam < xp.inf)
    safe = xp.where(some, lam, 1.0)
    mass = _sum(xp, P) if total is None else total
    gap = _divergence_above(xp, H, cost, mass, M, safe, F, G, R, C, unit) / safe
    gap = xp.where(some, gap, xp.where(lam > 0, upper - lower, 0.0))
    h = entropy_of(xp, P)
    return Measures(_sum(xp, P * M), h, information(xp, P, h, R, C), lower, upper, gap, cost)


def shrunk(xp: Any, P: Array, R: Array, C: Array) -> tuple[Array, Array, Array]:
    """``P`` scaled down until no marginal is exceeded, and what is left and missing then."""
    H = P * xp.minimum(R * inverse(xp, xp.sum(P, axis=2)), 1.0)[:, :, None]
    H = H * xp.minimum(C * inverse(xp, xp.sum(H, axis=1)), 1.0)[:, None, :]
    left = xp.maximum(R - xp.sum(H, axis=2), 0.0)
    return H, left, xp.maximum(C - xp.sum(H, axis=1), 0.0)


def spread(xp: Any, H: Array, left: Array, missing: Array) -> Array:
    """A coupling: what is left goes in proportion to what is missing (Altschuler et al. 2017)."""
    share = missing * inverse(xp, xp.sum(left, axis=1))[:, None]
    return H + left[:, :, None] * share[:, None, :]


def bracket_of_penalised(
    xp: Any, pair: Measures, M: Array, lam: Array, R: Array, C: Array
) -> tuple[Array, Array]:
    """Proven lower and upper bounds on ``d^lam``, from what is known of plans near its own.

    ``|<H, M> - d^lam| <= range(M) / 2 * sqrt(2 lam gap)`` for the rounded plan H; between the
    exact distance and the mean cost; at most ``min(h(r), h(c)) / lam`` above the exact distance.
    """
    unit = unit_of(xp, R, C)
    mean = mean_cost(xp, M, R, C)
    some = lam > 0
    safe = xp.where(some, lam, 1.0)
    on = ((R > 0)[:, :, None]) & ((C > 0)[:, None, :])
    top = xp.max(xp.where(on, M, -xp.inf), axis=(1, 2))
    slack = 0.5 * (top - xp.min(xp.where(on, M, xp.inf), axis=(1, 2)))
    slack = slack * xp.sqrt(2.0 * safe * pair.gap)
    most = xp.minimum(entropy(xp, R), entropy(xp, C)) * (1.0 + unit) / safe
    upper = xp.minimum(pair.upper + xp.minimum(slack, most), mean * (1.0 + 3.0 * unit))
    lower = xp.maximum(pair.lower, pair.cost - (pair.upper - pair.cost) - slack)
    lower = xp.where(some, xp.minimum(lower, upper), mean * (1.0 - 3.0 * unit))
    return lower, xp.where(some, upper, mean * (1.0 + 3.0 * unit))


def bracket(
    xp: Any, P: Array, M: Array, lam: Array, F: Array, G: Array, R: Array, C: Array, alpha: Any,
    coupling: Array | None = None, below: Array | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """Proven lower and upper bounds on ``d_{M,alpha}``, from potentials at any lam, and their plan.

    Below by duality. Above by the rounded plan, mixed with ``r c^T`` as far as the constraint asks:
    the divergence is convex, so the mixture has at most its share of the information.
    """
    unit = unit_of(xp, R, C)
    entropies = entropy(xp, R) + entropy(xp, C)
    phi = lam * (weighted(xp, R, F) + weighted(xp, C, G)) - (_sum(xp, P) - 1.0) + entropies
    sizes = lam * (weighted(xp, R, xp.abs(F)) + weighted(xp, C, xp.abs(G)))
    phi = phi - unit * (sizes + entropies + 2.0)
    mean = mean_cost(xp, M, R, C)
    H = spread(xp, *shrunk(xp, P, R, C)) if coupling is None else coupling
    held = information_above(xp, H, R, C, unit)
    share = xp.where(held <= alpha, 1.0, alpha * inverse(xp, held))
    upper = cost_above(xp, _sum(xp, H * M), H, M, R, C, unit)
    mixed = xp.where(share < 1.0, share * upper + (1.0 - share) * mean, upper)
    upper = xp.minimum(mixed, mean) * (1.0 + 4.0 * unit)
    below = emd_below(xp, M, lam, F, G, R, C, unit) if below is None else below
    lower = xp.maximum((phi - alpha) / lam, below)
    return xp.minimum(lower, upper), upper


def unit_of(xp: Any, R: Array, C: Array) -> float:
    """The rounding of sums over the bins of both sides, in the dtype of the histograms."""
    return rounding_of(R.shape[1] + C.shape[1], 0.5 * float(xp.finfo(C.dtype).eps))


def _sum(xp: Any, x: Array) -> Array:
    """The sum over the moves of every pair."""
    return xp.sum(x, axis=(1, 2))


def mean_cost(xp: Any, M: Array, R: Array, C: Array) -> Array:
    """``r^T M c``."""
    return xp.vecdot(R @ M, C)


def entropy_of(xp: Any, P: Array) -> Array:
    """``-sum P log P``, with 0 log 0 = 0."""
    return -_sum(xp, P * log(xp, P, 0.0))


def information(xp: Any, P: Array, h: Array, R: Array, C: Array) -> Array:
    """``KL(P || r c^T)``, of plans of entropy ``h`` that may be no couplings; at least 0."""
    logs = weighted(xp, xp.sum(P, axis=2), log(xp, R, 0.0))
    logs = logs + weighted(xp, xp.sum(P, axis=1), log(xp, C, 0.0))
    return xp.maximum(-h - logs, 0.0)


def misfit(xp: Any, mass: Array, sums: Array, unit: float) -> tuple[Array, Array]:
    """What bins of one side lack, and the part of their sums that is too much; with rounding.

    A plan becomes a coupling in two steps. Bins that hold too much are scaled down, rows first,
    which leaves no more missing on the other side than those parts of their moves. What is missing
    then goes by way of one move ``(i, j)``: from each row to ``j``, and from ``i`` to each column.
    """
    slack, off = 3.0 * unit * mass, sums - mass
    over, lacking = xp.where(off > 0.0, off, 0.0) + slack, xp.where(off < 0.0, -off, 0.0) + slack
    held = sums > 0.0
    return lacking, xp.where(held, over / xp.where(held, sums, 1.0), 0.0)


def carried(xp: Any, x: Array, y: Array) -> Array:
    """The mass that a move must have, so that what rows and columns lack can go by way of it."""
    return 2.0 * (xp.sum(x, axis=1) + xp.sum(y, axis=1))


def with_detour(cost: Any, detour: Any, unit: float) -> Any:
    """The cost of a plan and of what makes it a coupling, with their rounding."""
    return cost * (1.0 + unit) + detour * (1.0 + 2.0 * unit)


def cost_above(xp: Any, cost: Array, H: Array, M: Array, R: Array, C: Array, unit: float) -> Array:
    """Upper bounds on the exact distance from the ``cost`` of plans that are nearly couplings.

    Infinite where a plan is too far from one.
    """
    x, too_much_in_rows = misfit(xp, R, xp.sum(H, axis=2), unit)
    y, too_much_in_columns = misfit(xp, C, xp.sum(H, axis=1), unit)
    x = x + (H @ too_much_in_columns[:, :, None])[:, :, 0]
    y = y + (too_much_in_rows[:, None, :] @ H)[:, 0, :]
    least = carried(xp, x, y)
    ways = (y @ M.T)[:, :, None] + (x @ M)[:, None, :]
    ways = xp.where(least[:, None, None] < H, ways, xp.inf)
    return with_detour(cost, xp.min(ways, axis=(1, 2)), unit)


def emd_below(
    xp: Any, M: Array, lam: Array, F: Array, G: Array, R: Array, C: Array, unit: float
) -> Array:
    """Lower bounds on the exact distance: the best dual value that the potentials lead to."""
    some = (lam > 0) & (lam < xp.inf)
    weak = xp.where(some, 1.0 / xp.where(some, lam, 1.0), 0.0)[:, None]
    of_rows, of_columns = potentials_to_try(F, G, log(xp, R, 0.0), log(xp, C, 0.0), weak)
    best = xp.zeros_like(lam)
    for costs, potentials, a, b in ((M, of_rows, R, C), (M.T, of_columns, C, R)):
        for f in potentials:
            best = xp.maximum(best, dual_value(xp, costs, f, a, b, unit))
    return best


def potentials_to_try(
    f: Array, g: Array, log_r: Array, log_c: Array, weak: Any
) -> tuple[list[Array], list[Array]]:
    """Potentials of the rows and of the columns that may prove something; ``weak`` is ``1 / lam``.

    Entropic potentials hold ``log(r) / lam``, which grows beyond all costs as lam becomes small;
    without it they are as large as costs are. The potential 0 is tried as well.
    """
    return [0.0 * log_r, f, f - log_r * weak], [g, g - log_c * weak]


def dual_value(xp: Any, M: Array, F: Array, R: Array, C: Array, unit: float) -> Array:
    """``<f, r> + <g, c>`` with the c-transform ``g`` of ``f``, less its rounding."""
    some = R > 0
    sound = xp.all(xp.isfinite(F) | ~some, axis=1, keepdims=True)
    F = xp.where(some & sound, F, 0.0)
    F = F - _weighted_median(xp, F, R)  # near 0 where mass is, so that the transform loses little
    G = xp.min(M - xp.where(some, F, -xp.inf)[:, :, None], axis=1)
    shift = 0.5 * (xp.vecdot(F, R) - xp.vecdot(G, C))[:, None]  # sides of one size
    f, g = F - shift, G + shift
    sizes = xp.vecdot(xp.abs(f), R) + xp.vecdot(xp.abs(g) + xp.abs(G), C)
    return xp.vecdot(f, R) + xp.vecdot(g, C) - unit * sizes


def _weighted_median(xp: Any, values: Array, weights: Array) -> Array:
    """A value of every row with half of the weight on either side; of shape (n, 1)."""
    weights = weights + xp.zeros_like(values)
    order = xp.argsort(values, axis=1)
    cumulate = getattr(xp, "cumulative_sum", None) or xp.cumsum
    below = cumulate(xp.take_along_axis(weights, order, axis=1), axis=1)
    ordered = xp.take_along_axis(values, order, axis=1)
    return xp.min(xp.where(below >= 0.5 * below[:, -1:], ordered, xp.inf), axis=1, keepdims=True)


def _divergence_above(
    xp: Any, H: Array, cost: Array, total: Array, M: Array, lam: Array, F: Array, G: Array,
    R: Array, C: Array, unit: float,
) -> Array:  # fmt: skip
    """Upper bounds on ``KL(H || P)``, which is lam times the gap of the coupling ``H``.

    ``P`` is the plan that the potentials give, of mass ``total``.
    """
    f, g = xp.where(R > 0, F, 0.0), xp.where(C > 0, G, 0.0)
    logs = log(xp, H, 0.0)
    exponent = lam[:, None, None] * (f[:, :, None] + g[:, None, :] - M)
    found = _sum(xp, H * (logs - exponent)) + (total - 1.0)
    sizes = xp.vecdot(xp.abs(f), R) + xp.vecdot(xp.abs(g), C) + cost
    return xp.maximum(found, 0.0) + unit * (lam * sizes - _sum(xp, H * logs) + 2.0)


def information_above(xp: Any, H: Array, R: Array, C: Array, unit: float) -> Array:
    """Upper bounds on ``KL(H || r c^T)`` of what is nearly a coupling.

    Summed as ``q ((1 + x) log(1 + x) - x)`` with ``q = r c^T`` and ``1 + x = H / q``: all terms are
    positive, so little information is known as well as much.
    """
    q = R[:, :, None] * C[:, None, :]
    on = q > 0
    x = (H - q) / xp.where(on, q, 1.0)
    logs = xp.log1p(xp.maximum(x, -1.0 + 0.5 * float(xp.finfo(H.dtype).eps)))
    small = xp.clip(x, -_LITTLE, _LITTLE)
    series = small * small * (0.5 - small * (1 / 6 - small / 12))
    terms = xp.where(xp.abs(x) < _LITTLE, series, (1.0 + x) * logs - x)
    off = xp.sum(xp.abs(R - xp.sum(H, axis=2)), axis=1)
    off = off + xp.sum(xp.abs(C - xp.sum(H, axis=1)), axis=1)
    largest = xp.minimum(1.0 + xp.max(xp.abs(logs), axis=(1, 2)), _LARGEST_LOG)
    largest = xp.where(xp.all((H > 0) | ~on, axis=(1, 2)), largest, _LARGEST_LOG)
    size = _sum(xp, q * xp.abs(x))  # what rounding x may change
    return _sum(xp, q * terms) * (1.0 + unit) + unit * size * largest + largest * off
