"""Coarse to fine: a pair at one lam, from the coarsest grid to its own.

On a grid whose steps cost ``w`` the kernel is resolved up to about ``lam = 1 / w``. Every coarse
grid is solved there, loosely, and gives the next its potential; the finest one climbs from there
to the wanted lam by factors of two. Potentials are nearly linear in ``1 / lam``, so two of them
give the next.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid_plan import ACCURATE, Kernel, Run
from sinkdist.interrupts import Stop
from sinkdist.solvers.compiled.grid import newton, relaxed
from sinkdist.solvers.compiled.grid.levels import Level, levels_of, refined
from sinkdist.solvers.compiled.grid.newton import State, Target, column_update, row_potential

__all__ = ["coarse_to_fine", "target_of"]

Array = npt.NDArray[Any]

_LOOSE = 1e-3  #: error on coarse grids, and at smaller lam
_UNSEEN = 1e-2  #: of a tolerance: an error of sums that does not show beside it
_FINEST = 1e-13  #: the least error of sums that is asked for
_FACTOR = 2.0  #: from one lam to the next on the finest grid

#: How a pair is solved on one grid, by the metric.
CONVERGE = {
    "sqeuclidean": newton.converge, "cityblock": relaxed.converge, "euclidean": relaxed.converge,
}  # fmt: skip


def target_of(level: Level, lam: float, run: Run, stop: Stop, tol: float = 0.0) -> Target:
    """A pair on one grid at one lam, with sums that a tolerance can be told by."""
    error = min(ACCURATE, max(_UNSEEN * tol, _FINEST)) if tol < _LOOSE else _UNSEEN * tol
    with np.errstate(divide="ignore"):
        logs = np.log(level.r), np.log(level.c)
    kernel = Kernel(level.metric, tuple(lam * w for w in level.steps), error)
    return Target(level.r, level.c, *logs, kernel, run, stop)


def coarse_to_fine(
    finest: Level, lam: float, tol: float, limit: int, run: Run, stop: Stop
) -> tuple[State, Target]:
    """Solve a pair on a grid."""
    levels, converge = levels_of(finest), CONVERGE[finest.metric]
    stages = _stages(levels, lam)
    g, before, last = np.zeros(levels[-1].r.shape), None, stages[0][0]
    for k, (depth, at_lam) in enumerate(stages):
        level = levels[depth]
        if depth != last:
            halved, shape = level.halved, level.r.shape
            g = refined(g, shape, halved)
            before = None if before is None else (before[0], refined(before[1], shape, halved))
            last = depth
        final = k == len(stages) - 1
        wanted = tol if final else max(tol, _LOOSE)
        target = target_of(level, at_lam, run, stop, wanted if final else _LOOSE)
        start = g if before is None else _extrapolated(g, stages[k - 1][1], *before, at_lam)
        psi = target.log_c + at_lam * start
        state = converge(target, psi, wanted, limit)
        if final:
            return state, target
        before = (stages[k - 1][1], g) if k and stages[k - 1][1] < at_lam else None
        g = column_update(target, row_potential(target, state.psi)) / at_lam
    raise AssertionError("there is a last stage")


def _stages(levels: list[Level], lam: float) -> list[tuple[int, float]]:
    """Grids, as places in the list of levels, and the lam to solve them at; the last is asked."""
    depths = range(len(levels) - 1, -1, -1)
    found = [(depth, min(lam, levels[depth].sharpest())) for depth in depths]
    while found[-1][1] < lam:
        found.append((0, min(lam, _FACTOR * found[-1][1])))
    return found


def _extrapolated(g: Array, lam: float, lam_before: float, g_before: Array, wanted: float) -> Array:
    """A potential at another lam, by the line through two in ``1 / lam``."""
    share = (1.0 / wanted - 1.0 / lam) / (1.0 / lam - 1.0 / lam_before)
    return g + share * (g - g_before)
