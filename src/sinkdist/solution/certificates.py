"""Certificates: what a pair's potentials and plan prove, converged or not.

The c-transform of any potential is feasible for the dual of the exact distance, a plan rounded to
exact marginals is feasible for the primal; so every bound here holds at any iterate.

Each bound is proven with its rounding. Histograms that sum to 1 up to rounding stand for the
exactly normalised ones, which differ by a relative error in every mass, and so do the sums below:
`rounding_of(n)` bounds it for sums of ``n`` terms. A lower bound ``<f, r> + <g, c>`` may be off by
that part of ``<|f|, r> + <|g|, c>``, so potentials are centred. A plan whose marginals are off by
``x`` and ``y``, and by a relative ``a`` in their rounding, can be mended by way of one move
``(i, j)`` that carries more than all of this: scale it down by ``1 - 2a``, send what is left of
every row to ``j``, fetch what every column misses from ``i``, and take both off that move. This
costs at most ``((3a r + x)^T M)_j + (M (3a c + y))_i``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.solution.plans import entropic_plan

__all__ = [
    "Measures",
    "Moves",
    "bracket",
    "bracket_of_penalised",
    "certified",
    "column_potential",
    "emd_below",
    "information",
    "least_at",
    "measure",
    "rounded",
    "rounding_of",
]

Array = npt.NDArray[Any]

_EPS = 2.0**-53
_LARGEST_LOG = 1e3  #: of the inverse of a mass: what a little mass out of place may count for
#: The share of the value above which the repair of a plan is looked at again.
_COSTLY = 1e-3


def rounding_of(terms: int) -> float:
    """A bound on the relative error of a sum of so many terms of one sign, each rounded as well."""
    return (terms + 16) * _EPS


def least_at(mean: float, spread: float, alpha: float) -> float:
    """A lower bound on ``d_{M,alpha}`` from ``r^T M c`` alone, by Pinsker's inequality."""
    return max(0.0, mean - 0.5 * spread * math.sqrt(2.0 * alpha))


@dataclass(frozen=True, slots=True)
class Measures:
    """Numbers that take a look at the whole plan of one pair.

    Attributes
    ----------
    value, entropy, alpha : float
        ``<P, M>``, ``h(P)`` and ``KL(P || r c^T)``.
    lower, upper : float
        Bounds on the exact distance.
    gap : float
        How far the rounded plan is from optimal for its own objective.
    cost : float
        That of the rounded plan.
    """

    value: float
    entropy: float
    alpha: float
    lower: float
    upper: float
    gap: float
    cost: float


def rounded(P: Array, r: Array, c: Array, M: Array | None = None) -> npt.NDArray[np.float64]:
    """A coupling near ``P``: scaled down, then repaired by rank one (Altschuler et al. 2017).

    Where ``M`` is given and that repair is costly, because it uses every move, the missing mass
    goes by the cheapest moves first if that costs less.
    """
    with np.errstate(divide="ignore", over="ignore"):  # a sum of 0 is scaled by 1
        G = P * np.minimum(1.0, r / P.sum(axis=1))[:, None]
        G *= np.minimum(1.0, c / G.sum(axis=0))
    left = np.maximum(r - G.sum(axis=1), 0.0)
    missing = np.maximum(c - G.sum(axis=0), 0.0)
    total = float(left.sum())
    if total > 0.0:
        repair = np.outer(left, missing / total)
        if M is not None:
            cost = float(np.vdot(repair, M))
            if cost > _COSTLY * float(np.vdot(G, M)):
                greedy = _cheapest_first(M, left, missing)
                if float(np.vdot(greedy, M)) < cost:
                    repair = greedy
        G += repair
    return np.asarray(G, dtype=np.float64)


def _cheapest_first(M: Array, left: Array, missing: Array) -> Array:
    """Move the mass ``left`` to where it is ``missing``, each time by the cheapest move of a row.

    What rounding leaves over on either side is in proportion to what was there.
    """
    left, missing = left.copy(), missing.copy()
    moved = np.zeros(M.shape)
    for i in np.flatnonzero(left):
        for j in np.argsort(M[i], kind="stable"):
            amount = min(left[i], missing[j])
            moved[i, j] += amount
            left[i] -= amount
            missing[j] -= amount
            if left[i] <= 0.0:
                break
    if left.sum() > 0.0 and missing.sum() > 0.0:
        moved += np.outer(left, missing / missing.sum())
    return moved


