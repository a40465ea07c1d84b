"""One pair on clouds of points without a matrix, as the family's other solvers answer it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from sinkdist.ground.cloud_plan import CloudPair, Team, in_turn
from sinkdist.ground.on_demand import PointCosts
from sinkdist.kernels.compiled import Array
from sinkdist.solvers.compiled.cloud.levels import Level, levels_of
from sinkdist.solvers.compiled.cloud.sweeps import (
    State,
    converge,
    fixed_point,
    is_single_enough,
    missing,
    sweeps,
)
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, RUNNING
from sinkdist.solvers.outcome import (
    ALGORITHM1,
    LOG,
    RELAXED,
    STATUS_CONVERGED,
    STATUS_FIXED,
    STATUS_OF,
    Outcome,
)
from sinkdist.solvers.prepared import Prepared

__all__ = ["solve_on_clouds"]

_EPS = 2.0**-52
_OWN_TOL = 0.5  #: of the tolerance: the error of a symmetric plan, before its rows are made exact
_LOOSE = 1e-3  #: error on coarse clouds


def solve_on_clouds(
    task: Prepared, costs: PointCosts, rows: Array, r: Array, columns: Array, c: Array
) -> Outcome:
    """One pair, given on its bins with mass."""
    with threads_for(task.workers) as team:
        pair = CloudPair.of(costs, rows, columns, team, task.stop)
        level = Level.of(pair.clouds, r[pair.row_order], c[pair.column_order])
        if task.iterations is not None:
            found = _algorithm1(task, level)
        else:
            found = _to_tolerance(task, level, costs.max)
    assert found.f is not None and found.g is not None
    found.f, found.g = _as_given(found.f, pair.row_order), _as_given(found.g, pair.column_order)
    return found


@contextmanager
def threads_for(workers: int) -> Iterator[Team]:
    """How to get through the parts of a cloud: on threads, unless one is all there is."""
    if workers == 1:
        yield in_turn
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="sinkdist") as pool:

        def team(parts: int, work: Callable[[int], None]) -> None:
            for _ in pool.map(work, range(parts)):
                pass

        yield team


def _as_given(values: Array, order: Array) -> Array:
    """Values in the order of a cloud, in that of its bins."""
    out = np.empty(values.size)
    out[order] = values
    return out


def _to_tolerance(task: Prepared, level: Level, largest: float) -> Outcome:
    """Coarse to fine by over-relaxed sweeps; plain sweeps where these were asked for."""
    lam, tol, limit = task.member.lam, task.tol, task.max_iter
    quickest = task.solver.fallback == "newton"
    if not quickest:
        return _outcome(
            task, level, sweeps(level, lam, _begun(level), tol, limit, relax=False), LOG
        )
    if _is_equal(level):
        found = _outcome(task, level, fixed_point(level, lam, _OWN_TOL * tol)[0], LOG)
        if found.status == STATUS_CONVERGED and found.n_iter <= limit:
            return found
    state = _coarse_to_fine(level, lam, tol, limit, largest)
    found = _outcome(task, level, state, RELAXED)
    if found.status != STATUS_CONVERGED and state.sweeps < limit:  # single precision fell short
        found = _outcome(task, level, sweeps(level, lam, state, tol, limit), RELAXED)
    return found


def _algorithm1(task: Prepared, level: Level) -> Outcome:
    """The paper's Algorithm 1: a number of steps from ``u = d``; ends with exact columns.

    A step updates the columns, and the rows by what these have become.
    """
    lam, steps, turned = task.member.lam, task.iterations, level.swapped
    assert steps is not None
    phi, psi = np.full(level.r.size, math.log(level.r.size)), _unknown(level.c)
    for made in range(steps + 1):
        psi, rows, exponents = turned.clouds.sweep(lam, phi, psi, level.log_c)
        if made < steps:
            phi = phi + missing(turned, lam, phi, psi, rows)
    error = float(np.abs(rows - level.r).sum()) + _rounding(level, phi, psi)
    value = float(np.vdot(level.c, exponents)) / lam
    return Outcome(
        value, error, steps, STATUS_FIXED, ALGORITHM1, phi / lam, psi / lam, lam
    )  # fmt: skip


def _coarse_to_fine(finest: Level, lam: float, tol: float, limit: int, largest: float) -> State:
    """Solve a pair of clouds after the coarser ones; sweeps counted are those of its own."""
    levels = levels_of(finest)
    coarse, state = levels[-1], _begun(levels[-1])
    state = converge(coarse, lam, state, max(tol, _LOOSE), limit, largest)
    for level in levels[-2::-1]:
        start = _refined(state, coarse, level, lam, is_single_enough(lam, largest))
        wanted = tol if level is finest else max(tol, _LOOSE)
        coarse, state = level, converge(level, lam, start, wanted, limit, largest)
    return state


def _begun(level: Level) -> State:
    """Before any sweep: ``v = 1``."""
    return State(_unknown(level.r), np.zeros(level.c.size), np.inf, 0)


def _unknown(masses: Array) -> Array:
    return np.full(masses.size, -np.inf)


def _refined(state: State, coarse: Level, fine: Level, lam: float, single: bool) -> State:
    """Potentials of finer clouds: what an update by the coarse ones gives."""
    there, here = coarse.clouds, fine.clouds
    to_rows, to_columns = replace(here, y=there.y), replace(here.swapped, y=there.x)
    phi, _, _ = to_rows.sweep(
        lam, state.psi, _unknown(fine.r), fine.log_r, error=_LOOSE, single=single
    )
    psi, _, _ = to_columns.sweep(
        lam, state.phi, _unknown(fine.c), fine.log_c, error=_LOOSE, single=single
    )
    return State(phi, psi, np.inf, 0)


def _outcome(task: Prepared, level: Level, state: State, ran: int) -> Outcome:
    """The answer, judged by a sweep in double precision, with exact rows."""
    lam = task.member.lam
    phi, columns, exponents = level.clouds.sweep(lam, state.psi, state.phi, level.log_r)
    error = float(np.abs(columns - level.c).sum()) + _rounding(level, phi, state.psi)
    value = float(np.vdot(level.r, exponents)) / lam
    status = (
        CONVERGED
        if error <= task.tol
        else RUNNING
        if state.sweeps >= task.max_iter
        else HANDED_OVER
    )
    return Outcome(
        value, error, state.sweeps, STATUS_OF[status], ran, phi / lam, state.psi / lam, lam
    )  # fmt: skip


def _rounding(level: Level, phi: Array, psi: Array) -> float:
    """What rounding the potentials may add to the marginal error of their plan."""
    return _EPS * float(np.vdot(level.r, np.abs(phi)) + np.vdot(level.c, np.abs(psi)))


def _is_equal(level: Level) -> bool:
    """Whether a histogram is compared with itself."""
    x, y = level.clouds.x.points, level.clouds.y.points
    return (
        level.r.size == level.c.size and np.array_equal(level.r, level.c) and np.array_equal(x, y)
    )
