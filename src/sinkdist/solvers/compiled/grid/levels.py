"""Levels: a grid, and coarser ones below it, each with about half the pixels along an axis.

A pair is solved on the coarsest grid first, with more blur. Potentials are smooth where masses need
not be, so a potential goes to the next grid without the logarithm of the masses: it is
``g = -log sum_i u_i K_ij / lam``, which is defined for bins without mass as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Level", "levels_of", "refined"]

Array = npt.NDArray[Any]

_SMALLEST = 16  #: pixels along an axis that are not halved any more
#: lam times the cost of a step, at most, where there is a finer grid.
_BLUR = {"sqeuclidean": 0.5, "cityblock": 2.0, "euclidean": 1.0}
_EVEN = 2.0  #: axes whose steps cost less than this many times the least are halved together


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """A pair on one grid.

    Attributes
    ----------
    r, c : ndarray
        Masses, of the shape of the grid.
    metric : str
        The cost.
    steps : tuple of float
        The cost of one step along every axis.
    halved : tuple of bool
        The axes along which the next coarser grid has half the pixels.
    """

    r: Array
    c: Array
    metric: str
    steps: tuple[float, ...]
    halved: tuple[bool, ...] = ()

    def sharpest(self) -> float:
        """The largest lam at which this grid resolves the kernel."""
        return _BLUR[self.metric] / max(self.steps)


def levels_of(finest: Level) -> list[Level]:
    """The grid and its coarser ones, the finest first."""
    r, c, metric, steps = finest.r, finest.c, finest.metric, finest.steps
    twice = 4.0 if metric == "sqeuclidean" else 2.0  # what a step of two pixels costs
    found = []
    while True:
        halved = _to_halve(r.shape, steps)
        found.append(Level(r, c, metric, steps, halved))
        if not any(halved):
            return found
        r, c = _halve(r, halved), _halve(c, halved)
        steps = tuple(twice * w if half else w for w, half in zip(steps, halved, strict=True))


def _to_halve(shape: tuple[int, ...], steps: tuple[float, ...]) -> tuple[bool, ...]:
    """Long axes, and of these the ones with the cheapest steps: grids become even."""
    least = min((w for n, w in zip(shape, steps, strict=True) if n > _SMALLEST), default=0.0)
    return tuple(n > _SMALLEST and w <= _EVEN * least for n, w in zip(shape, steps, strict=True))


def _halve(mass: Array, halved: tuple[bool, ...]) -> Array:
    """Sums of neighbours; where a side is odd, its last pixel stays alone.

    Examples
    --------
    >>> _halve(np.array([1.0, 2.0, 3.0]), (True,))
    array([3., 3.])
    """
    for axis, half in enumerate(halved):
        if half:
            mass = np.moveaxis(mass, axis, 0)
            pairs = mass[: len(mass) - len(mass) % 2]
            sums = pairs[::2] + pairs[1::2]
            mass = np.moveaxis(np.concatenate([sums, mass[len(pairs) :]]), 0, axis)
    return np.ascontiguousarray(mass)


def refined(values: Array, shape: tuple[int, ...], halved: tuple[bool, ...]) -> Array:
    """Values of a coarse grid at the pixels of the finer one: quadratic between its pixels.

    Examples
    --------
    >>> refined(np.array([0.0, 4.0, 16.0]), (6,), (True,))
    array([ 0.25,  0.25,  2.25,  6.25, 12.25, 20.25])
    """
    for axis, half in enumerate(halved):
        if half:
            x = np.moveaxis(values, axis, 0)
            before = np.concatenate([[3.0 * x[0] - 3.0 * x[1] + x[2]], x[:-1]])
            after = np.concatenate([x[1:], [3.0 * x[-1] - 3.0 * x[-2] + x[-3]]])
            slope, bend = 0.125 * (after - before), 0.03125 * (after - 2.0 * x + before)
            fine = np.empty((2 * len(x), *x.shape[1:]))
            fine[::2], fine[1::2] = x - slope + bend, x + slope + bend
            values = np.moveaxis(fine[: shape[axis]], 0, axis)
    return np.ascontiguousarray(values)
