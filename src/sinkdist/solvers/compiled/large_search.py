"""The search for lam of one large pair: accelerated sweeps, as far as single precision goes.

Each solve of the search of `lam_search` is one by `large_pair` instead, on a kernel in float32 that
threads share, finished in float64: value, information and dual are of that plan. Where a solve is
asked to be better than that, or its sweeps are slow, the search goes on in `lam_search` from where
it stands. The policy is the same, `lam_policy`.
"""

from __future__ import annotations

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.chunks import ACC, C, R
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.work_space import aligned
from sinkdist.solvers.compiled import relaxation
from sinkdist.solvers.compiled.accelerated import STEEPEST, climbed, may_be_accelerated
from sinkdist.solvers.compiled.ladder import rungs_to
from sinkdist.solvers.compiled.lam_policy import (
    ACT,
    DUAL,
    ERROR,
    INFORMATION,
    INNER,
    LAM,
    MADE,
    MEAN,
    READS,
    SEARCHING,
    TRIALS_MADE,
    VACUOUS,
    VALUE,
    begin_search,
    next_step,
)
from sinkdist.solvers.compiled.lam_search import (
    BEFORE,
    MASS,
    POTENTIAL,
    WAITING,
    entropy,
    search_pair,
    solve_by_newton,
)
from sinkdist.solvers.compiled.large_pair import FINEST, WITHIN, LargePair
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, OVERFLOW
from sinkdist.solvers.policy import NEAR

__all__ = ["is_large", "search_large"]

FEWEST = 10  #: reads of the kernel that have to be left
LOOSE = 1e-2  #: marginal error of the first solve, whose lam is a guess

Found = tuple[float, float, float, int, int, Array, Array]


def is_large(entries: int | Array, max_iter: int) -> bool | Array:
    """Whether pairs with so many entries between bins with mass are searched here."""
    return may_be_accelerated(entries, max_iter)


def search_large(
    M: Array, r: Array, c: Array, alpha: float, below: float, tol: float, max_iter: int, stop: Stop,
    workers: int = 1,
) -> Found:  # fmt: skip
    """lam, value, error, reads, how the search ended, and potentials; ``below`` as in a search."""
    if alpha >= min(entropy(r), entropy(c)):
        return 0.0, 0.0, np.inf, 0, VACUOUS, np.zeros(r.size), np.zeros(c.size)
    search = np.zeros(WAITING + 1 + relaxation.FIELDS)
    over_rows, over_columns = np.zeros((5, r.size)), np.zeros((5, c.size))
    over_rows[MASS], over_columns[MASS] = r, c
    potentials = over_rows[POTENTIAL], over_columns[POTENTIAL]
    before = over_rows[BEFORE], over_columns[BEFORE]
    act = begin_search(M, r, c, alpha, below, before[1], search)
    before[1][:] = 0.0
    search[INNER] = LOOSE
    pair = LargePair(M, r, c, max_iter, stop, workers)
    logs = np.log(r), np.log(c)
    with pair.helped() as helpers:
        while act == SEARCHING and _solve_here(pair, search, *potentials, max_iter):
            _conclude(pair, search, *potentials, *logs)
            act = next_step(search, alpha, tol, max_iter, *potentials, *before)
            stop.check()
    if act == SEARCHING:
        helpers.wait()
        del pair
        act = _go_on(M, r, c, alpha, tol, max_iter, over_rows, over_columns, search, stop)
    lam, value, error = (float(search[field]) for field in (LAM, VALUE, ERROR))
    return lam, value, error, int(search[READS]), act, *potentials


def _solve_here(pair: LargePair, search: Array, f: Array, g: Array, max_iter: int) -> bool:
    """Solve at the search's lam, from potentials ``f, g``, which become those of the plan.

    False where the search has to go on in another way, from where it is.
    """
    lam, inner, left = float(search[LAM]), float(search[INNER]), max_iter - int(search[READS])
    if inner < FINEST or not lam * search[MEAN] <= STEEPEST or left < FEWEST:
        return False
    pair.max_iter, pair.made, pair.potentials = left, 0, (f, g)
    rungs = rungs_to(lam * float(search[MEAN])) if search[TRIALS_MADE] == 0.0 else 0
    if not climbed(pair, lam, rungs, inner):
        search[READS] += pair.made
        return False
    act, error = pair.solve_at(lam, max(WITHIN * inner, FINEST))
    end = pair.finish(lam) if act not in (HANDED_OVER, OVERFLOW) else None
    if end is None or not np.isfinite(end.value):
        search[READS] += pair.made
        if error < NEAR:
            f[:], g[:] = pair.potentials
        return False
    f[:], g[:] = end.f, end.g
    search[ACT] = act if pair.made >= left else CONVERGED  # to the accuracy that is left, at least
    search[VALUE], search[ERROR], search[MADE] = end.value, end.error, pair.made
    return True


def _conclude(
    pair: LargePair, search: Array, f: Array, g: Array, log_r: Array, log_c: Array
) -> None:
    """Information and dual of the plan of potentials ``f, g``, whose rows are exact."""
    lam, r, c = float(search[LAM]), pair.rows[R], pair.columns[C]
    over_rows, over_columns = lam * f - log_r, lam * g - log_c
    along_rows = float(r @ over_rows)
    information = along_rows + float(pair.columns[ACC] @ over_columns) - lam * search[VALUE]
    search[INFORMATION] = max(information, 0.0)
    search[DUAL] = along_rows + float(c @ over_columns)


def _go_on(
    M: Array, r: Array, c: Array, alpha: float, tol: float, max_iter: int, over_rows: Array,
    over_columns: Array, search: Array, stop: Stop,
) -> int:  # fmt: skip
    """Search on in double precision; how it ends."""
    K = aligned(M.size).reshape(M.shape)
    while True:
        act = search_pair(
            M, K, r, c, alpha, tol, max_iter, over_rows, over_columns, search, stop.flag
        )
        stop.check()
        if search[WAITING] == 0.0:
            return int(act)
        solve_by_newton(K, over_rows, over_columns, search, max_iter)
