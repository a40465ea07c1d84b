"""What certificates ask of costs without a matrix: on a grid, and between clouds of points.

Histograms and potentials are on the bins with mass; ``rows`` and ``columns`` put them where the
costs have them: on all pixels of a grid, or in the order of a cloud.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid import GridCosts
from sinkdist.ground.grid_plan import GridPlan, kernel_of, plan_of
from sinkdist.solution.grid_transforms import FINE, largest_height, least_costs, stretch
from sinkdist.solution.plans import on_all_bins

if TYPE_CHECKING:
    from sinkdist.ground.cloud_plan import CloudPair

__all__ = ["CloudSums", "GridSums", "PlanSums"]

Array = npt.NDArray[Any]

_EPS = 2.0**-52


class PlanSums(Protocol):
    """Costs between the bins with mass of a pair, and sums with them."""

    @property
    def max(self) -> float:
        """At least the largest cost."""

    @property
    def unit(self) -> float:
        """The relative rounding of sums over bins, and of the plan's."""

    @property
    def is_rough(self) -> bool:
        """Whether least costs have a quick and rough form."""

    def rows(self, values: Array, fill: float) -> Array:
        """Values on bins with mass of the first histogram, where the costs have them."""

    def columns(self, values: Array, fill: float) -> Array:
        """The same of the second histogram."""

    def plan(self, lam: float, psi: Array) -> GridPlan:
        """The plan of a potential of the columns."""

    def mean_cost(self, r: Array, c: Array) -> float:
        """``r^T M c``."""

    def least(self, f: Array, ratio: float) -> Array:
        """``min_i (M_ij - f_i)``, of costs up to their `stretch`; f may be -inf."""

    def stretch(self, ratio: float) -> float:
        """By how much costs are overestimated there at most."""

    def dropped(self, largest: float) -> float:
        """By how much least costs may be off, for potentials up to ``largest``."""

    @property
    def swapped(self) -> PlanSums:
        """Rows and columns exchanged."""


@dataclass(frozen=True, slots=True, eq=False)
class GridSums:
    """On a grid, all of whose pixels are bins of both sides."""

    grid: GridCosts
    row_bins: Array
    column_bins: Array

    @property
    def max(self) -> float:
        """The largest cost."""
        return self.grid.max

    @property
    def unit(self) -> float:
        """The relative rounding of sums over windows, axes and bins."""
        grid = self.grid
        own = 8.0 * kernel_of(grid, 1.0).rounding
        return own + _EPS * (sum(grid.sides) + 4.0 * math.log2(grid.bins + 1.0) + 64.0)

    @property
    def is_rough(self) -> bool:
        """Under Euclidean distances there are rough least costs."""
        return self.grid.kind == "euclidean"

    def rows(self, values: Array, fill: float) -> Array:
        """On all pixels."""
        return on_all_bins(values, self.row_bins, self.grid.bins, fill).reshape(self.grid.sides)

    def columns(self, values: Array, fill: float) -> Array:
        """On all pixels."""
        return on_all_bins(values, self.column_bins, self.grid.bins, fill).reshape(self.grid.sides)

    def plan(self, lam: float, psi: Array) -> GridPlan:
        """Sums along axes, or by tiles."""
        return plan_of(psi, kernel_of(self.grid, lam))

    def mean_cost(self, r: Array, c: Array) -> float:
        """``r^T M c``: a sum over axes of a form in the marginals, or a convolution."""
        grid = self.grid
        if grid.kind == "euclidean":
            return float(np.vdot(grid.mean_costs(r.reshape(1, -1))[0], c))
        total = 0.0
        for axis, (side, step) in enumerate(zip(grid.sides, grid.steps, strict=True)):
            others = tuple(a for a in range(r.ndim) if a != axis)
            x = np.arange(float(side))
            far = np.abs(x[:, None] - x) ** (2 if grid.metric == "sqeuclidean" else 1)
            total += step * float(r.sum(axis=others) @ far @ c.sum(axis=others))
        return total

    def least(self, f: Array, ratio: float = FINE) -> Array:
        """Distance transforms; at most as many operations on a line as it has pixels round."""
        return least_costs(self.grid, f, ratio)

    def stretch(self, ratio: float) -> float:
        """By how much costs are overestimated at most."""
        return stretch(self.grid, ratio)

    def dropped(self, largest: float) -> float:
        """A source is dropped only if others are as good up to rounding."""
        return 16.0 * _EPS * sum(self.grid.sides) * (largest + largest_height(self.grid))

    @property
    def swapped(self) -> GridSums:
        """Costs between pixels are symmetric."""
        return GridSums(self.grid, self.column_bins, self.row_bins)


@dataclass(frozen=True, slots=True, eq=False)
class CloudSums:
    """Between two clouds of points, those with mass; every cost is computed where it is needed."""

    pair: CloudPair
    max: float

    @property
    def is_rough(self) -> bool:
        """Least costs are exact."""
        return False

    @property
    def unit(self) -> float:
        """The relative rounding of one sum over a run, then runs, of costs over coordinates."""
        clouds = self.pair.clouds
        terms = max(len(clouds.x), len(clouds.y))
        return float(_EPS * (terms / 8.0 + 4.0 * clouds.x.points.shape[1] + 128.0))

    def rows(self, values: Array, fill: float) -> Array:
        """In the order of the cloud."""
        return np.ascontiguousarray(values[self.pair.row_order])

    def columns(self, values: Array, fill: float) -> Array:
        """In the order of the cloud."""
        return np.ascontiguousarray(values[self.pair.column_order])

    def plan(self, lam: float, psi: Array) -> GridPlan:
        """Costs on the fly."""
        from sinkdist.ground.cloud_plan import CloudPlan

        return CloudPlan.of(self.pair.clouds, lam, psi)

    def mean_cost(self, r: Array, c: Array) -> float:
        """``r^T M c``."""
        return float(np.vdot(r, self.pair.clouds.mean_costs(c)))

    def least(self, f: Array, ratio: float = FINE) -> Array:
        """One read of the costs."""
        return -self.pair.clouds.swapped.largest(1.0, f)

    def stretch(self, ratio: float) -> float:
        """Costs are what they are."""
        return 1.0

    def dropped(self, largest: float) -> float:
        """A cost rounds with every coordinate, and so does its least value by a box."""
        rounds = 8.0 * (self.pair.clouds.x.points.shape[1] + 8)
        return float(rounds * _EPS * (largest + self.max))

    @property
    def swapped(self) -> CloudSums:
        """Rows and columns exchanged."""
        return CloudSums(self.pair.swapped, self.max)
