"""`matrix`: a matrix of distances as an image, its rows in the order of clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes

from sinkdist.errors import InputError
from sinkdist.plot.canvas import axes

__all__ = ["cluster_order", "matrix", "read_labels", "read_square"]

Array = npt.NDArray[Any]
_OPTIMAL = 1000  #: rows up to which the leaves of the tree are turned to the best order


def matrix(D: Any, labels: Any = None, *, ax: Axes | None = None) -> Axes:
    """Draw a square matrix of distances; rows that are near each other stand together.

    Rows are in the order of the leaves of a tree of clusters (average linkage). With `labels`, rows
    of one label stand together, in that order within each, and white lines part the labels.

    Parameters
    ----------
    D : array_like or StoredMatrix, shape (n, n)
        Symmetric distances. Rows that are NaN stand at the end.
    labels : array_like, shape (n,), optional
        Of the rows.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import sinkdist as sd
    >>> D = [[0, 9, 1], [9, 0, 9], [1, 9, 0]]
    >>> sd.plot.matrix(D, labels=["a", "b", "a"]).images[0].get_array().tolist()
    [[0.0, 1.0, 9.0], [1.0, 0.0, 9.0], [9.0, 9.0, 0.0]]
    """
    distances = read_square(D)
    groups = read_labels(labels, len(distances))
    order = _ordered(distances, groups)
    ax = axes(ax, 5.5, 4.6)
    image = ax.imshow(distances[np.ix_(order, order)], cmap="viridis", interpolation="nearest")
    ax.figure.colorbar(image, ax=ax, label="distance", shrink=0.8)
    if groups is None:
        ax.set_xlabel("rows, by clusters")
        ax.set_xticks([])
        ax.set_yticks([])
        return ax
    names, sizes = np.unique(groups, return_counts=True)
    ends = np.cumsum(sizes)
    for end in ends[:-1]:
        ax.axhline(end - 0.5, color="white", linewidth=0.8)
        ax.axvline(end - 0.5, color="white", linewidth=0.8)
    middle = (ends - sizes / 2 - 0.5).tolist()
    ax.set_yticks(middle, [str(name) for name in names])
    ax.set_xticks(middle, [str(name) for name in names], rotation=0 if len(names) <= 12 else 90)
    return ax


def read_square(D: Any) -> Array:
    """A square matrix of distances in memory."""
    distances = np.asarray(D, dtype=float)
    if distances.ndim != 2 or distances.shape[0] != distances.shape[1] or not distances.size:
        raise InputError(
            f"'D' must be a square matrix of distances. Got shape {distances.shape} instead."
        )
    return distances


def read_labels(labels: Any, n: int) -> Array | None:
    """A label for each row."""
    if labels is None:
        return None
    groups = np.asarray(labels)
    if groups.shape != (n,):
        raise InputError(
            f"The 'labels' option must hold one label per row, {n} in all. "
            f"Got shape {groups.shape} instead."
        )
    return groups


def cluster_order(distances: Array) -> Array:
    """Rows in the order of the leaves of a tree of clusters; rows that are NaN come last."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    outside = ~np.isfinite(distances)
    np.fill_diagonal(outside, False)
    lost = outside.sum(axis=1) > outside.shape[0] // 2
    some = np.flatnonzero(~lost)
    if some.size < 3:
        return np.concatenate([some, np.flatnonzero(lost)])
    part = distances[np.ix_(some, some)]
    if not np.isfinite(part[~np.eye(some.size, dtype=bool)]).all():
        raise InputError("'D' has entries that are not numbers in rows that have distances.")
    half = squareform((part + part.T) / 2, checks=False)
    tree = linkage(half, "average", optimal_ordering=some.size <= _OPTIMAL)
    return np.concatenate([some[leaves_list(tree)], np.flatnonzero(lost)])


def _ordered(distances: Array, groups: Array | None) -> Array:
    """The order of the rows: by labels, and by clusters within them."""
    if groups is None:
        return cluster_order(distances)
    parts = [np.flatnonzero(groups == name) for name in np.unique(groups)]
    return np.concatenate([part[cluster_order(distances[np.ix_(part, part)])] for part in parts])
