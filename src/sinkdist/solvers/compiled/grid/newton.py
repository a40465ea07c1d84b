"""Newton's method for one lam on one grid, from potentials that are nearly right.

The unknown is ``psi = lam g``, the log scalings of the columns; the rows of a `GridPlan` are exact
whatever it is. With the column sums ``c'``, Newton's step solves ``(diag(c') - P^T diag(1/r) P) x =
c - c'`` by preconditioned conjugate gradients: each step of these is a mean and its adjoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid_plan import GridPlan, Kernel, Run, log_sum, plan_of
from sinkdist.interrupts import Stop
from sinkdist.solvers.compiled.grid.preconditioner import Cosines, Preconditioner

__all__ = ["Newton", "State", "Target", "column_update", "row_potential", "state_at"]

Array = npt.NDArray[Any]

_FARTHEST, _WHOLE = 3.0, 1e3  #: a log scaling moves by at most this in a step; in a whole one
_WORSE = 2.0  #: times the least error: where to go back
_LEAST_GAIN = 0.7  #: of the error, by a step; else sweeps come before the next
_CG_STEPS = 100  #: at most, for one step of Newton's
_FORCING = 0.1  #: relative residual of the linear system, at most
_SWEEPS = 2  #: before the first step, and after one that failed
_WIDE = 0.1  #: lam times the cost of a step below which kernels are wide, and one sweep is enough
_FAILURES = 12  #: steps without progress after which rounding is to blame


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """A pair on a grid at one lam.

    Attributes
    ----------
    r, c, log_r, log_c : ndarray
        Masses, and their logarithms, of the shape of the grid.
    kernel : Kernel
        ``exp(-lam M)``.
    """

    r: Array
    c: Array
    log_r: Array
    log_c: Array
    kernel: Kernel
    run: Run
    stop: Stop


@dataclass(slots=True)
class State:
    """Where a solve stands: the potential, its plan, the error of the columns, reads so far."""

    psi: Array
    plan: GridPlan
    columns: Array
    error: float
    reads: int


def row_potential(at: Target, psi: Array) -> Array:
    """``phi = log u`` after a row update."""
    return at.log_r - log_sum(psi, at.kernel, at.run)


def column_update(at: Target, phi: Array) -> Array:
    """``psi - log c`` after a column update: smooth, and defined without mass as well."""
    return -log_sum(phi, at.kernel, at.run)


class Newton:
    """A method: see above. Nothing is remembered from one grid to the next."""

    def converge(self, at: Target, psi: Array, tol: float, limit: int) -> State:
        """Newton's method until the error is at most ``tol``, or about ``limit`` reads are made."""
        return _converge(at, psi, tol, limit)

    def approach(self, at: Target, psi: Array, tol: float, limit: int) -> Array:
        """The same, for the next grid: ``psi - log c`` after a column update."""
        return column_update(at, at.log_r - _converge(at, psi, tol, limit).plan.log_sums)


def _converge(at: Target, psi: Array, tol: float, limit: int) -> State:
    """The best state found; see `Newton.converge`."""
    first = _SWEEPS if max(at.kernel.sharpness) > _WIDE else 1
    psi, reads = _swept(at, psi, min(first, max(limit - 1, 0)))
    state = best = state_at(at, psi, reads)
    cosines, failures = None, 0
    while state.error > tol and state.reads < limit and failures < _FAILURES:
        at.stop.check()
        if cosines is None:
            cosines = Cosines.of(at.r.shape, at.kernel.sharpness)
        step, made = _newton_step(at, best, cosines, tol, limit - state.reads)
        state = _along(at, best, step, state.reads + made, limit)
        if state.error <= _LEAST_GAIN * best.error:
            best, failures = state, 0
            continue
        failures += 1
        if state.error <= tol or state.reads >= limit:
            break
        least = best.error
        psi = state.psi if state.error < _WORSE * least else best.psi
        psi, made = _swept(at, psi, max(0, min(_SWEEPS * failures, limit - state.reads - 1)))
        state = state_at(at, psi, state.reads + made)
        if state.error < least:
            failures = failures if state.error > _LEAST_GAIN * least else 0
            best = state
    found = state if state.error < best.error else best
    found.reads = state.reads
    return found


def _along(at: Target, start: State, step: Array, reads: int, limit: int) -> State:
    """The state after a step, or after as much of it as helps.

    Large steps are right where a whole region moves alike, and wrong where neighbours are torn
    apart; so the whole step is tried first, then one in which no log scaling moves far.
    """
    state = state_at(at, start.psi + np.clip(step, -_WHOLE, _WHOLE), reads)
    if state.error <= _LEAST_GAIN * start.error or state.reads >= limit:
        return state
    if float(np.abs(step).max()) > _FARTHEST:
        clipped = np.clip(step, -_FARTHEST, _FARTHEST)
        other = state_at(at, start.psi + clipped, state.reads)
        if other.error < state.error:
            return other
        state.reads = other.reads
    return state


def _swept(at: Target, psi: Array, sweeps: int) -> tuple[Array, int]:
    """Plain sweeps: a row update and a column update each."""
    for _ in range(sweeps):
        at.stop.check()
        psi = at.log_c + column_update(at, row_potential(at, psi))
    return psi, sweeps


def state_at(at: Target, psi: Array, reads: int) -> State:
    """The plan of a potential, and how far its columns are off."""
    plan = plan_of(psi, at.kernel, at.run)
    columns = plan.spread(at.r)
    return State(psi, plan, columns, float(np.abs(columns - at.c).sum()), reads + 1)


def _newton_step(
    at: Target, state: State, cosines: Cosines, tol: float, limit: int
) -> tuple[Array, int]:
    """Newton's step, and the reads it took."""
    plan, columns, some = state.plan, state.columns, at.c > 0.0
    density = np.sqrt(columns * _ratio(plan.spread(at.r * at.r), columns))
    precondition = Preconditioner.of(cosines, np.where(some, columns, 0.0), density)
    residual = np.where(some, at.c - columns, 0.0)
    aim = max(0.3 * tol, min(_FORCING, state.error) * state.error)
    x, z = np.zeros_like(residual), precondition(residual)
    direction, product = z.copy(), float(np.vdot(residual, z))
    made = 0
    while made < min(_CG_STEPS, max(limit, 1)):
        made += 1
        at.stop.check()
        image = columns * direction - plan.spread(at.r * plan.average(direction))
        image[~some] = 0.0
        curvature = float(np.vdot(direction, image))
        if not (curvature > 0.0 and product > 0.0):
            break
        length = product / curvature
        x += length * direction
        residual -= length * image
        if float(np.abs(residual).sum()) <= aim:
            break
        z = precondition(residual)
        last, product = product, float(np.vdot(residual, z))
        direction *= product / last
        direction += z
    return x, made


def _ratio(a: Array, b: Array) -> Array:
    """Quotients, 0 where there is nothing to divide by."""
    return np.divide(a, b, out=np.zeros_like(a), where=b > 0.0)
