"""One pair on a grid without a matrix, as the family's other solvers answer it."""

from __future__ import annotations

import numpy as np

from sinkdist.ground.grid import GridCosts
from sinkdist.ground.grid_plan import Run, log_sum, plan_of
from sinkdist.kernels.compiled import Array
from sinkdist.solvers.compiled.grid.levels import Level
from sinkdist.solvers.compiled.grid.newton import (
    State,
    Target,
    column_update,
    row_potential,
    state_at,
)
from sinkdist.solvers.compiled.grid.solve import coarse_to_fine, target_of
from sinkdist.solvers.compiled.grid.symmetric import fixed_point
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, RUNNING
from sinkdist.solvers.outcome import (
    ALGORITHM1,
    LOG,
    NEWTON,
    RELAXED,
    STATUS_FIXED,
    STATUS_OF,
    Outcome,
)
from sinkdist.solvers.prepared import Prepared

__all__ = ["algorithm1", "to_tolerance"]

_EPS = 2.0**-52
_OWN_TOL = 0.5  #: of the tolerance: the error of a symmetric plan, before its rows are made exact
RAN = {
    "sqeuclidean": NEWTON,
    "cityblock": RELAXED,
    "euclidean": RELAXED,
}  #: what solves a pair on each grid


def to_tolerance(task: Prepared, grid: GridCosts, run: Run, r: Array, c: Array) -> Outcome:
    """Coarse to fine with Newton's method; plain sweeps where these were asked for."""
    lam, tol = task.member.lam, task.tol
    r, c = (np.array(x, order="C").reshape(grid.sides) for x in (r, c))  # may be read-only
    level = Level(r, c, grid.kind, grid.steps)
    quickest = task.solver.fallback == "newton"
    equal = _equal_pair(level, task, run) if quickest and np.array_equal(r, c) else None
    if equal is not None:
        target, state = equal
        psi, plan, error, reads, ran = state.psi, state.plan, state.error, state.reads, LOG
    elif quickest:
        state, target = coarse_to_fine(level, lam, tol, task.max_iter, run, task.stop)
        psi, plan, error, reads, ran = (
            state.psi,
            state.plan,
            state.error,
            state.reads,
            RAN[grid.kind],
        )
    else:
        target = target_of(level, lam, run, task.stop)
        psi, reads = _sweeps(target, tol, task.max_iter)
        plan, ran = plan_of(psi, target.kernel, run), LOG
        error = float(np.abs(plan.spread(r) - c).sum())
    phi = target.log_r - plan.log_sums
    error += _rounding(r, c, phi, psi) + target.kernel.rounding
    value = float(np.vdot(r, plan.exponents()[1])) / lam
    act = CONVERGED if error <= tol else RUNNING if reads >= task.max_iter else HANDED_OVER
    return _outcome(value, error, reads, STATUS_OF[act], ran, phi, psi, lam)


def algorithm1(task: Prepared, grid: GridCosts, run: Run, r: Array, c: Array) -> Outcome:
    """The paper's Algorithm 1 to the letter, in the log domain; it ends with exact columns."""
    lam, steps = task.member.lam, task.iterations
    assert steps is not None
    r, c = (np.array(x, order="C").reshape(grid.sides) for x in (r, c))  # may be read-only
    target = target_of(Level(r, c, grid.kind, grid.steps), lam, run, task.stop)
    phi = np.where(r > 0.0, np.log(np.count_nonzero(r)), -np.inf)
    for _ in range(steps):
        task.stop.check()
        phi = row_potential(target, target.log_c + column_update(target, phi))
    plan = plan_of(phi, target.kernel, run)  # of the columns: costs are symmetric
    psi = target.log_c - plan.log_sums
    error = float(np.abs(plan.spread(c) - r).sum()) + _rounding(r, c, phi, psi)
    error += target.kernel.rounding
    value = float(np.vdot(c, plan.exponents()[1])) / lam
    return _outcome(value, error, steps, STATUS_FIXED, ALGORITHM1, phi, psi, lam)


def _sweeps(at: Target, tol: float, limit: int) -> tuple[Array, int]:
    """Sinkhorn's sweeps from ``v = 1``; the potential of the columns, and how many were made."""
    psi = np.where(at.c > 0.0, 0.0, -np.inf)
    some = at.c > 0.0
    for made in range(1, limit + 1):
        at.stop.check()
        new = at.log_c - log_sum(row_potential(at, psi), at.kernel, at.run)
        error = float(np.abs(np.expm1(np.minimum(psi[some] - new[some], 700.0)) * at.c[some]).sum())
        if error <= tol:
            return psi, made
        psi = new
    return psi, limit


def _equal_pair(level: Level, task: Prepared, run: Run) -> tuple[Target, State] | None:
    """A histogram against itself, where the symmetric fixed point is reached."""
    target = target_of(level, task.member.lam, run, task.stop, task.tol)
    found = fixed_point(level.r, target.kernel, _OWN_TOL * task.tol, task.stop, run)
    state = state_at(target, found.phi, found.sweeps)
    return (target, state) if state.error <= task.tol and state.reads <= task.max_iter else None


def _rounding(r: Array, c: Array, phi: Array, psi: Array) -> float:
    """What rounding the potentials may add to the marginal error of their plan."""
    return _EPS * sum(
        float(np.vdot(mass[mass > 0.0], np.abs(x[mass > 0.0]))) for mass, x in ((r, phi), (c, psi))
    )


def _outcome(
    value: float, error: float, reads: int, status: int, ran: int, phi: Array, psi: Array,
    lam: float,
) -> Outcome:  # fmt: skip
    """The answer on all bins."""
    f, g = phi.ravel() / lam, psi.ravel() / lam
    return Outcome(value, error, reads, status, ran, f, g, lam)
