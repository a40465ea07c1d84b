"""The exact distance: POT's network simplex on as little as possible, and a closed form on a line.

Costs and masses are scaled before the call, because the simplex compares with absolute constants.
For a metric the mass that both histograms have in a bin stays there (the triangle inequality makes
that optimal), which leaves a smaller problem. What comes back is certified: the potentials are made
feasible by a c-transform, and primal and dual have to agree with their rounding. Where they do not,
because masses or costs span more orders of magnitude than floats hold, or because the distance is
small beside them, the problem is solved once more in integers (`rational`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from itertools import accumulate
from typing import Any

import numpy as np

from sinkdist.interrupts import Stop, beside_main
from sinkdist.kernels.compiled import Array
from sinkdist.solution import certificates as bounds
from sinkdist.solution.certificates import Moves
from sinkdist.solution.plans import SparsePlan
from sinkdist.solvers.compiled import rational

__all__ = ["GAP", "Exact", "exact_on_line", "exact_pair", "load_simplex"]

GAP = 1e-9  #: of the value: what counts as solved
_FINE = 1e-11  #: of the value: what rounding may cost before integers take over
_SAME = 1e-13  #: of the value: what its plan may cost more or less
_QUICK = 2048  #: moves among which integers take milliseconds
_OUTLIER = 1e4  #: times the median: costs beyond this are looked at apart
_STEPS = 10**8  #: of the simplex; more than it ever needed here


@dataclass(frozen=True, slots=True)
class Exact:
    """A plan, feasible potentials, and the bounds they prove.

    Attributes
    ----------
    value : float
        The cost of the plan.
    lower, upper : float
        Bounds on the distance, with their rounding.
    left_out : float
        About what the mass would cost that the plan has too much or too little.
    """

    plan: SparsePlan
    f: Array
    g: Array
    value: float
    lower: float
    upper: float
    left_out: float = 0.0

    @property
    def solved(self) -> bool:
        """Whether primal and dual agree."""
        return 0.0 <= self.upper - self.lower <= GAP * self.upper


def exact_pair(
    M: Array, r: Array, c: Array, *, metric: bool, stop: Stop, within: float = GAP
) -> Exact:
    """Transport ``r`` to ``c`` over the whole ground; bins without mass may be there.

    Parameters
    ----------
    M : ndarray
        All costs.
    r, c : ndarray
        Histograms in float64.
    metric : bool
        Whether ``M`` is a metric, so that common mass may stay where it is.
    stop : Stop
        Looked at by what takes long.
    within : float
        Of the value: the bounds shall not lie farther apart.
    """
    if r.size == c.size and np.array_equal(r, c):
        stay = np.flatnonzero(r)
        if not M[stay, stay].any():
            return _unmoved(r, c, stay)
    common = np.minimum(r, c) if metric else np.zeros(0)
    a, b = (r - common, c - common) if metric else (r, c)
    if not (a.any() and b.any()):  # one of them is a bit larger everywhere
        common, a, b = np.zeros(0), r, c
    stay, rows, columns = np.flatnonzero(common), np.flatnonzero(a), np.flatnonzero(b)
    G, g = _simplex(np.ascontiguousarray(M[np.ix_(rows, columns)]), a[rows], b[columns])
    at, to = np.nonzero(G)
    found = _certified(M, r, c, _whole(rows, columns, at, to, G[at, to], stay, common), columns, g)
    narrow = found.upper - found.lower <= min(within, GAP) * found.upper
    fine = _FINE if rows.size * columns.size > _QUICK else _SAME
    if narrow and found.left_out <= fine * found.value:
        return found
    return _in_integers(M, r, c, found, stop)


def _unmoved(r: Array, c: Array, stay: Array) -> Exact:
    """A histogram to itself, where staying costs nothing."""
    f, g = np.full(r.size, -np.inf), np.full(c.size, -np.inf)
    f[stay] = g[stay] = 0.0
    return Exact(SparsePlan(stay, stay, r[stay]), f, g, 0.0, 0.0, 0.0)


def _in_integers(M: Array, r: Array, c: Array, guess: Exact, stop: Stop) -> Exact:
    """Without rounding, on all bins with mass; only what comes out is rounded, term by term.

    Where that takes too long, the guess stays, whose bounds tell how good it is.
    """
    rows, columns = np.flatnonzero(r), np.flatnonzero(c)
    block = np.ascontiguousarray(M[np.ix_(rows, columns)])
    best = rational.transport(block, r[rows], c[columns], guess.g[columns], stop)
    if best is None:
        return guess
    plan = SparsePlan(rows[best.rows], columns[best.columns], best.mass)
    value = math.fsum(best.mass * block[best.rows, best.columns])
    f, g = np.full(r.size, -np.inf), np.full(c.size, -np.inf)
    g[columns] = best.g
    f[rows] = (block - best.g).min(axis=1)
    unit = bounds.rounding_of(4)
    return Exact(plan, f, g, value, value * (1.0 - unit), value * (1.0 + unit))


def _whole(
    rows: Array, columns: Array, at: Array, to: Array, mass: Array, stay: Array, common: Array
) -> SparsePlan:
    """A plan on some bins, with the mass that stays where it is."""
    return SparsePlan(
        np.concatenate([rows[at], stay]),
        np.concatenate([columns[to], stay]),
        np.concatenate([mass, common[stay]]),
    )


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


@cache
def load_simplex() -> Any:
    """POT, imported on first use: it brings along what it finds of torch and others.

    Beside the main thread: what Ctrl-C leaves half imported could not be imported again.
    """
    return beside_main(lambda: import_module("ot"), Stop())


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
    block = M[np.ix_(rows, all_columns)]
    whole_f, whole_g = np.full(r.size, -np.inf), np.full(c.size, -np.inf)
    whole_f[rows], whole_g[all_columns] = f, (block - f[:, None]).min(axis=0)
    value = math.fsum(plan.mass * M[plan.rows, plan.columns])
    at, to = np.searchsorted(rows, plan.rows), np.searchsorted(all_columns, plan.columns)
    sums = np.bincount(at, plan.mass, rows.size), np.bincount(to, plan.mass, all_columns.size)
    moves = Moves(*sums, at, to, plan.mass)
    r, c = r[rows], c[all_columns]
    lower, upper = bounds.certified(block, f, r, c, value, moves)
    i = int(plan.mass.argmax())
    left_out = np.abs(sums[0] - r) @ block[:, to[i]] + block[at[i]] @ np.abs(sums[1] - c)
    return Exact(plan, whole_f, whole_g, value, min(lower, upper), upper, float(left_out))


def exact_on_line(places: Array, M: Array, r: Array, c: Array) -> Exact:
    """The closed form for bins on a line with the distance between them as cost.

    ``M`` are the costs between ``places``. The value is the integral of ``|F - G|``, the distance
    of the cumulative sums; the plan is the monotone one, and the potential has slope -1 where F is
    above G, +1 where it is below. Sums start from the end that has less mass, so that a little mass
    far away is not lost beside 1.
    """
    order = np.argsort(places, kind="stable")
    a, b = r[order], c[order]
    ahead, sizes = _ahead(a, b)
    gaps = M[order[:-1], order[1:]]  # more accurate than differences of places
    value = math.fsum(np.abs(ahead) * gaps)
    unit = bounds.rounding_of(r.size)
    rounding = unit * math.fsum(sizes * gaps)
    if rounding > _FINE * value:
        ahead = _ahead_in_integers(a, b)
        value = math.fsum(np.abs(ahead) * gaps)
        rounding = unit * value
    potential = np.concatenate([[0.0], np.cumsum(-np.sign(ahead) * gaps)])
    f, g = np.empty(r.size), np.empty(c.size)
    f[order], g[order] = potential, -potential
    f[r == 0.0], g[c == 0.0] = -np.inf, -np.inf
    rows, columns, mass = _monotone(a, b)
    if abs(math.fsum(mass * M[order[rows], order[columns]]) - value) > _SAME * value:
        rows, columns, mass = _monotone_in_integers(a, b)
    plan = SparsePlan(order[rows], order[columns], mass)
    return Exact(plan, f, g, value, max(0.0, value - rounding), value + rounding)


def _ahead(a: Array, b: Array) -> tuple[Array, Array]:
    """``F - G`` between the bins, and the mass that was summed for it."""
    difference, both = a - b, a + b
    from_left, from_right = np.cumsum(difference)[:-1], -np.cumsum(difference[::-1])[-2::-1]
    left, right = np.cumsum(both)[:-1], np.cumsum(both[::-1])[-2::-1]
    return np.where(left <= right, from_left, from_right), np.minimum(left, right)


def _ahead_in_integers(a: Array, b: Array) -> Array:
    """The same without rounding, of the exactly normalised histograms."""
    first, second, total = rational.on_one_total(a, b)
    sums = accumulate(x - y for x, y in zip(first[:-1], second[:-1], strict=True))
    return np.array([ahead / total for ahead in sums])


def _monotone(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """The coupling that keeps the order: cut the unit interval at both cumulative sums."""
    F, G = np.cumsum(a), np.cumsum(b)
    F[-1] = G[-1] = 1.0
    cuts = np.unique(np.concatenate([[0.0], np.clip(F, 0, 1), np.clip(G, 0, 1)]))
    middle = 0.5 * (cuts[1:] + cuts[:-1])
    rows = np.searchsorted(F, middle)
    columns = np.searchsorted(G, middle)
    return np.minimum(rows, a.size - 1), np.minimum(columns, b.size - 1), np.diff(cuts)


def _monotone_in_integers(a: Array, b: Array) -> tuple[Array, Array, Array]:
    """The same without rounding: a mass of 1e-18 is not lost beside 1."""
    left, missing, total = rational.on_one_total(a, b)
    i, j, moves = 0, 0, []
    while i < len(left) and j < len(missing):
        amount = min(left[i], missing[j])
        if amount:
            moves.append((i, j, amount / total))
        left[i] -= amount
        missing[j] -= amount
        i, j = (i + 1, j) if left[i] == 0 else (i, j + 1)
    rows, columns, mass = (np.array(x) for x in zip(*moves, strict=True))
    return rows, columns, mass
