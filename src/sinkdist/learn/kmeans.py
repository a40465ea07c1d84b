"""`TransportKMeans`: clusters around barycentres, under the Sinkhorn divergence or a distance.

Lloyd's two steps: rows go to the nearest centre, centres become the barycentres of their rows
(`barycenter`, all clusters in one call). Under a divergence, rows are compared with all centres
(`pairwise`), and both steps lower the same sum. Under the exact distance and `alpha` the nearest
centre is searched for (`neighbors`, proven); barycentres are then those of a divergence, and a
round that does not lower the sum is the last.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from sinkdist.api.barycenter import barycenter
from sinkdist.api.neighbors import neighbors
from sinkdist.api.pairs import pairwise
from sinkdist.errors import InputError
from sinkdist.inputs.histograms import working_dtype
from sinkdist.inputs.rows import Rows
from sinkdist.learn.counts import check_clusters, whole
from sinkdist.learn.distance_spec import TRANSPORT, spec_of
from sinkdist.learn.estimator import TransportEstimator
from sinkdist.learn.seeding import draw_centers
from sinkdist.problem.options import Options
from sinkdist.wording import option

__all__ = ["TransportKMeans"]

Array: TypeAlias = npt.NDArray[Any]

#: Marginal error on the way; the last centres and divergences have the tolerance asked for. A
#: divergence is off by its square, so rows do not go astray.
_LOOSE = 1e-3
_SETTLED = 1e-4  #: relative decrease of the inertia that is not worth another round


@dataclass(frozen=True, slots=True, eq=False)
class _Clusters:
    """Centres, the divergences of all rows to them, and rounds made."""

    centers: Array
    D: Array
    rounds: int

    @property
    def labels(self) -> npt.NDArray[np.int32]:
        return np.asarray(self.D.argmin(axis=1), np.int32)

    @property
    def inertia(self) -> float:
        return float(self.D.min(axis=1).sum())


class TransportKMeans(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    ClusterMixin,  # type: ignore[misc]
    TransportEstimator,
):
    """Clusters of histograms around barycentres, by Lloyd's algorithm.

    What is minimised is the sum of Sinkhorn divergences of rows to the centre of their cluster;
    with `alpha`, or ``lam=inf``, that of distances, as far as barycentres of divergences do.

    Parameters
    ----------
    n_clusters : int
        How many.
    ground : Ground or array_like, optional
        Symmetric costs between bins; by default bins lie on a line, one apart.
    lam, reg : float, optional
        The strength of the entropy; by default lam is 9 over the median cost. ``inf`` is the exact
        distance.
    alpha : float, optional
        The paper's metric instead.
    center_lam : float, optional
        Of the barycentres, where `alpha` or the exact distance is asked for: 20 over the median
        cost by default. Otherwise they have the lam of the divergence.
    tol, max_iter
        As for `solve` and `barycenter`.
    n_init : int
        Runs with other first centres, of which the best is kept.
    max_rounds : int
        Updates of the centres at most; of batches, where there are any.
    batch_size : int, optional
        Rows that are looked at in a round, drawn anew each time; all by default. A centre is then
        the barycentre of the rows that it has been given so far.
    normalize, dtype, workers
        As for `TransportKernel`.
    random_state : int, RandomState or None
        Of the first centres and the batches.
    verbose : int
        1 writes a line for each round to stderr.

    Attributes
    ----------
    cluster_centers_ : ndarray, shape (n_clusters, d)
        Barycentres; histograms of sum 1.
    labels_ : ndarray, shape (n,)
        The cluster of each row.
    inertia_ : float
        The sum of divergences of rows to their centres.
    n_iter_ : int
        Rounds of the run that was kept.
    ground_ : Ground
        The costs that were used.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sinkdist.learn import TransportKMeans
    >>> X = [[4, 1, 0, 0], [3, 2, 0, 0], [0, 0, 1, 4], [0, 0, 2, 3]]
    >>> clusters = TransportKMeans(2, lam=5, random_state=0).fit(X)
    >>> labels = clusters.labels_.tolist()
    >>> labels[0] == labels[1] != labels[2] == labels[3]
    True
    >>> clusters.cluster_centers_[labels[0]].round(2)
    array([0.7, 0.3, 0. , 0. ])
    """

    distance = TRANSPORT
    coincidence = False
    iterations = None

    def __init__(
        self,
        n_clusters: int = 8,
        ground: Any = None,
        *,
        lam: float | str | None = None,
        reg: float | None = None,
        alpha: float | None = None,
        center_lam: float | str | None = None,
        tol: float | None = None,
        max_iter: int | None = None,
        n_init: int = 1,
        max_rounds: int = 50,
        batch_size: int | None = None,
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
        self.center_lam = center_lam
        self.tol = tol
        self.max_iter = max_iter
        self.n_init = n_init
        self.max_rounds = max_rounds
        self.batch_size = batch_size
        self.normalize = normalize
        self.dtype = dtype
        self.workers = workers
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> TransportKMeans:
        """Find the clusters of some histograms.

        Parameters
        ----------
        X : array_like or sparse array, shape (n, d)
            Histograms, or counts.
        y : ignored

        Returns
        -------
        TransportKMeans
            Itself.
        """
        X = self._checked(X, fit=True)
        runs = whole("n_init", self.n_init)
        whole("max_rounds", self.max_rounds)
        check_clusters(self.n_clusters, X.shape[0])
        self._read_options(X)
        rows = self._histograms(X, self._dtype).rows
        random = check_random_state(self.random_state)
        found = [self._run(rows, random) for _ in range(runs)]
        best = min(found, key=lambda clusters: clusters.inertia)
        self.cluster_centers_, self.labels_ = best.centers, best.labels
        self.inertia_, self.n_iter_ = best.inertia, best.rounds
        self._n_features_out = len(best.centers)
        return self

    def transform(self, X: Any) -> Array:
        """Divergences of rows to the centres.

        Parameters
        ----------
        X : array_like or sparse array, shape (m, d)
            Histograms.

        Returns
        -------
        ndarray, shape (m, n_clusters)
        """
        check_is_fitted(self)
        rows = self._histograms(self._checked(X, fit=False), self._dtype).rows
        return self._divergences(rows, self.cluster_centers_, self._tol)

    def predict(self, X: Any) -> npt.NDArray[np.int32]:
        """The nearest centre of each row.

        Parameters
        ----------
        X
            As for `transform`.

        Returns
        -------
        ndarray, shape (m,)
        """
        return np.asarray(self.transform(X).argmin(axis=1), np.int32)

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of divergences of rows to their nearest centres.

        Parameters
        ----------
        X
            As for `transform`.
        y : ignored

        Returns
        -------
        float
        """
        return -float(self.transform(X).min(axis=1).sum())

    def _read_options(self, X: Any) -> None:
        """Check what decides divergences and barycentres."""
        self._dtype = working_dtype(X, dtype=self.dtype)
        options = Options(
            lam=self.lam, reg=self.reg, alpha=self.alpha, tol=self.tol, max_iter=self.max_iter,
            workers=self.workers,
        )  # fmt: skip
        spec = spec_of(TRANSPORT, self.ground, options, X.shape[1], self._dtype)
        assert spec.problem is not None
        self.ground_, member = spec.problem.ground, spec.problem.member
        self._searches = not member.has_kernel
        if self._searches:
            self._strength = {"lam": member.lam} if self.alpha is None else {"alpha": self.alpha}
            self._center_lam: Any = "20/median" if self.center_lam is None else self.center_lam
        elif self.center_lam is not None:
            raise InputError(
                "The {} option is for alpha and the exact distance: a divergence has centres of "
                "its own lam. Leave it out.",
                option("center_lam"),
            )
        else:
            self._strength, self._center_lam = {"lam": member.lam}, float(member.lam)
        self._tol = spec.problem.stopping.tol
        self._loose = max(self._tol, _LOOSE)

    def _divergences(self, rows: Rows, centers: Array, tol: float) -> Array:
        """Divergences or distances of rows to centres; what rounding makes negative is 0."""
        D = pairwise(
            rows, centers, ground=self.ground_, **self._strength, tol=tol, max_iter=self.max_iter,
            dtype=self._dtype, debiased=not self._searches, workers=self.workers,
        )  # fmt: skip
        return np.asarray(np.maximum(D, 0.0))

    def _assigned(self, rows: Rows, centers: Array, tol: float) -> Array:
        """The same, with inf for centres that a search has proven not to be the nearest."""
        if not self._searches:
            return self._divergences(rows, centers, tol)
        found = neighbors(
            rows, centers, ground=self.ground_, k=1, **self._strength, tol=self._tol,
            max_iter=self.max_iter, workers=self.workers,
        )  # fmt: skip
        D = np.full((int(rows.shape[0]), len(centers)), np.inf)
        np.put_along_axis(D, found.indices, found.distances, axis=1)
        return D

    def _barycenters(self, rows: Rows, weights: Array, tol: float) -> Array:
        """Barycentres under the same divergence; single precision is enough on the way."""
        found = barycenter(
            rows, ground=self.ground_, weights=weights, lam=self._center_lam, tol=tol,
            max_iter=self.max_iter, dtype="float32" if tol >= _LOOSE else self._dtype,
            normalize=True, workers=self.workers,
        ).astype(np.float64)  # fmt: skip
        return np.asarray(found / found.sum(axis=1, keepdims=True), self._dtype)

    def _run(self, rows: Rows, random: np.random.RandomState) -> _Clusters:
        """One run from random centres."""
        n = int(rows.shape[0])

        def distances_to(k: int) -> Array:
            return self._divergences(rows, _dense(rows, np.array([k])), self._loose)[:, 0]

        chosen, D = draw_centers(n, self.n_clusters, distances_to, random)
        start = _Clusters(_dense(rows, chosen), D, 0)
        if self.batch_size is None or whole("batch_size", self.batch_size) >= n:
            return self._lloyd(rows, start)
        return self._in_batches(rows, start, random)

    def _lloyd(self, rows: Rows, now: _Clusters) -> _Clusters:
        """All rows in every round, until none changes its cluster or the inertia stands still."""
        while now.rounds < self.max_rounds:
            weights = _memberships(now.D, now.labels)
            centers = self._barycenters(rows, weights, self._loose)
            D = self._assigned(rows, centers, self._loose)
            new = _Clusters(centers, D, now.rounds + 1)
            moved = int(np.count_nonzero(new.labels != now.labels))
            self._tell(new, moved)
            settled = now.inertia - new.inertia <= _SETTLED * now.inertia
            if new.inertia <= now.inertia:  # else worse, within the tolerance of centres
                now = new
            if moved == 0 or settled:
                break
        return self._finished(rows, _memberships(now.D, now.labels), now.rounds)

    def _finished(self, rows: Rows, weights: Array, rounds: int) -> _Clusters:
        """The last centres and divergences, to the tolerance asked for."""
        centers = self._barycenters(rows, weights, self._tol)
        return _Clusters(centers, self._assigned(rows, centers, self._tol), rounds)

    def _in_batches(self, rows: Rows, now: _Clusters, random: np.random.RandomState) -> _Clusters:
        """Some rows in every round; a centre moves less the more rows it has been given."""
        centers, seen = now.centers, np.ones(len(now.centers))
        k = len(centers)
        for number in range(1, self.max_rounds + 1):
            some = random.choice(int(rows.shape[0]), self.batch_size, replace=False)
            batch = _dense(rows, some)
            D = self._assigned(batch, centers, self._loose)
            labels = D.argmin(axis=1)
            weights = np.zeros((k, k + len(some)))
            weights[np.arange(k), np.arange(k)] = seen
            weights[labels, k + np.arange(len(some))] = 1.0
            together = np.concatenate([centers, batch])
            centers = self._barycenters(together, weights, self._loose)
            seen = seen + np.bincount(labels, minlength=k)
            self._tell(_Clusters(centers, D, number), len(some))
        D = self._assigned(rows, centers, self._tol)
        return _Clusters(centers, D, self.max_rounds)

    def _tell(self, clusters: _Clusters, moved: int) -> None:
        """A line about a round."""
        if self.verbose:
            sys.stderr.write(
                f"TransportKMeans, round {clusters.rounds}: inertia {clusters.inertia:.6g}, "
                f"{moved} row{'s' * (moved != 1)} changed cluster\n"
            )


def _dense(rows: Rows, index: Array) -> Array:
    """Some rows as an array."""
    chosen = rows[index]
    return chosen if isinstance(chosen, np.ndarray) else np.asarray(chosen.toarray())


def _memberships(D: Array, labels: Array) -> Array:
    """Weights of rows in the clusters; an empty cluster takes the row that is farthest away."""
    n, count = D.shape
    labels, far = labels.copy(), np.argsort(-D.min(axis=1), kind="stable").tolist()
    for k in np.flatnonzero(np.bincount(labels, minlength=count) == 0):
        row = next(x for x in far if np.count_nonzero(labels == labels[x]) > 1)
        far.remove(row)
        labels[row] = k
    weights = np.zeros((count, n))
    weights[labels, np.arange(n)] = 1.0
    return weights
