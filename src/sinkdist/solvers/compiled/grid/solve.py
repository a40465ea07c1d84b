"""Coarse to fine: a pair at one lam, from the coarsest grid to its own.

On a grid whose steps cost ``w`` the kernel is resolved up to about ``lam = 1 / w``. Every coarse
grid is solved there, loosely, and gives the next its potential; the finest one climbs from there
to the wanted lam by factors of two. Potentials are nearly linear in ``1 / lam``, and at one lam in
the square of the steps of a grid, so two of them give the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid_plan import ACCURATE, Kernel, Run
from sinkdist.interrupts import Stop
from sinkdist.solvers.compiled.grid.levels import Level, levels_of, refined
from sinkdist.solvers.compiled.grid.newton import Newton, State, Target
from sinkdist.solvers.compiled.grid.relaxed import Relaxed

__all__ = ["coarse_to_fine", "target_of"]

Array = npt.NDArray[Any]

#: The error on coarse grids, and at smaller lam. Newton's steps leave less of it than sweeps do.
_LOOSE = {"sqeuclidean": 1e-3, "cityblock": 3e-4, "euclidean": 3e-4}
_ROUGH = 1e-3  #: a tolerance from which sums are as rough as it allows
_UNSEEN = 1e-2  #: of a tolerance: an error of sums that does not show beside it
_FINEST = 1e-13  #: the least error of sums that is asked for
_FACTOR = 2.0  #: from one lam to the next on the finest grid

#: How a pair is solved on its grids, by the metric.
METHODS: dict[str, type[Newton] | type[Relaxed]] = {
    "sqeuclidean": Newton, "cityblock": Relaxed, "euclidean": Relaxed,
}  # fmt: skip


class _Known(NamedTuple):
    """A potential, and where it was found: its lam, and its place in the list of grids."""

    g: Array
    lam: float
    depth: int


def target_of(level: Level, lam: float, run: Run, stop: Stop, tol: float = 0.0) -> Target:
    """A pair on one grid at one lam, with sums that a tolerance can be told by."""
    error = _UNSEEN * tol
    if tol < _ROUGH:
        error = min(ACCURATE, max(error, _FINEST))
    with np.errstate(divide="ignore"):
        logs = np.log(level.r), np.log(level.c)
    kernel = Kernel(level.metric, tuple(lam * w for w in level.steps), error)
    return Target(level.r, level.c, *logs, kernel, run, stop)


def coarse_to_fine(
    finest: Level, lam: float, tol: float, limit: int, run: Run, stop: Stop
) -> tuple[State, Target]:
    """Solve a pair on a grid."""
    levels, method = levels_of(finest), METHODS[finest.metric]()
    *before, (_, asked) = _stages(levels, lam)
    known: list[_Known] = []
    for depth, at_lam in before:
        wanted = max(tol, _LOOSE[finest.metric])
        target = target_of(levels[depth], at_lam, run, stop, _ROUGH)
        known = [_on(levels[depth], k) for k in known[-2:]]
        psi = target.log_c + at_lam * _predicted(known, levels, depth, at_lam)
        g = method.approach(target, psi, wanted, limit) / at_lam
        known.append(_Known(g, at_lam, depth))
    target = target_of(finest, asked, run, stop, tol)
    known = [_on(levels[0], k) for k in known[-2:]]
    psi = target.log_c + asked * _predicted(known, levels, 0, asked)
    return method.converge(target, psi, tol, limit), target


def _stages(levels: list[Level], lam: float) -> list[tuple[int, float]]:
    """Grids, as places in the list of levels, and the lam to solve them at; the last is asked."""
    depths = range(len(levels) - 1, -1, -1)
    found = [(depth, min(lam, levels[depth].sharpest())) for depth in depths]
    while found[-1][1] < lam:
        found.append((0, min(lam, _FACTOR * found[-1][1])))
    return found


def _on(level: Level, known: _Known) -> _Known:
    """The same potential on a grid, which may be the next finer one."""
    if known.g.shape == level.r.shape:
        return known
    return known._replace(g=refined(known.g, level.r.shape, level.halved))


def _predicted(known: list[_Known], levels: list[Level], depth: int, lam: float) -> Array:
    """A potential on a grid at a lam, by the line through the last two, which are on that grid."""
    if len(known) < 2:
        return known[0].g if known else np.zeros(levels[depth].r.shape)
    before, last = known
    if before.lam < last.lam:
        share = (1.0 / lam - 1.0 / last.lam) / (1.0 / last.lam - 1.0 / before.lam)
    elif lam == last.lam and _evenly_halved(levels, depth, last.depth, before.depth):
        share = 0.25  # the square of the steps is a quarter each time
    else:
        return last.g
    return np.asarray(last.g + share * (last.g - before.g))


def _evenly_halved(levels: list[Level], *depths: int) -> bool:
    """Whether these are three grids in a row, each with half the pixels along the same axes."""
    finest = depths[0]
    in_a_row = depths == (finest, finest + 1, finest + 2)
    return in_a_row and levels[finest].halved == levels[finest + 1].halved
