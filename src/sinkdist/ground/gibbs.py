"""The Gibbs operator K = exp(-lam M) of one ground matrix, for one lam and one dtype.

Its arrays are shared and never written to. They are not flagged read-only, because compiled passes
would be compiled once more for that flag.

Apart from `Ground`, which knows costs and no lam. Everything is built on first use and kept: a
solver in the log domain never asks for the kernel, and need not pay for it.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.blocks import block_of
from sinkdist.ground.operator import Index
from sinkdist.kernels.work_space import aligned

__all__ = ["Gibbs"]

# The largest lam * cost for which products of kernel and scalings stay well inside the dtype.
SAFE_EXPONENT = {np.dtype(np.float32): 80.0, np.dtype(np.float64): 600.0}
_BLOCK_BYTES = 1 << 20  # float64 work space of one band of rows: small enough to stay in cache

_TINY = 1 << 11  # entries that are read in no time, wherever they lie
_SMALL = 1 << 17  # entries that are not worth cutting into bands

#: How to get through the bands of a matrix: in turn, or on threads.
Run = Callable[[list[slice], Callable[[slice], None]], None]


@dataclass(frozen=True, eq=False)
class Gibbs:
    """K = exp(-lam M), prepared once and shared by every solver and thread.

    Attributes
    ----------
    matrix : ndarray of float64
        The costs M.
    lam : float
        The paper's lambda.
    dtype : numpy.dtype
        float32 or float64, the dtype of the arrays below.
    largest : float
        The largest cost.
    """

    matrix: npt.NDArray[np.float64] = field(repr=False)
    lam: float
    dtype: np.dtype[Any]
    largest: float
    _lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Bins of the first and of the second histogram."""
        rows, columns = self.matrix.shape
        return rows, columns

    @property
    def size(self) -> int:
        """Entries of the kernel."""
        return int(self.matrix.size)

    @property
    def fits(self) -> bool:
        """Whether scaling can represent every entry."""
        return self.lam * self.largest <= SAFE_EXPONENT[self.dtype]

    @cached_property
    def kernel(self) -> npt.NDArray[Any]:
        """K, for where it fits."""
        return self.build(_in_turn)

    @cached_property
    def kernel_cost(self) -> npt.NDArray[Any]:
        """K * lam M by entry: ``lam <P, M> = u @ kernel_cost @ v``, whatever the unit of cost."""

        def fill(rows: slice) -> None:
            exponent = np.multiply(self.matrix[rows], self.lam)
            work = np.exp(-exponent)
            out[rows] = np.multiply(work, exponent, out=work)

        with self._lock:
            if "kernel_cost" not in self.__dict__:  # else another thread was first
                out = np.empty(self.matrix.shape, self.dtype)
                _in_turn(self._bands(), fill)
                self.__dict__["kernel_cost"] = out
            return self.__dict__["kernel_cost"]  # type: ignore[no-any-return]

    def apply(self, V: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """``K v`` for every row ``v``."""
        return np.asarray(V @ self.kernel.T)

    def apply_T(self, U: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """``K^T u`` for every row ``u``."""
        return np.asarray(U @ self.kernel)

    def apply_cost(self, U: npt.NDArray[Any], V: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """``lam <diag(u) K diag(v), M>`` for every pair of rows, summed in float64."""
        return _summed(U @ self.kernel_cost, V)

    def on(self, rows: Index | None, columns: Index | None) -> npt.NDArray[Any]:
        """The block of K between some bins; K itself for all of them."""
        return block_of(self.kernel, rows, columns)

    def cost_on(
        self, rows: Index, columns: Index, U: npt.NDArray[Any], V: npt.NDArray[Any]
    ) -> npt.NDArray[Any]:
        """`apply_cost` for scalings that are given on some bins."""
        if self.shape == (rows.size, columns.size):
            return self.apply_cost(U, V)
        return _summed(U @ block_of(self.kernel_cost, rows, columns), V)

    def build(self, run: Run) -> npt.NDArray[Any]:
        """The kernel, its bands of rows filled by ``run``; who asks meanwhile waits for it."""
        from sinkdist.kernels.exponential import gibbs_kernel  # Numba, on first use

        def fill(rows: slice) -> None:
            gibbs_kernel(self.matrix[rows], self.lam, out[rows])

        with self._lock:
            if "kernel" not in self.__dict__:  # else another thread was first
                out = self._empty()
                if out.size <= _SMALL:
                    gibbs_kernel(self.matrix, self.lam, out)
                else:
                    run(self._bands(), fill)
                self.__dict__["kernel"] = out
            return self.__dict__["kernel"]  # type: ignore[no-any-return]

    def _empty(self) -> npt.NDArray[Any]:
        """Room for the kernel; at a cache line unless finding one takes longer than it saves."""
        if self.size <= _TINY:
            return np.empty(self.shape, self.dtype)
        return aligned(self.size, self.dtype).reshape(self.shape)

    def _bands(self) -> list[slice]:
        """Slices of rows, each small enough to stay in cache."""
        rows, columns = self.matrix.shape
        step = max(1, _BLOCK_BYTES // (8 * columns))
        return [slice(start, start + step) for start in range(0, rows, step)]


def _summed(costs: npt.NDArray[Any], V: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Products by row, in float64."""
    return np.asarray(np.einsum("kj,kj->k", costs, V, dtype=np.float64))


def _in_turn(bands: list[slice], fill: Callable[[slice], None]) -> None:
    """Fill one band after another."""
    for rows in bands:
        fill(rows)
