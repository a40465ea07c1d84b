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

Formulas are written once, for arrays of any library ``xp``: pairs lie on axis 0, costs are one
matrix, and bins without mass count for nothing. Margins come from the dtype. For one pair of NumPy
arrays on bins with mass there are functions of the same names that take and return plain numbers;
there a sharper coupling is looked for, by a loop that only the host can afford.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sinkdist.solution import host_arrays as host
from sinkdist.solution.plans import entropic_plan
from sinkdist.solution.reductions import entropy, inverse, log, weighted

__all__ = [
    "Measures",
    "Moves",
    "bracket",
    "bracket_of_penalised",
    "bracket_pair",
    "certified",
    "column_potential",
    "emd_below",
    "information",
    "least_at",
    "measure",
    "measure_pair",
    "rounded",
    "rounding_of",
]

Array = Any  #: an array of the standard; of NumPy where there is no ``xp``

_EPS = 2.0**-53
_LARGEST_LOG = 1e3  #: of the inverse of a mass: what a little mass out of place may count for
#: The share of the value above which the repair of a plan is looked at again.
_COSTLY = 1e-3
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


# ------------------------------------------------------------- any library, pairs on axis 0


def measure(
    xp: Any, P: Array, M: Array, lam: Array, F: Array, G: Array, R: Array, C: Array,
    total: Array | None = None, coupling: Array | None = None,
) -> Measures:  # fmt: skip
    """All certificates of some pairs; ``lam`` of shape (n,) may be 0 or inf.

    ``total`` is the mass of the plans that the potentials give, if these are not ``P``; the
    ``coupling`` near ``P`` is that of `spread`, if none is given.
    """
    unit = _unit(xp, R, C)
    H = spread(xp, *shrunk(xp, P, R, C)) if coupling is None else coupling
    cost = _sum(xp, H * M)
    upper = _cost_above(xp, cost, H, M, R, C, unit)
    lower = xp.minimum(_emd_below(xp, M, lam, F, G, R, C, unit), upper)
    some = (lam > 0) & (lam < xp.inf)
    safe = xp.where(some, lam, 1.0)
    mass = _sum(xp, P) if total is None else total
    gap = _divergence_above(xp, H, cost, mass, M, safe, F, G, R, C, unit) / safe
    gap = xp.where(some, gap, xp.where(lam > 0, upper - lower, 0.0))
    h = _entropy(xp, P)
    return Measures(_sum(xp, P * M), h, _information(xp, P, h, R, C), lower, upper, gap, cost)


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
    unit = _unit(xp, R, C)
    mean = _mean(xp, M, R, C)
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
    coupling: Array | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """Proven lower and upper bounds on ``d_{M,alpha}``, from potentials at any lam, and their plan.

    Below by duality. Above by the rounded plan, mixed with ``r c^T`` as far as the constraint asks:
    the divergence is convex, so the mixture has at most its share of the information.
    """
    unit = _unit(xp, R, C)
    entropies = entropy(xp, R) + entropy(xp, C)
    phi = lam * (weighted(xp, R, F) + weighted(xp, C, G)) - (_sum(xp, P) - 1.0) + entropies
    sizes = lam * (weighted(xp, R, xp.abs(F)) + weighted(xp, C, xp.abs(G)))
    phi = phi - unit * (sizes + entropies + 2.0)
    mean = _mean(xp, M, R, C)
    H = spread(xp, *shrunk(xp, P, R, C)) if coupling is None else coupling
    information = _information_above(xp, H, R, C, unit)
    share = xp.where(information <= alpha, 1.0, alpha * inverse(xp, information))
    upper = _cost_above(xp, _sum(xp, H * M), H, M, R, C, unit)
    mixed = xp.where(share < 1.0, share * upper + (1.0 - share) * mean, upper)
    upper = xp.minimum(mixed, mean) * (1.0 + 4.0 * unit)
    lower = xp.maximum((phi - alpha) / lam, _emd_below(xp, M, lam, F, G, R, C, unit))
    return xp.minimum(lower, upper), upper


def _unit(xp: Any, R: Array, C: Array) -> float:
    """The rounding of sums over the bins of both sides, in the dtype of the histograms."""
    return rounding_of(R.shape[1] + C.shape[1], 0.5 * float(xp.finfo(C.dtype).eps))


