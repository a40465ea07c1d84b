"""Costs that are computed where they are needed: clouds of points and graphs of any size.

A vocabulary of 400,000 words has a matrix of 1.3 TB, but a document has some dozens of words: what
a batch of pairs needs is a small block. `OnDemand` is what blocks alone can answer; `PointCosts`
and `GraphCosts` compute blocks. The largest cost is bounded, not found, and the median is that of a
sample, always the same: both would take a look at every pair of bins.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any

import numpy as np

from sinkdist.errors import InputError
from sinkdist.ground.gibbs import Gibbs
from sinkdist.ground.memory import require_memory, size_text
from sinkdist.ground.metric import MetricCheck
from sinkdist.ground.operator import Array, Index
from sinkdist.inputs.fingerprints import digest

__all__ = ["POINT_METRICS", "GraphCosts", "OnDemand", "PointCosts", "has_kernel", "is_dense_cloud"]

#: Metrics whose largest cost has a bound, so that a cloud of points needs no matrix.
POINT_METRICS = ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine")
_SAMPLE = 10**6  #: pairs that the median is taken of, about
_SOURCES = 1000  #: bins that these pairs begin at
_TRIANGLES = 10**4  #: of the look at triangles
_BAND = 1 << 22  #: costs that are computed together for means
_IN_CACHE = 1 << 16  #: costs that are finished together, so that they stay in cache
_DENSE = 1 << 23  #: costs of a pair from which on there is no matrix of them
_FARTHEST = 1e10  #: lam times the largest cost beyond which doubles do not resolve exponents
_EPS = 2.0**-52
_NEAR = 1e-3  #: of the squared lengths: below this, squared distances come from differences


class OnDemand(ABC):
    """Symmetric costs, 0 on the diagonal, of which only blocks are ever formed."""

    min = 0.0
    is_symmetric = True
    has_matrix = False
    bins: int
    unit: float
    max: float  #: at least the largest cost
    rounding: float  #: by how much of the largest cost a cost may be off, whatever its block

    @property
    def shape(self) -> tuple[int, int]:
        """Bins of the first and of the second histogram."""
        return self.bins, self.bins

    @property
    def nbytes(self) -> int:
        """What a matrix of these costs would take."""
        return 8 * self.bins * self.bins

    @property
    def diagonal(self) -> Array:
        """The costs of staying in a bin."""
        return np.zeros(self.bins)

    @cached_property
    def median(self) -> float:
        """The median of the costs from a thousand bins to a thousand others; always the same."""
        rng, size = np.random.default_rng(0), min(_SOURCES, self.bins)
        rows, columns = (np.sort(rng.choice(self.bins, size, replace=False)) for _ in range(2))
        return float(np.median(self.block(rows, columns)))

    @property
    @abstractmethod
    def fingerprint(self) -> str:
        """A digest that two grounds share only if their costs are the same, to the bit."""

    @abstractmethod
    def _block(self, rows: Index, columns: Index) -> Array:
        """Costs between some bins, before the unit."""

    @abstractmethod
    def scaled(self, unit: float) -> OnDemand:
        """All costs divided by a number."""

    def block(self, rows: Index | None = None, columns: Index | None = None) -> Array:
        """Costs between some bins; None stands for all of them, if these fit in memory."""
        some, others = (
            np.arange(self.bins) if x is None else np.asarray(x) for x in (rows, columns)
        )
        require_memory(some.size, others.size, "This ground", "a block of costs")
        found = self._block(some, others)
        found[_same(some, others)] = 0.0
        return found if self.unit == 1.0 else np.divide(found, self.unit, out=found)

    def at(self, rows: Index, columns: Index) -> Array:
        """The costs of some moves."""
        some, place = np.unique(rows, return_inverse=True)
        others, to = np.unique(columns, return_inverse=True)
        out, step = np.empty(len(rows)), max(1, _BAND // max(1, others.size))
        for start in range(0, some.size, step):
            here = (place >= start) & (place < start + step)
            block = self.block(some[start : start + step], others)
            out[here] = block[place[here] - start, to[here]]
        return out

    def mean_costs(self, rows: Any) -> Any:
        """``R M``: the mean cost from each histogram (dense or sparse rows) to every bin."""
        dense = isinstance(rows, np.ndarray)
        used = np.flatnonzero(rows.any(axis=0)) if dense else np.unique(rows.indices)
        R = np.asarray(rows[:, used] if dense else rows[:, used].toarray(), dtype=np.float64)
        out, step = np.empty((len(R), self.bins)), max(1, _BAND // max(1, used.size))
        for start in range(0, self.bins, step):
            columns = np.arange(start, min(start + step, self.bins))
            out[:, columns] = R @ self.block(used, columns)
        return out

    def kernel(self, lam: float, dtype: np.dtype[Any]) -> Gibbs:
        """There is none between all bins."""
        raise self.refusal("kernel entries")

    def matrix(self, what: str = "costs") -> Array:
        """Refused, with the size."""
        raise self.refusal(what)

    def check_metric(self) -> MetricCheck:
        """What a look at some triangles tells; they are too many to look at all."""
        rng = np.random.default_rng(0)
        bins = rng.choice(self.bins, min(self.bins, 64), replace=False)
        M = self.block(bins, bins)
        i, j, k = rng.integers(bins.size, size=(3, _TRIANGLES))
        excess = M[i, j] - M[i, k] - M[k, j]
        worst = int(excess.argmax())
        triangle = tuple(int(bins[x[worst]]) for x in (i, j, k))
        if excess[worst] <= 1e-12 * self.max:
            return MetricCheck(False, "Not known: there are too many triangles to look at all.")
        direct = float(M[i[worst], j[worst]])
        return MetricCheck(
            False,
            f"Going from bin {triangle[0]} to {triangle[1]} costs {direct:.6g}, but "
            f"{direct - float(excess[worst]):.6g} by way of {triangle[2]}.",
            triangle,  # type: ignore[arg-type]
            float(excess[worst]),
        )

    def refusal(self, what: str, instead: str | None = None) -> InputError:
        """The error for those who ask for all costs at once."""
        d = self.bins
        said = instead or "Ask for some rows and columns, by ground.block(rows, columns)"
        return InputError(
            f"A matrix of {d:,} x {d:,} {what} would take {size_text(self.nbytes)}, and is not "
            f"formed. {said}."
        )


class PointCosts(OnDemand):
    """Costs between points, which are not copied: an array of float32 or float64 is kept as it is.

    Blocks are computed in float64. Euclidean ones are products of matrices; where points are so
    close that these cancel, the differences are squared and summed instead.
    """

    def __init__(self, points: Array, metric: str, unit: float = 1.0) -> None:
        self.points, self.metric, self.unit = points, metric, unit
        self.bins = len(points)
        self.max = self._bound() / unit
        # Sums over coordinates; squares cancel by no more than a part of `_NEAR` of their terms.
        self.rounding = 2.0 * (points.shape[1] + 16) * _EPS / _NEAR

    @property
    def fingerprint(self) -> str:
        """A digest that two clouds share only if their costs are the same, to the bit."""
        return digest([self.points], f"points {self.metric} {self.points.dtype} {self.unit!r}")

    def scaled(self, unit: float) -> PointCosts:
        """All costs divided by a number."""
        return PointCosts(self.points, self.metric, self.unit * unit)

    def __reduce__(self) -> Any:
        return PointCosts, (self.points, self.metric, self.unit)

    def _bound(self) -> float:
        """At least the largest cost before the unit, by the extent of the cloud."""
        if self.metric == "cosine":
            return 2.0
        sides = self.points.max(axis=0).astype(np.float64) - self.points.min(axis=0)
        if self.metric in ("cityblock", "chebyshev"):
            return float(sides.sum() if self.metric == "cityblock" else sides.max())
        square = float(np.square(sides).sum()) * (1.0 + 1e-12)
        return square if self.metric == "sqeuclidean" else float(np.sqrt(square))

    def _block(self, rows: Index, columns: Index) -> Array:
        x, y = (self.points[bins].astype(np.float64) for bins in (rows, columns))
        if self.metric not in ("euclidean", "sqeuclidean"):
            from scipy.spatial.distance import cdist

            return np.asarray(np.maximum(cdist(x, y, metric=self.metric), 0.0))
        centre = y.mean(axis=0)
        x -= centre
        y -= centre
        found, squares = np.asarray(x @ y.T), np.square(y).sum(axis=1)
        step = max(1, _IN_CACHE // max(1, columns.size))
        for start in range(0, rows.size, step):
            part = slice(start, start + step)
            self._finish(x[part], y, squares, found[part])
        return found

    def _finish(self, x: Array, y: Array, squares: Array, found: Array) -> None:
        """From products of some points with others, in place, to costs."""
        lengths = np.square(x).sum(axis=1)[:, None] + squares
        found *= -2.0
        found += lengths
        lengths *= _NEAR
        i, j = np.nonzero(found <= lengths)
        for start in range(0, i.size, _BAND // x.shape[1] + 1):
            part = slice(start, start + _BAND // x.shape[1] + 1)
            found[i[part], j[part]] = np.square(x[i[part]] - y[j[part]]).sum(axis=1)
        if self.metric == "euclidean":
            np.sqrt(found, out=found)


class GraphCosts(OnDemand):
    """Lengths of shortest paths in a connected, undirected graph, from the bins in use."""

    def __init__(self, graph: Any, unit: float = 1.0) -> None:
        self.graph, self.unit = graph, unit
        self.bins = graph.shape[0]
        self.rounding = (self.bins + 16) * _EPS  # a path is a sum of as many edges at most
        # From one node to any other by way of node 0.
        self.max = 2.0 * float(self._paths(np.array([0])).max()) / unit

    @property
    def fingerprint(self) -> str:
        """A digest that two graphs share only if they are the same, to the bit."""
        edges = [self.graph.indptr.astype(np.int64), self.graph.indices.astype(np.int64)]
        return digest([*edges, self.graph.data], f"graph {self.graph.shape} {self.unit!r}")

    def scaled(self, unit: float) -> GraphCosts:
        """All costs divided by a number."""
        return GraphCosts(self.graph, self.unit * unit)

    def __reduce__(self) -> Any:
        return GraphCosts, (self.graph, self.unit)

    def _paths(self, rows: Index) -> Array:
        """Shortest paths from some nodes to all, by Dijkstra's algorithm."""
        from scipy.sparse.csgraph import dijkstra

        return np.asarray(dijkstra(self.graph, directed=False, indices=rows))

    def _block(self, rows: Index, columns: Index) -> Array:
        out, step = np.empty((rows.size, columns.size)), max(1, _BAND // self.bins)
        for start in range(0, rows.size, step):
            part = slice(start, start + step)
            out[part] = self._paths(rows[part])[:, columns]
        return out


def has_kernel(costs: PointCosts, lam: float) -> bool:
    """Whether doubles resolve the exponents of the kernel, computed where it is needed."""
    return 0.0 <= lam * costs.max <= _FARTHEST


def is_dense_cloud(costs: PointCosts, lam: float, rows: int, columns: int) -> bool:
    """Whether pairs with so many bins with mass are solved without a matrix, costs on the fly."""
    return rows * columns > _DENSE and has_kernel(costs, lam)


def _same(rows: Index, columns: Index) -> tuple[Index, Index]:
    """Where a row and a column are the same bin; bins may be named more than once."""
    order = np.argsort(columns, kind="stable")
    first, last = (np.searchsorted(columns[order], rows, side) for side in ("left", "right"))
    count = last - first
    within = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
    return np.repeat(np.arange(rows.size), count), order[np.repeat(first, count) + within]
