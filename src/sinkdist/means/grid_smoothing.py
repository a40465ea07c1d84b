"""Products with the kernel of a large grid, from logarithms to logarithms, without a matrix.

Where costs are sums over axes and floats hold the kernel: matrix products along one axis after
another, for all rows at once. Elsewhere the sums of a `ground.grid_plan`, row by row.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.ground.gibbs import SAFE_EXPONENT
from sinkdist.ground.grid import GridCosts
from sinkdist.ground.grid_plan import kernel_of, log_sum
from sinkdist.kernels.log_sums import NONE

__all__ = ["ByAxes", "ByGridSums", "grid_smoothing"]

Array: TypeAlias = npt.NDArray[Any]


class ByAxes:
    """Matrix products along every axis, each row scaled to a largest entry of 1."""

    def __init__(self, grid: GridCosts, lam: float, dtype: np.dtype[Any]) -> None:
        self.dtype, self._sides = dtype, grid.sides
        power = 2 if grid.metric == "sqeuclidean" else 1
        self._factors = []
        for side, step in zip(grid.sides, grid.steps, strict=True):
            x = np.arange(float(side))
            far = np.abs(x[:, None] - x) ** power
            self._factors.append(np.exp(-lam * step * far).astype(dtype))

    def forward(self, L: Array) -> Array:
        """``log(K exp(l))`` for every row."""
        top = L.max(axis=1, keepdims=True)
        work = np.exp(L - top).reshape(len(L), *self._sides)
        for axis, factor in enumerate(self._factors):
            after = work.shape[axis + 2 :]
            if after:
                lines = work.reshape(-1, self._sides[axis], int(np.prod(after)))
                work = np.matmul(factor, lines).reshape(work.shape)
            else:
                work = work @ factor
        out: Array = np.log(work.reshape(L.shape))
        out += top
        return out

    def backward(self, L: Array, wanted: Array) -> Array:
        """The same: the kernel is symmetric."""
        return self.forward(L)

    def own(self, L: Array) -> Array:
        """The same: all bins are in use."""
        return self.forward(L)


class ByGridSums:
    """Sums of exponentials that are right at any lam, in float64."""

    dtype = np.dtype(np.float64)

    def __init__(self, grid: GridCosts, lam: float) -> None:
        self._kernel, self._sides = kernel_of(grid, lam), grid.sides

    def forward(self, L: Array) -> Array:
        """``log(K exp(l))`` for every row."""
        out = np.empty(L.shape)
        for k, row in enumerate(L):
            logs = np.where(row > 0.5 * NONE, row, -np.inf).reshape(self._sides)
            out[k] = log_sum(logs, self._kernel).ravel()
        return np.maximum(out, NONE, out=out)

    def backward(self, L: Array, wanted: Array) -> Array:
        """The same: the kernel is symmetric."""
        return self.forward(L)

    def own(self, L: Array) -> Array:
        """The same: all bins are in use."""
        return self.forward(L)


def grid_smoothing(grid: GridCosts, lam: float, dtype: np.dtype[Any]) -> ByAxes | ByGridSums:
    """By products where the kernel fits in the dtype, or else in float64; by sums otherwise."""
    if grid.kind != "euclidean":
        for kind in (dtype, np.dtype(np.float64)):
            if lam * grid.max <= SAFE_EXPONENT[kind]:
                return ByAxes(grid, lam, kind)
    return ByGridSums(grid, lam)
