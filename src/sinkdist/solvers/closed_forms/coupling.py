"""Optimal plans where the flows are known: in order on a line, from the leaves up on a tree.

In floats, and in integers where masses span more orders of magnitude than floats hold: a mass of
1e-18 is not lost beside 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sinkdist.ground import Ground
from sinkdist.kernels.compiled import Array
from sinkdist.solution.plans import SparsePlan
from sinkdist.solvers.closed_forms.flows import SAME
from sinkdist.solvers.compiled.rational import on_one_total

__all__ = [
    "MONOTONE", "Couplings", "from_the_leaves", "from_the_leaves_exactly", "in_order",
    "in_order_exactly", "plan_of",
]  # fmt: skip

Entries = tuple[Array, Array, Array]  #: rows, columns and mass
Numbers = list[Any]  #: floats or integers
Coupling = Callable[[Array, Array], Entries]
Couplings = tuple[Coupling, Coupling]  #: the same in floats and in integers


def plan_of(
    ground: Ground, bins: Array, a: Array, b: Array, value: float, couplings: Couplings
) -> SparsePlan:
    """The plan of one pair on nodes, between their bins; in integers where floats miss its cost."""
    for couple in couplings:
        at, to, mass = couple(a, b)
        plan = SparsePlan(bins[at], bins[to], mass)
        cost = math.fsum(mass * ground.costs_at(plan.rows, plan.columns))
        if abs(cost - value) <= SAME * value:
            break
    return plan


def in_order(a: Array, b: Array) -> Entries:
    """The coupling that keeps the order: cut the unit interval at both cumulative sums."""
    at, to = np.flatnonzero(a), np.flatnonzero(b)
    F, G = (np.minimum(np.cumsum(x), 1.0) for x in (a[at], b[to]))
    F[-1] = G[-1] = 1.0
    cuts = np.unique(np.concatenate([[0.0], F, G]))
    rows = np.searchsorted(F, cuts[:-1], side="right")
    columns = np.searchsorted(G, cuts[:-1], side="right")
    return at[rows], to[columns], np.diff(cuts)


def in_order_exactly(a: Array, b: Array) -> Entries:
    """The same without rounding."""
    left, missing, total = on_one_total(a, b)
    i, j, moves = 0, 0, []
    while i < len(left) and j < len(missing):
        amount = min(left[i], missing[j])
        if amount:
            moves.append((i, j, amount / total))
        left[i] -= amount
        missing[j] -= amount
        i, j = (i + 1, j) if left[i] == 0 else (i, j + 1)
    return _arrays(moves)


def from_the_leaves(parent: Array, a: Array, b: Array) -> Entries:
    """On a tree: what a subtree has too much or too little leaves it, and nothing else does."""
    return _arrays(_matched(parent, a.tolist(), b.tolist()))


def from_the_leaves_exactly(parent: Array, a: Array, b: Array) -> Entries:
    """The same without rounding."""
    left, missing, total = on_one_total(a, b)
    return _arrays([(i, j, x / total) for i, j, x in _matched(parent, left, missing)])


def _matched(parent: Array, left: Numbers, missing: Numbers) -> list[tuple[int, int, Any]]:
    """Moves between nodes, with staying put first: mass meets at the first node that has both.

    Every node holds what its subtree cannot place itself: a list of nodes with their excess, all of
    one sign.
    """
    moves: list[tuple[int, int, Any]] = []
    excess: list[list[tuple[int, Any]]] = []
    for k, (x, y) in enumerate(zip(left, missing, strict=True)):
        if x and y:
            moves.append((k, k, min(x, y)))
        excess.append([(k, x - y)] if x != y else [])
    up = parent.tolist()
    for k in range(len(up) - 1, 0, -1):
        one, two = excess[up[k]], excess[k]
        while one and two and (one[-1][1] > 0) != (two[-1][1] > 0):
            (i, x), (j, y) = one.pop(), two.pop()
            amount = min(abs(x), abs(y))
            moves.append((i, j, amount) if x > 0 else (j, i, amount))
            if x + y:
                (one if abs(x) > abs(y) else two).append((i if abs(x) > abs(y) else j, x + y))
        large, small = (one, two) if len(one) >= len(two) else (two, one)
        large.extend(small)
        excess[up[k]], excess[k] = large, []
    return moves


def _arrays(moves: list[tuple[int, int, Any]]) -> Entries:
    """Moves as arrays."""
    rows, columns, mass = (np.array(x) for x in zip(*moves, strict=True))
    return rows, columns, mass


#: The coupling of bins in a row.
MONOTONE: Couplings = (in_order, in_order_exactly)
