"""The plan of a potential on a grid where costs are sums over axes: sums along lines.

Squared and cityblock distances are sums over axes, so their kernel is a product over axes, and so
are sums with it: log-sum-exp along one axis after another. The weights that these are made of are
kept; means under the plan, its columns and its cost are then sums of products. All of it is one and
the same plan: what rounding does to exponents is in its weights, and so in everything it answers.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid_axes import SUMS, Axis, Run

__all__ = ["SeparablePlan"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class SeparablePlan:
    """A `grid_plan.GridPlan` made of weights along every axis.

    Attributes
    ----------
    log_sums : ndarray
        ``log sum_j exp(psi_j - lam M_ij)``, of the shape of the grid.
    """

    log_sums: Array
    _sharpness: tuple[float, ...]
    _axes: list[Axis]
    _run: Run = field(repr=False)

    @classmethod
    def of(
        cls, psi: Array, metric: str, sharpness: tuple[float, ...], run: Run, keep: bool = True
    ) -> SeparablePlan:
        """The plan for a potential of the shape of the grid; only its sums, unless `keep`."""
        axes: list[Axis] = []
        phi = np.ascontiguousarray(psi)
        for sharp in reversed(sharpness):
            n = phi.shape[-1]
            found, out = SUMS[metric](phi.reshape(-1, n), sharp, run)
            if keep:
                axes.append(found)
            phi = out.reshape(n, *phi.shape[:-1])
        return cls(phi, sharpness, axes, run)

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
        for sharp, axis in zip(reversed(self._sharpness), self._axes, strict=True):
            out, moved = (np.empty(_lines(costs).shape[::-1]) for _ in range(2))
            axis.with_costs(_lines(costs), _lines(part), sharp, out, self._run)
            axis.averaged(_lines(part), moved, self._run)
            shape = (costs.shape[-1], *costs.shape[:-1])
            costs, part = out.reshape(shape), moved.reshape(shape)
        return part, costs


def _lines(values: Array) -> Array:
    """As lines along the last axis."""
    return np.ascontiguousarray(values).reshape(-1, values.shape[-1])
