"""A histogram against itself on a large grid: the symmetric fixed point, as logarithms.

As `compiled.symmetric`: ``u <- sqrt(u r / (K u))``, which at least halves the error in the end
where the kernel is positive semi-definite, as all kernels of grids are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid_plan import Kernel, Run, in_turn, log_sum
from sinkdist.interrupts import Stop
from sinkdist.solvers.compiled.symmetric import MOST_SWEEPS

__all__ = ["FixedPoint", "fixed_point"]

Array = npt.NDArray[Any]


class FixedPoint(NamedTuple):
    """A histogram against itself.

    Attributes
    ----------
    phi : ndarray
        Logarithms of the scaling, -inf on bins without mass.
    mass : float
        ``u^T K u``: what the plan sums to.
    error : float
        L1 marginal error of the plan, both sides.
    sweeps : int
        How many were made.
    """

    phi: Array
    mass: float
    error: float
    sweeps: int


def fixed_point(r: Array, kernel: Kernel, tol: float, stop: Stop, run: Run = in_turn) -> FixedPoint:
    """Sweep until the error is at most ``tol``, or `MOST_SWEEPS` times."""
    some = r > 0.0
    with np.errstate(divide="ignore"):
        logs = np.log(r)
    phi = logs - 0.5 * log_sum(logs, kernel, run)  # exact for the widest and narrowest kernels
    for sweep in range(MOST_SWEEPS + 1):
        stop.check()
        image = np.where(some, log_sum(phi, kernel, run), 0.0)
        sums = np.exp(phi + image)
        error = 2.0 * float(np.abs(sums - r).sum()) + 2.0 * kernel.rounding
        if error <= tol or sweep == MOST_SWEEPS:
            break
        phi = 0.5 * (phi + logs - image)
    return FixedPoint(phi, float(sums.sum()), error, sweep)
