"""Sweeps under cityblock distances on scalings instead of their logarithms.

Where floats hold scalings and their products with the kernel, a sweep has no exponential and no
logarithm, but for a power where it is relaxed far: it is two recursions along every axis and a
quotient. Elsewhere `relaxed` sweeps on logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid_plan import Run
from sinkdist.solvers.compiled.grid.newton import Target

__all__ = ["Scalings"]

Array = npt.NDArray[Any]

_SAFE = 600.0  #: exponents of the kernel, and of potentials, whose sums do not underflow


@dataclass(slots=True)
class Scalings:
    """Scalings of rows and columns, 0 on pixels without mass, and work space.

    Attributes
    ----------
    top : float
        The logarithm of the unit of `v`, and of one over that of `u`.
    """

    at: Target
    top: float
    u: Array
    v: Array
    _sums: Array
    _fresh: bool
    _moved: Array

    @classmethod
    def of(cls, at: Target, psi: Array) -> Scalings | None:
        """None where the metric has no recursion, or floats may not hold scalings."""
        from sinkdist.kernels.grid.recursions import CHUNK

        metric, sharpness, _ = at.kernel
        reach = sum(s * (n - 1) for s, n in zip(sharpness, psi.shape, strict=True))
        if metric != "cityblock" or reach > _SAFE:
            return None
        top = float(psi.max())
        least = float(psi.min(where=at.c > 0.0, initial=top))
        if not top - least <= _SAFE:
            return None
        moved = np.empty(-(-psi.size // CHUNK))
        sums = np.empty(psi.shape)
        return cls(at, top, np.empty(psi.shape), np.exp(psi - top), sums, True, moved)

    def sweep(self, omega: float) -> float:
        """Both updates; the error of the columns in between, NaN where floats fail."""
        self._multiply(self.v)
        self._relax(self.at.r, 1.0 if self._fresh else omega, self.u)
        self._fresh = False
        self._multiply(self.u)
        return self._relax(self.at.c, omega, self.v)

    def psi(self) -> Array:
        """Log scalings of the columns."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.v) + self.top)

    def smooth(self) -> Array:
        """``psi - log c`` after a plain column update, on all pixels."""
        self._multiply(self.u)
        return np.asarray(self.top - np.log(self._sums, out=self._sums))

    def _multiply(self, scaling: Array) -> None:
        """The product with the kernel: the last axis first, then the columns of all others."""
        from sinkdist.kernels.grid.recursions import STRIP, sums_of_rows

        run, sharpness, shape = self.at.run, self.at.kernel.sharpness, scaling.shape
        q, gain = math.exp(-sharpness[-1]), -math.expm1(-2.0 * sharpness[-1])
        n = shape[-1]
        lines, sums = scaling.reshape(-1, n), self._sums.reshape(-1, n)
        run(len(lines), lambda a, b: sums_of_rows(lines, q, gain, a, b, sums))
        for axis in range(len(shape) - 2, -1, -1):
            n, columns = shape[axis], math.prod(shape[axis + 1 :])
            q, gain = math.exp(-sharpness[axis]), -math.expm1(-2.0 * sharpness[axis])
            cut = self._sums.reshape(-1, n, columns)
            strips = len(cut) * -(-columns // STRIP)
            self._columns(cut, q, gain, strips, run)

    def _columns(self, cut: Array, q: float, gain: float, strips: int, run: Run) -> None:
        """Sums along the middle axis, in place."""
        from sinkdist.kernels.grid.recursions import sums_of_columns

        run(strips, lambda a, b: sums_of_columns(cut, q, gain, a, b, cut))

    def _relax(self, mass: Array, omega: float, scaling: Array) -> float:
        """Update a scaling by its product with the kernel; how much the latter was off."""
        from sinkdist.kernels.grid.recursions import relax

        sums, has, to, moved = self._sums.ravel(), mass.ravel(), scaling.ravel(), self._moved
        self.at.run(len(moved), lambda a, b: relax(sums, has, omega, a, b, to, moved))
        return float(moved.sum())
