"""The kernel of self terms, as a matrix or without one: products, and the fixed points.

The kernel has ones on its diagonal, so no scaling of a histogram against itself is above 1, and one
that underflows does not matter: scalings are kept as they are, at any lam.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sinkdist.ground.cloud_plan import CloudPair, CloudPlan
from sinkdist.ground.grid_plan import Kernel, log_sum
from sinkdist.ground.on_demand import PointCosts
from sinkdist.interrupts import Stop
from sinkdist.solvers.compiled.cloud.levels import Level
from sinkdist.solvers.compiled.cloud.sweeps import fixed_point as cloud_fixed_point
from sinkdist.solvers.compiled.grid.symmetric import fixed_point
from sinkdist.solvers.compiled.symmetric import SymmetricScalings, symmetric_block

__all__ = ["CloudSelfKernel", "GridSelfKernel", "MatrixSelfKernel", "SelfKernel"]

Array = npt.NDArray[Any]


class SelfKernel(Protocol):
    """What debiasing asks of the kernel."""

    def image(self, U: Array) -> Array:
        """``K u`` for every row."""

    def fixed_points(self, R: Array, tol: float, stop: Stop) -> SymmetricScalings:
        """Histograms against themselves."""


@dataclass(frozen=True, slots=True, eq=False)
class MatrixSelfKernel:
    """A matrix."""

    matrix: Array

    def image(self, U: Array) -> Array:
        """``K u`` for every row."""
        return np.asarray(U @ self.matrix)

    def fixed_points(self, R: Array, tol: float, stop: Stop) -> SymmetricScalings:
        """Histograms against themselves, all at once."""
        return symmetric_block(self.matrix, R, tol)


@dataclass(frozen=True, slots=True, eq=False)
class GridSelfKernel:
    """The kernel of a grid without a matrix; one histogram after another, as logarithms."""

    kernel: Kernel
    sides: tuple[int, ...]

    def image(self, U: Array) -> Array:
        """``K u`` for every row."""
        return np.stack([np.exp(self._log_image(_log(u))) for u in U])

    def fixed_points(self, R: Array, tol: float, stop: Stop) -> SymmetricScalings:
        """Histograms against themselves."""
        found = [fixed_point(r.reshape(self.sides), self.kernel, tol, stop) for r in R]
        return SymmetricScalings(
            np.stack([np.exp(x.phi).ravel() for x in found]),
            np.array([x.mass for x in found]), np.array([x.error for x in found]),
        )  # fmt: skip

    def _log_image(self, logs: Array) -> Array:
        """``log(K exp(x))``."""
        return log_sum(logs.reshape(self.sides), self.kernel).ravel()


@dataclass(frozen=True, slots=True, eq=False)
class CloudSelfKernel:
    """The kernel between points without a matrix; one histogram after another, as logarithms."""

    costs: PointCosts
    lam: float

    def image(self, U: Array) -> Array:
        """``K u`` for every row."""
        return np.stack([self._image_of(u) for u in U])

    def fixed_points(self, R: Array, tol: float, stop: Stop) -> SymmetricScalings:
        """Histograms against themselves, on their bins with mass."""
        U, mass, error = np.zeros(R.shape), np.zeros(len(R)), np.zeros(len(R))
        for k, r in enumerate(R):
            bins = np.flatnonzero(r)
            pair = CloudPair.of(self.costs, bins, bins, stop=stop)
            mine = r[bins][pair.row_order]
            state, mass[k] = cloud_fixed_point(Level.of(pair.clouds, mine, mine), self.lam, tol)
            U[k, bins[pair.row_order]], error[k] = np.exp(state.phi), state.error
        return SymmetricScalings(U, mass, error)

    def _image_of(self, u: Array) -> Array:
        """``K u`` on all bins."""
        every, some = np.arange(u.size), np.flatnonzero(u)
        pair = CloudPair.of(self.costs, every, some)
        plan = CloudPlan.of(pair.clouds, self.lam, np.log(u[some][pair.column_order]))
        out = np.empty(u.size)
        out[pair.row_order] = np.exp(plan.log_sums)
        return out


def _log(x: Array) -> Array:
    """Logarithms, -inf where there is none."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(x))
