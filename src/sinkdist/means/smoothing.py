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

__all__ = ["ByLogSums", "ByProducts", "Smoothing", "smoothing_of"]

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
        """`forward` for rows that may have mass in any bin, as barycentres have."""


class ByProducts:
    """Matrix products, each row scaled to a largest entry of 1.

    The kernel holds no entry below ``exp(-600)`` (`KernelOperator.fits`), so no sum underflows, and
    what underflows in a row is too small for any sum. Bins where no histogram has mass are left out
    of a dense kernel.

    Parameters
    ----------
    ground, lam, dtype
        Of the kernel.
    occupied : ndarray of bool, optional
        The bins where any histogram has mass.
    """

    def __init__(
        self, ground: Ground, lam: float, dtype: np.dtype[Any], occupied: Array | None = None
    ) -> None:
        self.dtype = dtype
        self._whole = self._part = ground.gibbs(lam, dtype)
        self._columns: Array | None = None
        if occupied is None or not isinstance(self._whole, Gibbs):
            return
        columns = np.flatnonzero(occupied)
        if columns.size <= _WORTHWHILE * occupied.size:
            self._columns = columns
            self._part = Gibbs(ground.block(None, columns), lam, dtype, ground.max)

    def forward(self, L: Array) -> Array:
        """``log(K exp(l))`` for every row."""
        return self._logarithms(L if self._columns is None else L[:, self._columns], self._part)

    def backward(self, L: Array, wanted: Array) -> Array:
        """``log(K^T exp(l))`` for every row; 0 on bins where no histogram has mass."""
        found = self._logarithms(L, self._part, transposed=True)
        if self._columns is None:
            return found
        out = np.zeros((len(L), self._whole.shape[1]), self.dtype)
        out[:, self._columns] = found
        return out

    def own(self, L: Array) -> Array:
        """``log(K exp(l))`` for rows with mass anywhere."""
        return self._logarithms(L, self._whole)

    @staticmethod
    def _logarithms(L: Array, kernel: KernelOperator, *, transposed: bool = False) -> Array:
        top = L.max(axis=1, keepdims=True)
        work = np.subtract(L, top)
        np.exp(work, out=work)
        product = kernel.apply_T(work) if transposed else kernel.apply(work)
        np.log(product, out=product)
        product += top
        return product


class ByLogSums:
    """Sums of exponentials over bands of costs, in float64."""

    dtype = np.dtype(np.float64)

    def __init__(self, ground: Ground, lam: float) -> None:
        self._ground, self._lam = ground, lam

    def forward(self, L: Array) -> Array:
        """``log(K exp(l))`` for every row."""
        rows, columns = self._ground.shape
        out = np.empty((len(L), rows))
        everywhere = np.ones((1, 1), np.float64)
        for band in _bands(rows, columns):
            costs = self._ground.block(band, None)
            self._sum(costs, L, np.broadcast_to(everywhere, (len(L), len(costs))), out, band)
        return out

    def backward(self, L: Array, wanted: Array) -> Array:
        """``log(K^T exp(l))`` for every row on wanted bins, 0 elsewhere."""
        rows, columns = self._ground.shape
        out = np.zeros((len(L), columns))
        for band in _bands(columns, rows):
            costs = np.ascontiguousarray(self._ground.block(None, band).T)
            self._sum(costs, L, wanted[:, band], out, band)
        return out

    own = forward

    def _sum(self, costs: Array, L: Array, wanted: Array, out: Array, band: Array) -> None:
        part = np.zeros((len(L), len(costs)))
        log_sums(costs, self._lam, L, np.ascontiguousarray(wanted, np.float64), part)
        out[:, band] = part


def smoothing_of(
    ground: Ground, lam: float, dtype: np.dtype[Any], occupied: Array | None = None
) -> Smoothing:
    """By products where the kernel fits in the dtype, or else in float64; by sums otherwise."""
    for kind in (dtype, np.dtype(np.float64)):
        if ground.gibbs(lam, kind).fits:
            return ByProducts(ground, lam, kind, occupied)
    return ByLogSums(ground, lam)


def _bands(rows: int, columns: int) -> list[Array]:
    """Indices of bins, in pieces of a few megabytes of costs."""
    step = max(1, _BAND // (8 * columns))
    return [np.arange(start, min(start + step, rows)) for start in range(0, rows, step)]
