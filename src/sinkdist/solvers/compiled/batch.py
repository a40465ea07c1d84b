"""Pairs of a batch at a finite lam: sent to the passes that suit them.

One by one on their own bins where the block of the kernel they need is small, as matrix products
where it is large and pairs are many; those that scaling hands over go to the solver's fallback. A
pair takes the same steps on either way.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sinkdist.ground.gibbs import Gibbs
from sinkdist.kernels.compiled import Array
from sinkdist.solution.plans import ScaledPlan, entropic_plan, is_blurred, value_and_error
from sinkdist.solution.status import Status
from sinkdist.solvers.bins import all_bins, in_double, union
from sinkdist.solvers.compiled.accelerated import is_accelerated
from sinkdist.solvers.compiled.algorithm1 import algorithm1_block
from sinkdist.solvers.compiled.pair import fall_back, is_hopeless, may_be_hopeless
from sinkdist.solvers.compiled.products import scale_block
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, OVERFLOW, RUNNING
from sinkdist.solvers.compiled.scaling import LONG, scale_each, scratch_for
from sinkdist.solvers.outcome import ALGORITHM1, Answers, potential
from sinkdist.solvers.prepared import Prepared

__all__ = ["solve_together"]

_CHUNK = 2e8  #: kernel entries read in one compiled call over pairs, so that Ctrl-C is answered
_LARGE = 1 << 20  #: entries of a pair's kernel above which it is solved as if it were alone
_WITHIN = 0.95  #: of the tolerance: float32 measures an error to a few per cent of it
_BLOCK_PAIRS = 8  #: fewer pairs than this do not make a block
#: Entries of a pair's kernel above which a block is faster than one pair after another.
_BLOCK_ENTRIES = {np.dtype(np.float64): 160**2, np.dtype(np.float32): 90**2}


def solve_together(task: Prepared, R: Array, C: Array, answers: Answers) -> Iterable[int]:
    """Answer the pairs for which that pays; the others are left to be solved alone."""
    gibbs = task.block_gibbs
    assert gibbs is not None
    sizes = np.count_nonzero(R, axis=1) * np.count_nonzero(C, axis=1)
    large = sizes.max(initial=0) > _LARGE
    if not gibbs.fits or (len(C) < _BLOCK_PAIRS and (large or task.iterations)):
        return range(len(C))
    R, C = R.astype(gibbs.dtype, copy=False), C.astype(gibbs.dtype, copy=False)
    if task.iterations is not None:
        return _fixed(task, gibbs, task.iterations, R, C, answers)
    return _to_tolerance(task, gibbs, R, C, sizes, answers)


def _fixed(
    task: Prepared, gibbs: Gibbs, steps: int, R: Array, C: Array, answers: Answers
) -> Iterable[int]:
    """Algorithm 1 by matrix products; the pairs for which floats cannot hold the scalings."""
    rows, columns = union(R), union(C)
    kernel = gibbs.on(rows, columns)
    rows, columns = all_bins(rows, columns, R, C)
    R, C = R[:, rows], C[:, columns]
    U, V = algorithm1_block(kernel, R, C, steps, task.stop)
    answers.value[:] = gibbs.cost_on(rows, columns, U, V) / gibbs.lam
    answers.n_iter[:], answers.status[:], answers.solver[:] = steps, Status.FIXED, ALGORITHM1
    if task.keep_potentials:
        f, g = potential(U, gibbs.lam), potential(V, gibbs.lam)
        answers.put_potentials(np.arange(len(C)), rows, columns, f, g)
    if task.keep_potentials or task.need_error:
        answers.error[:] = np.abs(U * (V @ kernel.T) - R).sum(axis=1)
    lost = (V > 0.0).sum(axis=1) != (C > 0.0).sum(axis=1)
    return np.flatnonzero(lost | ~np.isfinite(answers.value)).tolist()


def _to_tolerance(
    task: Prepared, gibbs: Gibbs, R: Array, C: Array, sizes: Array, answers: Answers
) -> Iterable[int]:
    """Scaling where it promises something, then the fallback; pairs too long for one call."""
    act = np.full(len(C), HANDED_OVER)
    if gibbs.dtype == np.float64:  # float32 is for blocks
        act[np.broadcast_to(is_accelerated(task, sizes), len(C))] = LONG
    if task.solver.patience is not None:
        worth = np.flatnonzero(act != LONG)
        if worth.size and may_be_hopeless(task):
            means = np.einsum("kj,kj->k", C, task.ground.mean_costs(R))
            worth = worth[~np.asarray(is_hopeless(task, means))[worth]]
        if worth.size:
            left = R if len(R) == 1 else R[worth]
            act[worth] = _scale(
                task, gibbs, task.solver.patience, left, C[worth], sizes[worth], worth, answers
            )
    for k in np.flatnonzero((act == HANDED_OVER) | (act == OVERFLOW)):
        if task.stop.is_set():
            break
        r, c = in_double(R[k if len(R) > 1 else 0]), in_double(C[k])
        rows, columns = np.flatnonzero(r), np.flatnonzero(c)
        costs = task.ground.block(rows, columns)
        outcome = fall_back(task, costs, r[rows], c[columns], int(answers.n_iter[k]))
        answers.put(k, outcome)
        answers.put_potentials(k, rows, columns, outcome.f, outcome.g)
        if answers.plans is not None and outcome.plan is not None:
            answers.plans[k] = outcome.plan.placed(rows, columns, task.ground.shape)
    return np.flatnonzero(act == LONG).tolist()


def _scale(
    task: Prepared, gibbs: Gibbs, patience: float, R: Array, C: Array, sizes: Array, where: Array,
    answers: Answers,
) -> Array:  # fmt: skip
    """Sweeps for the pairs ``where`` of the tile; how each stands."""
    if len(C) >= _BLOCK_PAIRS and sizes.mean() > _BLOCK_ENTRIES[gibbs.dtype]:
        rows, columns = union(R), union(C)
        kernel = gibbs.on(rows, columns)
        rows, columns = all_bins(rows, columns, R, C)
        U, V, error, n_iter, act, relaxed = scale_block(
            kernel,
            np.ascontiguousarray(R[:, rows]),
            np.ascontiguousarray(C[:, columns]),
            task.tol if gibbs.dtype == np.float64 else _WITHIN * task.tol,
            patience,
            task.max_iter,
            task.stop,
        )
        value = gibbs.cost_on(rows, columns, U, V) / gibbs.lam
    else:
        rows, columns = np.arange(R.shape[1]), np.arange(C.shape[1])
        U, V = (np.zeros((len(C) if task.keep_potentials else 0, d)) for d in task.ground.shape)
        value, error, n_iter, act, relaxed = _one_by_one(task, patience, R, C, U, V)
    answers.n_iter[where] = n_iter
    over = np.flatnonzero((act == CONVERGED) | (act == RUNNING))
    done = where[over]
    answers.value[done], answers.error[done] = value[over], error[over]
    answers.status[done] = np.where(act[over] == CONVERGED, Status.CONVERGED, Status.MAX_ITER)
    answers.solver[done] = relaxed[over]
    if task.keep_potentials:
        f, g = potential(U[over], gibbs.lam), potential(V[over], gibbs.lam)
        answers.put_potentials(done, rows, columns, f, g)
        for k, pair in enumerate(over):
            some, others = np.isfinite(f[k]), np.isfinite(g[k])
            bins = rows[some], columns[others]
            if gibbs.dtype == np.float32:
                r, c = in_double(R[pair if len(R) > 1 else 0]), in_double(C[pair])
                _in_double_precision(task, *bins, r, c, int(done[k]), answers)
            elif is_blurred(gibbs.lam, f[k, some], g[k, others], task.tol):
                nothing = np.zeros(bins[0].size), np.zeros(bins[1].size)
                plan = ScaledPlan(*nothing, U[pair, some], V[pair, others])
                assert answers.plans is not None
                answers.plans[done[k]] = plan.placed(*bins, task.ground.shape)
    return act


def _in_double_precision(
    task: Prepared, rows: Array, columns: Array, r: Array, c: Array, k: int, answers: Answers
) -> None:
    """Value, error and status of the plan that the potentials of a pair give in float64."""
    assert answers.f is not None and answers.g is not None
    costs = task.ground.block(rows, columns)
    f, g = answers.f[k, rows], answers.g[k, columns]
    P = entropic_plan(costs, task.member.lam, f, g)
    answers.value[k], answers.error[k] = value_and_error(P, costs, r[rows], c[columns])
    if answers.status[k] == Status.CONVERGED and answers.error[k] > task.tol:
        answers.status[k] = Status.STALLED


def _one_by_one(
    task: Prepared, patience: float, R: Array, C: Array, U: Array, V: Array
) -> tuple[Array, Array, Array, Array, Array]:
    """Each pair on its own bins, in compiled chunks short enough to be interrupted between."""
    pairs, gibbs = len(C), task.gibbs
    assert gibbs is not None
    R, C = (np.array(in_double(H), order="C") for H in (R, C))
    value, error = np.full(pairs, np.nan), np.full(pairs, np.inf)
    n_iter, act, relaxed = np.zeros(pairs, np.int64), np.full(pairs, RUNNING), np.zeros(pairs, bool)
    following, scratch = 0, scratch_for(R, C)
    while following < pairs and not task.stop.is_set():
        following = scale_each(
            gibbs.kernel, task.ground.dense, R, C, following, _CHUNK, task.tol,
            patience, task.max_iter, task.keep_potentials, value, error, n_iter, act, relaxed, U, V,
            *scratch,
        )  # fmt: skip
    return value, error, n_iter, act, relaxed
