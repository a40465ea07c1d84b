"""`Ground`: a checked cost matrix, reused over calls together with the operators made from it.

The verbs take a matrix as well; a `Ground` is for those who make more than one call, since the
checks, the median and the Gibbs operators are then paid for once.
"""

from __future__ import annotations

import math
import numbers
import threading
from collections import OrderedDict
from typing import Any, final

import numpy as np

from sinkdist.arrays import is_sparse, real_array
from sinkdist.errors import InputError, InputTypeError
from sinkdist.ground.costs import Costs, Metric, graph_costs, grid_costs, points_costs
from sinkdist.ground.gibbs import Gibbs

__all__ = ["Ground"]

_SUBJECT = "The ground matrix"
_KEPT = 4  # operators per ground: a few lam, or both dtypes
_LARGE = 1 << 26  # bytes; of a matrix beyond this only the latest operator is kept
_SYMMETRY = 1e-12  # relative difference of mirrored costs that counts as rounding


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

    __slots__ = ("_description", "_gibbs", "_lock", "_matrix", "_max", "_median", "_min", "_mirror")
    _median: float | None
    _mirror: bool | None
    _gibbs: OrderedDict[tuple[float, np.dtype[Any]], Gibbs]

    def __init__(self, matrix: Any) -> None:
        self._set(_read(matrix), "cost matrix")

    @classmethod
    def of(cls, ground: Any) -> Ground:
        """`ground` itself if it is a Ground already, else one made from a matrix."""
        return ground if isinstance(ground, cls) else cls(ground)

    @classmethod
    def grid(cls, *shape: int, metric: str = "euclidean") -> Ground:
        """Bins are the pixels of a grid, in row-major order (``image.ravel()``).

        Parameters
        ----------
        *shape : int
            The sides, in pixels; any number of them.
        metric : {"euclidean", "sqeuclidean", "cityblock"}
            The cost between pixels, whose spacing is 1.

        Examples
        --------
        >>> Ground.grid(2, 2, metric="cityblock").matrix[0]
        array([0., 1., 1., 2.])
        """
        sides = " x ".join(map(str, shape))
        return cls._made(grid_costs(shape, metric), f"{metric} grid {sides}")

    @classmethod
    def points(cls, points: Any, others: Any = None, *, metric: Metric = "euclidean") -> Ground:
        """Bins are points: words, colours, places.

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
        return cls._made(points_costs(points, others, metric), f"{name} points")

    @classmethod
    def graph(cls, adjacency: Any) -> Ground:
        """Bins are the nodes of a graph; costs are the lengths of shortest paths.

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
        return cls._made(graph_costs(adjacency), "shortest paths")

    @property
    def matrix(self) -> Costs:
        """The costs, read-only float64."""
        view = self._matrix.view()
        view.flags.writeable = False
        return view

    @property
    def shape(self) -> tuple[int, int]:
        """Number of bins of the first and of the second histogram."""
        rows, columns = self._matrix.shape
        return rows, columns

    @property
    def min(self) -> float:
        """The smallest cost."""
        return self._min

    @property
    def max(self) -> float:
        """The largest cost."""
        return self._max

    @property
    def median(self) -> float:
        """The median of all entries, the diagonal included: the paper's unit of cost."""
        if self._median is None:
            self._median = float(np.median(self._matrix))
        return self._median

    @property
    def is_symmetric(self) -> bool:
        """Whether the matrix is square and equals its transpose up to 1e-12 of each entry."""
        if self._mirror is None:
            self._mirror = _is_symmetric(self._matrix)
        return self._mirror

    def scaled(self, by: str | float = "median") -> Ground:
        """A ground with all costs divided by their median, their maximum or a number.

        Examples
        --------
        >>> Ground([[0, 2], [4, 0]]).scaled("max").matrix
        array([[0. , 0.5],
               [1. , 0. ]])
        """
        unit, name = self._unit(by)
        if self._max / unit == math.inf:
            raise InputError(f"Dividing the ground matrix by {unit:.6g} makes costs overflow.")
        with np.errstate(under="ignore"):
            return self._made(self._matrix / unit, f"{self._description} / {name}")

    def gibbs(self, lam: float, dtype: Any) -> Gibbs:
        """The Gibbs operator for `lam` in `dtype`: prepared once, then shared by all callers."""
        key = (lam, np.dtype(dtype))
        with self._lock:
            found = self._gibbs.get(key)
            if found is None:
                found = self._gibbs[key] = Gibbs(self._matrix, float(lam), key[1], self._max)
                while len(self._gibbs) > (_KEPT if self._matrix.nbytes <= _LARGE else 1):
                    self._gibbs.popitem(last=False)
            else:
                self._gibbs.move_to_end(key)
            return found

    def __repr__(self) -> str:
        rows, columns = self.shape
        return f"Ground({rows} x {columns}, {self._description}, median {self.median:.4g})"

    def __reduce__(self) -> tuple[Any, tuple[Costs, str]]:
        return Ground._made, (self._matrix, self._description)  # without operators and lock

    @classmethod
    def _made(cls, matrix: Costs, description: str) -> Ground:
        """A ground that owns `matrix`, made by us."""
        ground = cls.__new__(cls)
        ground._set(matrix, description)
        return ground

    def _set(self, matrix: Costs, description: str) -> None:
        """Check the costs and start with empty caches."""
        self._min, self._max = float(matrix.min()), float(matrix.max())
        if not (self._min >= 0.0 and self._max < math.inf):
            raise InputError(_bad_cost(matrix))
        self._matrix = matrix
        self._description = description
        self._median = None
        self._mirror = None
        self._gibbs = OrderedDict()
        self._lock = threading.Lock()

    def _unit(self, by: str | float) -> tuple[float, str]:
        """The positive number that `by` stands for, and how the description names it."""
        if by == "median" or by == "max":
            unit = self.median if by == "median" else self._max
            if unit > 0.0:
                return unit, str(by)
            other = " or by='max'" if by == "median" and self._max > 0.0 else ""
            raise InputError(
                f"The {by} of the ground matrix is 0, which is no unit of cost: "
                f"scale by a number{other}."
            )
        if isinstance(by, bool) or not isinstance(by, numbers.Real):
            if isinstance(by, str):
                raise InputError(
                    f"The 'by' option must be 'median', 'max' or a number. Got {by!r} instead."
                )
            raise InputTypeError(
                "The 'by' option must be 'median', 'max' or a number. "
                f"Got an object of type {type(by).__name__} instead."
            )
        if not 0.0 < by < math.inf:
            raise InputError(f"The 'by' option must be positive and finite. Got {by} instead.")
        return float(by), f"{by:.6g}"


