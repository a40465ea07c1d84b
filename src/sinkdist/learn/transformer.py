"""`TransportNeighborsTransformer`: histograms to the sparse graph of their nearest neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from sinkdist.errors import InputError
from sinkdist.learn.searching import SearchingEstimator, check_count

__all__ = ["TransportNeighborsTransformer"]


class TransportNeighborsTransformer(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    SearchingEstimator,
):
    """The graph of nearest neighbours, as scikit-learn's estimators take it.

    Put it before an estimator with ``metric="precomputed"`` (DBSCAN, Isomap, t-SNE) or
    ``affinity="precomputed_nearest_neighbors"`` (spectral clustering), as scikit-learn's own
    ``KNeighborsTransformer``. Equal histograms have distance 0 here by default, so that each
    training row is its own first neighbour.

    Parameters
    ----------
    ground, lam, reg, alpha, iterations, tol, max_iter, distance, coincidence, normalize, dtype,
    workers, verbose
        As for `TransportKernel`; `coincidence` is True by default.
    n_neighbors : int
        How many neighbours each row has; with ``mode="distance"`` one more, since a training row is
        its own.
    mode : {"distance", "connectivity"}
        Distances, or ones.

    Attributes
    ----------
    n_samples_fit_ : int
        Training rows.
    ground_ : Ground or None
        The costs that were used.

    Examples
    --------
    >>> from sinkdist.learn import TransportNeighborsTransformer
    >>> near = TransportNeighborsTransformer(lam=float("inf"), n_neighbors=1)
    >>> near.fit_transform([[3, 1, 0], [0, 1, 3], [2, 2, 0]]).toarray()
    array([[0.  , 0.  , 0.25],
           [0.  , 0.  , 1.25],
           [0.25, 0.  , 0.  ]])
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
        coincidence: bool = True,
        normalize: bool = True,
        dtype: Any = None,
        workers: int | None = None,
        verbose: int = 0,
        n_neighbors: int = 5,
        mode: str = "distance",
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
        self.mode = mode

    def fit(self, X: Any, y: Any = None) -> TransportNeighborsTransformer:
        """Keep histograms; no distance is solved yet.

        Parameters
        ----------
        X : array_like or sparse array, shape (n, d)
            Histograms; with ``distance="precomputed"`` distances, shape (n, n).
        y : object
            Ignored.

        Returns
        -------
        TransportNeighborsTransformer
            Itself.
        """
        if self.mode not in ("distance", "connectivity"):
            raise InputError(
                "The 'mode' option must be 'distance' or 'connectivity'. "
                f"Got {self.mode!r} instead."
            )
        X = self._checked(X, fit=True)
        check_count(self.n_neighbors, X.shape[0])
        self._learn_rows(X)
        self.n_samples_fit_ = self._n_features_out = len(self._training)
        return self

    def transform(self, X: Any) -> Any:
        """The nearest training rows of histograms.

        Parameters
        ----------
        X : array_like or sparse array, shape (m, d)
            Histograms; with ``distance="precomputed"`` their distances to the training rows.

        Returns
        -------
        csr_matrix, shape (m, training rows)
            Entries of a row are sorted by distance; zeros are stored.
        """
        rows = self._new_rows(X)
        count = min(self.n_neighbors + (self.mode == "distance"), len(self._training))
        D, nearest = self._nearest(rows, count, own=False)
        data = D if self.mode == "distance" else np.ones(D.shape)
        indptr = np.arange(0, D.size + 1, count)
        shape = (len(rows), len(self._training))
        return csr_matrix((data.ravel(), nearest.ravel(), indptr), shape=shape)
