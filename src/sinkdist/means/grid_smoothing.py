"""Products with the kernel of a grid, from logarithms to logarithms, without a matrix.

Where costs are sums over axes: matrix products along one axis after another, for all rows at once;
rows with sums that floats do not hold are done again. Elsewhere the sums of a `ground.grid_plan`,
row by row.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.ground.gibbs import SAFE_EXPONENT
from sinkdist.ground.grid import GridCosts
from sinkdist.ground.grid_plan import kernel_of, log_sum
from sinkdist.kernels.log_sums import NONE

__all__ = ["ByAxes", "ByGridSums", "grid_smoothing", "scaled", "worth_axes"]

Array: TypeAlias = npt.NDArray[Any]

_FLOAT64 = np.dtype(np.float64)
#: lam times the largest cost up to which products are tried in float64: most rows have sums that
#: are far larger than the least entry of the kernel.
_TRIED = 2400.0
#: Sums beside which what underflows, below 1e-300 in float64, does not show.
_SEEN = 1e-280


class ByAxes:
    """Matrix products along every axis, each row scaled to a largest entry of 1."""

    def __init__(self, grid: GridCosts, lam: float, dtype: np.dtype[Any]) -> None:
        self.dtype, self._sides = dtype, grid.sides
        self._fits, self._sums = lam * grid.max <= SAFE_EXPONENT[dtype], ByGridSums(grid, lam)
        power = 2 if grid.metric == "sqeuclidean" else 1
        self._factors = []
        for side, step in zip(grid.sides, grid.steps, strict=True):
            x = np.arange(float(side))
            far = np.abs(x[:, None] - x) ** power
            self._factors.append(np.exp(-lam * step * far).astype(dtype))

    def forward(self, L: Array) -> Array:
        """``log(K exp(l))`` for every row."""
        work, top = scaled(L)
        work = work.reshape(len(L), *self._sides)
        for axis, factor in enumerate(self._factors):
            after = work.shape[axis + 2 :]
            if after:
                lines = work.reshape(-1, self._sides[axis], int(np.prod(after)))
                work = np.matmul(factor, lines).reshape(work.shape)
            else:
                work = (work.reshape(-1, len(factor)) @ factor).reshape(work.shape)
        work = work.reshape(L.shape)
        lost = None if self._fits else ~(work.min(axis=1) > _SEEN)
        with np.errstate(divide="ignore"):
            out: Array = np.log(work, out=work)
        out += top
        if lost is not None and lost.any():
            out[lost] = self._sums.forward(L[lost])
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


def scaled(L: Array) -> tuple[Array, Array]:
    """``exp(l - top)`` for every row, and its largest entry ``top``, shape (p, 1)."""
    top = L.max(axis=1, keepdims=True)
    out = np.subtract(L, top)
    np.exp(out, out=out)
    return out, top


def grid_smoothing(grid: GridCosts, lam: float, dtype: np.dtype[Any]) -> ByAxes | ByGridSums:
    """By products where the kernel fits in the dtype, or else in float64; by sums otherwise."""
    if grid.kind != "euclidean":
        if lam * grid.max <= SAFE_EXPONENT[dtype]:
            return ByAxes(grid, lam, dtype)
        if lam * grid.max <= _TRIED:
            return ByAxes(grid, lam, _FLOAT64)
    return ByGridSums(grid, lam)


def worth_axes(grid: GridCosts | None, lam: float) -> bool:
    """Whether products along axes are quicker than with a matrix, where there is one."""
    if grid is None or grid.kind == "euclidean" or lam * grid.max > _TRIED:
        return False
    return sum(side > 1 for side in grid.sides) > 1
