"""The transport simplex for callers in Python: rows in, a record of arrays out."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sinkdist.ground.metric import BENT
from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.solution.plans import SparsePlan
from sinkdist.solution.reductions import log, weighted
from sinkdist.solvers.bins import SparseRows
from sinkdist.solvers.compiled.simplex.pairs import ABANDONED, SOLVED, transport_each, work_space

__all__ = ["NONE", "Transported", "transport"]

_STEP = 256  #: sizes of work space are multiples, so that batches of about one size share it
NONE = np.empty(0)  #: no upper ends
#: In place of potentials and moves that are not wanted.
_NOTHING = np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 2, 0), np.int64), np.empty((0, 0))


@dataclass(frozen=True, slots=True, eq=False)
class Transported:
    """One entry, or row, per pair.

    Attributes
    ----------
    value, error : ndarray
        The cost of the plan and its marginal error; infinite where a pair was abandoned.
    lower, upper : ndarray
        Bounds on the distance. Proven for any costs if potentials were asked for, else only where
        the costs are the metric that they are said to be.
    pivots : ndarray of int
        Edges that were exchanged.
    solved, abandoned : ndarray of bool
        Whether primal and dual agree as they should, with all rounding; whether the distance is
        proven to exceed what was ``enough``.
    F, G : ndarray
        Potentials, -inf on bins without mass; without rows if they were not asked for. Those of an
        abandoned pair are feasible, and not optimal.
    """

    value: Array
    error: Array
    lower: Array
    upper: Array
    pivots: Array
    solved: Array
    abandoned: Array
    F: Array
    G: Array
    _moves: Array
    _moved: Array

    def plan(self, k: int) -> SparsePlan:
        """The plan of a pair, if potentials were asked for."""
        rows, columns = self._moves[k]
        count = int(np.argmax(rows < 0))
        return SparsePlan(
            rows[:count].copy(), columns[:count].copy(), self._moved[k, :count].copy()
        )

    def information(self, R: Array, C: Array) -> Array:
        """``KL(P || r c^T)`` of every plan, if potentials were asked for; one row for each pair."""
        used = np.cumsum(self._moves[:, 0] < 0, axis=1) == 0  # what is behind the end is scratch
        mass = np.where(used, self._moved, 0.0)
        rows, columns = (np.where(used, self._moves[:, side], 0) for side in (0, 1))
        product = np.take_along_axis(R, rows, axis=1) * np.take_along_axis(C, columns, axis=1)
        return np.asarray(weighted(np, mass, log(np, mass, 0.0) - log(np, product, 0.0)))


def transport(
    M: Array, top: float, R: SparseRows, C: SparseRows, *, metric: bool, stop: Stop,
    bend: float = BENT, keep: bool = False, enough: Array | None = None,
    nearest: Array = NONE, slack: float = 0.0,
) -> Transported:  # fmt: skip
    """Solve the pairs ``(R, C)``; ``R`` has one row, shared, or one per pair; no row is empty.

    Parameters
    ----------
    M : ndarray
        All costs; ``top`` is the largest of them.
    metric : bool
        Whether they are a metric, so that common mass may stay where it is.
    bend : float
        Of the largest cost: by how much the metric may violate triangle inequalities.
    stop : Stop
        Set when nobody waits for the answer any more.
    keep : bool
        Whether potentials and plans are wanted.
    enough : ndarray, optional
        For every pair, a distance above which it need not be known.
    nearest : ndarray, optional
        Upper ends, sorted: a pair need not be known either if it is farther than the last of them
        and ``slack``. With ``keep``, the upper ends of pairs take their places here one by one.
    """
    pairs, m, n = C.start.size - 1, R.most, C.most
    value, error, lower, upper = np.empty((4, pairs))
    pivots, state = np.zeros((2, pairs), np.int64)
    F, G, moves, moved = _NOTHING
    if keep:
        F, G = (np.full((pairs, d), -np.inf) for d in M.shape)
        entries = m + n + min(m, n) + 1
        moves, moved = np.empty((pairs, 2, entries), np.int64), np.empty((pairs, entries))
    unit = math.ldexp(1.0, min(-math.frexp(top)[1], 1023)) if top > 0.0 else 1.0
    transport_each(
        M, *R, *C, 0, pairs, metric, bend, unit, top * unit,
        np.full(pairs, np.inf) if enough is None else enough, nearest, slack,
        value, lower, upper, error, pivots, state, F, G, moves, moved, stop.flag,
        *work_space(-(-m // _STEP) * _STEP, -(-n // _STEP) * _STEP),
    )  # fmt: skip
    stop.check()
    return Transported(
        value, error, lower, upper, pivots, state == SOLVED, state == ABANDONED, F, G, moves, moved
    )
