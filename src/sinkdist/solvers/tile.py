"""Solving a tile: some pairs of histograms against one Gibbs operator, whatever solver does it.

Here pairs are sent to the passes that suit them: one by one on their own bins where the block of the kernel they
need is small, as matrix products where it is large and pairs are many; those that scaling hands over
go to the solver's fallback. A pair takes the same steps on either way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.gibbs import Gibbs
from sinkdist.passes.exponential import stabilised_kernel
from sinkdist.passes.pair import gather, mean_cost, plan_cost
from sinkdist.solution import Status
from sinkdist.solvers.algorithm1 import algorithm1_block, algorithm1_log, algorithm1_pair
from sinkdist.solvers.block import scale_block
from sinkdist.solvers.ladder import climb
from sinkdist.solvers.log import log_sweeps
from sinkdist.solvers.relaxation import BROKEN, DONE, GO, SLOW
from sinkdist.solvers.scaling import scale_each, scale_large
from sinkdist.solvers.table import Solver

__all__ = ["Answers", "Task", "solve_tile"]

Array = npt.NDArray[Any]

#: What `Solution.solver` may say; codes in `Answers.solver`.
RAN = ("plain", "relaxed", "newton", "log", "algorithm1", "none")
_PLAIN, _RELAXED, _NEWTON, _LOG, _ALGORITHM1, _NONE = range(6)

_HOPELESS = 25.0  #: lam times a pair's mean cost beyond which scaling is not even tried by "auto"
_EASY = 30.0  #: lam times the largest cost below which that is not even asked
_CHUNK = 2e8  #: kernel entries read in one compiled call, so that Ctrl-C is answered
_LARGE = 1 << 20  #: entries of a pair's kernel above which its sweeps are made in chunks
_BLOCK_PAIRS = 8  #: fewer pairs than this do not make a block
#: Entries of a pair's kernel above which a block is faster than one pair after another.
_BLOCK_ENTRIES = {np.dtype(np.float64): 160**2, np.dtype(np.float32): 90**2}


@dataclass(frozen=True, slots=True)
class Task:
    """What is asked of every pair."""

    gibbs: Gibbs
    solver: Solver
    tol: float
    max_iter: int
    iterations: int | None
    keep: bool  #: whether potentials are wanted


@dataclass(slots=True)
class Answers:
    """One entry per pair of a tile; ``f, g`` only where the task keeps them."""

    value: Array
    error: Array
    n_iter: Array
    status: Array
    solver: Array
    f: Array | None = None
    g: Array | None = None

    @classmethod
    def blank(cls, pairs: int, shape: tuple[int, int], keep: bool) -> Answers:
        """Answers to be filled in; NaN and EMPTY until then."""
        f, g = (np.full((pairs, d), -np.inf) for d in shape) if keep else (None, None)
        return cls(
            np.full(pairs, np.nan), np.full(pairs, np.nan), np.zeros(pairs, np.int64),
            np.full(pairs, Status.EMPTY, np.int8), np.full(pairs, _NONE, np.int8), f, g,
        )  # fmt: skip

    def put(self, pairs: Any, value: Any, error: Any, n_iter: Any, status: Any, solver: Any) -> None:
        """Write the numbers of some pairs."""
        self.value[pairs], self.error[pairs], self.n_iter[pairs] = value, error, n_iter
        self.status[pairs], self.solver[pairs] = status, solver


def solve_tile(task: Task, R: Array, C: Array) -> Answers:
    """Answer the pairs ``(R, C)``: ``R`` has one row, shared by all, or one per pair; no row is empty."""
    answers = Answers.blank(len(C), task.gibbs.matrix.shape, task.keep)
    if len(C) == 0:
        return answers
    if task.iterations is not None:
        _fixed(task, R, C, answers)
    else:
        _to_tolerance(task, R, C, answers)
    return answers


# ---------------------------------------------------------------------------------- a fixed number of steps


def _fixed(task: Task, R: Array, C: Array, answers: Answers) -> None:
    """Algorithm 1, by matrix products for many pairs; in the log domain where the kernel does not fit."""
    gibbs, pairs = task.gibbs, len(C)
    answers.status[:], answers.solver[:] = Status.FIXED, _ALGORITHM1
    answers.n_iter[:] = task.iterations
    if not gibbs.fits or pairs < _BLOCK_PAIRS:
        run = algorithm1_pair if gibbs.fits else algorithm1_log
        for k in range(pairs):
            rows, columns, r, c = _bins(R, C, k)
            costs = _block(gibbs.matrix, rows, columns)
            kernel = _block(gibbs.kernel, rows, columns) if gibbs.fits else costs
            f, g, answers.value[k] = run(kernel, costs, gibbs.lam, r, c, task.iterations)
            if answers.f is not None and answers.g is not None:
                answers.f[k, rows], answers.g[k, columns] = f, g
                answers.error[k] = _row_error(costs, gibbs.lam, f, g, r)
        return
    rows, columns = _union(R), _union(C)
    R, C = R[:, rows], C[:, columns]
    kernel = _block(gibbs.kernel, rows, columns)
    U, V = algorithm1_block(kernel, R, C, task.iterations)
    answers.value[:] = _values(gibbs, rows, columns, U, V)
    if answers.f is not None and answers.g is not None:
        answers.f[:, rows], answers.g[:, columns] = _potentials(U, gibbs.lam), _potentials(V, gibbs.lam)
        answers.error[:] = np.abs(U * (V @ kernel.T) - R).sum(axis=1)


# --------------------------------------------------------------------------------------------- to a tolerance


def _to_tolerance(task: Task, R: Array, C: Array, answers: Answers) -> None:
    """Scaling where it promises something, then the fallback for what is left."""
    act = np.full(len(C), SLOW)
    if task.gibbs.fits and task.solver.patience is not None:
        try_ = np.arange(len(C))
        if task.solver.fallback == "newton":
            try_ = np.flatnonzero(~_hopeless(task.gibbs, R, C))
        if try_.size:
            act[try_] = _scale(task, R if len(R) == 1 else R[try_], C[try_], try_, answers)
    for k in np.flatnonzero((act == SLOW) | (act == BROKEN)):
        fallback = _climb if task.solver.fallback == "newton" else _log
        fallback(task, k, *_bins(R, C, k), answers)


def _hopeless(gibbs: Gibbs, R: Array, C: Array) -> Array:
    """Pairs for which sweeps would be too many, by the mean cost under independence."""
    if gibbs.lam * gibbs.largest <= _EASY:
        return np.zeros(len(C), bool)
    if len(C) == 1:  # without BLAS, whose threads are only held back for families
        means = np.array([mean_cost(gibbs.matrix, R[0].astype(float), C[0].astype(float))])
    else:
        means = np.einsum("kj,kj->k", C, R.astype(float) @ gibbs.matrix)
    return np.asarray(gibbs.lam * means > _HOPELESS)


def _scale(task: Task, R: Array, C: Array, where: Array, answers: Answers) -> Array:
    """Sweeps for the pairs ``where`` of the tile; how each stands."""
    gibbs, pairs = task.gibbs, len(C)
    sizes = np.count_nonzero(R, axis=1) * np.count_nonzero(C, axis=1)
    if pairs >= _BLOCK_PAIRS and sizes.mean() > _BLOCK_ENTRIES[gibbs.dtype]:
        rows, columns = _union(R), _union(C)
        U, V, error, n_iter, act, relaxed = scale_block(
            _block(gibbs.kernel, rows, columns), R[:, rows], C[:, columns],
            task.tol, task.solver.patience, task.max_iter,
        )  # fmt: skip
        value = _values(gibbs, rows, columns, U, V)
    else:
        rows, columns = np.arange(R.shape[1]), np.arange(C.shape[1])
        keep = task.keep
        U, V = (np.zeros((pairs if keep else 0, d)) for d in gibbs.matrix.shape)
        value, error, n_iter, act, relaxed = _one_by_one(task, R, C, sizes, U, V)
    over = (act == DONE) | (act == GO)
    end = where[over]
    status = np.where(act[over] == DONE, Status.CONVERGED, Status.MAX_ITER)
    answers.put(end, value[over], error[over], n_iter[over], status, relaxed[over].astype(np.int8))
    answers.n_iter[where] = n_iter
    if answers.f is not None and answers.g is not None:
        answers.f[np.ix_(end, rows)] = _potentials(U[over], gibbs.lam)
        answers.g[np.ix_(end, columns)] = _potentials(V[over], gibbs.lam)
    return act


def _one_by_one(
    task: Task, R: Array, C: Array, sizes: Array, U: Array, V: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Each pair on its own bins, in compiled chunks short enough to be interrupted between."""
    gibbs, pairs = task.gibbs, len(C)
    R, C = np.array(R, float, order="C"), np.array(C, float, order="C")
    value, error = np.full(pairs, np.nan), np.full(pairs, np.inf)
    n_iter, act, relaxed = np.zeros(pairs, np.int64), np.full(pairs, GO), np.zeros(pairs, bool)
    run = scale_large if sizes.max() > _LARGE else scale_each
    step = max(1, int(_CHUNK / (40 * sizes.mean())))
    for first in range(0, pairs, step):
        run(
            gibbs.kernel, gibbs.matrix, R, C, first, min(first + step, pairs), task.tol,
            task.solver.patience, task.max_iter, task.keep, value, error, n_iter, act, relaxed, U, V,
        )  # fmt: skip
    return value, error, n_iter, act, relaxed


