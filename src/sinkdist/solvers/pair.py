"""Solving one pair: what a solver tries, in order, on bins with mass.

Long loops are called in pieces of a few hundredths of a second, so that Ctrl-C is answered.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.gibbs import Gibbs
from sinkdist.passes.exponential import stabilised_kernel
from sinkdist.passes.pair import gather, mean_cost, plan_cost
from sinkdist.solvers.algorithm1 import algorithm1_log, algorithm1_pair
from sinkdist.solvers.ladder import climb
from sinkdist.solvers.log import log_sweeps
from sinkdist.solvers.outcome import ALGORITHM1, FIXED, LOG, NEWTON, STATUS_OF, Outcome
from sinkdist.solvers.relaxation import DONE, FIELDS, GO, SWEEPS, THETA2, begin
from sinkdist.solvers.scaling import rows_exact, scale_pair
from sinkdist.solvers.table import Solver

__all__ = ["Task", "block_of", "fall_back", "solve_pair"]

Array = npt.NDArray[Any]

HOPELESS = 25.0  #: lam times the mean cost beyond which Newton is not preceded by sweeps
EASY = 30.0  #: lam times the largest cost below which that is not even asked
READ_AT_ONCE = 5e7  #: kernel entries read in one compiled call


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of every pair."""

    gibbs: Gibbs
    solver: Solver
    tol: float
    max_iter: int
    iterations: int | None
    keep: bool  #: whether potentials are wanted
    stop: threading.Event = field(default_factory=threading.Event)  #: set when nobody waits any more


def solve_pair(task: Task, r: Array, c: Array) -> tuple[Outcome, Array | None, Array | None]:
    """One pair; the outcome, and the bins with mass of both sides (None for all)."""
    rows, columns = _support(r), _support(c)
    if rows is not None:
        r = r[rows]
    if columns is not None:
        c = c[columns]
    r, c = np.asarray(r, np.float64), np.asarray(c, np.float64)
    r, c = (x if x.flags.writeable else x.copy() for x in (r, c))  # one compiled type for all
    gibbs = task.gibbs
    costs = block_of(gibbs.matrix, rows, columns)
    if task.iterations is not None:
        return _fixed(task, costs, rows, columns, r, c), rows, columns
    made = 0
    if gibbs.fits and task.solver.patience is not None and not _hopeless(task, costs, r, c):
        outcome = _scaled(task, block_of(gibbs.kernel, rows, columns), costs, r, c)
        if outcome.status >= 0:
            return outcome, rows, columns
        made = outcome.n_iter
    outcome = fall_back(task, costs, r, c)
    outcome.n_iter += made
    return outcome, rows, columns


def fall_back(task: Task, costs: Array, r: Array, c: Array) -> Outcome:
    """What scaling hands over: Newton on a ladder, or sweeps in the log domain."""
    lam = task.gibbs.lam
    if task.solver.fallback == "newton":
        end = climb(costs, lam, r, c, task.tol, task.max_iter)
        return Outcome(end.value, end.error, end.n_iter, STATUS_OF[end.act], NEWTON, end.f, end.g)
    f, g = np.zeros(r.size), np.zeros(c.size)
    made, error = log_sweeps(costs, lam, r, c, f, g, task.tol, task.max_iter)
    K = np.empty(costs.shape)
    stabilised_kernel(costs, lam, f, g, K, K.view(np.int64))
    value = plan_cost(K, costs, np.ones(r.size), np.ones(c.size))
    return Outcome(value, error, made, STATUS_OF[DONE if error <= task.tol else GO], LOG, f, g)


def block_of(matrix: Array, rows: Array | None, columns: Array | None) -> Array:
    """The part of a matrix on the given bins; the matrix itself where that is all of it."""
    if rows is None and columns is None:
        return matrix
    rows = np.arange(matrix.shape[0]) if rows is None else rows
    columns = np.arange(matrix.shape[1]) if columns is None else columns
    out = np.empty((rows.size, columns.size), matrix.dtype)
    gather(matrix, rows, columns, out)
    return out


def _support(histogram: Array) -> Array | None:
    """The bins with mass, or None when that is all of them."""
    return None if np.count_nonzero(histogram) == histogram.size else np.flatnonzero(histogram)


def _hopeless(task: Task, costs: Array, r: Array, c: Array) -> bool:
    """Whether sweeps would be too many, by the mean cost under independence."""
    gibbs = task.gibbs
    if task.solver.fallback != "newton" or gibbs.lam * gibbs.largest <= EASY:
        return False
    return gibbs.lam * mean_cost(costs, r, c) > HOPELESS


def _scaled(task: Task, K: Array, costs: Array, r: Array, c: Array) -> Outcome:
    """Sweeps; a negative status is a pair handed over."""
    u, v, acc, state = np.ones(r.size), np.ones(c.size), np.empty(c.size), np.empty(FIELDS)
    begin(state)
    step = max(1, int(READ_AT_ONCE / K.size))
    act, error, left = GO, np.inf, task.max_iter
    while act == GO and left > 0:
        some = min(step, left)
        act, error = scale_pair(K, r, c, u, v, acc, state, task.tol, task.solver.patience, some)
        left -= some
    made = int(state[SWEEPS])
    if act == GO:
        error = rows_exact(K, r, c, u, v, acc)
    elif act != DONE:
        return Outcome(np.nan, np.inf, made, -1, 0)
    outcome = Outcome(plan_cost(K, costs, u, v), error, made, STATUS_OF[act], int(state[THETA2] > 0.0))
    if task.keep:
        outcome.f, outcome.g = np.log(u) / task.gibbs.lam, np.log(v) / task.gibbs.lam
    return outcome


def _fixed(
    task: Task, costs: Array, rows: Array | None, columns: Array | None, r: Array, c: Array
) -> Outcome:
    """Algorithm 1; in the log domain where the kernel does not fit."""
    gibbs, steps = task.gibbs, task.iterations
    if gibbs.fits:
        f, g, value = algorithm1_pair(
            block_of(gibbs.kernel, rows, columns), costs, gibbs.lam, r, c, steps
        )
    if not gibbs.fits or f is None:
        f, g, value = algorithm1_log(costs, gibbs.lam, r, c, steps)
    error = np.nan
    if task.keep:
        K = np.empty(costs.shape)
        stabilised_kernel(costs, gibbs.lam, f, g, K, K.view(np.int64))
        error = float(np.abs(K.sum(axis=1) - r).sum())  # the columns are exact
    return Outcome(value, error, steps or 0, FIXED, ALGORITHM1, f, g)
