"""Least costs on a grid: ``min_i (M_ij - f_i)`` for every pixel, which a dual bound is made of.

Squared and cityblock distances are sums over axes: an exact transform along one axis after another.
Euclidean ones are not, but ``x = min_s (s x^2 + 1 / s) / 2``. With values of ``s`` that grow by a
factor ``q``, the least over these is between ``x`` and ``(1 + delta) x``, where
``1 + delta = (sqrt(q) + 1 / sqrt(q)) / 2``: for every ``s`` a transform under squares. What is
found is at most ``(1 + delta) M_ij - f_i``, so both potentials divided by ``1 + delta`` (`stretch`)
are feasible; the bound loses as much, and is proven.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from sinkdist.ground.grid import GridCosts

__all__ = ["FINE", "ROUGH", "largest_height", "least_costs", "stretch"]

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

#: Of neighbouring values of s: a bound is 0.04 % lower than it might be, or 3 % and in less time.
FINE, ROUGH = 1.06, 1.6


def stretch(grid: GridCosts, ratio: float = FINE) -> float:
    """By how much costs are overestimated at most."""
    if grid.kind != "euclidean":
        return 1.0
    root = math.sqrt(ratio)
    return 0.5 * (root + 1.0 / root)


def largest_height(grid: GridCosts) -> float:
    """The largest number that transforms add to potentials, and so round."""
    if grid.kind != "euclidean":
        return grid.max
    return 0.5 * grid.max * (grid.max / _least_step(grid)) + grid.max


def least_costs(grid: GridCosts, potential: Array, ratio: float = FINE) -> Array:
    """``min_i (M_ij - f_i)`` for every pixel ``j``, of costs up to their `stretch`.

    ``f_i`` may be -inf.
    """
    from sinkdist.kernels.grid.cityblock import least_distances
    from sinkdist.kernels.grid.transforms import least_squares

    found = -potential.reshape(grid.sides)
    if grid.kind == "euclidean":
        return _least_lengths(grid, found, ratio)
    least = least_squares if grid.kind == "sqeuclidean" else least_distances
    return _along_axes(least, found, grid.steps)


def _least_lengths(grid: GridCosts, heights: Array, ratio: float) -> Array:
    """Under Euclidean distances, by transforms under squares."""
    from sinkdist.kernels.grid.transforms import least_squares

    found = heights.copy()  # staying costs nothing
    # The least cost is that of a step; no more than the range of the heights is ever paid.
    some = heights[heights < np.inf]
    farthest = min(grid.max, float(some.max() - some.min())) if (found < np.inf).all() else grid.max
    length = _least_step(grid)
    while True:
        s = 1.0 / length
        steps = tuple(0.5 * s * w * w for w in grid.steps)
        np.minimum(found, _along_axes(least_squares, heights, steps) + 0.5 / s, out=found)
        if length >= farthest:
            return found
        length *= ratio


def _least_step(grid: GridCosts) -> float:
    """The least cost between two pixels."""
    return min(w for w, side in zip(grid.steps, grid.sides, strict=True) if side > 1)


def _along_axes(least: Callable[..., None], heights: Array, units: Any) -> Array:
    """One axis after another."""
    for unit in reversed(units):
        n = heights.shape[-1]
        flat = np.ascontiguousarray(heights).reshape(-1, n)
        out = np.empty((n, len(flat)))
        least(flat, unit, 0, len(flat), out)
        heights = out.reshape(n, *heights.shape[:-1])
    return heights