def _sum(xp: Any, x: Array) -> Array:
    """The sum over the moves of every pair."""
    return xp.sum(x, axis=(1, 2))


def _mean(xp: Any, M: Array, R: Array, C: Array) -> Array:
    """``r^T M c``."""
    return xp.sum((R @ M) * C, axis=1)


def _entropy(xp: Any, P: Array) -> Array:
    """``-sum P log P``, with 0 log 0 = 0."""
    return -_sum(xp, P * log(xp, P, 0.0))


def _information(xp: Any, P: Array, h: Array, R: Array, C: Array) -> Array:
    """``KL(P || r c^T)``, of plans of entropy ``h`` that may be no couplings; at least 0."""
    logs = weighted(xp, xp.sum(P, axis=2), log(xp, R, 0.0))
    logs = logs + weighted(xp, xp.sum(P, axis=1), log(xp, C, 0.0))
    return xp.maximum(-h - logs, 0.0)


def _misfit(
    xp: Any, R: Array, C: Array, rows: Array, columns: Array, unit: float
) -> tuple[Array, Array, Array]:
    """What marginals may be off by, with their rounding, and the mass that a detour must carry."""
    x, y = xp.abs(R - rows) + 3.0 * unit * R, xp.abs(C - columns) + 3.0 * unit * C
    return x, y, 2.0 * (xp.sum(x, axis=1) + xp.sum(y, axis=1))


def _with_detour(cost: Any, detour: Any, unit: float) -> Any:
    """The cost of a plan and of what makes it a coupling, with their rounding."""
    return cost * (1.0 + unit) + detour * (1.0 + 2.0 * unit)


def _cost_above(xp: Any, cost: Array, H: Array, M: Array, R: Array, C: Array, unit: float) -> Array:
    """Upper bounds on the exact distance from the ``cost`` of plans that are nearly couplings.

    Infinite where a plan is too far from one.
    """
    x, y, least = _misfit(xp, R, C, xp.sum(H, axis=2), xp.sum(H, axis=1), unit)
    ways = (y @ M.T)[:, :, None] + (x @ M)[:, None, :]
    ways = xp.where(least[:, None, None] < H, ways, xp.inf)
    return _with_detour(cost, xp.min(ways, axis=(1, 2)), unit)


def _emd_below(
    xp: Any, M: Array, lam: Array, F: Array, G: Array, R: Array, C: Array, unit: float
) -> Array:
    """Lower bounds on the exact distance: the best dual value that the potentials lead to.

    Entropic potentials hold ``log(r) / lam``, which grows beyond all costs as lam becomes small;
    without it they are as large as costs are. The potential 0 is tried as well.
    """
    some = (lam > 0) & (lam < xp.inf)
    weak = xp.where(some, 1.0 / xp.where(some, lam, 1.0), 0.0)[:, None]
    log_r, log_c = log(xp, R, 0.0), log(xp, C, 0.0)
    tried = (
        (M, [0.0 * log_r, F, F - log_r * weak], R, C), (M.T, [G, G - log_c * weak], C, R)
    )  # fmt: skip
    alone = max(x.shape[0] for x in (F, G, R, C)) == 1
    best = xp.zeros_like(lam)
    for costs, potentials, a, b in tried:
        if alone:  # as the rows of one matrix: a small pair takes as long as its calls
            values = _dual_value(xp, costs, xp.concat(potentials), a, b, unit)
            best = xp.maximum(best, xp.max(values, keepdims=True))
            continue
        for f in potentials:
            best = xp.maximum(best, _dual_value(xp, costs, f, a, b, unit))
    return best


def _dual_value(xp: Any, M: Array, F: Array, R: Array, C: Array, unit: float) -> Array:
    """``<f, r> + <g, c>`` with the c-transform ``g`` of ``f``, less its rounding."""
    some = R > 0
    sound = xp.all(xp.isfinite(F) | ~some, axis=1, keepdims=True)
    F = xp.where(some & sound, F, 0.0)
    F = F - _weighted_median(xp, F, R)  # near 0 where mass is, so that the transform loses little
    G = xp.min(M - xp.where(some, F, -xp.inf)[:, :, None], axis=1)
    shift = 0.5 * (xp.sum(F * R, axis=1) - xp.sum(G * C, axis=1))[:, None]  # sides of one size
    f, g = F - shift, G + shift
    sizes = xp.sum(xp.abs(f) * R, axis=1) + xp.sum((xp.abs(g) + xp.abs(G)) * C, axis=1)
    return xp.sum(f * R, axis=1) + xp.sum(g * C, axis=1) - unit * sizes


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
    sizes = xp.sum(xp.abs(f) * R, axis=1) + xp.sum(xp.abs(g) * C, axis=1) + cost
    return xp.maximum(found, 0.0) + unit * (lam * sizes - _sum(xp, H * logs) + 2.0)


