"""Solving a tile: some pairs of histograms against one Gibbs operator.

Here pairs are sent to the passes that suit them: one by one on their own bins where the block of the kernel they
need is small, as matrix products where it is large and pairs are many; those that scaling hands over
go to the solver's fallback. A pair takes the same steps on either way.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.gibbs import Gibbs
from sinkdist.solution import Status
from sinkdist.solvers.algorithm1 import algorithm1_block
from sinkdist.solvers.block import scale_block
from sinkdist.solvers.outcome import ALGORITHM1, Answers, potential
from sinkdist.solvers.pair import EASY, HOPELESS, Task, block_of, fall_back, solve_pair
from sinkdist.solvers.relaxation import BROKEN, DONE, GO, SLOW
from sinkdist.solvers.scaling import scale_each

__all__ = ["solve_tile"]

Array = npt.NDArray[Any]

_CHUNK = 2e8  #: kernel entries read in one compiled call over pairs, so that Ctrl-C is answered
_LARGE = 1 << 20  #: entries of a pair's kernel above which it is solved as if it were alone
_BLOCK_PAIRS = 8  #: fewer pairs than this do not make a block
#: Entries of a pair's kernel above which a block is faster than one pair after another.
_BLOCK_ENTRIES = {np.dtype(np.float64): 160**2, np.dtype(np.float32): 90**2}


def solve_tile(task: Task, R: Array, C: Array) -> Answers:
    """Answer the pairs ``(R, C)``: ``R`` has one row, shared by all, or one per pair; no row is empty."""
    answers = Answers.blank(len(C), task.gibbs.matrix.shape, task.keep)
    R, C = R.astype(task.gibbs.dtype, copy=False), C.astype(task.gibbs.dtype, copy=False)
    sizes = np.count_nonzero(R, axis=1) * np.count_nonzero(C, axis=1)
    if len(C) < _BLOCK_PAIRS and (
        task.iterations is not None or sizes.max(initial=0) > _LARGE
    ) or not task.gibbs.fits:
        for k in range(len(C)):
            if task.stop.is_set():
                break
            _alone(task, R, C, k, answers)
    elif task.iterations is not None:
        _fixed(task, R, C, answers)
    else:
        _to_tolerance(task, R, C, sizes, answers)
    return answers


def _alone(task: Task, R: Array, C: Array, k: int, answers: Answers) -> None:
    """Answer one pair as if it were the only one."""
    outcome, rows, columns = solve_pair(task, R[k if len(R) > 1 else 0], C[k])
    answers.put(k, outcome)
    answers.put_potentials(k, *_all(rows, columns, R, C), outcome.f, outcome.g)


def _fixed(task: Task, R: Array, C: Array, answers: Answers) -> None:
    """Algorithm 1 by matrix products."""
    gibbs, rows, columns = task.gibbs, _union(R), _union(C)
    kernel = block_of(gibbs.kernel, rows, columns)
    rows, columns = _all(rows, columns, R, C)
    full_R, full_C, R, C = R, C, R[:, rows], C[:, columns]
    U, V = algorithm1_block(kernel, R, C, task.iterations)
    answers.value[:] = _values(gibbs, rows, columns, U, V)
    answers.n_iter[:], answers.status[:], answers.solver[:] = task.iterations, Status.FIXED, ALGORITHM1
    if task.keep:
        everyone = np.arange(len(C))
        f, g = potential(U, gibbs.lam), potential(V, gibbs.lam)
        answers.put_potentials(everyone, rows, columns, f, g)
        answers.error[:] = np.abs(U * (V @ kernel.T) - R).sum(axis=1)
    lost = (V > 0.0).sum(axis=1) != (C > 0.0).sum(axis=1)
    for k in np.flatnonzero(lost | ~np.isfinite(answers.value)):
        _alone(task, full_R, full_C, k, answers)  # a scaling is not representable: in the log domain


def _to_tolerance(task: Task, R: Array, C: Array, sizes: Array, answers: Answers) -> None:
    """Scaling where it promises something, then the fallback for what is left."""
    act = np.full(len(C), SLOW)
    if task.solver.patience is not None:
        worth = np.flatnonzero(~_hopeless(task, R, C))
        if worth.size:
            left = R if len(R) == 1 else R[worth]
            act[worth] = _scale(task, left, C[worth], sizes[worth], worth, answers)
    for k in np.flatnonzero((act == SLOW) | (act == BROKEN)):
        if task.stop.is_set():
            break
        r, c = R[k if len(R) > 1 else 0].astype(float), C[k].astype(float)
        rows, columns = np.flatnonzero(r), np.flatnonzero(c)
        costs = block_of(task.gibbs.matrix, rows, columns)
        outcome = fall_back(task, costs, r[rows], c[columns])
        outcome.n_iter += answers.n_iter[k]
        answers.put(k, outcome)
        answers.put_potentials(k, rows, columns, outcome.f, outcome.g)


def _hopeless(task: Task, R: Array, C: Array) -> Array:
    """Pairs for which sweeps would be too many, by the mean cost under independence."""
    gibbs = task.gibbs
    if task.solver.fallback != "newton" or gibbs.lam * gibbs.largest <= EASY:
        return np.zeros(len(C), bool)
    means = np.einsum("kj,kj->k", C, R.astype(float) @ gibbs.matrix)
    return np.asarray(gibbs.lam * means > HOPELESS)


def _scale(task: Task, R: Array, C: Array, sizes: Array, where: Array, answers: Answers) -> Array:
    """Sweeps for the pairs ``where`` of the tile; how each stands."""
    if len(C) >= _BLOCK_PAIRS and sizes.mean() > _BLOCK_ENTRIES[task.gibbs.dtype]:
        part, act, U, V, rows, columns = _as_block(task, R, C)
    else:
        part, act, U, V, rows, columns = _one_by_one(task, R, C, sizes)
    answers.n_iter[where] = part.n_iter
    over = np.flatnonzero((act == DONE) | (act == GO))
    answers.put(where[over], part.only(over))
    if task.keep:
        f, g = potential(U[over], task.gibbs.lam), potential(V[over], task.gibbs.lam)
        answers.put_potentials(where[over], rows, columns, f, g)
    return act


def _as_block(task: Task, R: Array, C: Array) -> tuple[Answers, Array, Array, Array, Array, Array]:
    """All pairs at once, on the union of their bins."""
    gibbs, rows, columns = task.gibbs, _union(R), _union(C)
    kernel = block_of(gibbs.kernel, rows, columns)
    rows, columns = _all(rows, columns, R, C)
    U, V, error, n_iter, act, relaxed = scale_block(
        kernel, R[:, rows], C[:, columns], task.tol, task.solver.patience, task.max_iter
    )
    value = _values(gibbs, rows, columns, U, V)
    return _answers(value, error, n_iter, act, relaxed), act, U, V, rows, columns


def _one_by_one(
    task: Task, R: Array, C: Array, sizes: Array
) -> tuple[Answers, Array, Array, Array, Array, Array]:
    """Each pair on its own bins, in compiled chunks short enough to be interrupted between."""
    gibbs, pairs = task.gibbs, len(C)
    R, C = np.array(R, float, order="C"), np.array(C, float, order="C")
    U, V = (np.zeros((pairs if task.keep else 0, d)) for d in gibbs.matrix.shape)
    value, error = np.full(pairs, np.nan), np.full(pairs, np.inf)
    n_iter, act, relaxed = np.zeros(pairs, np.int64), np.full(pairs, GO), np.zeros(pairs, bool)
    step = max(1, int(_CHUNK / (40 * sizes.mean())))
    for first in range(0, pairs, step):
        if task.stop.is_set():
            break
        scale_each(
            gibbs.kernel, gibbs.matrix, R, C, first, min(first + step, pairs), task.tol,
            task.solver.patience, task.max_iter, task.keep, value, error, n_iter, act, relaxed, U, V,
        )  # fmt: skip
    part = _answers(value, error, n_iter, act, relaxed)
    return part, act, U, V, np.arange(R.shape[1]), np.arange(C.shape[1])


def _answers(value: Array, error: Array, n_iter: Array, act: Array, relaxed: Array) -> Answers:
    """The numbers of pairs that sweeps were tried on."""
    status = np.where(act == DONE, Status.CONVERGED, Status.MAX_ITER).astype(np.int8)
    return Answers(value, error, n_iter, status, relaxed.astype(np.int8))


def _values(gibbs: Gibbs, rows: Array, columns: Array, U: Array, V: Array) -> Array:
    """``<P, M>`` of every pair of a block: one more matrix product."""
    whole = gibbs.matrix.shape == (rows.size, columns.size)
    costs = U @ (gibbs.kernel_cost if whole else block_of(gibbs.kernel_cost, rows, columns))
    return np.asarray(np.einsum("kj,kj->k", costs, V, dtype=np.float64) / gibbs.lam)


def _union(H: Array) -> Array | None:
    """Bins with mass in any of the histograms; None for all of them."""
    occupied = H.any(axis=0)
    return None if occupied.all() else np.flatnonzero(occupied)


def _all(rows: Array | None, columns: Array | None, R: Array, C: Array) -> tuple[Array, Array]:
    """Bins as indices, where None stands for all."""
    return (
        np.arange(R.shape[1]) if rows is None else rows,
        np.arange(C.shape[1]) if columns is None else columns,
    )