def measure(
    P: Array, M: Array, lam: float, f: Array, g: Array, r: Array, c: Array,
    total: float | None = None,
) -> Measures:  # fmt: skip
    """All certificates of one pair on bins with mass; ``lam`` may be 0 or inf.

    ``total`` is the mass of the plan that the potentials give, if that is not ``P``.
    """
    entropy, alpha = _entropy(P), information(P, r, c)
    G = rounded(P, r, c, M)
    cost = float(np.vdot(G, M))
    upper = cost_above(cost, M, r, c, Moves.of(G))
    lower = min(emd_below(M, lam, f, g, r, c), upper)
    if lam == 0.0:
        gap = 0.0
    elif lam == np.inf:
        gap = upper - lower
    else:
        mass = float(P.sum()) if total is None else total
        gap = divergence_above(G, mass, M, lam, f, g, r, c) / lam
    return Measures(float(np.vdot(P, M)), entropy, alpha, lower, upper, gap, cost)


@dataclass(frozen=True, slots=True, eq=False)
class Moves:
    """What a plan that is nearly a coupling moves: sums of its rows and columns, and some moves.

    ``rows, columns, mass`` are moves, among them the largest of every row and column.
    """

    row_sums: Array
    column_sums: Array
    rows: Array
    columns: Array
    mass: Array

    @classmethod
    def of(cls, G: Array) -> Moves:
        """The sums and largest moves of a dense plan."""
        m, n = G.shape
        rows = np.concatenate([np.arange(m), G.argmax(axis=0)])
        columns = np.concatenate([G.argmax(axis=1), np.arange(n)])
        return cls(G.sum(axis=1), G.sum(axis=0), rows, columns, G[rows, columns])


def cost_above(cost: float, M: Array, r: Array, c: Array, moves: Moves) -> float:
    """An upper bound on the exact distance from the ``cost`` of a plan that is nearly a coupling.

    Infinite where the plan is too far from one.
    """
    unit = rounding_of(r.size + c.size)
    x = np.abs(r - moves.row_sums) + 3.0 * unit * r
    y = np.abs(c - moves.column_sums) + 3.0 * unit * c
    large = moves.mass > 2.0 * (float(x.sum()) + float(y.sum()))
    if not large.any():
        return math.inf
    detour = float(((M @ y)[moves.rows[large]] + (x @ M)[moves.columns[large]]).min())
    return cost * (1.0 + unit) + detour * (1.0 + 2.0 * unit)


def emd_below(M: Array, lam: float, f: Array, g: Array, r: Array, c: Array) -> float:
    """A lower bound on the exact distance: the best dual value that the potentials lead to.

    Entropic potentials hold ``log(r) / lam``, which grows beyond all costs as lam becomes small;
    without it they are as large as costs are. The potential 0 is tried where these prove nothing.
    """
    row_side, column_side = [f], [g]
    if 0.0 < lam < np.inf:
        with np.errstate(over="ignore", invalid="ignore"):
            row_side, column_side = [f, f - np.log(r) / lam], [g, g - np.log(c) / lam]
    values = [_dual_value(M, x, r, c) for x in row_side]
    values += [_dual_value(M.T, y, c, r) for y in column_side]
    best = max(value - rounding for value, rounding in values)
    if best > 0.0:
        return best
    value, rounding = _dual_value(M, np.zeros_like(f), r, c)
    return max(0.0, value - rounding)


def certified(
    M: Array, f: Array, r: Array, c: Array, cost: float, moves: Moves
) -> tuple[float, float]:
    """Bounds on the exact distance by a potential of the rows and the cost of a coupling."""
    value, rounding = _dual_value(M, f, r, c)
    return max(0.0, value - rounding), cost_above(cost, M, r, c, moves)


def _dual_value(M: Array, f: Array, r: Array, c: Array) -> tuple[float, float]:
    """``<f, r> + <g, c>`` with the c-transform ``g`` of ``f``, and its rounding."""
    if not np.isfinite(f).all():
        return 0.0, 0.0
    f = f - _weighted_median(f, r)  # near 0 where the mass is, so that the transform loses little
    g = (M - f[:, None]).min(axis=0)
    shift = 0.5 * (float(f @ r) - float(g @ c))  # both sides of one size
    sizes = float(np.abs(f - shift) @ r + np.abs(g + shift) @ c) + float(np.abs(g) @ c)
    value = float((f - shift) @ r + (g + shift) @ c)
    return value, rounding_of(r.size + c.size) * sizes


def _weighted_median(values: Array, weights: Array) -> float:
    """A value with half of the weight on either side."""
    order = np.argsort(values)
    below = np.cumsum(weights[order])
    middle = int(np.searchsorted(below, 0.5 * below[-1]))
    return float(values[order[min(middle, values.size - 1)]])


def divergence_above(
    G: Array, total: float, M: Array, lam: float, f: Array, g: Array, r: Array, c: Array
) -> float:
    """An upper bound on ``KL(G || P)``, which is lam times the gap of the coupling ``G``.

    ``P`` is the plan that the potentials give, of mass ``total``.
    """
    logs = np.log(np.where(G > 0.0, G, 1.0))
    exponent = f[:, None] + g - M
    exponent *= lam
    found = float(np.vdot(G, logs - exponent)) + (total - 1.0)
    sizes = lam * float(np.abs(f) @ r + np.abs(g) @ c + np.vdot(G, M)) - float(np.vdot(G, logs))
    return max(0.0, found) + rounding_of(r.size + c.size) * (sizes + 2.0)


