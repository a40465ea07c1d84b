"""Directions of a grid along which histograms are projected, and the weights of their bounds.

For a norm on displacements ``z`` of bins and weights ``w >= 0`` with ``sum_a w_a |<a, z>| <= |z|``
for all ``z``, transport costs at least ``sum_a w_a`` times the one-dimensional transport of the
projections onto ``a``; see `projections`. Here is where directions and weights come from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np

from sinkdist.ground import Ground
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.projections import cumulate

__all__ = ["GridLines", "Lattice", "find_lattice", "largest_weight", "weights_for"]

_SAME = 1e-12  #: relative: what a cost may differ by from that of the grid
_ROWS = 256  #: of the costs that are compared at once
_MOST_DIRECTIONS = 13  #: so that all signs can be tried
_BOUNDS = 32  #: weight vectors that are kept


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """Bins as points of a grid whose distances are at most the costs.

    Attributes
    ----------
    shape : tuple of int
        Sides of the grid, in row-major order of the bins.
    step : float
        At most the cost of one step over its length: costs are at least ``step`` times distances.
    norm : {"euclidean", "cityblock"}
        What these distances are.
    """

    shape: tuple[int, ...]
    step: float
    norm: str

    @property
    def points(self) -> Array:
        """Coordinates of the bins, whole numbers."""
        return np.indices(self.shape).reshape(len(self.shape), -1).T

    @property
    def directions(self) -> Array:
        """Primitive directions, one of each pair of opposites, the shortest first."""
        axes = len(self.shape)
        if self.norm == "cityblock":
            return np.eye(axes, dtype=np.int64)
        reach = 2 if axes == 2 else 1
        found = [
            z
            for z in product(range(-reach, reach + 1), repeat=axes)
            if np.gcd.reduce(z) == 1 and next(x for x in z if x) > 0
        ]
        found.sort(key=lambda z: (np.dot(z, z), z))
        return np.array(found[:_MOST_DIRECTIONS], np.int64)


class GridLines:
    """Lines along lattice directions; see `search.lines.Lines`."""

    def __init__(self, lattice: Lattice) -> None:
        self.norm, self.step, self.off = lattice.norm, lattice.step, 0.0
        self.directions = lattice.directions
        places = lattice.points @ self.directions.T
        self._places = np.ascontiguousarray((places - places.min(axis=0)).T)
        self._gaps = self._places.max(axis=1)
        self.first = np.concatenate([[0], np.cumsum(-(-self._gaps // 4) * 4)])
        self.lengths = self._gaps.astype(np.float64)

    def cumulated(self, rows: Array) -> Array:
        """Cumulative masses between neighbouring places."""
        out = np.zeros((len(rows), self.first[-1]), np.float32)
        cumulate(
            np.ascontiguousarray(rows), self._places, self.first[:-1].copy(), self._gaps,
            np.empty(int(self._gaps.max()) + 1), out,
        )  # fmt: skip
        return out


def find_lattice(ground: Ground) -> Lattice | None:
    """The grid that the bins lie on, if costs are those of one of two or three dimensions."""
    rows, columns = ground.shape
    if rows != columns or rows < 4:
        return None
    costs = ground.dense
    for shape in _shapes(rows):
        for norm in ("euclidean", "cityblock"):
            lattice = Lattice(shape, float(costs[0, 1]), norm)
            step = _least_ratio(costs, lattice)
            if step > 0.0:
                return Lattice(shape, step, norm)
    return None


def _shapes(bins: int) -> Iterator[tuple[int, ...]]:
    """Ways to write a number of bins as sides of at least 2."""
    divisors = [x for x in range(2, bins // 2 + 1) if bins % x == 0]
    yield from ((x, bins // x) for x in divisors)
    for x in divisors:
        yield from (
            (x, y, bins // x // y) for y in divisors if bins % (x * y) == 0 and bins > x * y
        )


def _least_ratio(costs: Array, lattice: Lattice) -> float:
    """A number that all costs over their distances on the grid exceed; 0 if they are not alike."""
    points = lattice.points.astype(np.float64)
    if not lattice.step > 0.0:
        return 0.0
    parts = [slice(0, 1), *(slice(a, a + _ROWS) for a in range(1, len(points), _ROWS))]
    for some in parts:  # the first row tells it of almost every matrix
        away = points[some, None] - points
        if lattice.norm == "euclidean":
            distance = np.sqrt((away * away).sum(axis=2))
        else:
            distance = np.abs(away).sum(axis=2)
        off = np.abs(costs[some] - lattice.step * distance)
        if (off > _SAME * lattice.step * distance).any():
            return 0.0
    return lattice.step * (1.0 - 2.0 * _SAME)


def largest_weight(weights: Array, directions: Array, norm: str) -> float:
    """The least ``s`` with ``sum_a w_a |<a, z>| <= s |z|`` for all ``z``, rounded up.

    The sum is the support function of a zonotope, so it is largest at one of its corners ``sum_a
    +- w_a a``: their Euclidean lengths, or for the city-block norm their largest coordinates.
    """
    signs = np.array(list(product((-1.0, 1.0), repeat=len(directions) - 1)))
    signs = np.column_stack([np.ones(len(signs)), signs])
    corners = (signs * weights) @ directions
    sizes = np.abs(corners).max() if norm == "cityblock" else np.linalg.norm(corners, axis=1).max()
    return float(sizes) * (1.0 + 1e-12)


def weights_for(directions: Array, norm: str, samples: Array) -> Array:
    """Weight vectors that make good bounds of one-dimensional distances like the ``samples``.

    For each sample the best weights are those of a linear program, whose constraints are many
    displacements ``z``; dividing by `largest_weight` makes them valid for all. Few are kept: those
    that raise the bounds of the samples most.
    """
    if norm == "cityblock":
        return np.ones((1, len(directions)))
    found = [np.eye(len(directions))[k] / np.linalg.norm(a) for k, a in enumerate(directions)]
    found += [_by_linear_program(sample, directions) for sample in samples]
    tried = np.array([w / largest_weight(w, directions, norm) for w in found])
    values = samples @ tried.T
    chosen: list[int] = []
    best = np.zeros(len(samples))
    while len(chosen) < min(_BOUNDS, len(tried)):
        gains = np.maximum(values - best[:, None], 0.0).sum(axis=0)
        if chosen and gains.max() <= 1e-6 * best.sum():
            break
        chosen.append(int(gains.argmax()))
        best = np.maximum(best, values[:, chosen[-1]])
    return tried[chosen]


def _by_linear_program(sample: Array, directions: Array) -> Array:
    """Weights that maximise the bound of a sample, for a finite number of displacements."""
    from scipy.optimize import linprog

    z = _unit_vectors(directions.shape[1])
    end = linprog(-sample, A_ub=np.abs(z @ directions.T), b_ub=np.ones(len(z)), bounds=(0, None))
    weights = np.maximum(end.x, 0.0) if end.success else np.zeros(len(directions))
    return np.asarray(weights if weights.any() else np.ones(len(directions)))


def _unit_vectors(axes: int) -> Array:
    """Directions that cover half of a circle or sphere evenly."""
    if axes == 2:
        angle = np.pi * np.arange(180) / 180
        return np.column_stack([np.cos(angle), np.sin(angle)])
    k = np.arange(600) + 0.5
    height, turn = 1.0 - k / len(k), np.pi * (1.0 + 5.0**0.5) * k
    width = np.sqrt(1.0 - height**2)
    return np.column_stack([width * np.cos(turn), width * np.sin(turn), height])
