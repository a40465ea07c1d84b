"""`TransportKMedoids`: clusters around rows of the data, for any distance or a matrix of them."""

from __future__ import annotations

import sys
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sinkdist.learn.cache import distance_cache
from sinkdist.learn.counts import check_clusters, whole
from sinkdist.learn.estimator import TransportEstimator
from sinkdist.learn.seeding import draw_centers
from sinkdist.learn.swaps import Medoids, swapped

__all__ = ["TransportKMedoids"]

Array: TypeAlias = npt.NDArray[Any]


class TransportKMedoids(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    TransportEstimator,
):
    """Clusters of histograms around some of them, the medoids.

    The sum of distances of rows to the medoid of their cluster is lowered by swaps of medoids and
    other rows, as in FasterPAM (Schubert and Rousseeuw 2021), until no swap lowers it. All
    distances between the rows are computed first, once (`distance_cache`), or are given.

    Parameters
    ----------
    n_clusters : int
        How many.
    ground, lam, reg, alpha, iterations, tol, max_iter, distance, coincidence, normalize, dtype,
    workers
        As for `TransportKernel`. With ``distance="precomputed"``, `X` is a matrix of distances: an
        array, or a `StoredMatrix` of `pairwise`.
    n_init : int
        Runs with other first medoids, of which the best is kept.
    max_rounds : int
        Passes over all rows at most, in each run.
    random_state : int, RandomState or None
        Of the first medoids.
    verbose : int
        1 writes a line for each run to stderr.

    Attributes
    ----------
    medoid_indices_ : ndarray, shape (n_clusters,)
        Rows of the training set.
    cluster_centers_ : ndarray, shape (n_clusters, d), or None
        These rows as histograms of sum 1; None where distances are precomputed.
    labels_ : ndarray, shape (n,)
        The cluster of each row.
    inertia_ : float
        The sum of distances of rows to their medoids.
    n_iter_ : int
        Passes of the run that was kept.
    ground_ : Ground or None
        The costs that were used.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sinkdist.learn import TransportKMedoids
    >>> X = [[5, 0, 0, 0], [4, 1, 0, 0], [3, 2, 0, 0], [0, 0, 1, 4], [0, 0, 2, 3], [0, 0, 3, 2]]
    >>> clusters = TransportKMedoids(2, lam=float("inf"), random_state=0).fit(X)
    >>> clusters.medoid_indices_.tolist(), round(clusters.inertia_, 4)
    ([1, 4], 0.8)
    """

    def __init__(
        self,
        n_clusters: int = 8,
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
        n_init: int = 3,
        max_rounds: int = 100,
        normalize: bool = True,
        dtype: Any = None,
        workers: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.ground = ground
        self.lam = lam
        self.reg = reg
        self.alpha = alpha
        self.iterations = iterations
        self.tol = tol
        self.max_iter = max_iter
        self.distance = distance
        self.coincidence = coincidence
        self.n_init = n_init
        self.max_rounds = max_rounds
        self.normalize = normalize
        self.dtype = dtype
        self.workers = workers
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> TransportKMedoids:
        """Find the medoids of some histograms.

        Parameters
        ----------
        X : array_like or sparse array, shape (n, d)
            Histograms; with ``distance="precomputed"`` distances, shape (n, n).
        y : ignored

        Returns
        -------
        TransportKMedoids
            Itself.
        """
        X = self._checked(X, fit=True)
        runs, most = whole("n_init", self.n_init), whole("max_rounds", self.max_rounds)
        check_clusters(self.n_clusters, X.shape[0])
        self._learn_rows(X)
        D = self._distances(self._training)
        random = check_random_state(self.random_state)
        found = [self._run(D, most, random) for _ in range(runs)]
        best = min(found, key=lambda medoids: medoids.inertia)
        order = np.argsort(best.indices)
        self.medoid_indices_ = best.indices[order]
        self.labels_ = np.argsort(order)[best.labels].astype(np.int32)
        self.inertia_, self.n_iter_ = best.inertia, best.n_iter
        self._medoids = self._training.take(self.medoid_indices_)
        rows = self._medoids.rows
        dense = rows if isinstance(rows, np.ndarray) else rows.toarray()
        self.cluster_centers_ = None if self._spec is None else dense
        self._n_features_out = len(self.medoid_indices_)
        del self._training  # of which only the medoids are needed
        return self

    def transform(self, X: Any) -> Array:
        """Distances of rows to the medoids; only these are solved.

        Parameters
        ----------
        X : array_like or sparse array, shape (m, d)
            Histograms; with ``distance="precomputed"`` their distances to the training rows.

        Returns
        -------
        ndarray, shape (m, n_clusters)
        """
        check_is_fitted(self)
        rows = self._hashed(self._checked(X, fit=False), self._medoids.rows.dtype)
        if self._spec is None:
            return np.array(rows.rows[:, self.medoid_indices_])
        values = distance_cache.distances(self._spec, rows, self._medoids)
        if self.coincidence:
            values[rows.same(self._medoids)] = 0.0
        return values

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """The nearest medoid of each row.

        Parameters
        ----------
        X
            As for `transform`.

        Returns
        -------
        ndarray, shape (m,)
        """
        return np.asarray(self.transform(X).argmin(axis=1), np.int32)

    def _run(self, D: Array, most: int, random: np.random.RandomState) -> Medoids:
        """One run from random medoids."""
        first, _ = draw_centers(len(D), self.n_clusters, lambda k: D[:, k].copy(), random)
        found = swapped(D, first, most)
        if self.verbose:
            sys.stderr.write(
                f"TransportKMedoids: inertia {found.inertia:.6g} after {found.n_iter} passes\n"
            )
        return found
