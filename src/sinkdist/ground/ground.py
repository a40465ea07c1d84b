"""`Ground`: a checked cost matrix, reused over calls together with the operators made from it.

The verbs take a matrix as well; a `Ground` is for those who make more than one call, since the
checks, the median and the Gibbs operators are then paid for once.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, final

import numpy as np

from sinkdist.errors import InputError
from sinkdist.ground.costs import (
    Costs,
    Metric,
    graph_costs,
    grid_costs,
    grid_of,
    points_costs,
)
from sinkdist.ground.dense import DenseCosts
from sinkdist.ground.grid import DENSE_UP_TO, GridCosts
from sinkdist.ground.metric import BENT, ROUNDED, MetricCheck, check_metric, largest_metric_below
from sinkdist.ground.on_demand import OnDemand, PointCosts
from sinkdist.ground.operator import Index, MatrixFree
from sinkdist.ground.operator_cache import OperatorCache
from sinkdist.ground.reading import bad_cost, read_matrix, unit_of
from sinkdist.ground.structure import Structure, found_in, line
from sinkdist.inputs.arrays import for_kernels

__all__ = ["Ground"]

_BY_CONSTRUCTION = MetricCheck(True, "A metric by construction.")
#: Metrics of cdist that satisfy the triangle inequality for any points.
_TRUE_METRICS = ("euclidean", "cityblock", "chebyshev", "minkowski", "hamming")


@final
class Ground:
    """Costs of moving mass from bin to bin.

    Parameters
    ----------
    matrix : array_like, shape (d, d) or (rows, columns)
        Finite, non-negative costs. It is copied; later changes to it have no effect.

    Examples
    --------
    >>> ground = Ground([[0, 1], [1, 0]])
    >>> ground
    Ground(2 x 2, cost matrix, median 0.5)
    >>> Ground.grid(20, 20).scaled().median
    1.0
    """

    __slots__ = (
        "_costs", "_description", "_gibbs", "_metric", "_moved", "_pixels", "_slack", "_structure",
        "_unit_known",
    )  # fmt: skip
    _costs: DenseCosts | MatrixFree
    _metric: MetricCheck | None
    _structure: Structure | Literal["unknown"] | None
    _gibbs: OperatorCache
    _moved: OperatorCache
    _pixels: GridCosts | None
    _slack: float
    _unit_known: bool

    def __init__(self, matrix: Any) -> None:
        self._set(DenseCosts(read_matrix(matrix)), "cost matrix")

    @classmethod
    def of(cls, ground: Any) -> Ground:
        """`ground` itself if it is a Ground already, else one made from a matrix."""
        return ground if isinstance(ground, cls) else cls(ground)

    @classmethod
    def grid(cls, *shape: int, metric: str = "euclidean", spacing: Any = 1.0) -> Ground:
        """Bins are the pixels of a grid, in row-major order (``image.ravel()``).

        A large grid has no matrix: costs are computed where they are needed, `matrix` refuses with
        the size, and pairs are solved without it.

        Parameters
        ----------
        *shape : int
            The sides, in pixels; any number of them.
        metric : {"euclidean", "sqeuclidean", "cityblock"}
            The cost between pixels.
        spacing : float or sequence of float
            The distance of neighbouring pixels; one number, or one for each axis.

        Examples
        --------
        >>> Ground.grid(2, 2, metric="cityblock").matrix[0]
        array([0., 1., 1., 2.])
        >>> Ground.grid(1024, 1024, metric="sqeuclidean", spacing=1 / 1024)
        Ground(1048576 x 1048576, sqeuclidean grid 1024 x 1024, median 0.2621)
        """
        grid = grid_of(shape, metric, spacing)
        large = grid.bins > DENSE_UP_TO[metric]
        description = f"{metric} grid {' x '.join(map(str, shape))}"
        ground = cls._made(grid if large else DenseCosts(grid_costs(grid)), description)
        ground._pixels = grid
        if metric != "sqeuclidean":
            ground._metric, ground._slack = _BY_CONSTRUCTION, ROUNDED
            if len(shape) == 1:
                places = grid.spacing[0] * np.arange(float(shape[0]))
                ground._structure = line(places, ground.costs_at)
        return ground

    @classmethod
    def points(cls, points: Any, others: Any = None, *, metric: Metric = "euclidean") -> Ground:
        """Bins are points: words, colours, places.

        More than 8,192 points have no matrix if `metric` is euclidean, sqeuclidean, cityblock,
        chebyshev or cosine: costs are computed for the bins in use. The array is then kept as it
        is, in float32 or float64, and must not be changed.

        Parameters
        ----------
        points : array_like, shape (d, dimension) or (d,)
            One point per bin; 1-D values are points on a line.
        others : array_like, optional
            Other points for the bins of the second histogram.
        metric : str or callable
            Any metric of `scipy.spatial.distance.cdist`.

        Examples
        --------
        >>> Ground.points([0.0, 1.0, 3.0]).matrix[0]
        array([0., 1., 3.])
        """
        name = metric if isinstance(metric, str) else getattr(metric, "__name__", "custom")
        ground = cls._made(_operator(points_costs(points, others, metric)), f"{name} points")
        if metric in _TRUE_METRICS and others is None:
            ground._metric = _BY_CONSTRUCTION
            places = np.asarray(points)
            if ground.is_dense:
                ground._slack = (1 + places.size // len(places)) * ROUNDED
            if places.size == len(places) and metric != "hamming":
                places = places.astype(np.float64)
                ground._structure = line(places.ravel(), ground.costs_at)
        return ground

    @classmethod
    def graph(cls, adjacency: Any) -> Ground:
        """Bins are the nodes of a graph; costs are the lengths of shortest paths.

        More than 8,192 nodes have no matrix: paths are found from the bins in use.

        Parameters
        ----------
        adjacency : sparse array or array_like, shape (d, d)
            Lengths of the edges, non-negative. Edges go both ways: of (i, j) and (j, i) one is
            enough, and the shorter counts. No edge is what a sparse matrix does not store (a
            stored 0 is an edge of length 0), 0 in a dense one, and inf in both.

        Examples
        --------
        >>> Ground.graph([[0, 1, 0], [0, 0, 2], [0, 0, 0]]).matrix[0]
        array([0., 1., 3.])
        """
        costs, structure = graph_costs(adjacency)
        ground = cls._made(_operator(costs), "shortest paths")
        ground._metric = _BY_CONSTRUCTION
        if structure is not None:
            ground._structure = structure
        return ground

    @property
    def matrix(self) -> Costs:
        """The costs, read-only float64; an error with their size where there is no matrix."""
        view = self.dense.view()
        view.flags.writeable = False
        return view

    @property
    def dense(self) -> Costs:
        """The same, not flagged read-only, for compiled passes; never written to."""
        costs = self._costs
        return costs.block() if isinstance(costs, DenseCosts) else costs.matrix()

    @property
    def is_dense(self) -> bool:
        """Whether there is a matrix."""
        return isinstance(self._costs, DenseCosts)

    @property
    def rounding(self) -> float:
        """By how much of the largest cost two computations of a cost may each be off."""
        return 0.0 if isinstance(self._costs, DenseCosts) else self._costs.rounding

    def refusal(self, what: str, instead: str) -> InputError | None:
        """The error for those who want a matrix of this shape, where it would be too large."""
        costs = self._costs
        if isinstance(costs, DenseCosts) or costs.has_matrix:
            return None
        return costs.refusal(what, instead)

    @property
    def as_grid(self) -> GridCosts | None:
        """The pixels that bins are, where there is no matrix of their costs."""
        return self._costs if isinstance(self._costs, GridCosts) else None

    @property
    def as_points(self) -> PointCosts | None:
        """The points that bins are, where there is no matrix of their costs."""
        return self._costs if isinstance(self._costs, PointCosts) else None

    @property
    def pixels(self) -> GridCosts | None:
        """The grid that bins are the pixels of, with a matrix or without; None for other bins."""
        return self._pixels

    def block(self, rows: Index | None = None, columns: Index | None = None) -> Costs:
        """Costs between some bins, given by their indices; None stands for all of them.

        Not to be written to: it may be the ground's own memory.
        """
        return self._costs.block(rows, columns)

    def on(self, rows: Index, columns: Index) -> Ground:
        """The ground between some bins, with a matrix.

        Of a metric it is one too where the columns begin with the rows: other columns are bins that
        nothing comes from.
        """
        part = self._made(DenseCosts(self._costs.block(rows, columns)), self._description)
        if self.is_made_metric and np.array_equal(rows, columns[: rows.size]):
            part._metric = _BY_CONSTRUCTION
        part._structure, part._slack = None, self._slack
        return part

    def mean_costs(self, rows: Any) -> Any:
        """``R M``: the mean cost from each histogram (dense or sparse rows) to every bin."""
        return self._costs.mean_costs(rows)

    @property
    def diagonal(self) -> Costs:
        """The costs of staying in a bin, for a square ground."""
        return self._costs.diagonal

    @property
    def fingerprint(self) -> str:
        """A digest that two grounds share only if their costs are the same, to the bit."""
        return self._costs.fingerprint

    @property
    def shape(self) -> tuple[int, int]:
        """Number of bins of the first and of the second histogram."""
        return self._costs.shape

    @property
    def min(self) -> float:
        """The smallest cost."""
        return self._costs.min

    @property
    def max(self) -> float:
        """The largest cost; of large clouds of points and graphs an upper bound on it."""
        return self._costs.max

    @property
    def median(self) -> float:
        """The median of all entries, the diagonal included: the paper's unit of cost.

        Of large clouds of points and graphs it is that of a million entries, always the same ones.
        """
        return self._costs.median

    @property
    def is_symmetric(self) -> bool:
        """Whether the matrix is square and equals its transpose up to 1e-12 of each entry."""
        return self._costs.is_symmetric

    def scaled(self, by: str | float = "median") -> Ground:
        """A ground with all costs divided by their median, their maximum or a number.

        Examples
        --------
        >>> Ground([[0, 2], [4, 0]]).scaled("max").matrix
        array([[0. , 0.5],
               [1. , 0. ]])
        """
        unit, name = unit_of(by, self.median, self.max)
        if self.max / unit == math.inf:
            raise InputError(f"Dividing the ground matrix by {unit:.6g} makes costs overflow.")
        ground = self._made(self._costs.scaled(unit), f"{self._description} / {name}")
        ground._metric = self._metric if self._metric is _BY_CONSTRUCTION else None
        ground._slack = self._slack
        ground._pixels = None if self._pixels is None else self._pixels.scaled(unit)
        ground._unit_known = True
        if isinstance(self._structure, Structure):
            ground._structure = self._structure.scaled(unit)
        return ground

    @property
    def is_unit_known(self) -> bool:
        """Whether the unit of the costs was chosen, by `scaled`, or has been warned about."""
        return self._unit_known

    def know_unit(self) -> None:
        """Remember that the unit of the costs has been warned about."""
        self._unit_known = True

    @property
    def is_metric(self) -> MetricCheck:
        """Whether the costs are a metric; its ``reason`` names the worst violated triangle.

        Examples
        --------
        >>> bool(Ground.grid(3).is_metric)
        True
        >>> print(Ground.grid(3, metric="sqeuclidean").is_metric.reason)
        Going from bin 0 to 2 costs 4, but 2 by way of 1.
        """
        if self._metric is None:
            costs = self._costs
            self._metric = (
                check_metric(self.dense, self.max, self.is_symmetric)
                if isinstance(costs, DenseCosts)
                else costs.check_metric()
            )
        return self._metric

    @property
    def is_made_metric(self) -> bool:
        """Whether the costs are a metric by construction, whatever has been looked at since."""
        return self._metric is _BY_CONSTRUCTION

    @property
    def metric_slack(self) -> float:
        """By how much triangles may be violated, as a part of the largest cost.

        Where the costs are a metric; never more than `BENT`.
        """
        check = self._metric
        if check is None or check is _BY_CONSTRUCTION or not check.holds or self.max == 0.0:
            return self._slack
        return min(check.rounding / self.max + ROUNDED, self._slack)

    @property
    def is_known_metric(self) -> bool:
        """Whether the costs are known to be a metric without looking at every triangle."""
        return self._metric is not None and self._metric.holds

    @property
    def structure(self) -> Structure | None:
        """What gives the exact distance a closed form; None where nothing is known that does."""
        if self._structure == "unknown":
            self._structure = found_in(self.dense, self.min, self.max) if self.is_dense else None
        return self._structure

    def costs_at(self, rows: Index, columns: Index) -> Costs:
        """The costs of some moves, each from a row to the column at the same place."""
        return self._costs.at(rows, columns)

    def closest_metric(self) -> Ground:
        """The largest metric that is nowhere above the costs: lengths of shortest paths.

        Examples
        --------
        >>> Ground.grid(3, metric="sqeuclidean").closest_metric().matrix[0]
        array([0., 1., 2.])
        """
        rows, columns = self.shape
        if rows != columns:
            raise InputError(
                f"Only a square ground has a closest metric. This one is {rows} x {columns}."
            )
        costs = DenseCosts(largest_metric_below(self.dense))
        ground = self._made(costs, f"metric below {self._description}")
        ground._metric = _BY_CONSTRUCTION
        return ground

    def gibbs(self, lam: float, dtype: Any) -> Any:
        """The Gibbs operator for `lam` in `dtype`: prepared once, then shared by all callers."""
        key = (float(lam), np.dtype(dtype))
        return self._gibbs.get(key, lambda: self._costs.kernel(*key))

    def moved(self, place: Any, move: Callable[[Ground], Any]) -> Any:
        """The costs as `move` puts them in some `place`: moved once, then shared by all callers."""
        return self._moved.get(place, lambda: move(self))

    def forget(self) -> Ground:
        """Drop the prepared operators, which frees their memory; the ground itself is returned.

        Examples
        --------
        >>> Ground.grid(3).forget()
        Ground(3 x 3, euclidean grid 3, median 1)
        """
        self._gibbs.clear()
        self._moved.clear()
        return self

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"Ground({rows} x {columns}, {self._description}, median {self.median:.4g})"

    def __reduce__(self) -> tuple[Any, tuple[Any, ...]]:
        costs = self.dense if self.is_dense else self._costs
        found = self._description, self._metric, self._structure, self._pixels
        known = (*found, self._slack, self._unit_known)
        return _restored, (costs, *known)

    @classmethod
    def _made(cls, costs: DenseCosts | MatrixFree, description: str) -> Ground:
        """A ground of costs that were made by us."""
        ground = cls.__new__(cls)
        ground._set(costs, description)
        return ground

    def _set(self, costs: DenseCosts | MatrixFree, description: str) -> None:
        """Check the costs and start with empty caches."""
        if not (costs.min >= 0.0 and costs.max < math.inf):
            raise InputError(bad_cost(costs.block()))
        self._costs = costs
        self._description = description
        self._metric = None
        self._structure = "unknown"
        self._pixels = None
        self._slack = BENT
        self._unit_known = False
        self._gibbs = OperatorCache(costs.nbytes)
        self._moved = OperatorCache(costs.nbytes)


def _operator(costs: Any) -> DenseCosts | OnDemand:
    """Costs that are a matrix, or that compute themselves."""
    return DenseCosts(costs) if isinstance(costs, np.ndarray) else costs


def _restored(
    costs: Any,
    description: str,
    metric: MetricCheck | None,
    structure: Structure | Literal["unknown"] | None,
    pixels: GridCosts | None = None,
    slack: float = BENT,
    unit_known: bool = False,
) -> Ground:
    """A ground from a pickle: without operators and lock, with what is known about it.

    Workers receive arrays that are large as read-only maps of a file, or as bytes.
    """
    matrix = isinstance(costs, np.ndarray)
    ground = Ground._made(DenseCosts(for_kernels(costs)) if matrix else costs, description)
    if metric is not None:
        ground._metric = _BY_CONSTRUCTION if metric == _BY_CONSTRUCTION else metric
    ground._structure, ground._pixels = structure, pixels
    ground._slack, ground._unit_known = slack, unit_known
    return ground
