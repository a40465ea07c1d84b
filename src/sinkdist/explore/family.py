"""What a page shows of a family: its histograms and costs, a map, and nearest neighbours."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from sinkdist.api.pairs import pairwise
from sinkdist.errors import ConvergenceWarning, InputError
from sinkdist.ground import Ground
from sinkdist.ground.on_demand import POINT_METRICS
from sinkdist.similarity.plane import plane
from sinkdist.solution.status import Status

__all__ = ["COSTS_UP_TO", "MOST_ROWS", "NEAREST", "Family", "Points", "family_of"]

Array = npt.NDArray[Any]

MOST_ROWS = 5_000
NEAREST = 12
#: Bins in use up to which a page holds all costs between them; of grids it holds the formula.
COSTS_UP_TO = 1_200


@dataclass(frozen=True, eq=False)
class Points:
    """Bins that are points: costs are distances between them, divided by a unit."""

    places: Array
    metric: str
    unit: float


@dataclass(frozen=True, eq=False)
class Family:
    """What a page shows.

    Attributes
    ----------
    rows : csr_array
        Histograms that sum to 1.
    ground : Ground
        Costs.
    names : sequence of str
        What histograms are called.
    labels : ndarray of str or None
        Of the histograms.
    bins : sequence of str or None
        What bins are called.
    places : ndarray, shape (n, 2)
        On the map.
    near, distances : ndarray, shape (n, k)
        The nearest others and how far they are; nearest first.
    proven : ndarray of bool, shape (n,)
        Whether all distances of a row were solved to the tolerance.
    distance : str
        Which distance, in words.
    points : Points or None
        Where bins are, if costs are to be computed from that.
    method : str
        How places were found.
    """

    rows: Any
    ground: Ground
    names: Sequence[str]
    labels: Array | None
    bins: Sequence[str] | None
    places: Array
    near: Array
    distances: Array
    proven: Array
    distance: str
    method: str
    points: Points | None = None

    @property
    def used(self) -> Array:
        """Bins in which any histogram has mass."""
        return np.unique(self.rows.indices)

    @property
    def has_costs(self) -> bool:
        """Whether the page can compute plans."""
        grid = self.ground.pixels
        return grid is not None or self.points is not None or self.used.size <= COSTS_UP_TO


def family_of(
    X: Any,
    ground: Any,
    *,
    distances: Any = None,
    labels: Any = None,
    names: Any = None,
    bins: Any = None,
    points: Any = None,
    metric: str = "euclidean",
    lam: Any = None,
    alpha: float | None = None,
    method: str = "tsne",
    normalize: bool = False,
    workers: int | None = None,
    progress: Any = False,
) -> Family:
    """What a page shows of a family of histograms.

    Parameters
    ----------
    X : array_like or sparse array, shape (n, d)
        Histograms, at most 5,000.
    ground : Ground or array_like
        Costs.
    distances : StoredMatrix or array_like, shape (n, n), optional
        Distances between the rows; else they are computed.
    labels, names : sequence, optional
        Of the rows. Names are their numbers by default.
    bins : sequence, optional
        Names of the bins.
    points : array_like, shape (d, dimension), optional
        Where bins are, if the ground is made of points: a page of more than 1,200 bins in use
        computes costs from them.
    metric : {"euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine"}
        That of the points.
    lam, alpha : float, optional
        Which distance is computed; without either, the exact one.
    method : {"tsne", "mds"}
        How the map is made: neighbours kept, or distances.
    normalize, workers, progress
        As for `pairwise`.

    Returns
    -------
    Family

    Examples
    --------
    >>> family = family_of([[1, 0], [0, 1], [0.5, 0.5]], [[0, 2], [2, 0]], method="mds")
    >>> family.near[0].tolist(), family.distances[0].tolist(), family.distance
    ([2, 1], [1.0, 2.0], 'exact distance')
    """
    ground = Ground.of(ground)
    shape = X.shape if hasattr(X, "shape") else np.shape(X)
    n = int(shape[0]) if len(shape) == 2 else 0
    if not 2 <= n <= MOST_ROWS:
        raise InputError(
            f"A page shows a family of 2 to {MOST_ROWS:,} histograms, one per row. "
            f"Got an array of shape {tuple(shape)}."
        )
    if distances is None:
        D, proven = _computed(X, ground, lam, alpha, normalize, workers, progress)
        said = _said({"lam": lam, "alpha": alpha})
    elif lam is not None or alpha is not None:
        raise InputError("Distances that are given need neither 'lam' nor 'alpha'.")
    else:
        D, proven, said = _given(distances, n)
    near = _nearest(D)
    return Family(
        _rows(X, normalize), ground, _texts(names, n, "names", "row") or [str(k) for k in range(n)],
        _labels(labels, n), _texts(bins, ground.shape[0], "bins", "bin"), plane(D, method), near,
        np.take_along_axis(D, near, 1), proven, said, method,
        None if points is None else _points(points, metric, ground),
    )  # fmt: skip


def _points(points: Any, metric: str, ground: Ground) -> Points:
    """Points whose distances, divided by a unit, are the costs; this is checked on a sample."""
    from scipy.spatial.distance import cdist

    places = np.asarray(points, dtype=float)
    if metric not in POINT_METRICS:
        names = ", ".join(map(repr, POINT_METRICS))
        raise InputError(f"The 'metric' option must be one of {names}. Got {metric!r} instead.")
    if places.ndim != 2 or len(places) != ground.shape[0]:
        raise InputError(
            f"The 'points' option must hold one point per bin, {ground.shape[0]} in all. "
            f"Got shape {places.shape} instead."
        )
    some = np.unique(np.linspace(0, len(places) - 1, 60).astype(int))
    far, costs = cdist(places[some], places[some], metric), ground.block(some, some)
    top = np.unravel_index(np.argmax(costs), costs.shape)
    unit = float(far[top] / costs[top]) if costs[top] > 0.0 else 1.0
    if not np.allclose(far, unit * costs, rtol=1e-5, atol=1e-5 * unit * costs[top]):
        raise InputError("The costs of the ground are not the distances of these points.")
    return Points(places, metric, unit)


def _computed(
    X: Any, ground: Ground, lam: Any, alpha: float | None, normalize: bool,
    workers: int | None, progress: Any,
) -> tuple[Array, Array]:  # fmt: skip
    """All distances, and whether those of each row were all solved to the tolerance."""
    strength = np.inf if lam is None and alpha is None else lam
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        D = pairwise(
            X, ground=ground, lam=strength, alpha=alpha, normalize=normalize, workers=workers,
            progress=progress,
        )  # fmt: skip
    late = any(issubclass(one.category, ConvergenceWarning) for one in caught)
    for one in caught:
        warnings.warn_explicit(one.message, one.category, one.filename, one.lineno)
    found = np.asarray(D, dtype=float)
    return found, np.full(len(found), not late)


def _given(distances: Any, n: int) -> tuple[Array, Array, str]:
    """Distances from elsewhere; of a stored matrix also how the pairs ended and what was asked."""
    D = np.array(distances, dtype=float)
    if D.shape != (n, n):
        raise InputError(
            f"Distances must be a matrix of {n} x {n} for {n} histograms. Got shape {D.shape}."
        )
    if not hasattr(distances, "status"):
        return D, np.zeros(n, bool), "given distances"
    status = distances.status.to_numpy()
    np.fill_diagonal(status, int(Status.CONVERGED))
    return D, (status == int(Status.CONVERGED)).all(axis=1), _said(distances.parameters)


def _said(asked: Any) -> str:
    """Which distance, in words."""
    for name in ("lam", "alpha"):
        value = asked.get(name)
        if isinstance(value, str):
            return f"distance at {name} = {value}"
        if value is not None and np.isfinite(value):
            return f"distance at {name} = {value:g}"
    return "exact distance"


def _nearest(D: Array) -> Array:
    """The nearest others of every row, ties by index."""
    others = D.copy()
    np.fill_diagonal(others, np.inf)
    return np.argsort(others, axis=1, kind="stable")[:, : min(NEAREST, len(D) - 1)]


def _rows(X: Any, normalize: bool) -> Any:
    """Histograms as CSR rows, divided by their sums."""
    rows = csr_array(X if hasattr(X, "tocsr") else np.asarray(X, dtype=float)).astype(float)
    rows.sum_duplicates()
    rows.eliminate_zeros()
    sums = np.asarray(rows.sum(axis=1)).ravel()
    return csr_array((rows.data / np.repeat(sums, np.diff(rows.indptr)), rows.indices, rows.indptr),
                     shape=rows.shape)  # fmt: skip


def _labels(labels: Any, n: int) -> Array | None:
    """Labels as text."""
    found = _texts(labels, n, "labels", "row")
    return None if found is None else np.array(found)


def _texts(values: Any, count: int, option: str, what: str) -> list[str] | None:
    """A text for each of some things."""
    if values is None:
        return None
    texts = [str(value) for value in np.asarray(values, dtype=object).ravel()]
    if len(texts) != count:
        raise InputError(
            f"The '{option}' option must hold one text per {what}, {count} in all. "
            f"Got {len(texts)} instead."
        )
    return texts
