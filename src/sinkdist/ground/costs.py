"""Building cost matrices: pixels of a grid, points with a metric, nodes of a graph.

Pure functions from descriptions of the bins to float64 matrices; `Ground` checks and keeps them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError, InputTypeError
from sinkdist.ground.grid import GridCosts
from sinkdist.ground.memory import require_memory
from sinkdist.ground.on_demand import POINT_METRICS, GraphCosts, PointCosts
from sinkdist.ground.structure import Structure, of_edges
from sinkdist.inputs.arrays import is_sparse, real_array, require_real
from sinkdist.inputs.sparsity import check_structure

__all__ = [
    "GRID_METRICS",
    "Costs",
    "Metric",
    "graph_costs",
    "grid_costs",
    "grid_of",
    "points_costs",
]

Costs: TypeAlias = npt.NDArray[np.float64]
Metric: TypeAlias = str | Callable[[Any, Any], float]

DENSE_UP_TO = 8192  #: points, or nodes of a graph, up to which there is a matrix (512 MB)
_BAND = 1 << 16  #: points that are checked together
_SPACINGS = 1e-100, 1e100  #: whose squares are numbers

GRID_METRICS = ("euclidean", "sqeuclidean", "cityblock")


def grid_costs(grid: GridCosts) -> Costs:
    """The matrix of costs between the pixels of a grid, in row-major order of the bins."""
    require_memory(grid.bins, grid.bins, f"A grid of {' x '.join(map(str, grid.sides))}")
    return np.asarray(grid.block())


def grid_of(shape: tuple[Any, ...], metric: str, spacing: Any) -> GridCosts:
    """A checked description of a grid."""
    if metric not in GRID_METRICS:
        names = ", ".join(map(repr, GRID_METRICS))
        raise InputError(f"The 'metric' option must be one of {names}. Got {metric!r} instead.")
    sides = _sides(shape)
    return GridCosts(sides, metric, _spacing(spacing, len(sides)))


def points_costs(points: Any, others: Any, metric: Metric) -> Costs | PointCosts:
    """Distances between the points of one set, or from one set to another, by scipy's cdist.

    Many points whose metric allows it have no matrix.
    """
    from scipy.spatial.distance import cdist

    if others is None and metric in POINT_METRICS and _size(points) > DENSE_UP_TO:
        return PointCosts(_large_points(points), str(metric))
    z = _points(points, "'points'")
    w = z if others is None else _points(others, "'others'")
    if z.shape[1] != w.shape[1]:
        raise InputError(
            f"'points' are of dimension {z.shape[1]}, but 'others' of dimension {w.shape[1]}."
        )
    require_memory(len(z), len(w), f"The ground of {len(z)} points")
    try:
        costs = np.asarray(cdist(z, w, metric=metric), dtype=np.float64)
    except ValueError as error:
        raise InputError(f"scipy's cdist cannot use metric={metric!r}: {error}") from error
    # Named metrics are symmetric, which cdist keeps up to rounding; a callable need not be.
    return _mirrored(costs) if others is None and isinstance(metric, str) else costs


def graph_costs(adjacency: Any) -> tuple[Costs | GraphCosts, Structure | None]:
    """Lengths of shortest paths in a connected, undirected weighted graph, and its structure.

    A large graph has no matrix.
    """
    from scipy.sparse.csgraph import shortest_path

    graph = _undirected(adjacency)
    nodes = graph.shape[0]
    _require_connected(graph)
    structure = of_edges(graph)
    if nodes > DENSE_UP_TO:
        return GraphCosts(graph), structure
    costs = _mirrored(np.asarray(shortest_path(graph, method="D", directed=False)))
    return costs, structure


def _size(points: Any) -> int:
    """How many points there are; 0 for what is no array."""
    shape: tuple[int, ...] = tuple(getattr(points, "shape", ()))
    return shape[0] if len(shape) == 2 else 0


def _large_points(points: Any) -> Costs:
    """Checked points in the precision they have, not copied where that can be."""
    if is_sparse(points):
        raise InputTypeError("'points' must be dense: pass its .toarray().")
    found = real_array(points, "'points'")
    kind = np.float32 if found.dtype in (np.float16, np.float32) else np.float64
    found = np.ascontiguousarray(found, dtype=kind)
    for start in range(0, len(found), _BAND):
        if not np.isfinite(found[start : start + _BAND]).all():
            _points(found[start : start + _BAND], "'points'")  # names the coordinate
    return found


def _mirrored(costs: Costs) -> Costs:
    """The smaller of each cost and its mirror image: exactly symmetric, in place."""
    return np.minimum(costs, costs.T.copy(), out=costs)


def _sides(shape: tuple[Any, ...]) -> tuple[int, ...]:
    """The sides of a grid as positive integers."""
    if not shape:
        raise InputError("A grid needs at least one side, as in Ground.grid(20, 20).")
    for side in shape:
        if isinstance(side, bool) or not isinstance(side, (int, np.integer)):
            raise InputTypeError(
                f"The sides of a grid must be integers, as in Ground.grid(20, 20). "
                f"Got {side!r} instead."
            )
        if side < 1:
            raise InputError(f"The sides of a grid must be positive. Got {side} instead.")
    return tuple(map(int, shape))


def _spacing(spacing: Any, axes: int) -> tuple[float, ...]:
    """The distance of neighbouring pixels along every axis."""
    given = np.atleast_1d(real_array(spacing, "'spacing'")).astype(np.float64)
    if given.ndim != 1 or given.size not in (1, axes):
        raise InputError(
            f"The 'spacing' option must be a number, or one for each of {axes} axes. "
            f"Got {spacing!r} instead."
        )
    least, most = _SPACINGS
    if not ((given >= least) & (given <= most)).all():
        raise InputError(
            f"The 'spacing' option must lie between {least:g} and {most:g}. Got {spacing!r} "
            "instead."
        )
    return tuple(np.broadcast_to(given, axes).tolist())


def _points(values: Any, subject: str) -> Costs:
    """A set of points as (n, dimension) numbers; 1-D values are points on a line."""
    if is_sparse(values):
        raise InputTypeError(f"{subject} must be dense: pass its .toarray().")
    points = real_array(values, subject).astype(np.float64)
    if points.ndim not in (1, 2) or 0 in points.shape:
        raise InputError(
            f"{subject} must be of shape (n, dimension) or (n,). Got shape {points.shape} instead."
        )
    points = points[:, None] if points.ndim == 1 else points
    bad = ~np.isfinite(points)
    if bad.any():
        point, axis = map(int, np.argwhere(bad)[0])
        raise InputError(
            f"Coordinate {axis} of point {point} of {subject} is {points[point, axis]}, "
            "but points must be finite."
        )
    return points


def _undirected(adjacency: Any) -> Any:
    """A checked CSR graph: weights non-negative; 0 in a dense matrix, or inf, means no edge."""
    from scipy.sparse import coo_array

    subject = "The adjacency matrix"
    sparse = is_sparse(adjacency)
    if sparse:
        require_real(adjacency, subject)
    else:
        adjacency = real_array(adjacency, subject)
    shape = adjacency.shape
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise InputError(f"{subject} must be square and not empty. Got shape {shape} instead.")
    if sparse:
        check_structure(adjacency, "the adjacency matrix")
        edges = coo_array(adjacency)
        i, j, weights = edges.row, edges.col, edges.data.astype(np.float64)
    else:
        i, j = np.nonzero(adjacency)  # NaN is not zero
        weights = adjacency[i, j].astype(np.float64)
    bad = ~(weights >= 0.0)
    if bad.any():
        k = int(bad.argmax())
        raise InputError(
            f"Weight ({i[k]}, {j[k]}) of the adjacency matrix is {weights[k]}, "
            "but lengths of edges must be non-negative numbers."
        )
    kept = weights < np.inf
    return coo_array((weights[kept], (i[kept], j[kept])), shape=shape).tocsr()


def _require_connected(graph: Any) -> None:
    """Raise, naming components by size and by one node each, unless a path joins all nodes."""
    from scipy.sparse.csgraph import connected_components

    count, labels = connected_components(graph, directed=False)
    if count == 1:
        return
    _, firsts, sizes = np.unique(labels, return_index=True, return_counts=True)
    order = np.argsort(-sizes, kind="stable")[:5]
    named = ", ".join(
        f"{sizes[k]} node{'s' if sizes[k] > 1 else ''} (such as {firsts[k]})" for k in order
    )
    raise InputError(
        f"The graph is not connected: it has {count} components, of {named}"
        f"{', ...' if count > 5 else ''}. No path joins them: add edges, or keep one component."
    )
