"""The exact distance in integers: a transport simplex without rounding, for what defeats floats.

Masses and costs are floats, so they are integers times powers of two; Python's integers hold them
exactly, whether masses are 1e-18 beside 1 or costs 1e30 beside 1. Flows and potentials on the
spanning tree are exact, and so is the proof that no move improves the plan. Supplies are perturbed
by less than their last digit, which rules out ties, and with them cycling (Orden 1956).

Apart from `exact`, which asks a network simplex in floats first: this one takes milliseconds where
that one takes microseconds, and is needed where primal and dual in floats do not agree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array

__all__ = ["Optimum", "on_one_total", "transport"]

LOOKS = 1_000_000  #: exact reduced costs of a small problem before it gives up: some seconds
SMALL = 4096  #: moves up to which a problem is small; larger ones give up much sooner
_SLACK = 2.0**-50  #: of the terms of a reduced cost: what its computation in floats may lose

#: Nodes are rows 0 .. m - 1 and columns m .. m + n - 1; edges are pairs (row, column) of indices.
Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Optimum:
    """An optimal plan as moves with their mass, and the potentials of the columns."""

    rows: Array
    columns: Array
    mass: Array
    g: Array


def transport(M: Array, a: Array, b: Array, g: Array, stop: Stop) -> Optimum | None:
    """Move ``a`` to ``b``, both positive; ``g`` is a guess at the potentials of the columns.

    None where it would take too long.
    """
    tree = _Tree(M, a, b)
    f = (M - g).min(axis=1)
    tree.begin(np.argsort((M - f[:, None] - g), axis=None, kind="stable"))
    looks = LOOKS * min(1.0, SMALL / M.size) ** 2
    while (entering := tree.improving_move()) is not None:
        stop.check()
        if tree.looked_at > looks:
            return None
        tree.pivot(entering)
    return tree.optimum(float(a.sum()))


class _Tree:
    """A spanning tree of moves, with exact flows on it and exact potentials."""

    def __init__(self, M: Array, a: Array, b: Array) -> None:
        self.M, self.m, self.n = M, a.size, b.size
        self.supplies, self.demands, self.total = on_one_total(a, b)
        positive = M[M > 0.0]
        self.shift = _fraction_bits(float(positive.min())) if positive.size else 0
        self.flow: dict[Edge, int] = {}
        self.neighbours: list[set[int]] = [set() for _ in range(self.m + self.n)]
        self.potential = [0] * (self.m + self.n)
        self.looked_at = 0

    def cost(self, i: int, j: int) -> int:
        """A cost in units of ``2**-shift``."""
        numerator, denominator = float(self.M[i, j]).as_integer_ratio()
        return (numerator << self.shift) // denominator

    def begin(self, order: Array) -> None:
        """The plan that takes moves in the given order, each as far as it goes."""
        scale = self.m + 1
        left = [x * scale + 1 for x in self.supplies]
        missing = [y * scale for y in self.demands]
        missing[-1] += self.m
        open_row, open_column = np.ones(self.m, bool), np.ones(self.n, bool)
        for i, j in _open_moves(order, self.n, open_row, open_column):
            self._add((i, j), min(left[i], missing[j]))
            amount = self.flow[i, j]
            left[i] -= amount
            missing[j] -= amount
            if len(self.flow) == self.m + self.n - 1:
                break
            (open_row if left[i] == 0 else open_column)[i if left[i] == 0 else j] = False
        self._set_potentials()

    def improving_move(self) -> Edge | None:
        """A move with a negative reduced cost; None proves that the plan is optimal.

        Floats find the candidates, among them all moves whose reduced cost they cannot tell from 0.
        """
        unit = 1 << self.shift
        f = np.array([x / unit for x in self.potential[: self.m]])
        g = np.array([x / unit for x in self.potential[self.m :]])
        reduced = self.M - f[:, None] - g
        doubt = _SLACK * (self.M + np.abs(f)[:, None] + np.abs(g))
        rows, columns = np.nonzero(reduced < doubt)
        for k in np.argsort(reduced[rows, columns], kind="stable"):
            i, j = int(rows[k]), int(columns[k])
            self.looked_at += 1
            if (i, j) not in self.flow and self._reduced_cost(i, j) < 0:
                return i, j
        return None

    def pivot(self, entering: Edge) -> None:
        """Send as much as possible round the cycle that a move closes with the tree."""
        i, j = entering
        path = self._path(i, self.m + j)
        edges = [_edge(x, y, self.m) for x, y in pairwise(path)]
        leaving = min(edges[::2], key=self.flow.__getitem__)
        amount = self.flow[leaving]
        for k, edge in enumerate(edges):
            self.flow[edge] += amount if k % 2 else -amount
        change = self._reduced_cost(i, j)
        self._remove(leaving)
        for node, _ in self._walk(self.m + j):  # the part that was cut off moves along
            self.potential[node] += change if node >= self.m else -change
        self._add(entering, amount)

    def optimum(self, mass: float) -> Optimum:
        """The plan for the supplies as they were given: flows on the tree, from its leaves on."""
        left = [*self.supplies, *self.demands]
        moves = []
        for node, parent in reversed(list(self._walk(0))):
            if parent is not None and left[node]:
                moves.append((*_edge(node, parent, self.m), left[node] / self.total * mass))
                left[parent] -= left[node]
        unit = 1 << self.shift
        g = np.array([x / unit for x in self.potential[self.m :]])
        rows, columns, masses = zip(*moves, strict=True)
        return Optimum(np.array(rows), np.array(columns), np.array(masses), g)

    def _reduced_cost(self, i: int, j: int) -> int:
        return self.cost(i, j) - self.potential[i] - self.potential[self.m + j]

    def _set_potentials(self) -> None:
        """Potentials for which every move of the tree has the reduced cost 0."""
        for node, parent in self._walk(0):
            if parent is not None:
                i, j = _edge(node, parent, self.m)
                self.potential[node] = self.cost(i, j) - self.potential[parent]

    def _walk(self, start: int) -> Iterator[tuple[int, int | None]]:
        """Nodes of the tree that can be reached, each with the one it was reached from."""
        stack: list[tuple[int, int | None]] = [(start, None)]
        while stack:
            node, parent = stack.pop()
            yield node, parent
            stack.extend((other, node) for other in self.neighbours[node] if other != parent)

    def _path(self, start: int, end: int) -> list[int]:
        """The nodes from one to the other."""
        came_from: dict[int, int | None] = {}
        for node, parent in self._walk(start):
            came_from[node] = parent
            if node == end:
                break
        path, here = [], end
        while here != start:
            path.append(here)
            before = came_from[here]
            assert before is not None
            here = before
        return [start, *reversed(path)]

    def _add(self, edge: Edge, amount: int) -> None:
        self.flow[edge] = amount
        self.neighbours[edge[0]].add(self.m + edge[1])
        self.neighbours[self.m + edge[1]].add(edge[0])

    def _remove(self, edge: Edge) -> None:
        del self.flow[edge]
        self.neighbours[edge[0]].discard(self.m + edge[1])
        self.neighbours[self.m + edge[1]].discard(edge[0])


def _edge(x: int, y: int, m: int) -> Edge:
    """The move between two nodes."""
    return (x, y - m) if x < m else (y, x - m)


def _open_moves(order: Array, n: int, open_row: Array, open_column: Array) -> Iterator[Edge]:
    """Moves in order, without those of rows and columns that have been closed meanwhile."""
    for k in order.tolist():
        i, j = divmod(k, n)
        if open_row[i] and open_column[j]:
            yield i, j


def on_one_total(a: Array, b: Array) -> tuple[list[int], list[int], int]:
    """Two histograms as integers that sum to the same total, and that total."""
    first, second = _integers(a), _integers(b)
    total, other = sum(first), sum(second)
    return [x * other for x in first], [y * total for y in second], total * other


def _integers(masses: Array) -> list[int]:
    """The masses in a common unit, a power of two."""
    positive = masses[masses > 0.0]
    shift = _fraction_bits(float(positive.min())) if positive.size else 0
    ratios = [x.as_integer_ratio() for x in masses.tolist()]
    return [(numerator << shift) // denominator for numerator, denominator in ratios]


def _fraction_bits(smallest: float) -> int:
    """Bits behind the binary point that hold every float of at least this size exactly."""
    return max(0, 54 - int(np.frexp(smallest)[1]))
