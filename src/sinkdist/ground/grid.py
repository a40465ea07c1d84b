"""Costs between the pixels of a grid as a formula: for grids whose matrix would be too large.

Everything is asked of the differences of two pixels along every axis: blocks of costs, the largest
cost, means, and the median, which is exact: there are only as many different costs as pixels, each
with a number of pairs that is known.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from sinkdist.errors import InputError
from sinkdist.ground.gibbs import Gibbs
from sinkdist.ground.memory import require_memory, size_text
from sinkdist.ground.metric import MetricCheck
from sinkdist.ground.operator import Array, Index
from sinkdist.inputs.fingerprints import digest

__all__ = ["DENSE_UP_TO", "GridCosts"]

#: Bins up to which a grid is a matrix: there, or near it, solving on the matrix takes as long as
#: without it (`benchmarks/grids.py`).
DENSE_UP_TO = {"sqeuclidean": 800, "cityblock": 800, "euclidean": 1600}
_EXACT = 1 << 24  #: bins up to which the median is exact
_SAMPLE = 10**6  #: pairs that it is taken of beyond
#: Bytes up to which those who ask for all costs get them; solvers never do.
_LARGEST_MATRIX = 1 << 29
_BAND = 1 << 18  #: costs that are computed together, so that their parts stay in cache

_BLOCKS = "Ask for some rows and columns, by ground.block(rows, columns)"


class GridCosts:
    """Costs between pixels, divided by a unit.

    Parameters
    ----------
    sides : tuple of int
        Pixels along every axis; bins are in row-major order.
    metric : {"euclidean", "sqeuclidean", "cityblock"}
        The cost.
    spacing : tuple of float
        The distance of neighbours along every axis.
    unit : float
        What costs are divided by.
    """

    min = 0.0
    is_symmetric = True
    rounding = 2.0**-48  #: by how much of the largest cost a cost may be off: a few operations

    def __init__(
        self, sides: tuple[int, ...], metric: str, spacing: tuple[float, ...], unit: float = 1.0
    ) -> None:
        self.sides, self.metric, self.spacing, self.unit = sides, metric, spacing, unit
        self.bins = int(np.prod(sides, dtype=object))
        require_memory(self.bins, 1, f"A grid of {' x '.join(map(str, sides))}", "histograms")
        farthest = [np.array([side - 1.0]) for side in sides]
        self.max = float(self._of_differences(farthest)[0])

    @property
    def shape(self) -> tuple[int, int]:
        """Bins of the first and of the second histogram."""
        return self.bins, self.bins

    @property
    def nbytes(self) -> int:
        """What a matrix of these costs would take."""
        return 8 * self.bins * self.bins

    @property
    def has_matrix(self) -> bool:
        """Whether a matrix is made for those who ask for one."""
        return self.nbytes <= _LARGEST_MATRIX

    @property
    def is_separable(self) -> bool:
        """Whether costs are sums over axes, and so their kernels products over axes."""
        return self.kind != "euclidean"

    @property
    def has_axes(self) -> bool:
        """Whether a matrix between the pixels of every axis is made for those who ask for one."""
        return 8 * max(self.sides) ** 2 <= _LARGEST_MATRIX

    @property
    def kind(self) -> str:
        """The metric; where there is one axis only, Euclidean distances are cityblock ones."""
        one_axis = sum(side > 1 for side in self.sides) <= 1
        return "cityblock" if self.metric == "euclidean" and one_axis else self.metric

    @property
    def steps(self) -> tuple[float, ...]:
        """The cost of a step along every axis."""
        power = 2 if self.metric == "sqeuclidean" else 1
        return tuple(h**power / self.unit for h in self.spacing)

    @cached_property
    def median(self) -> float:
        """The median of all entries, the diagonal included.

        Exact; on grids of more than 2^24 bins that of a sample of a million pairs, always the same.
        """
        if self.bins > _EXACT:
            pairs = np.random.default_rng(0).integers(self.bins, size=(2, _SAMPLE))
            return float(np.median(self.at(*pairs)))
        differences = [np.arange(float(side)) for side in self.sides]
        costs = self._of_differences(list(np.ix_(*differences))).ravel()
        number: Array = np.ones((), np.int64)
        for side in self.sides:
            pairs = side - np.arange(side, dtype=np.int64)
            pairs[1:] *= 2
            number = np.multiply.outer(number, pairs)
        order = np.argsort(costs)
        until = np.cumsum(number.ravel()[order], dtype=np.int64)
        total = int(until[-1])
        middle = np.searchsorted(until, [(total - 1) // 2, total // 2], side="right")
        return float(costs[order[middle]].mean())

    @property
    def diagonal(self) -> Array:
        """The costs of staying in a bin."""
        return np.zeros(self.bins)

    @property
    def fingerprint(self) -> str:
        """A digest that two grids share only if their costs are the same, to the bit."""
        return digest([], f"grid {self.sides} {self.metric} {self.spacing!r} {self.unit!r}")

    def block(self, rows: Index | None = None, columns: Index | None = None) -> Array:
        """Costs between some bins; None stands for all of them, if these fit in memory."""
        some = np.arange(self.bins) if rows is None else np.asarray(rows)
        others = np.arange(self.bins) if columns is None else np.asarray(columns)
        require_memory(some.size, others.size, "This grid", "a block of costs")
        at, to = np.unravel_index(some, self.sides), np.unravel_index(others, self.sides)
        out = np.empty((some.size, others.size))
        band = max(1, _BAND // max(1, others.size))
        for start in range(0, some.size, band):
            part = slice(start, start + band)
            differences = [
                np.subtract.outer(x[part], y).astype(np.float64)
                for x, y in zip(at, to, strict=True)
            ]
            out[part] = self._of_differences(differences)
        return out

    def at(self, rows: Index, columns: Index) -> Array:
        """The costs of some moves."""
        at, to = np.unravel_index(rows, self.sides), np.unravel_index(columns, self.sides)
        return self._of_differences(
            [np.subtract(x, y, dtype=float) for x, y in zip(at, to, strict=True)]
        )

    def mean_costs(self, rows: Any) -> Any:
        """``R M``: the mean cost from each histogram (dense or sparse rows) to every bin."""
        R = rows if isinstance(rows, np.ndarray) else rows.toarray()
        images = R.astype(np.float64, copy=False).reshape(-1, *self.sides)
        if self.metric == "euclidean":
            return self._by_fourier(images).reshape(len(images), -1)
        total = np.zeros((len(images),) + (1,) * len(self.sides))
        for axis, side in enumerate(self.sides):
            others = tuple(a + 1 for a in range(len(self.sides)) if a != axis)
            x = np.arange(float(side))
            costs = self._along(np.abs(x[:, None] - x), axis) / self.unit
            around = [side if a == axis else 1 for a in range(len(self.sides))]
            total = total + (images.sum(axis=others) @ costs).reshape(-1, *around)
        return total.reshape(len(images), -1)

    def kernel(self, lam: float, dtype: np.dtype[Any]) -> Gibbs:
        """The Gibbs kernel as a matrix, where that is not too large."""
        return Gibbs(self.matrix("kernel entries"), float(lam), dtype, self.max)

    def matrix(self, what: str = "costs") -> Array:
        """All costs, made for those who ask; an error with the size where these are many."""
        if not self.has_matrix:
            raise self.refusal(what)
        return self.block()

    def scaled(self, unit: float) -> GridCosts:
        """All costs divided by a number."""
        return GridCosts(self.sides, self.metric, self.spacing, self.unit * unit)

    def check_metric(self) -> MetricCheck:
        """Whether these costs satisfy every triangle; squares do on the smallest grids only."""
        middle = [(side - 1) // 2 for side in self.sides]
        if self.metric != "sqeuclidean" or not any(middle):
            return MetricCheck(True, "A metric by construction.")
        last = self.bins - 1
        by = int(np.ravel_multi_index(middle, self.sides))
        direct = float(self.at(np.array([0]), np.array([last]))[0])
        detour = float(self.at(np.array([0, by]), np.array([by, last])).sum())
        return MetricCheck(
            False,
            f"Going from bin 0 to {last} costs {direct:.6g}, but {detour:.6g} by way of {by}.",
            (0, last, by),
            direct - detour,
        )

    def refusal(self, what: str, instead: str = _BLOCKS) -> InputError:
        """The error for those who ask for all costs at once."""
        d = self.bins
        return InputError(
            f"A matrix of {d:,} x {d:,} {what} would take {size_text(self.nbytes)}, and is not "
            f"formed. {instead}."
        )

    def refusal_of_axes(self, instead: str) -> InputError:
        """The error for those who ask for a matrix between the pixels of every axis."""
        n = max(self.sides)
        return InputError(
            f"Products along an axis of {n:,} pixels take a matrix of {n:,} x {n:,} numbers, "
            f"{size_text(8 * n * n)}, which is not formed: {instead}."
        )

    def __reduce__(self) -> Any:
        return GridCosts, (self.sides, self.metric, self.spacing, self.unit)

    def _along(self, differences: Array, axis: int) -> Array:
        """What differences along one axis add, before the root and the unit."""
        x = differences * self.spacing[axis]
        return np.asarray(np.abs(x) if self.metric == "cityblock" else x * x)

    def _of_differences(self, differences: list[Array]) -> Array:
        """Costs of moves with these differences along every axis, which are broadcast."""
        total = self._along(differences[0], 0)
        for axis in range(1, len(differences)):
            total = total + self._along(differences[axis], axis)
        if self.metric == "euclidean":
            total = np.sqrt(total)
        return total / self.unit if self.unit != 1.0 else total

    def _by_fourier(self, images: Array) -> Array:
        """Mean Euclidean distances, as a convolution: sums of positive terms of one size."""
        from scipy.fft import irfftn, next_fast_len, rfftn

        sizes = [next_fast_len(2 * side - 1, real=True) for side in self.sides]
        wrapped = [np.minimum(np.arange(n), n - np.arange(n)).astype(np.float64) for n in sizes]
        axes = tuple(range(1, images.ndim))
        kernel = rfftn(self._of_differences(list(np.ix_(*wrapped))))
        found = irfftn(rfftn(images, s=sizes, axes=axes) * kernel, s=sizes, axes=axes)
        part = found[(slice(None), *(slice(0, side) for side in self.sides))]
        return np.asarray(np.maximum(part, 0.0))
