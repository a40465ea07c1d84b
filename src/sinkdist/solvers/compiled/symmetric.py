"""A histogram against itself: the symmetric fixed point, for one histogram or many at once.

Under a symmetric kernel the plan of ``(r, r)`` has one scaling, ``P = diag(u) K diag(u)``.
Sinkhorn's map ``u -> r / (K u)`` would jump to and fro around it; the geometric mean of ``u`` and
its image does not, and where ``K`` is positive semi-definite the error is in the end at least
halved with every sweep, at any lam. So twenty sweeps do where a pair of different histograms may
take hundreds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.pair import row_pass

__all__ = [
    "MOST_SWEEPS", "SymmetricScalings", "is_against_itself", "symmetric_block", "symmetric_pair",
]  # fmt: skip

#: Enough for every positive semi-definite kernel and tolerance; other kernels may need more than
#: they are worth, and such histograms are solved as ordinary pairs.
MOST_SWEEPS = 100


@dataclass(frozen=True, slots=True)
class SymmetricScalings:
    """Some histograms against themselves, one row or entry per histogram.

    Attributes
    ----------
    U : ndarray
        The scalings; 0 on bins without mass.
    mass : ndarray
        ``u^T K u``: what the plan sums to, 1 at the fixed point.
    error : ndarray
        L1 marginal error of the plan, both sides.
    """

    U: Array
    mass: Array
    error: Array


def is_against_itself(costs: Array, r: Array, c: Array) -> bool:
    """Whether a pair is a histogram against itself, and staying is free."""
    if r.size != c.size or r[0] != c[0] or not np.array_equal(r, c):  # the cheapest test first
        return False
    return not costs.diagonal().any() and np.array_equal(costs, costs.T)


def symmetric_block(K: Array, R: Array, tol: float, sweeps: int = MOST_SWEEPS) -> SymmetricScalings:
    """Sweep the rows of ``R`` under a symmetric ``K`` until their errors are at most ``tol``."""
    U = np.sqrt(R)  # exact where K is the identity: the limit of a large lam
    with np.errstate(all="ignore"):  # what is not representable shows as an error that stays
        for sweep in range(sweeps + 1):
            sums = U @ K
            plan_sums = U * sums
            error = 2.0 * np.abs(plan_sums - R).sum(axis=1)
            if sweep == sweeps or not (error > tol).any():
                break
            U = np.sqrt(U * np.divide(R, sums, out=np.zeros_like(R), where=R > 0.0))
    return SymmetricScalings(U, plan_sums.sum(axis=1), error)


def symmetric_pair(
    K: Array, r: Array, tol: float, sweeps: int, stop: Stop
) -> tuple[Array, Array, float, int]:
    """One histogram with mass in every bin: ``u``, ``v``, the columns' L1 error, the sweeps made.

    Its state is that of all solvers, after a row pass ``u = r / (K v)``: rows are exact. The error
    is above ``tol`` where that was not reached, infinite where a sum is not representable.
    """
    u, v, acc = np.empty(r.size), np.sqrt(r), np.empty(r.size)
    for sweep in range(1, sweeps + 1):
        stop.check()
        if not row_pass(K, r, v, u, acc):
            return u, v, np.inf, sweep
        error = float(np.abs(acc * v - r).sum())
        if error <= tol:
            break
        if sweep < sweeps:
            v = np.sqrt(v * u)
    return u, v, error, sweep
