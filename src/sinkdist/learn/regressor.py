"""`TransportNeighborsRegressor`: the mean of the targets of the nearest histograms."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import MultiOutputMixin, RegressorMixin

from sinkdist.errors import InputError
from sinkdist.learn.neighbors import Weights, check_weights, weights_of
from sinkdist.learn.searching import SearchingEstimator, check_count

__all__ = ["TransportNeighborsRegressor"]

Array: TypeAlias = npt.NDArray[Any]


class TransportNeighborsRegressor(MultiOutputMixin, RegressorMixin, SearchingEstimator):  # type: ignore[misc]
    """The mean, weighted or not, of the k nearest training rows' targets.

    Parameters
    ----------
    ground, lam, reg, alpha, iterations, tol, max_iter, distance, coincidence, normalize, dtype,
    workers, verbose
        As for `TransportKernel`.
    n_neighbors : int
        How many count.
    weights : {"uniform", "distance"} or callable
        As for `TransportNeighborsClassifier`.

    Attributes
    ----------
    ground_ : Ground or None
        The costs that were used.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sinkdist.learn import TransportNeighborsRegressor
    >>> near = TransportNeighborsRegressor(lam=float("inf"), n_neighbors=2)
    >>> near.fit([[3, 1, 0], [0, 1, 3], [2, 2, 0]], [1.0, 9.0, 2.0]).predict([[4, 1, 0]])
    array([1.5])
    """

    def __init__(
        self,
        ground: Any = None,
        *,
        lam: float | str | None = None,
        reg: float | None = None,
        alpha: float | None = None,
        iterations: int | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
        distance: str = "transport",
        coincidence: bool = False,
        normalize: bool = True,
        dtype: Any = None,
        workers: int | None = None,
        verbose: int = 0,
        n_neighbors: int = 5,
        weights: Weights = "uniform",
    ) -> None:
        self.ground = ground
        self.lam = lam
        self.reg = reg
        self.alpha = alpha
        self.iterations = iterations
        self.tol = tol
        self.max_iter = max_iter
        self.distance = distance
        self.coincidence = coincidence
        self.normalize = normalize
        self.dtype = dtype
        self.workers = workers
        self.verbose = verbose
        self.n_neighbors = n_neighbors
        self.weights = weights

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # scikit-learn's test data are no histograms: what they sum to is lost, and most of y is it.
        tags.regressor_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any) -> TransportNeighborsRegressor:
        """Keep histograms with their targets; no distance is solved yet.

        Parameters
        ----------
        X : array_like or sparse array, shape (n, d)
            Histograms; with ``distance="precomputed"`` distances, shape (n, n).
        y : array_like, shape (n,) or (n, outputs)
            Their targets.

        Returns
        -------
        TransportNeighborsRegressor
            Itself.
        """
        X, y = self._checked(X, y, fit=True, multi_output=True)
        check_weights(self.weights)
        check_count(self.n_neighbors, len(y))
        self._learn_rows(X)
        self._targets = np.asarray(y, np.float64)
        return self

    def predict(self, X: Any) -> Array:
        """The means.

        Parameters
        ----------
        X : array_like or sparse array, shape (m, d)
            Histograms; with ``distance="precomputed"`` their distances to the training rows.

        Returns
        -------
        ndarray, shape (m,) or (m, outputs)
        """
        D, nearest = self.kneighbors(X)
        weights = np.asarray(weights_of(self.weights, D), np.float64)
        total = weights.sum(axis=1)
        if not (total > 0.0).all():
            raise InputError(
                "The 'weights' function gave no neighbour of row "
                f"{int(np.argmin(total > 0.0))} a positive weight: there is no mean."
            )
        targets = self._targets[nearest]
        return np.asarray(np.einsum("ij,ij...->i...", weights / total[:, None], targets))
