"""The best candidates so far, and the distance from which no other one can be among them."""

from __future__ import annotations

import math
from bisect import insort
from dataclasses import dataclass

import numpy as np

from sinkdist.kernels.compiled import Array
from sinkdist.search.candidates import Survivors
from sinkdist.search.waves import KnownPairs
from sinkdist.solvers.explored import Explored

__all__ = ["Ranking", "Rule"]

_ANY = np.iinfo(np.int64).max  #: above every index


@dataclass(frozen=True, slots=True)
class Rule:
    """What is asked of every query.

    Attributes
    ----------
    k : int or None
        How many neighbours; None for all within the radius.
    radius : float
        No neighbour is farther.
    budget : int or None
        The most distances that may be computed for a query.
    heuristic : bool
        Whether estimates may end a search, too.
    """

    k: int | None
    radius: float = math.inf
    budget: int | None = None
    heuristic: bool = False


class Ranking:
    """Solved candidates of one query."""

    def __init__(self, rule: Rule) -> None:
        self.rule = rule
        self.index: list[int] = []
        self.value: list[float] = []
        self.upper: list[float] = []
        self._nearest: list[tuple[float, int]] = []  # by upper end, at most k of them

    def add(self, index: Array, found: Explored) -> None:
        """Take the candidates that have a value; upper ends are proven where they matter."""
        for place in np.argsort(found.value, kind="stable").tolist():
            value = float(found.value[place])
            if value < math.inf:
                near = value <= self.limit[0]
                upper = found.certify(place) if near else float(found.upper[place])
                self.put(int(index[place]), value, max(upper, value))

    def put(self, index: int, value: float, upper: float) -> None:
        """Take one candidate."""
        self.index.append(index)
        self.value.append(value)
        self.upper.append(upper)
        if self.rule.k is not None:
            insort(self._nearest, (upper, index))
            del self._nearest[self.rule.k :]

    @property
    def limit(self) -> tuple[float, int]:
        """No candidate whose distance and index are at least these, in this order, is wanted.

        The distance is the k-th smallest upper end, so k candidates are proven to be as near.
        """
        radius = self.rule.radius
        if self.rule.k is None or len(self._nearest) < self.rule.k:
            return radius, _ANY
        distance = self._nearest[-1][0]
        if distance > radius:
            return radius, _ANY
        return distance, max(index for _, index in self._nearest)

    def drop(self, survivors: Survivors) -> None:
        """Drop candidates that are proven to be no better."""
        distance, last = self.limit
        near = survivors.bound < distance
        near |= (survivors.bound == distance) & (survivors.index < last)
        if not near.all():
            survivors.keep(near)

    def solved_from(self, first: int) -> KnownPairs:
        """Candidates from the ``first`` on whose distances are bounded from above; nearest first.

        The query is not named.
        """
        index, value = np.array(self.index[first:], np.int64), np.array(self.value[first:])
        upper = np.array(self.upper[first:])
        order = np.lexsort((index, value))
        order = order[upper[order] < math.inf]
        return KnownPairs(np.zeros(0, np.int64), index[order], value[order], upper[order])

    def best(self, least: float) -> tuple[Array, Array, Array]:
        """Indices, distances and whether each is proven, if those not solved have ``least``."""
        index, value = np.array(self.index, np.int64), np.array(self.value)
        order = np.lexsort((index, value))
        order = order[value[order] <= self.rule.radius][: self.rule.k]
        upper = np.array(self.upper)[order]
        return index[order], value[order], upper <= least