def _climb(task: Task, k: int, rows: Array, columns: Array, r: Array, c: Array, answers: Answers) -> None:
    """Newton on a ladder for one pair."""
    costs = _block(task.gibbs.matrix, rows, columns)
    end = climb(costs, task.gibbs.lam, r, c, task.tol, task.max_iter)
    status = {DONE: Status.CONVERGED, GO: Status.MAX_ITER, SLOW: Status.STALLED}[end.act]
    answers.put(k, end.value, end.error, answers.n_iter[k] + end.n_iter, status, _NEWTON)
    if answers.f is not None and answers.g is not None:
        answers.f[k, rows], answers.g[k, columns] = end.f, end.g


def _log(task: Task, k: int, rows: Array, columns: Array, r: Array, c: Array, answers: Answers) -> None:
    """Plain sweeps in the log domain for one pair."""
    costs, lam = _block(task.gibbs.matrix, rows, columns), task.gibbs.lam
    f, g = np.zeros(r.size), np.zeros(c.size)
    made, error = log_sweeps(costs, lam, r, c, f, g, task.tol, task.max_iter)
    K = np.empty(costs.shape)
    stabilised_kernel(costs, lam, f, g, K, K.view(np.int64))
    status = Status.CONVERGED if error <= task.tol else Status.MAX_ITER
    value = plan_cost(K, costs, np.ones(r.size), np.ones(c.size))
    answers.put(k, value, error, answers.n_iter[k] + made, status, _LOG)
    if answers.f is not None and answers.g is not None:
        answers.f[k, rows], answers.g[k, columns] = f, g


