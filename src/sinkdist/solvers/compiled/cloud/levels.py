"""Levels: a pair of clouds, and coarser ones below it, in which neighbours are one point.

A pair is solved on the coarsest clouds first. Its potentials are defined everywhere, as
``g = -log sum_i u_i K_ij / lam``, and so give the finer clouds theirs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.cloud import Cloud
from sinkdist.ground.cloud_plan import Clouds

__all__ = ["Level", "levels_of"]

Array = npt.NDArray[Any]

_GROUP = 8  #: neighbours that become one point
_SMALLEST = 256  #: points that are not grouped any more


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A pair on its clouds, all bins with mass.

    Attributes
    ----------
    clouds : Clouds
        The points of both sides.
    r, c, log_r, log_c : ndarray
        Masses, and their logarithms.
    """

    clouds: Clouds
    r: Array
    c: Array
    log_r: Array
    log_c: Array

    @classmethod
    def of(cls, clouds: Clouds, r: Array, c: Array) -> Level:
        """With the logarithms of positive masses."""
        return cls(clouds, r, c, np.log(r), np.log(c))

    @property
    def swapped(self) -> Level:
        """Rows and columns exchanged."""
        return Level(self.clouds.swapped, self.c, self.r, self.log_c, self.log_r)


def levels_of(finest: Level) -> list[Level]:
    """The pair and its coarser ones, the finest first."""
    found = [finest]
    while max(found[-1].r.size, found[-1].c.size) > _GROUP * _SMALLEST:
        level, clouds = found[-1], found[-1].clouds
        x, r = _grouped(clouds.x, level.r)
        y, c = _grouped(clouds.y, level.c)
        coarse = Clouds(x, y, clouds.metric, clouds.unit, clouds.team, clouds.stop)
        found.append(Level.of(coarse, r, c))
    return found


def _grouped(cloud: Cloud, mass: Array) -> tuple[Cloud, Array]:
    """Means of neighbours, weighted by their masses, which are added; small clouds stay."""
    if len(cloud) <= _SMALLEST:
        return cloud, mass
    start = np.arange(0, len(cloud), _GROUP)
    total = np.add.reduceat(mass, start)
    places = np.add.reduceat(cloud.points * mass[:, None], start) / total[:, None]
    return Cloud(places), total
