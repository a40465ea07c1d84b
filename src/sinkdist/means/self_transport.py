"""Histograms transported to themselves: what debiasing subtracts.

The plan is ``diag(z) K diag(z)`` with one scaling, by symmetry. The step
``z <- sqrt(z a / (K z))`` converges much faster than alternating ones.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.interrupts import Stop
from sinkdist.kernels.log_sums import NONE
from sinkdist.means.smoothing import Smoothing

__all__ = ["self_objectives"]

Array: TypeAlias = npt.NDArray[Any]

_MOST = 1000  #: steps; some dozens are usual


def self_objectives(smoothing: Smoothing, rows: Array, lam: float, tol: float, stop: Stop) -> Array:
    """``OT(a, a) = <P, M> - h(P) / lam`` for every row ``a``, by its dual: a lower bound.

    Rows that share no kernel with others are solved together; the last decides when to stop. The
    dual is off by the square of the error of the marginals.
    """
    a = np.asarray(rows, smoothing.dtype)
    with np.errstate(divide="ignore"):
        log_a = np.maximum(np.log(a), NONE)
    log_z = np.where(a > 0.0, 0.5 * log_a, NONE).astype(a.dtype)
    for _ in range(_MOST):
        stop.check()
        change = log_a - log_z - smoothing.own(log_z)
        change[a == 0.0] = 0.0
        error = (a * np.abs(np.expm1(-change))).sum(axis=1)
        if error.max(initial=0.0) <= tol:
            break
        log_z += 0.5 * change
    mass = (a * np.exp(-change)).sum(axis=1, dtype=np.float64)
    dual = 2.0 * np.einsum("ki,ki->k", np.where(a > 0.0, log_z, 0.0), a, dtype=np.float64)
    return np.asarray((dual - (mass - 1.0)) / lam)
