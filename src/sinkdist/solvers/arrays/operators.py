"""What loops ask of costs: products with their kernel, and with the kernels that potentials make.

Costs are a matrix (`MatrixCosts`), or sums over the axes of a grid (`axes`), where every product is
one along each axis and no matrix between all bins is formed. Loops are written once for both.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from sinkdist.solution.reductions import log
from sinkdist.solvers.arrays.linear import Coupling
from sinkdist.solvers.arrays.products import Array, BatchedKernel, Products, SharedKernel

__all__ = ["CostOperator", "MatrixCosts", "Measured", "Potentials", "System", "plan", "row_update"]


class Potentials(NamedTuple):
    """``f`` and ``g`` of every pair, in units of cost; -inf on bins without mass."""

    F: Array
    G: Array


class Measured(NamedTuple):
    """``<P, M>``, ``P 1`` and ``P^T 1`` of the plans of potentials."""

    value: Array
    rows: Array
    columns: Array


class System(NamedTuple):
    """The plans of potentials as products, and ``(P*M) 1`` and ``(P*M)^T 1`` in a unit of cost."""

    plans: Coupling
    rows: Array
    columns: Array


class CostOperator(Protocol):
    """Costs on a device; ``lam`` is one number for a kernel, of shape (n, 1) for potentials."""

    @property
    def largest(self) -> Array:
        """At least the largest cost, 0-d."""

    @property
    def turned(self) -> CostOperator:
        """Rows and columns exchanged."""

    def kernel(self, lam: Any) -> Products:
        """``exp(-lam M)``."""

    def priced(self, lam: Any, unit: Any = 1.0) -> Products:
        """``exp(-lam M) * M`` by entry, with costs in some unit."""

    def unit_kernel(self, lam: Any) -> tuple[Products, Array]:
        """The kernel with ones on its diagonal, and half of the costs there."""

    def row_update(
        self, lam: Array, R: Array, G: Array, floor: float = 0.0
    ) -> tuple[Products, Array]:
        """The kernel with exact rows that a potential of the columns makes, and that of the rows.

        Products with it are kept above the floor.
        """

    def measured(self, lam: Array, potentials: Potentials) -> Measured:
        """What there is to know of plans."""

    def system(self, lam: Array, potentials: Potentials, unit: Any) -> System:
        """What derivatives start from."""

    def means(self, R: Array) -> Array:
        """``R M``: the mean cost from each histogram to every bin."""


class MatrixCosts(NamedTuple):
    """Costs that are a matrix."""

    xp: Any
    M: Array

    @property
    def largest(self) -> Array:
        """The largest cost."""
        return self.xp.max(self.M)

    @property
    def turned(self) -> MatrixCosts:
        """Rows and columns exchanged."""
        return MatrixCosts(self.xp, self.M.T)

    def kernel(self, lam: Any) -> SharedKernel:
        """``exp(-lam M)``."""
        return SharedKernel(self.xp, self.xp.exp(-lam * self.M))

    def priced(self, lam: Any, unit: Any = 1.0) -> SharedKernel:
        """``exp(-lam M) * M``."""
        return SharedKernel(self.xp, self.xp.exp(-lam * self.M) * (self.M / unit))

    def unit_kernel(self, lam: Any) -> tuple[SharedKernel, Array]:
        """``exp(-lam (M - h_i - h_j))``, and ``h``."""
        half = 0.5 * self.xp.linalg.diagonal(self.M)
        K = self.xp.exp(-lam * (self.M - half[:, None] - half))
        return SharedKernel(self.xp, K), half

    def row_update(
        self, lam: Array, R: Array, G: Array, floor: float = 0.0
    ) -> tuple[BatchedKernel, Array]:
        """By log-sum-exp over every row."""
        kernel, F = row_update(self.xp, self.M, lam, R, G)
        return BatchedKernel(self.xp, kernel, floor), F

    def measured(self, lam: Array, potentials: Potentials) -> Measured:
        """Sums over plans."""
        xp, P = self.xp, plan(self.xp, self.M, lam, potentials)
        return Measured(xp.sum(P * self.M, axis=(1, 2)), xp.sum(P, axis=2), xp.sum(P, axis=1))

    def system(self, lam: Array, potentials: Potentials, unit: Any) -> System:
        """Plans as matrices."""
        xp, P = self.xp, plan(self.xp, self.M, lam, potentials)
        paid = P * (self.M / unit)
        ones = (xp.ones_like(x) for x in potentials)
        plans = Coupling(BatchedKernel(xp, P), *ones)
        return System(plans, xp.sum(paid, axis=2), xp.sum(paid, axis=1))

    def means(self, R: Array) -> Array:
        """``R M``."""
        return R @ self.M


def plan(xp: Any, M: Array, lam: Array, potentials: Potentials) -> Array:
    """``P`` of every pair; ``lam`` is of shape (n, 1) or (1, 1)."""
    F, G = potentials
    return xp.exp(lam[:, :, None] * (F[:, :, None] + G[:, None, :] - M))


def row_update(xp: Any, M: Array, lam: Array, R: Array, G: Array) -> tuple[Array, Array]:
    """The potential of the rows by log-sum-exp, and the kernel that it makes, with exact rows."""
    Z = lam[:, :, None] * (G[:, None, :] - M)
    top = xp.max(Z, axis=2)
    E = xp.exp(Z - top[:, :, None])
    total = xp.sum(E, axis=2)
    F = (log(xp, R) - top - xp.log(total)) / lam
    return E * (R / total)[:, :, None], F