def _information_above(xp: Any, H: Array, R: Array, C: Array, unit: float) -> Array:
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


# ------------------------------------------------------ one pair of NumPy arrays, bins with mass


def measure_pair(
    P: Array, M: Array, lam: float, f: Array, g: Array, r: Array, c: Array,
    total: float | None = None,
) -> Measures:  # fmt: skip
    """`measure` of one pair, as plain numbers."""
    mass = None if total is None else np.array([total])
    H = rounded(P, r, c, M)[None]
    with np.errstate(over="ignore", invalid="ignore"):
        found = measure(
            host, P[None], M, np.array([lam]), f[None], g[None], r[None], c[None], mass, H
        )
    return Measures(*(float(x[0]) for x in found))


def bracket_pair(
    M: Array, lam: float, f: Array, g: Array, r: Array, c: Array, alpha: float
) -> tuple[float, float]:
    """`bracket` of one pair, as plain numbers."""
    P = entropic_plan(M, lam, f, g)
    H = rounded(P, r, c, M)[None]
    with np.errstate(over="ignore", invalid="ignore"):
        lower, upper = bracket(
            host, P[None], M, np.array([lam]), f[None], g[None], r[None], c[None], alpha, H
        )
    return float(lower[0]), float(upper[0])


def rounded(P: Array, r: Array, c: Array, M: Array | None = None) -> npt.NDArray[np.float64]:
    """A coupling near ``P``: scaled down, then repaired as by `spread`.

    Where ``M`` is given and that repair is costly, because it uses every move, the missing mass
    goes by the cheapest moves first if that costs less.
    """
    with np.errstate(over="ignore"):  # sums may be below what has an inverse
        H, left, missing = shrunk(host, P[None], r[None], c[None])
        coupling = spread(host, H, left, missing)[0]
    if M is not None and left.sum() > 0.0:
        least, cost = float(np.vdot(H, M)), float(np.vdot(coupling, M))
        if cost - least > _COSTLY * least:
            greedy = H[0] + _cheapest_first(M, left[0], missing[0])
            if float(np.vdot(greedy, M)) < cost:
                coupling = greedy
    return np.asarray(coupling, dtype=np.float64)


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


def certified(
    M: Array, f: Array, r: Array, c: Array, cost: float, moves: Moves
) -> tuple[float, float]:
    """Bounds on the exact distance by a potential of the rows and the cost of a coupling."""
    R, C = r[None], c[None]
    unit = _unit(host, R, C)
    lower = float(_dual_value(host, M, f[None], R, C, unit)[0])
    x, y, least = _misfit(host, R, C, moves.row_sums, moves.column_sums, unit)
    large = moves.mass > least[0]
    if not large.any():
        return max(0.0, lower), math.inf
    detour = float(((M @ y[0])[moves.rows[large]] + (x[0] @ M)[moves.columns[large]]).min())
    return max(0.0, lower), _with_detour(cost, detour, unit)


def emd_below(M: Array, lam: float, f: Array, g: Array, r: Array, c: Array) -> float:
    """A lower bound on the exact distance of one pair, as a plain number."""
    R, C = r[None], c[None]
    found = _emd_below(host, M, np.array([lam]), f[None], g[None], R, C, _unit(host, R, C))
    return float(found[0])


def column_potential(M: Array, lam: float, f: Array, c: Array) -> Array:
    """The best potential of the columns for one of the rows: their plan has the columns' masses."""
    with np.errstate(over="ignore"):
        exponents = lam * (f[:, None] - M)
    top = exponents.max(axis=0)
    sums = np.exp(exponents - top).sum(axis=0)
    return np.asarray((np.log(c) - top - np.log(sums)) / lam)


def information(P: Array, r: Array, c: Array) -> float:
    """``KL(P || r c^T)``, of a plan that may be no coupling; at least 0."""
    plans = P[None]
    return float(_information(host, plans, _entropy(host, plans), r[None], c[None])[0])
