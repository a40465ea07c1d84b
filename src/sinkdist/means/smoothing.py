"""Products with the Gibbs kernel, from logarithms to logarithms.

``log(K exp(l))`` for rows ``l``: by one matrix product for all rows where floats hold the kernel,
by sums of exponentials, slower and at any lam, where they do not. The iteration (`sweeps`) does not
know which.
"""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.ground import Ground
from sinkdist.ground.gibbs import Gibbs
from sinkdist.ground.operator import KernelOperator
from sinkdist.kernels.log_sums import log_sums
from sinkdist.means.grid_smoothing import grid_smoothing, scaled, worth_axes

__all__ = ["ByLogSums", "ByProducts", "Smoothing", "columns_of", "smoothing_of"]

Array: TypeAlias = npt.NDArray[Any]

_WORTHWHILE = 0.85  # part of the bins, from which leaving out the others is worth a copy
_BAND = 1 << 22  # bytes of costs at a time: a piece of the matrix that stays in the cache


class Smoothing(Protocol):
    """Products with a kernel whose rows are a barycentre's bins, its columns those of the data."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """What is computed in."""

    def forward(self, L: Array) -> Array:
        """``log(K exp(l))`` for every row."""

    def backward(self, L: Array, wanted: Array) -> Array:
        """``log(K^T exp(l))`` for every row, at least on bins where `wanted` is positive."""

    def own(self, L: Array) -> Array:
        """`forward` for rows of all bins, as barycentres are; for a square kernel."""


class ByProducts:
    """Matrix products, each row scaled to a largest entry of 1.

    The kernel holds no entry below ``exp(-600)`` (`KernelOperator.fits`), so no sum underflows, and
    what underflows in a row is too small for any sum.

    Parameters
    ----------
    ground, lam, dtype
        Of the kernel.
    columns : ndarray of int, optional
        The bins of the data that rows consist of, for a dense kernel; all by default.
    """

    def __init__(
        self, ground: Ground, lam: float, dtype: np.dtype[Any], columns: Array | None = None
    ) -> None:
        self.dtype = dtype
        self._whole = self._part = ground.gibbs(lam, dtype)
        if columns is not None:
            self._part = Gibbs(ground.block(None, columns), lam, dtype, ground.max)

    def forward(self, L: Array) -> Array:
        """``log(K exp(l))`` for every row."""
        return self._logarithms(L, self._part)

    def backward(self, L: Array, wanted: Array) -> Array:
        """``log(K^T exp(l))`` for every row."""
        return self._logarithms(L, self._part, transposed=True)

    def own(self, L: Array) -> Array:
        """``log(K exp(l))`` for rows of all bins."""
        return self._logarithms(L, self._whole)

    @staticmethod
    def _logarithms(L: Array, kernel: KernelOperator, *, transposed: bool = False) -> Array:
        work, top = scaled(L)
        product = kernel.apply_T(work) if transposed else kernel.apply(work)
        np.log(product, out=product)
        product += top
        return product


class ByLogSums:
    """Sums of exponentials over bands of costs, in float64; parameters as for `ByProducts`."""

    dtype = np.dtype(np.float64)

    def __init__(self, ground: Ground, lam: float, columns: Array | None = None) -> None:
        self._ground, self._lam, self._columns = ground, lam, columns

    def forward(self, L: Array) -> Array:
        """``log(K exp(l))`` for every row."""
        return self._forward(L, self._columns)

    def backward(self, L: Array, wanted: Array) -> Array:
        """``log(K^T exp(l))`` for every row on wanted bins, 0 elsewhere."""
        out = np.zeros(wanted.shape)
        for band in _bands(wanted.shape[1], L.shape[1]):
            columns = band if self._columns is None else self._columns[band]
            costs = np.ascontiguousarray(self._ground.block(None, columns).T)
            self._sum(costs, L, wanted[:, band], out, band)
        return out

    def own(self, L: Array) -> Array:
        """``log(K exp(l))`` for rows of all bins."""
        return self._forward(L, None)

    def _forward(self, L: Array, columns: Array | None) -> Array:
        rows = self._ground.shape[0]
        out = np.empty((len(L), rows))
        for band in _bands(rows, L.shape[1]):
            costs = self._ground.block(band, columns)
            self._sum(costs, L, np.ones((len(L), len(band))), out, band)
        return out

    def _sum(self, costs: Array, L: Array, wanted: Array, out: Array, band: Array) -> None:
        part = np.zeros((len(L), len(costs)))
        log_sums(costs, self._lam, L, np.ascontiguousarray(wanted, np.float64), part)
        out[:, band] = part


def smoothing_of(
    ground: Ground, lam: float, dtype: np.dtype[Any], columns: Array | None = None
) -> Smoothing:
    """By products where the kernel fits in the dtype, or else in float64; by sums otherwise."""
    grid = ground.pixels
    if grid is not None and (ground.as_grid is not None or worth_axes(grid, lam)):
        return grid_smoothing(grid, lam, dtype)
    for kind in (dtype, np.dtype(np.float64)):
        if ground.gibbs(lam, kind).fits:
            return ByProducts(ground, lam, kind, columns)
    return ByLogSums(ground, lam, columns)


def columns_of(ground: Ground, lam: float, histograms: Array) -> Array | None:
    """The bins where any histogram has mass, if leaving out the others is worth a copy.

    None for all: an operator without a matrix is quicker whole.
    """
    if ground.as_grid is not None or worth_axes(ground.pixels, lam):
        return None
    columns = np.flatnonzero(histograms.any(axis=0))
    dense = isinstance(ground.gibbs(lam, np.dtype(np.float64)), Gibbs)
    few = columns.size <= _WORTHWHILE * histograms.shape[1]
    return columns if dense and few else None


def _bands(rows: int, columns: int) -> list[Array]:
    """Indices of bins, in pieces of a few megabytes of costs."""
    step = max(1, _BAND // (8 * columns))
    return [np.arange(start, min(start + step, rows)) for start in range(0, rows, step)]
