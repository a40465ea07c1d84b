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
                near = value <= self._farthest
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
        distance = self._farthest
        if not self._is_full or self._nearest[-1][0] > distance:
            return distance, _ANY
        return distance, max(index for _, index in self._nearest)

    def upper_ends(self) -> Array:
        """The k least upper ends, sorted, infinite where fewer are known; none without k."""
        ends = np.full(self.rule.k or 0, np.inf)
        ends[: len(self._nearest)] = [upper for upper, _ in self._nearest]
        return ends

    @property
    def _is_full(self) -> bool:
        """Whether as many candidates are known as are wanted."""
        return self.rule.k is not None and len(self._nearest) >= self.rule.k

    @property
    def _farthest(self) -> float:
        """The distance of the limit."""
        radius = self.rule.radius
        return min(self._nearest[-1][0], radius) if self._is_full else radius

    def drop(self, survivors: Survivors) -> None:
        """Drop candidates that are proven to be no better."""
        distance, last = self.limit
        if distance == math.inf and last == _ANY:
            return
        near = np.flatnonzero(survivors.bound <= distance)
        if near.size < survivors.index.size:
            survivors.keep(near)
        if last < _ANY and (tied := survivors.bound == distance).any():
            survivors.keep(~tied | (survivors.index < last))

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