def column_potential(M: Array, lam: float, f: Array, c: Array) -> Array:
    """The best potential of the columns for one of the rows: their plan has the columns' masses."""
    with np.errstate(over="ignore"):
        exponents = lam * (f[:, None] - M)
    top = exponents.max(axis=0)
    sums = np.exp(exponents - top).sum(axis=0)
    return np.asarray((np.log(c) - top - np.log(sums)) / lam)


def information(P: Array, r: Array, c: Array) -> float:
    """``KL(P || r c^T)``, of a plan that may be no coupling; at least 0."""
    rows, columns = P.sum(axis=1), P.sum(axis=0)
    return max(0.0, -_entropy(P) - float(rows @ np.log(r)) - float(columns @ np.log(c)))


def information_above(G: Array, r: Array, c: Array) -> float:
    """An upper bound on ``KL(G || r c^T)`` of what is nearly a coupling.

    Summed as ``q ((1 + x) log(1 + x) - x)`` with ``q = r c^T`` and ``1 + x = G / q``: all terms are
    positive, so little information is known as well as much.
    """
    q = np.outer(r, c)
    x = (G - q) / np.where(q > 0.0, q, 1.0)
    logs = np.log1p(np.maximum(x, -1.0 + _EPS))
    small = np.clip(x, -1e-3, 1e-3)
    series = small * small * (0.5 - small * (1 / 6 - small / 12))
    terms = np.where(np.abs(x) < 1e-3, series, (1.0 + x) * logs - x)
    off = float(np.abs(r - G.sum(axis=1)).sum() + np.abs(c - G.sum(axis=0)).sum())
    unit = rounding_of(r.size + c.size)
    size = float(np.vdot(q, np.abs(x)))  # what rounding x may change
    largest = min(_LARGEST_LOG, 1.0 + float(np.abs(logs).max()))
    if not (G > 0.0).all():
        largest = _LARGEST_LOG
    return float(np.vdot(q, terms)) * (1.0 + unit) + unit * size * largest + largest * off


def bracket_of_penalised(
    pair: Measures, M: Array, lam: float, r: Array, c: Array
) -> tuple[float, float]:
    """A proven lower and upper bound on ``d^lam``, from what is known of a plan near its own.

    ``|<G, M> - d^lam| <= range(M) / 2 * sqrt(2 lam gap)`` for the rounded plan G; between the
    exact distance and the mean cost; at most ``min(h(r), h(c)) / lam`` above the exact distance.
    """
    unit = rounding_of(r.size + c.size)
    mean = float(r @ M @ c)
    if lam == 0.0:
        return mean * (1.0 - 3.0 * unit), mean * (1.0 + 3.0 * unit)
    slack = 0.5 * float(np.ptp(M)) * math.sqrt(2.0 * lam * pair.gap)
    entropy = min(_entropy(r), _entropy(c)) * (1.0 + unit)
    upper = min(pair.upper + slack, pair.upper + entropy / lam, mean * (1.0 + 3.0 * unit))
    lower = pair.cost - (pair.upper - pair.cost) - slack
    return min(max(pair.lower, lower), upper), upper


def bracket(
    M: Array, lam: float, f: Array, g: Array, r: Array, c: Array, alpha: float
) -> tuple[float, float]:
    """A proven lower and upper bound on ``d_{M,alpha}``, from potentials at any lam.

    Below by duality. Above by the rounded plan, mixed with ``r c^T`` as far as the constraint asks:
    the divergence is convex, so the mixture has at most its share of the information.
    """
    P = entropic_plan(M, lam, f, g)
    unit = rounding_of(r.size + c.size)
    log_r, log_c = np.log(r), np.log(c)
    entropies = -float(r @ log_r + c @ log_c)
    phi = lam * float(f @ r + g @ c) - (float(P.sum()) - 1.0) + entropies
    phi -= unit * (lam * float(np.abs(f) @ r + np.abs(g) @ c) + entropies + 2.0)
    mean = float(r @ M @ c)
    G = rounded(P, r, c, M)
    information = information_above(G, r, c)
    share = 1.0 if information <= alpha else alpha / information
    upper = cost_above(float(np.vdot(G, M)), M, r, c, Moves.of(G))
    upper = min(share * upper + (1.0 - share) * mean, mean) * (1.0 + 4.0 * unit)
    lower = max((phi - alpha) / lam, emd_below(M, lam, f, g, r, c))
    return min(lower, upper), upper


def _entropy(P: Array) -> float:
    """``-sum P log P``, with 0 log 0 = 0."""
    return -float(np.vdot(P, np.log(np.where(P > 0.0, P, 1.0))))
