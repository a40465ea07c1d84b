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

__all__ = ["Gibbs"]

# The largest lam * cost for which products of kernel and scalings stay well inside the dtype.
_SAFE_EXPONENT = {np.dtype(np.float32): 80.0, np.dtype(np.float64): 600.0}
_BLOCK_BYTES = 1 << 20  # float64 work space of one block of rows: small enough to stay in cache


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
    def fits(self) -> bool:
        """Whether scaling can represent every entry."""
        return self.lam * self.largest <= _SAFE_EXPONENT[self.dtype]

    @cached_property
    def kernel(self) -> npt.NDArray[Any]:
        """K; entries below the smallest normal number are 0."""
        return self._once("kernel", self._fill_kernel)

    @cached_property
    def kernel_cost(self) -> npt.NDArray[Any]:
        """K * lam M entry by entry: ``lam <P, M> = u @ kernel_cost @ v``, whatever the unit of cost."""
        return self._once("kernel_cost", self._fill_kernel_cost)

    def _once(self, name: str, fill: Callable[[Any, Any], None]) -> npt.NDArray[Any]:
        """Build one array block by block; threads that ask meanwhile wait and get the same one."""
        with self._lock:
            if name in self.__dict__:  # another thread was first
                return self.__dict__[name]  # type: ignore[no-any-return]
            out = np.empty(self.matrix.shape, self.dtype)
            step = max(1, _BLOCK_BYTES // (8 * self.matrix.shape[1]))
            with np.errstate(under="ignore", over="ignore"):
                for start in range(0, out.shape[0], step):
                    fill(self.matrix[start : start + step], out[start : start + step])
            self.__dict__[name] = out  # as cached_property does, but before the lock is released
            return out

    def _fill_kernel(self, costs: npt.NDArray[np.float64], out: npt.NDArray[Any]) -> None:
        """K for some rows, by way of float64: a float32 exponent x would cost K x ulps."""
        work = np.multiply(costs, -self.lam, out=out if self.dtype == np.float64 else None)
        np.exp(work, out=work)
        if not self.fits:
            work[work < np.finfo(self.dtype).tiny] = 0.0
        if work is not out:
            out[...] = work

    def _fill_kernel_cost(self, costs: npt.NDArray[np.float64], out: npt.NDArray[Any]) -> None:
        """K * lam M for some rows, from float64 throughout."""
        exponent = np.multiply(costs, self.lam)
        work = np.exp(-exponent)
        out[...] = np.multiply(work, exponent, out=work)
