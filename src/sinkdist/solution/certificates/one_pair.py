"""Certificates of one pair of NumPy arrays, given on its bins with mass: plain numbers.

The formulas are those of `many_pairs`. What a loop does better on the host stands here: a sharper
coupling near a plan, by the cheapest moves first, and the dual of the exact distance, compiled.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.solution import host_arrays as host
from sinkdist.solution.certificates import many_pairs as formulas
from sinkdist.solution.certificates.many_pairs import Measures
from sinkdist.solution.plans import entropic_plan

__all__ = [
    "Moves", "bracket_pair", "certified", "column_potential", "emd_below", "information",
    "measure_pair", "rounded",
]  # fmt: skip

Array = npt.NDArray[Any]

#: The share of the value above which the repair of a plan is looked at again.
_COSTLY = 1e-3


def measure_pair(
    P: Array, M: Array, lam: float, f: Array, g: Array, r: Array, c: Array,
    total: float | None = None,
) -> Measures:  # fmt: skip
    """`measure` of one pair, as plain numbers."""
    mass = None if total is None else np.array([total])
    H = rounded(P, r, c, M)[None]
    below = np.array([emd_below(M, lam, f, g, r, c)])
    with np.errstate(over="ignore", invalid="ignore"):
        found = formulas.measure(
            host, P[None], M, np.array([lam]), f[None], g[None], r[None], c[None], mass, H, below
        )
    return Measures(*(float(x[0]) for x in found))


def bracket_pair(
    M: Array, lam: float, f: Array, g: Array, r: Array, c: Array, alpha: float
) -> tuple[float, float]:
    """`bracket` of one pair, as plain numbers."""
    P = entropic_plan(M, lam, f, g)
    H = rounded(P, r, c, M)[None]
    below = np.array([emd_below(M, lam, f, g, r, c)])
    with np.errstate(over="ignore", invalid="ignore"):
        lower, upper = formulas.bracket(
            host, P[None], M, np.array([lam]), f[None], g[None], r[None], c[None], alpha, H, below
        )
    return float(lower[0]), float(upper[0])


def rounded(P: Array, r: Array, c: Array, M: Array | None = None) -> npt.NDArray[np.float64]:
    """A coupling near ``P``: scaled down, then repaired as by `spread`.

    Where ``M`` is given and that repair is costly, because it uses every move, the missing mass
    goes by the cheapest moves first if that costs less.
    """
    with np.errstate(over="ignore"):  # sums may be below what has an inverse
        H, left, missing = formulas.shrunk(host, P[None], r[None], c[None])
        coupling = formulas.spread(host, H, left, missing)[0]
    if M is not None and left.sum() > 0.0:
        least, cost = _total(H[0], M), _total(coupling, M)
        if cost - least > _COSTLY * least:
            greedy = H[0] + _cheapest_first(M, left[0], missing[0])
            if _total(greedy, M) < cost:
                coupling = greedy
    return np.asarray(coupling, dtype=np.float64)


def _total(P: Array, M: Array) -> float:
    """``<P, M>``, by NumPy's own loop: threads of BLAS would fight for the cores with ours."""
    return float(np.einsum("ij,ij->", P, M))


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
    """What a plan that is nearly a coupling moves: sums of its rows and columns, and its moves."""

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
    unit = formulas.unit_of(host, R, C)
    lower = float(formulas.dual_value(host, M, f[None], R, C, unit)[0])
    x, too_much_in_rows = formulas.misfit(host, r, moves.row_sums, unit)
    y, too_much_in_columns = formulas.misfit(host, c, moves.column_sums, unit)
    i, j, mass = moves.rows, moves.columns, moves.mass
    x = x + np.bincount(i, mass * too_much_in_columns[j], r.size)
    y = y + np.bincount(j, mass * too_much_in_rows[i], c.size)
    large = mass > formulas.carried(host, x[None], y[None])[0]
    if not large.any():
        return max(0.0, lower), math.inf
    detour = float(((M @ y)[i[large]] + (x @ M)[j[large]]).min())
    return max(0.0, lower), formulas.with_detour(cost, detour, unit)


def emd_below(M: Array, lam: float, f: Array, g: Array, r: Array, c: Array) -> float:
    """A lower bound on the exact distance: the best dual value that the potentials lead to."""
    from sinkdist.kernels.dual import dual_value

    unit = formulas.rounding_of(r.size + c.size)
    weak = 1.0 / lam if 0.0 < lam < math.inf else 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        tried = formulas.potentials_to_try(f, g, np.log(r), np.log(c), weak)
    best, scratch = 0.0, (np.empty(r.size), np.empty(c.size))
    turned = np.ascontiguousarray(M.T)  # as the kernel takes it
    for costs, potentials, a, b, (below, transform) in (
        (M, tried[0], r, c, scratch), (turned, tried[1], c, r, scratch[::-1])
    ):  # fmt: skip
        for x in potentials:
            if np.isfinite(x).all():
                best = max(best, dual_value(costs, x, a, b, unit, below, transform))
    return best


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
    held = formulas.entropy_of(host, plans)
    return float(formulas.information(host, plans, held, r[None], c[None])[0])
