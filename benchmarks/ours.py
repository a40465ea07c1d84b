"""How sinkdist takes part: the only file here that imports it.

The clock covers what the peers' clocks cover. A peer is handed a cost matrix and computes
exp(-lam M) within its call, so each timed call here begins by making its ``Ground`` forget the
kernels it has computed. The ground is built (and its matrix checked) before the clock starts, as
OTT's arrays are placed and regot's matrix is laid out before theirs; like theirs, its matrix and
the memory of the last kernel may be in cache.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.peers import Run
from benchmarks.problems import Array, Pair

NAME = "sinkdist"


@functools.cache
def package() -> Any:
    """The package, or None (said once) where it cannot be imported."""
    try:
        import sinkdist
    except ImportError as failure:
        print(f"sinkdist cannot be imported ({failure}): only its peers are timed.")
        return None
    return sinkdist


def fresh_ground(matrix: Array) -> Callable[[], Any]:
    """Hands out one ground; calls make it forget its kernels before they use it."""
    ground = package().Ground(matrix)
    return lambda: ground


def prepare(pair: Pair, tol: float) -> Run:
    """Prepare ``sd.solve``; its tol is the L1 norm by which everyone is judged here.

    It is called once beforehand, so that compilation stays outside the clock as it does for OTT.
    """
    sd = package()

    def call(ground: Any) -> Any:
        return sd.solve(pair.r, pair.c, ground.forget(), lam=pair.lam, tol=tol)

    call(sd.Ground(pair.M))
    return Run(call, lambda solution: np.asarray(solution.plan), fresh_ground(pair.M))


def one_to_many(
    r: Array, many: Array, lam: float, iterations: int, dtype: str
) -> Callable[[Any], Any]:
    """``sd.distance`` of one histogram to many, for a fixed number of iterations."""
    sd = package()
    return lambda ground: sd.distance(
        r, many, ground.forget(), lam=lam, iterations=iterations, dtype=dtype
    )


def all_pairs(X: Array, lam: float, iterations: int, dtype: str) -> Callable[[Any], Any]:
    """``sd.pairwise`` for a fixed number of iterations."""
    sd = package()
    return lambda ground: sd.pairwise(
        X, ground=ground.forget(), lam=lam, iterations=iterations, dtype=dtype
    )


def converged_pairs(X: Array, lam: float, tol: float) -> Callable[[Any], Any]:
    """``sd.pairwise`` until every pair has converged."""
    sd = package()
    return lambda ground: sd.pairwise(X, ground=ground.forget(), lam=lam, tol=tol)


def worst_error(R: Array, C: Array, matrix: Array, lam: float, tol: float) -> float:
    """The largest L1 marginal error among matched rows, summed from the plans themselves."""
    solution = package().solve(R, C, matrix, lam=lam, tol=tol)
    plans = np.asarray(solution.plan)
    rows = np.abs(plans.sum(axis=2) - R).sum(axis=1)
    columns = np.abs(plans.sum(axis=1) - C).sum(axis=1)
    return float((rows + columns).max())
