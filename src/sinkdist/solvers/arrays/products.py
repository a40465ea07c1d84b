"""Products with the kernel over a block of pairs: the one expensive primitive of every loop here.

Pairs lie on axis 0 and bins on axis 1. `SharedKernel` is one kernel for all pairs, two matrix
products; `BatchedKernel` is a kernel per pair, for where potentials are absorbed into it. Kernels
that are products over the axes of a grid stand in `axes`. What stands above (sweeps, conjugate
gradients, derivatives) is written once.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from sinkdist.solution.reductions import Array

__all__ = ["Array", "BatchedKernel", "Products", "SharedKernel"]


class Products(Protocol):
    """A kernel for every pair."""

    @property
    def xp(self) -> Any:
        """The library of the arrays."""

    def rows(self, V: Array) -> Array:
        """``K v`` of every pair."""

    def columns(self, U: Array) -> Array:
        """``K^T u`` of every pair."""


class SharedKernel(NamedTuple):
    """One kernel for every pair."""

    xp: Any
    K: Array

    def rows(self, V: Array) -> Array:
        """``K v`` of every pair."""
        return V @ self.K.T

    def columns(self, U: Array) -> Array:
        """``K^T u`` of every pair."""
        return U @ self.K

    def outer(self, X: Array, Y: Array) -> Array:
        """``sum_k diag(x_k) K diag(y_k)``."""
        return self.K * (X.T @ Y)


class BatchedKernel(NamedTuple):
    """One kernel per pair, of shape (n, d, d').

    Sums that sweeps divide by are kept above a floor: bins without mass have rows of zeros here,
    and rows may underflow for a few sweeps.
    """

    xp: Any
    K: Array
    floor: float = 0.0

    def rows(self, V: Array) -> Array:
        """``K v`` of every pair."""
        sums = (self.K @ V[:, :, None])[:, :, 0]
        return self.xp.maximum(sums, self.floor) if self.floor else sums

    def columns(self, U: Array) -> Array:
        """``K^T u`` of every pair."""
        sums = (U[:, None, :] @ self.K)[:, 0, :]
        return self.xp.maximum(sums, self.floor) if self.floor else sums

    def outer(self, X: Array, Y: Array) -> Array:
        """``sum_k diag(x_k) K_k diag(y_k)``."""
        return self.xp.sum(self.K * X[:, :, None] * Y[:, None, :], axis=0)