# ------------------------------------------------------------------------------------------------------- bins


def _bins(R: Array, C: Array, k: int) -> tuple[Array, Array, Array, Array]:
    """The bins with mass of pair ``k`` and the masses there, in float64."""
    r, c = R[k if len(R) > 1 else 0], C[k]
    rows, columns = np.flatnonzero(r), np.flatnonzero(c)
    return rows, columns, r[rows].astype(float), c[columns].astype(float)


def _union(H: Array) -> Array:
    """Bins with mass in any of the histograms."""
    return np.flatnonzero(H.any(axis=0))


def _block(matrix: Array, rows: Array, columns: Array) -> Array:
    """The part of a matrix on the given bins; the matrix itself where that is all of it."""
    if matrix.shape == (rows.size, columns.size):
        return matrix
    out = np.empty((rows.size, columns.size), matrix.dtype)
    gather(matrix, rows, columns, out)
    return out


def _values(gibbs: Gibbs, rows: Array, columns: Array, U: Array, V: Array) -> Array:
    """``<P, M>`` of every pair of a block: one more matrix product."""
    costs = U @ _block(gibbs.kernel_cost, rows, columns)
    return np.asarray(np.einsum("kj,kj->k", costs, V, dtype=np.float64) / gibbs.lam)


def _potentials(scalings: Array, lam: float) -> Array:
    """``log(u) / lam``, -inf where there is no mass."""
    with np.errstate(divide="ignore"):
        return np.log(scalings, dtype=np.float64) / lam


def _row_error(costs: Array, lam: float, f: Array, g: Array, r: Array) -> float:
    """``|P1 - r|_1`` of a plan with exact columns."""
    K = np.empty(costs.shape)
    stabilised_kernel(costs, lam, f, g, K, K.view(np.int64))
    return float(np.abs(K.sum(axis=1) - r).sum())
