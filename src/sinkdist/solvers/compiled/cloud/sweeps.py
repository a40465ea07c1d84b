"""Over-relaxed sweeps for one lam on one pair of clouds.

A sweep is one read of the costs: rows are updated and the columns of the plan that this leads to
are known. When to relax, and by how much, is decided as for every other pair
(`compiled.relaxation`). Single precision takes less than half the time; its exponents are off by
some digits of ``lam`` times the largest cost, so what it is good for is known, and from there on
sweeps are in double precision. Sums leave out what the tolerance does not see.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.cloud_plan import ACCURATE
from sinkdist.solvers.compiled.cloud.levels import Level
from sinkdist.solvers.compiled.relaxation import (
    CONVERGED,
    FIELDS,
    FOREVER,
    OMEGA,
    PLAIN,
    begin,
    decide,
)
from sinkdist.solvers.compiled.symmetric import MOST_SWEEPS

__all__ = ["State", "converge", "fixed_point", "is_single_enough", "missing", "sweeps"]

Array = npt.NDArray[Any]

_NOTICED = 0.01  #: of the tolerance: what sums may leave out
#: The error of a plan's columns in single precision: about 1.5e-7, and 1e-9 of lam times the
#: largest cost, since exponents round at random.
_SINGLE, _SINGLE_FAR = 2.0**-22, 2.0**-29
_ENOUGH = 0.5  #: of the tolerance: the error of sums that single precision may have
_COARSE = 1e-2  #: a tolerance that is worth sweeps in single precision before those in double
_LEAST_SHARE = 1e-250  #: of a column's mass: below this, its sum is no number to divide by


@dataclass(slots=True)
class State:
    """Where a solve stands: potentials of rows and columns, the error of the columns, sweeps."""

    phi: Array
    psi: Array
    error: float
    sweeps: int


def converge(at: Level, lam: float, state: State, tol: float, limit: int, largest: float) -> State:
    """Sweeps until the error is at most ``tol``, or ``limit`` of them are made in all.

    ``largest`` is the largest cost.
    """
    off = _SINGLE + _SINGLE_FAR * lam * largest
    quick = tol - off if off <= _ENOUGH * tol else 4.0 * off
    if quick <= max(tol, _COARSE):
        state = sweeps(at, lam, state, quick, limit, single=True)
        if quick <= tol or state.sweeps >= limit:
            return state
    return sweeps(at, lam, state, tol, limit)


def is_single_enough(lam: float, largest: float) -> bool:
    """Whether single precision gives a potential to start from."""
    return _SINGLE_FAR * lam * largest <= _COARSE


def sweeps(
    at: Level, lam: float, state: State, tol: float, limit: int, *, single: bool = False,
    relax: bool = True,
) -> State:  # fmt: skip
    """Sweeps in one precision."""
    policy, made = np.empty(FIELDS), state.sweeps
    begin(policy)
    phi, psi, error = state.phi, state.psi, state.error
    while made < limit:
        made += 1
        omega = float(policy[OMEGA])
        phi, columns, _ = at.clouds.sweep(
            lam, psi, phi, at.log_r, omega, _NOTICED * tol if relax else ACCURATE, single
        )
        error = float(np.abs(columns - at.c).sum())
        if decide(policy, error, tol, FOREVER if relax else PLAIN) == CONVERGED or made == limit:
            break
        psi = psi + omega * missing(at, lam, psi, phi, columns)
    return State(phi, psi, error, made)


def missing(at: Level, lam: float, psi: Array, phi: Array, columns: Array) -> Array:
    """``log(c / c')``; where too little reaches a column, by a sum of its own."""
    poor = columns < _LEAST_SHARE * at.c
    if not poor.any():
        return np.asarray(at.log_c - np.log(columns))
    nothing = np.full(at.c.size, -np.inf)
    found, _, _ = at.clouds.swapped.sweep(lam, phi, nothing, at.log_c)
    return np.asarray(found - psi)


def fixed_point(at: Level, lam: float, tol: float) -> tuple[State, float]:
    """A histogram against itself: the symmetric fixed point, and what its plan sums to.

    As `compiled.symmetric`: ``u <- sqrt(u r / (K u))`` is a row update by a half. Where it is not
    reached in `MOST_SWEEPS`, the error says so.
    """
    phi = 0.5 * at.log_r
    for made in range(1, MOST_SWEEPS + 1):
        new, _, _ = at.clouds.sweep(lam, phi, phi, at.log_r, 0.5)
        # The update is half the logarithm of what is missing.
        sums = at.r * np.exp(np.minimum(-2.0 * (new - phi), 600.0))
        error = 2.0 * float(np.abs(sums - at.r).sum())
        if error <= tol or made == MOST_SWEEPS:
            break
        phi = new
    return State(phi, phi, error, made), float(sums.sum())
