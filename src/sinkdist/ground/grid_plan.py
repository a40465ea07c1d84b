"""The transport plan of a potential on a grid, where costs are sums over axes: never a matrix.

Squared and cityblock distances are sums over axes, so their kernel is a product over axes, and so
are sums with it: log-sum-exp along one axis after another. For a potential ``psi = lam g`` of the
columns,

    P_ij = r_i exp(psi_j - lam M_ij) / sum_j exp(psi_j - lam M_ij)

has exact rows whatever ``psi`` is. `GridPlan` keeps the weights that these sums are made of; means
under it (``P v / r``), its columns and its cost are then sums of products. All of it is one and the
same plan: what rounding does to exponents is in its weights, and so in everything it answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid import GridCosts
from sinkdist.ground.grid_axes import SUMS, Axis, Run

__all__ = ["GridPlan", "Kernel", "Run", "has_plan", "in_turn", "kernel_of", "log_sum"]

Array = npt.NDArray[Any]

_FARTHEST = 1e10  #: lam times the largest cost beyond which doubles do not resolve exponents


class Kernel(NamedTuple):
    """``exp(-lam M)`` on a grid: the metric, and ``lam`` times the cost of a step on every axis."""

    metric: str
    sharpness: tuple[float, ...]


def kernel_of(grid: GridCosts, lam: float) -> Kernel:
    """The kernel of a grid for a lam."""
    return Kernel(grid.metric, tuple(lam * w for w in grid.steps))


def has_plan(grid: GridCosts | None, lam: float) -> bool:
    """Whether plans at this lam are those of this module."""
    return grid is not None and grid.metric in SUMS and 0.0 < lam * grid.max <= _FARTHEST


def in_turn(lines: int, work: Callable[[int, int], None]) -> None:
    """All lines in one call."""
    work(0, lines)


def log_sum(phi: Array, kernel: Kernel, run: Run = in_turn) -> Array:
    """``log sum_j exp(phi_j - lam M_ij)`` for every pixel ``i``."""
    return GridPlan.of(phi, kernel, run, keep=False).log_sums


@dataclass(frozen=True, slots=True, eq=False)
class GridPlan:
    """The plan of a potential ``psi`` of the columns, with exact rows.

    Attributes
    ----------
    log_sums : ndarray
        ``log sum_j exp(psi_j - lam M_ij)``, of the shape of the grid.
    """

    log_sums: Array
    _kernel: Kernel
    _axes: list[Axis]
    _run: Run = field(repr=False)

    @classmethod
    def of(cls, psi: Array, kernel: Kernel, run: Run = in_turn, keep: bool = True) -> GridPlan:
        """The plan for a potential of the shape of the grid; only its sums, unless `keep`."""
        axes: list[Axis] = []
        phi = np.ascontiguousarray(psi)
        for sharp in reversed(kernel.sharpness):
            n = phi.shape[-1]
            found, out = SUMS[kernel.metric](phi.reshape(-1, n), sharp, run)
            if keep:
                axes.append(found)
            phi = out.reshape(n, *phi.shape[:-1])
        return cls(phi, kernel, axes, run)

    def average(self, values: Array) -> Array:
        """``(P v)_i / r_i``: the mean of values of columns, for every row."""
        for axis in self._axes:
            flat = _lines(values)
            out = np.empty(flat.shape[::-1])
            axis.averaged(flat, out, self._run)
            values = out.reshape(values.shape[-1], *values.shape[:-1])
        return values

    def spread(self, masses: Array) -> Array:
        """``P^T (m / r)``: where the masses of rows go; of ``r`` itself, the sums of columns."""
        for axis in reversed(self._axes):
            n = masses.shape[0]
            flat = np.ascontiguousarray(masses).reshape(n, -1)
            out = np.empty(flat.shape[::-1])
            axis.spread(flat, out, self._run)
            masses = out.reshape(*masses.shape[1:], n)
        return masses

    def exponents(self, share: Array | None = None) -> tuple[Array, Array]:
        """For every row, the means of ``share_j`` and of ``lam M_ij share_j``; by default of 1."""
        part = np.ones_like(self.log_sums) if share is None else share
        costs = np.zeros_like(part)
        for sharp, axis in zip(reversed(self._kernel.sharpness), self._axes, strict=True):
            out, moved = (np.empty(_lines(costs).shape[::-1]) for _ in range(2))
            axis.with_costs(_lines(costs), _lines(part), sharp, out, self._run)
            axis.averaged(_lines(part), moved, self._run)
            shape = (costs.shape[-1], *costs.shape[:-1])
            costs, part = out.reshape(shape), moved.reshape(shape)
        return part, costs


def _lines(values: Array) -> Array:
    """As lines along the last axis."""
    return np.ascontiguousarray(values).reshape(-1, values.shape[-1])
