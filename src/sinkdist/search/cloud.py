"""Bins as points of the plane or of space, found in their distances, and lines through them.

*Points.* Coordinates follow from the distances to three or four bins that lie far apart. All costs
are then compared with the distances of these points: what a cost may be below them is ``off``.

*Cells.* Along a line, ``b = integral |A(t) - B(t)| dt`` of the masses up to ``t`` is the transport
of two projections. Over a cell, the integral of the difference is at most that of its size. So sums
over cells of ``|integral A - integral B|`` are at most ``b``, whatever the cells; and the integral
of ``A`` over a cell is a sum of masses, each times the part of the cell behind its bin.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from sinkdist.ground import Ground
from sinkdist.kernels.compiled import Array

__all__ = ["Cloud", "CloudLines", "find_cloud"]

_SAME = 1e-7  #: of the largest cost: by how much distances of the points may differ from costs
_FLAT = 1e-9  #: of the largest squared distance: what counts as no extent
_ROWS = 256  #: of the costs that are compared at once
_NUMBERS = 384  #: of a histogram, along all directions
_IN_PLANE = 12  #: directions of the plane


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """Points whose Euclidean distances are the costs, or above them by no more than ``off``."""

    points: Array
    off: float

    @property
    def directions(self) -> Array:
        """Unit vectors that cover half of the circle or sphere."""
        axes = self.points.shape[1]
        if axes == 2:
            angles = np.pi * np.arange(_IN_PLANE) / _IN_PLANE
            return np.column_stack([np.cos(angles), np.sin(angles)])
        corners = [z for z in product((-1, 0, 1), repeat=axes) if next((x for x in z if x), 0) > 0]
        return np.asarray(np.array(corners) / np.linalg.norm(corners, axis=1, keepdims=True))


def find_cloud(ground: Ground) -> Cloud | None:
    """Points of the plane or of space that have these distances; None if there are none."""
    rows, columns = ground.shape
    if rows != columns or rows < 4:
        return None
    costs = ground.dense
    points = _places(costs)
    if points is None:
        return None
    off = _excess(costs, points)
    return None if off is None else Cloud(points, off)


def _places(costs: Array) -> Array | None:
    """Coordinates by the distances to bins far apart, if two or three of them are enough."""
    start = int(costs[0].argmax())
    if not costs[start].max() > 0.0:
        return None
    square = np.square(costs[start])
    largest, rest, points = float(square.max()), square.copy(), np.zeros((len(costs), 0))
    while points.shape[1] < 4:
        far = int(rest.argmax())
        height = float(rest[far])
        if height <= _FLAT * largest:
            break
        # |z - a|^2 = |z|^2 - 2 <z, a> + |a|^2 for the point a that is far, in known coordinates.
        inner = 0.5 * (square - np.square(costs[far]) + square[far])
        new = (inner - points @ points[far]) / np.sqrt(height)
        points = np.column_stack([points, new])
        rest = np.maximum(square - np.square(points).sum(axis=1), 0.0)
    return points if points.shape[1] in (2, 3) else None


def _excess(costs: Array, points: Array) -> float | None:
    """The most by which a distance exceeds its cost, with rounding; None if they are not alike."""
    largest, off = float(costs.max()), 0.0
    for first in range(0, len(points), _ROWS):
        some = slice(first, first + _ROWS)
        away = points[some, None] - points
        above = np.sqrt((away * away).sum(axis=2)) - costs[some]
        if np.abs(above).max() > _SAME * largest:
            return None
        off = max(off, float(above.max()))
    return off + 1e-14 * largest


class CloudLines:
    """Lines through the points; see `search.lines.Lines`."""

    norm = "euclidean"

    def __init__(self, cloud: Cloud) -> None:
        self.directions, self.step, self.off = cloud.directions, 1.0, cloud.off
        places = (cloud.points @ self.directions.T).T
        count = _NUMBERS // len(places) // 4 * 4
        self.first = count * np.arange(len(places) + 1)
        self.lengths = np.ptp(places, axis=1)
        self._behind = np.column_stack([_cells(x, count) for x in places])

    def cumulated(self, rows: Array) -> Array:
        """Integrals of cumulative masses over the cells."""
        return np.asarray(rows @ self._behind).astype(np.float32)


def _cells(places: Array, count: int) -> Array:
    """For each bin and cell: the part of the cell that is behind the bin.

    Cells hold about as many different places each; where they are few, cells are the gaps.
    """
    edges = np.unique(places)
    if edges.size > count + 1:
        edges = edges[np.linspace(0, edges.size - 1, count + 1).astype(int)]
    out = np.zeros((places.size, count))
    begin, end = edges[:-1], edges[1:]
    out[:, : begin.size] = np.maximum(end - np.maximum(begin, places[:, None]), 0.0)
    return out
