"""The exact distance of one pair: the transport simplex, and what follows where floats fall short.

The simplex proves what it finds: primal and dual values have to agree with all their rounding.
Where they do not, because masses or costs span more orders of magnitude than floats hold, or
because the distance is small beside them, a sharper proof is tried, then costs far above all others
are cut off; and where that is not enough, the problem is solved in integers (`rational`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sinkdist.ground.metric import BENT
from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.solution import certificates as bounds
from sinkdist.solution.certificates import Moves
from sinkdist.solution.plans import SparsePlan
from sinkdist.solvers.bins import sparse_rows
from sinkdist.solvers.compiled import rational
from sinkdist.solvers.compiled.simplex.batch import Transported, transport
from sinkdist.solvers.exact_result import GAP, Exact

__all__ = ["exact_pair"]

_FINE = 1e-11  #: of the value: what rounding may cost before integers take over
_SAME = 1e-13  #: of the value: what its plan may cost more or less
_QUICK = 2048  #: moves among which integers take milliseconds
_OUTLIER = 1e4  #: times the median: costs beyond this are looked at apart


def exact_pair(
    M: Array, r: Array, c: Array, *, metric: bool, stop: Stop, top: float | None = None,
    within: float = GAP, bend: Callable[[], float] = lambda: BENT,
    finds_metric: Callable[[], bool] | None = None,
) -> Exact:  # fmt: skip
    """Transport ``r`` to ``c`` over the whole ground; bins without mass may be there.

    Parameters
    ----------
    M : ndarray
        All costs; the largest is ``top``, if it is known.
    r, c : ndarray
        Histograms in float64.
    metric : bool
        Whether ``M`` is a metric, so that common mass may stay where it is.
    stop : Stop
        Looked at by what takes long.
    within : float
        Of the value: the bounds shall not lie farther apart.
    bend : callable
        By how much a metric may violate triangle inequalities, as a part of the largest cost.
    finds_metric : callable, optional
        Tells whether ``M`` is a metric after all, where too little has been proven without that.
    """
    if r.size == c.size and np.array_equal(r, c):
        stay = np.flatnonzero(r)
        if not M[stay, stay].any():
            return _unmoved(r, c, stay)
    top = float(M.max()) if top is None else top
    rows = sparse_rows(r[None]), sparse_rows(c[None])
    found = transport(M, top, *rows, metric=metric, stop=stop, bend=bend(), keep=True)
    if not _is_proven(found, within) and not metric and finds_metric is not None and finds_metric():
        found = transport(M, top, *rows, metric=True, stop=stop, bend=bend(), keep=True)
    if _is_proven(found, within):
        value, lower, upper = (float(x[0]) for x in (found.value, found.lower, found.upper))
        plan, pivots = found.plan(0), int(found.pivots[0])
        return Exact(plan, found.F[0], found.G[0], value, lower, upper, pivots=pivots)
    return _carefully(M, r, c, found, min(within, GAP), stop)


def _unmoved(r: Array, c: Array, stay: Array) -> Exact:
    """A histogram to itself, where staying costs nothing."""
    f, g = np.full(r.size, -np.inf), np.full(c.size, -np.inf)
    f[stay] = g[stay] = 0.0
    return Exact(SparsePlan(stay, stay, r[stay]), f, g, 0.0, 0.0, 0.0)


def _is_proven(found: Transported, within: float) -> bool:
    """Whether the simplex has proven what it found, as narrowly as that."""
    return bool(found.solved[0]) and _is_narrow(found.lower[0], found.upper[0], within)


def _is_narrow(lower: float, upper: float, within: float) -> bool:
    """Whether bounds are no farther apart than ``within`` of the value."""
    return bool(upper - lower <= within * upper)


def _carefully(
    M: Array, r: Array, c: Array, found: Transported, within: float, stop: Stop
) -> Exact:
    """A pair on which the simplex alone has proven too little."""
    rows, columns = np.flatnonzero(r), np.flatnonzero(c)
    block = np.ascontiguousarray(M[np.ix_(rows, columns)])
    guess = _certified(M, r, c, found.plan(0), found.F[0])
    fine = _FINE if block.size > _QUICK else _SAME
    if _is_fine(guess, within, fine):
        return guess
    bound = _outlier(block)
    if bound > 0.0:
        sides = sparse_rows(r[None, rows]), sparse_rows(c[None, columns])
        cut = np.minimum(block, bound)
        less = transport(cut, bound, *sides, metric=False, stop=stop, keep=True)
        plan = less.plan(0)
        if not (block[plan.rows, plan.columns] > bound).any():
            # Optimal for lower costs that agree where it has mass.
            f = np.full(r.size, -np.inf)
            f[rows] = less.F[0]
            guess = _certified(M, r, c, plan.placed(rows, columns, M.shape), f)
            if _is_fine(guess, within, fine):
                return guess
    return _in_integers(block, rows, columns, r, c, guess, stop)


def _is_fine(guess: Exact, within: float, fine: float) -> bool:
    """Whether bounds are narrow, and mass that is out of place costs next to nothing."""
    return _is_narrow(guess.lower, guess.upper, within) and guess.left_out <= fine * guess.value


def _outlier(block: Array) -> float:
    """A cost that others lie far above; 0 where there is none."""
    top = float(block.max())
    spread = top > 100.0 * float(block.mean())  # else no cost can be far above all others
    bound = _OUTLIER * float(np.median(block)) if spread else 0.0
    return bound if bound < top else 0.0


def _in_integers(
    block: Array, rows: Array, columns: Array, r: Array, c: Array, guess: Exact, stop: Stop
) -> Exact:
    """Without rounding, on all bins with mass; only what comes out is rounded, term by term.

    Where that takes too long, the guess stays, whose bounds tell how good it is.
    """
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


def _certified(M: Array, r: Array, c: Array, plan: SparsePlan, f: Array) -> Exact:
    """The bounds that a plan and a potential of the rows prove, by the sharper of two ways.

    A plan is mended here by way of any of its moves, in the simplex by its largest one.
    """
    rows, columns = np.flatnonzero(r), np.flatnonzero(c)
    f, block = f[rows], M[np.ix_(rows, columns)]
    whole_f, whole_g = np.full(r.size, -np.inf), np.full(c.size, -np.inf)
    whole_f[rows], whole_g[columns] = f, (block - f[:, None]).min(axis=0)
    value = math.fsum(plan.mass * M[plan.rows, plan.columns])
    at, to = np.searchsorted(rows, plan.rows), np.searchsorted(columns, plan.columns)
    sums = np.bincount(at, plan.mass, rows.size), np.bincount(to, plan.mass, columns.size)
    moves = Moves(*sums, at, to, plan.mass)
    r, c = r[rows], c[columns]
    lower, upper = bounds.certified(block, f, r, c, value, moves)
    i = int(plan.mass.argmax())
    left_out = np.abs(sums[0] - r) @ block[:, to[i]] + block[at[i]] @ np.abs(sums[1] - c)
    return Exact(plan, whole_f, whole_g, value, min(lower, upper), upper, float(left_out))
