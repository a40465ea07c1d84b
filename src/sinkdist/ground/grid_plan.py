"""The transport plan of a potential on a grid: never a matrix.

For a potential ``psi = lam g`` of the columns,

    P_ij = r_i exp(psi_j - lam M_ij) / sum_j exp(psi_j - lam M_ij)

has exact rows whatever ``psi`` is. A `GridPlan` answers what is asked of it by sums with the
kernel: along one axis after another where costs are sums over axes (`separable_plan`, and
`product_plan` where the kernel is wide), by tiles under Euclidean distances (`radial_plan`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy.typing as npt

from sinkdist.ground.grid import GridCosts
from sinkdist.ground.grid_axes import Run
from sinkdist.ground.product_plan import ProductPlan, is_wide
from sinkdist.ground.separable_plan import SeparablePlan

__all__ = ["GridPlan", "Kernel", "Run", "has_plan", "in_turn", "kernel_of", "log_sum", "plan_of"]

Array = npt.NDArray[Any]

_FARTHEST = 1e10  #: lam times the largest cost beyond which doubles do not resolve exponents
ACCURATE = 1e-12  #: the relative error of sums that certificates are made of


class Kernel(NamedTuple):
    """``exp(-lam M)`` on a grid.

    Attributes
    ----------
    metric : str
        The cost.
    sharpness : tuple of float
        ``lam`` times the cost of a step, along every axis.
    error : float
        The relative error that sums may have where accuracy is paid for: under Euclidean distances.
    """

    metric: str
    sharpness: tuple[float, ...]
    error: float = ACCURATE

    @property
    def rounding(self) -> float:
        """The relative error of sums, beyond the rounding of as many terms."""
        return self.error if self.metric == "euclidean" else 0.0


class GridPlan(Protocol):
    """The plan of a potential ``psi`` of the columns, with exact rows."""

    @property
    def log_sums(self) -> Array:
        """``log sum_j exp(psi_j - lam M_ij)``, of the shape of the grid."""

    def average(self, values: Array) -> Array:
        """``(P v)_i / r_i``: the mean of values of columns, for every row."""

    def spread(self, masses: Array) -> Array:
        """``P^T (m / r)``: where the masses of rows go; of ``r`` itself, the sums of columns."""

    def exponents(self, share: Array | None = None) -> tuple[Array, Array]:
        """For every row, the means of ``share_j`` and of ``lam M_ij share_j``; by default of 1."""


def kernel_of(grid: GridCosts, lam: float) -> Kernel:
    """The kernel of a grid for a lam."""
    return Kernel(grid.kind, tuple(lam * w for w in grid.steps))


def has_plan(grid: GridCosts | None, lam: float) -> bool:
    """Whether plans at this lam are those of this module."""
    return grid is not None and 0.0 < lam * grid.max <= _FARTHEST


def in_turn(lines: int, work: Callable[[int, int], None]) -> None:
    """All lines in one call."""
    work(0, lines)


def plan_of(psi: Array, kernel: Kernel, run: Run = in_turn) -> GridPlan:
    """The plan for a potential of the shape of the grid."""
    if kernel.metric == "euclidean":
        from sinkdist.ground.radial_plan import RadialPlan

        return RadialPlan.of(psi, kernel.sharpness, kernel.error, run)
    return _by_products(psi, kernel) or SeparablePlan.of(psi, kernel.metric, kernel.sharpness, run)


def log_sum(phi: Array, kernel: Kernel, run: Run = in_turn) -> Array:
    """``log sum_j exp(phi_j - lam M_ij)`` for every pixel ``i``."""
    if kernel.metric == "euclidean":
        from sinkdist.ground.tiling import tiling_of

        return tiling_of(phi.shape, kernel.sharpness, kernel.error).log_sums(phi, run)
    plan = _by_products(phi, kernel) or SeparablePlan.of(
        phi, kernel.metric, kernel.sharpness, run, keep=False
    )
    return plan.log_sums


def _by_products(psi: Array, kernel: Kernel) -> GridPlan | None:
    """The plan by matrix products, where these are quicker and floats hold it."""
    if kernel.metric != "sqeuclidean" or not is_wide(psi.shape, kernel.sharpness):
        return None
    return ProductPlan.of(psi, kernel.sharpness)
