"""Lines onto which histograms are projected: where bins lie along them, and the mass up to there.

What a direction is made of depends on where bins are: on a grid a few whole numbers are all places
there are (`lattice`); of other points in the plane or in space there are as many as bins, and they
are put together in cells (`cloud`). Projections see either through the same few facts.
"""

from __future__ import annotations

from typing import Protocol

from sinkdist.ground import Ground
from sinkdist.kernels.compiled import Array
from sinkdist.search.cloud import CloudLines, find_cloud
from sinkdist.search.lattice import GridLines, find_lattice

__all__ = ["Lines", "find_lines"]


class Lines(Protocol):
    """Directions, and histograms as numbers whose absolute differences add up along each.

    Attributes
    ----------
    norm : {"euclidean", "cityblock"}
        Of displacements, in which weights of directions are valid.
    directions : ndarray, shape (directions, dimension)
        Of any length.
    first : ndarray of int
        Where the numbers of each direction begin, multiples of 4, and where the last ones end.
    lengths : ndarray
        From the first place along each direction to the last.
    step, off : float
        Costs are at least ``step`` times the norm of displacements, less ``off``.
    """

    norm: str
    directions: Array
    first: Array
    lengths: Array
    step: float
    off: float

    def cumulated(self, rows: Array) -> Array:
        """Numbers of some histograms, in single precision."""


def find_lines(ground: Ground) -> Lines | None:
    """Those of the grid or the points that costs are the distances of; None for other costs."""
    lattice = find_lattice(ground)
    if lattice is not None:
        return GridLines(lattice)
    cloud = find_cloud(ground)
    return None if cloud is None else CloudLines(cloud)
