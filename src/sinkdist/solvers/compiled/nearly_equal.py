"""The exact distance of histograms that nearly agree, where staying in a bin costs nothing.

Almost all mass stays where it is, and beside it the little that moves is lost in rounding. The
costs need not be a metric, so mass may move through a bin that has the same on both sides; but no
more than moves at all. The cost of one plan, over the least cost of a move, bounds that. So what a
bin has in common beyond this bound stays in an optimal plan; without it, masses are about as large
as what moves, and floats are precise enough again.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.solution.plans import SparsePlan
from sinkdist.solvers.bins import SparseRows, sparse_rows
from sinkdist.solvers.compiled.exact_proof import lower_bound, upper_bound
from sinkdist.solvers.compiled.simplex.batch import transport
from sinkdist.solvers.exact_result import Exact

__all__ = ["nearly_equal_pair"]

_PART = 0.95  #: of the mass: if more than this is left, nothing is gained
_ROUNDS = 4
_EPS = 2.0**-53


def nearly_equal_pair(M: Array, top: float, r: Array, c: Array, stop: Stop) -> Exact | None:
    """Transport ``r`` to ``c``, bins without mass included; None where it is of no use.

    ``top`` is the largest cost.
    """
    if M.shape[0] != M.shape[1]:
        return None
    more, error = _difference(r, c)
    moves = float(np.abs(more).sum()) / 2.0
    common, least = np.minimum(r, c), _least_move(M, np.flatnonzero(r), np.flatnonzero(c))
    if not 0.0 < moves < _PART or least <= 0.0 or M.diagonal()[common > 0.0].any():
        return None
    rest = np.maximum(more, 0.0), np.maximum(-more, 0.0)
    found = transport(M, top, *map(_rows, rest), metric=False, stop=stop, keep=True)
    cost, best = moves * float(found.upper[0]), None
    for _ in range(_ROUNDS):  # what one has found bounds the next more tightly
        through = np.minimum(common, (1.0 + 1e-9) * cost / least)
        left = moves + float(through.sum())
        if not left < (_PART if best is None else 0.5 * best[0]):
            break
        best = left, _without_stays(M, top, rest, common, through, moves, error, stop)
        cost = min(cost, best[1].upper)
    return None if best is None else best[1]


def _without_stays(
    M: Array, top: float, rest: tuple[Array, Array], common: Array, through: Array, moves: float,
    error: float, stop: Stop,
) -> Exact:  # fmt: skip
    """The pair with no more in common than what may go ``through`` each bin; the rest stays.

    ``error`` bounds what the ``rest``, of so much mass that ``moves``, is off by.
    """
    one, two = rest[0] + through, rest[1] + through
    total = moves + math.fsum(through.tolist())
    one, two = one / math.fsum(one.tolist()), two / math.fsum(two.tolist())
    found = transport(M, top, _rows(one), _rows(two), metric=False, stop=stop, keep=True)
    plan, stays = found.plan(0), np.flatnonzero(common > through)
    rounding = top * (error + _EPS * (8.0 * moves + 16.0 * total))
    lower = total * lower_bound(M, one, two, found.F[0]) - rounding
    upper = total * upper_bound(M, one, two, plan) + rounding
    plan = _with_stays(plan, total, stays, (common - through)[stays])
    value, pivots = total * float(found.value[0]), int(found.pivots[0])
    return Exact(
        plan, found.F[0], found.G[0], value, min(max(lower, 0.0), upper), upper, pivots=pivots
    )


def _difference(r: Array, c: Array) -> tuple[Array, float]:
    """``r / sum(r) - c / sum(c)``, and what rounding may have put off in all of it.

    Sums are exact before they are rounded, and so is the difference of the two: histograms that
    agree in proportion, or whose totals differ in their last digits, cancel to almost nothing.
    """
    total_r, total_c = math.fsum(r.tolist()), math.fsum(c.tolist())
    over = math.fsum([*r.tolist(), *(-c).tolist()])
    apart, stretched = (r - c) / total_r, c * (over / (total_r * total_c))
    error = 8.0 * _EPS * (float(np.abs(apart).sum()) + float(np.abs(stretched).sum()))
    return np.asarray(apart - stretched), error


def _least_move(M: Array, rows: Array, columns: Array) -> float:
    """The least cost of leaving a bin, among some."""
    block = M[np.ix_(rows, columns)]
    other = rows[:, None] != columns
    return float(block.min(where=other, initial=np.inf))


def _rows(mass: Array) -> SparseRows:
    """Masses as a histogram."""
    return sparse_rows((mass / math.fsum(mass.tolist()))[None])


def _with_stays(plan: SparsePlan, total: float, bins: Array, mass: Array) -> SparsePlan:
    """A plan of so much mass, and mass that stays in some bins, as one entry each."""
    staying = np.zeros(1 + max(bins.max(initial=0), plan.rows.max(), plan.columns.max()))
    staying[bins] = mass
    on_diagonal = plan.rows == plan.columns
    np.add.at(staying, plan.rows[on_diagonal], total * plan.mass[on_diagonal])
    stay = np.flatnonzero(staying)
    return SparsePlan(
        np.concatenate([plan.rows[~on_diagonal], stay]),
        np.concatenate([plan.columns[~on_diagonal], stay]),
        np.concatenate([total * plan.mass[~on_diagonal], staying[stay]]),
    )