def _read(matrix: Any) -> Costs:
    """A contiguous float64 copy of what the caller holds, if it is a matrix of real numbers."""
    if is_sparse(matrix):
        raise InputTypeError(
            f"{_SUBJECT} must be dense, since what a sparse matrix does not store would cost 0: "
            "pass its .toarray(), or Ground.graph(...) if it holds the edges of a graph."
        )
    array = real_array(matrix, _SUBJECT)
    if array.ndim != 2:
        raise InputError(f"{_SUBJECT} must be 2-dimensional. Got shape {array.shape} instead.")
    if array.size == 0:
        raise InputError(f"{_SUBJECT} is empty: its shape is {array.shape}.")
    with np.errstate(over="ignore"):  # a long double beyond float64 is reported as inf
        return np.array(array, dtype=np.float64, order="C")


def _bad_cost(matrix: Costs) -> str:
    """The sentence about the first cost that is negative, infinite or not a number."""
    i, j = np.argwhere(~((matrix >= 0.0) & (matrix < np.inf)))[0]
    cost = float(matrix[i, j])
    if cost < 0.0:
        rule = "costs must be non-negative. Adding a constant to all adds it to every distance"
    elif cost == np.inf:
        rule = "forbidden moves are not supported. Use a large finite cost"
    else:
        rule = "costs must be finite numbers"
    return f"Cost ({i}, {j}) of the ground matrix is {cost:.7g}; {rule}."


def _is_symmetric(matrix: Costs) -> bool:
    """Compare with the transpose, entry by entry and in blocks, to make no copy of either."""
    rows, columns = matrix.shape
    if rows != columns:
        return False
    for start in range(0, rows, 256):
        below = matrix[start:, start : start + 256]
        right = matrix[start : start + 256, start:].T
        if np.array_equal(below, right):
            continue
        if (np.abs(below - right) > _SYMMETRY * np.minimum(below, right)).any():
            return False
    return True
