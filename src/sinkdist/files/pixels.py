"""Pictures and stacks of them as histograms: one per row, where bins are the pixels of a grid."""

from __future__ import annotations

from typing import Any

from sinkdist.ground import Ground

__all__ = ["as_rows"]


def as_rows(array: Any, ground: Ground) -> Any:
    """What has the shape of the grid is one histogram, a stack of such a family; others stay.

    Examples
    --------
    >>> import numpy as np
    >>> ground = Ground.grid(4, 5)
    >>> [as_rows(np.ones(shape), ground).shape for shape in ((4, 5), (7, 4, 5), (7, 20))]
    [(20,), (7, 20), (7, 20)]
    """
    grid = ground.pixels
    if grid is None or len(grid.sides) < 2:
        return array
    if array.shape == grid.sides:
        return array.reshape(-1)
    if array.shape[1:] == grid.sides:
        return array.reshape(len(array), -1)
    return array
