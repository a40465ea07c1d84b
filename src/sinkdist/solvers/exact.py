"""The exact distance: POT's network simplex on as little as possible, and a closed form on a line.

Costs and masses are scaled before the call, because the simplex compares with absolute constants.
For a metric the mass that both histograms have in a bin stays there (the triangle inequality makes
that optimal), which leaves a smaller problem. What comes back is certified: the potentials are made
feasible by a c-transform, and the gap between primal and dual is looked at.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sinkdist.bounds import SparsePlan
from sinkdist.passes.compiled import Array

__all__ = ["Exact", "exact_on_line", "exact_pair", "load_simplex"]

_GAP = 1e-9  #: of the value: what counts as solved
_ROUNDING = 1e-13  #: of the potentials
_OUTLIER = 1e4  #: times the median: costs beyond this are looked at apart
_STEPS = 10**8  #: of the simplex; more than it ever needed here


@dataclass(frozen=True, slots=True)
class Exact:
    """An optimal plan, feasible potentials, and the bounds they prove."""

    plan: SparsePlan
    f: Array
    g: Array
    upper: float
    lower: float

    @property
    def solved(self) -> bool:
        """Whether primal and dual agree, up to what their sums lose in rounding."""
        sizes = (np.abs(x[x > -np.inf]).max(initial=0.0) for x in (self.f, self.g))
        rounding = _ROUNDING * float(sum(sizes))
        return self.upper - self.lower <= _GAP * self.upper + rounding


def exact_pair(M: Array, r: Array, c: Array, *, metric: bool) -> Exact:
    """Transport ``r`` to ``c`` over the whole ground; bins without mass may be there.

    Parameters
    ----------
    M : ndarray
        All costs.
    r, c : ndarray
        Histograms in float64.
    metric : bool
        Whether ``M`` is a metric, so that common mass may stay where it is.
    """
    common = np.minimum(r, c) if metric else np.zeros(0)
    stay = np.flatnonzero(common)
    a, b = (r - common, c - common) if stay.size else (r, c)
    rows, columns = np.flatnonzero(a), np.flatnonzero(b)
    if rows.size == 0 or columns.size == 0:  # equal histograms
        return _certified(M, r, c, SparsePlan(stay, stay, common[stay]), stay[:1], np.zeros(1))
    G, g = _simplex(np.ascontiguousarray(M[np.ix_(rows, columns)]), a[rows], b[columns])
    at, to = np.nonzero(G)
    plan = SparsePlan(
        np.concatenate([rows[at], stay]),
        np.concatenate([columns[to], stay]),
        np.concatenate([G[at, to], common[stay]]),
    )
    return _certified(M, r, c, plan, columns, g)


def _simplex(costs: Array, a: Array, b: Array) -> tuple[Array, Array]:
    """The plan and the columns' potentials; costs far above all others are looked at apart."""
    top = float(costs.max())
    spread = top > 100.0 * float(costs.mean())  # else no cost can be far above all others
    bound = _OUTLIER * float(np.median(costs)) if spread else 0.0
    if 0.0 < bound < top:  # else all other costs would lie below the simplex's absolute constants
        G, g = _call_pot(np.minimum(costs, bound), a, b, bound)
        if not G[costs > bound].any():  # optimal for lower costs that agree where it has mass
            return G, g
    return _call_pot(costs, a, b, top)


def load_simplex() -> Any:
    """POT, imported on first use: it brings along what it finds of torch and others."""
    import ot

    return ot


def _call_pot(costs: Array, a: Array, b: Array, top: float) -> tuple[Array, Array]:
    """POT's network simplex, with costs of at most 1 and masses that sum to 1."""
    ot = load_simplex()
    unit, mass = top or 1.0, float(a.sum())
    b = b * (mass / float(b.sum()))  # rounding in the two sums must not look like missing mass
    G, log = ot.emd(
        a / mass, b / mass, costs / unit, numItermax=_STEPS, log=True, check_marginals=False
    )
    return G * mass, np.asarray(log["v"]) * unit


def _certified(M: Array, r: Array, c: Array, plan: SparsePlan, columns: Array, g: Array) -> Exact:
    """Potentials on the bins with mass, made feasible by c-transforms, and the bounds they prove.

    ``g`` is what the simplex found for some columns; its c-transform is the potential of the rows.
    """
    rows, all_columns = np.flatnonzero(r), np.flatnonzero(c)
    f = (M[np.ix_(rows, columns)] - g).min(axis=1)
    h = (M[np.ix_(rows, all_columns)] - f[:, None]).min(axis=0)
    upper = math.fsum(plan.mass * M[plan.rows, plan.columns])
    lower = float(f @ r[rows] + h @ c[all_columns])
    whole_f, whole_g = np.full(r.size, -np.inf), np.full(c.size, -np.inf)
    whole_f[rows], whole_g[all_columns] = f, h
    return Exact(plan, whole_f, whole_g, upper, lower)


def exact_on_line(places: Array, r: Array, c: Array) -> Exact:
    """The closed form for bins on a line with the distance between them as cost.

    The value is the integral of ``|F - G|``, the distance of the cumulative sums; the plan is the
    monotone one, and the potential has slope -1 where F is above G, +1 where it is below.
    """
    order = np.argsort(places, kind="stable")
    x, a, b = places[order], r[order], c[order]
    ahead = np.cumsum(a - b)[:-1]
    gaps = np.diff(x)
    upper = math.fsum(np.abs(ahead) * gaps)
    potential = np.concatenate([[0.0], np.cumsum(-np.sign(ahead) * gaps)])
    f = np.empty(x.size)
    f[order] = potential
    rows, columns, mass = _monotone(a, b)
    plan = SparsePlan(order[rows], order[columns], mass)
    return Exact(plan, f, -f, upper, float(f @ (r - c)))


def _monotone(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """The coupling that keeps the order: cut the unit interval at both cumulative sums."""
    F, G = np.cumsum(a), np.cumsum(b)
    F[-1] = G[-1] = 1.0
    cuts = np.unique(np.concatenate([[0.0], np.clip(F, 0, 1), np.clip(G, 0, 1)]))
    middle = 0.5 * (cuts[1:] + cuts[:-1])
    rows = np.searchsorted(F, middle)
    columns = np.searchsorted(G, middle)
    return np.minimum(rows, a.size - 1), np.minimum(columns, b.size - 1), np.diff(cuts)
