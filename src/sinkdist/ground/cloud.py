"""A cloud of points in an order in which neighbours lie together, cut into runs with boxes.

What is computed between clouds goes through runs of neighbours (`kernels.cloud`): most runs are too
far from a point to matter to it, which the box around a run tells. Halving the widest axis of every
piece, again and again, gives the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.kernels.cloud import RUN

__all__ = ["Cloud", "Runs", "in_runs", "neighbours_together"]

Array = npt.NDArray[Any]

_LEAF = 8  #: points that are not halved any more


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """What kernels are given of a cloud, in one precision.

    Attributes
    ----------
    points : ndarray of shape (n, k)
        The points, in order.
    runs : ndarray of shape (runs, k, RUN)
        The same, run by run; the last one is filled up with the last point.
    low, high : ndarray of shape (runs, k)
        The boxes around runs.
    """

    points: Array
    runs: Array
    low: Array
    high: Array

    def astype(self, dtype: Any) -> Runs:
        """The same in another precision."""
        arrays = self.points, self.runs, self.low, self.high
        return Runs(*(x.astype(dtype) for x in arrays))


class Cloud:
    """Points, one row each, in the order in which neighbours lie together.

    Attributes
    ----------
    points : ndarray of shape (n, k)
        The points in this order, as float64.
    """

    def __init__(self, points: Array) -> None:
        self.points = np.ascontiguousarray(points, dtype=np.float64)

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def double(self) -> Runs:
        """For accurate sums."""
        padded = in_runs(self.points.T, np.nan)  # (k, runs, RUN)
        padded = np.where(np.isnan(padded), self.points[-1][:, None, None], padded)
        runs = np.ascontiguousarray(padded.transpose(1, 0, 2))
        return Runs(self.points, runs, runs.min(axis=2), runs.max(axis=2))

    @cached_property
    def single(self) -> Runs:
        """For quick ones."""
        return self.double.astype(np.float32)


def in_runs(values: Array, fill: float) -> Array:
    """Values along the last axis as runs; the last run is filled up."""
    n = values.shape[-1]
    out = np.full((*values.shape[:-1], -(-n // RUN) * RUN), fill)
    out[..., :n] = values
    return out.reshape(*values.shape[:-1], -1, RUN)


def neighbours_together(points: Array) -> Array:
    """An order of points; every aligned run of a power of two of them, from 8 on, is compact.

    Examples
    --------
    >>> line = np.array([[float(x * 7 % 32)] for x in range(32)])
    >>> np.sort(line[neighbours_together(line)].ravel()[:8])
    array([0., 1., 2., 3., 4., 5., 6., 7.])
    """
    n = len(points)
    order, size = np.arange(n), _LEAF
    while size < n:
        size *= 2
    while size > _LEAF:  # pieces of this size are sorted along their widest axis, and so halved
        start = np.arange(0, n, size)
        here = points[order]
        spread = np.maximum.reduceat(here, start) - np.minimum.reduceat(here, start)
        piece = np.arange(n) // size
        place = here[np.arange(n), spread.argmax(axis=1)[piece]]
        order = order[np.lexsort((place, piece))]
        size //= 2
    return order
