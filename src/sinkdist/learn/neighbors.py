"""`TransportNeighborsClassifier`: the labels of the nearest histograms.

Only distances from new rows to the training set are asked for, none within it; that is why it does
not stand on scikit-learn's own classifier, which asks for the matrix of the training set. Large
training sets are searched.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets

from sinkdist.errors import InputError
from sinkdist.learn.searching import SearchingEstimator, check_count

__all__ = ["TransportNeighborsClassifier", "Weights", "check_weights", "weights_of"]

Array: TypeAlias = npt.NDArray[Any]
Weights: TypeAlias = str | Callable[[Array], Array]


class TransportNeighborsClassifier(ClassifierMixin, SearchingEstimator):  # type: ignore[misc]
    """The vote of the k nearest training rows.

    Parameters
    ----------
    ground, lam, reg, alpha, iterations, tol, max_iter, distance, coincidence, normalize, dtype,
    workers, verbose
        As for `TransportKernel`; the ground may be asymmetric: mass goes from new rows to those of
        the training set.
    n_neighbors : int
        How many vote.
    weights : {"uniform", "distance"} or callable
        All the same; one over the distance; or a function from distances, shape (m, k), to weights.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    ground_ : Ground or None
        The costs that were used.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sinkdist.learn import TransportNeighborsClassifier
    >>> near = TransportNeighborsClassifier(lam=float("inf"), n_neighbors=1)
    >>> near = near.fit([[3, 1, 0], [0, 1, 3]], ["left", "right"])
    >>> near.predict([[2, 2, 0]])
    array(['left'], dtype='<U5')
    >>> near.kneighbors([[2, 2, 0]], 2)
    (array([[0.25, 1.25]]), array([[0, 1]]))
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

    def fit(self, X: Any, y: Any) -> TransportNeighborsClassifier:
        """Keep labelled histograms; no distance is solved yet.

        Parameters
        ----------
        X : array_like or sparse array, shape (n, d)
            Histograms; with ``distance="precomputed"`` distances, shape (n, n).
        y : array_like, shape (n,)
            Their labels.

        Returns
        -------
        TransportNeighborsClassifier
            Itself.
        """
        X, y = self._checked(X, y, fit=True)
        check_classification_targets(y)
        check_weights(self.weights)
        check_count(self.n_neighbors, len(y))
        self._learn_rows(X)
        self.classes_, self._labels = np.unique(y, return_inverse=True)
        return self

    def predict_proba(self, X: Any) -> Array:
        """The share of each class in the vote.

        Parameters
        ----------
        X : array_like or sparse array, shape (m, d)
            Histograms; with ``distance="precomputed"`` their distances to the training rows.

        Returns
        -------
        ndarray, shape (m, number of classes)
        """
        D, nearest = self.kneighbors(X)
        weights = weights_of(self.weights, D)
        votes = np.zeros((len(D), len(self.classes_)))
        np.add.at(votes, (np.arange(len(D))[:, None], self._labels[nearest]), weights)
        total = votes.sum(axis=1, keepdims=True)
        if not (total > 0.0).all():
            raise InputError(
                "The 'weights' function gave no neighbour of row "
                f"{int(np.argmin(total > 0.0))} a positive weight: there is no vote."
            )
        return np.asarray(votes / total)

    def predict(self, X: Any) -> Array:
        """The label that wins the vote; of equal ones the first in ``classes_``.

        Parameters
        ----------
        X
            As for `predict_proba`.

        Returns
        -------
        ndarray, shape (m,)
        """
        winners = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[winners])


def check_weights(weights: Any) -> None:
    """Raise unless it is a ``weights`` option."""
    if not callable(weights) and weights not in ("uniform", "distance"):
        raise InputError(
            "The 'weights' option must be 'uniform', 'distance' or a function of distances. "
            f"Got {weights!r} instead."
        )


def weights_of(weights: Weights, D: Array) -> Array:
    """What each neighbour's vote counts."""
    if callable(weights):
        return np.asarray(weights(D), np.float64)
    if weights == "uniform":
        return np.ones(D.shape)
    with np.errstate(divide="ignore", over="ignore"):
        inverse = 1.0 / D.astype(np.float64)
    at_once = np.isinf(inverse)  # neighbours at distance 0 leave no vote to others
    return np.where(at_once.any(axis=1, keepdims=True), at_once, inverse)
