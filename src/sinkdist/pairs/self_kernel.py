"""The kernel of self terms, as a matrix or on a large grid: products, and the fixed points.

The kernel has ones on its diagonal, so no scaling of a histogram against itself is above 1, and one
that underflows does not matter: scalings are kept as they are, at any lam.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid_plan import Kernel, log_sum
from sinkdist.interrupts import Stop
from sinkdist.solvers.compiled.grid.symmetric import fixed_point
from sinkdist.solvers.compiled.symmetric import SymmetricScalings, symmetric_block

__all__ = ["GridSelfKernel", "MatrixSelfKernel", "SelfKernel"]

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


def _log(x: Array) -> Array:
    """Logarithms, -inf where there is none."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(x))
