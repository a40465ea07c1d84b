"""`TransportKernel`: from histograms to a positive semi-definite kernel against the training set.

``exp(-d/t)`` is no kernel for most distances d between histograms: its matrix may have negative
eigenvalues. The smallest diagonal term that lifts them is added, as the function
``k(x, y) + shift [x = y]`` of two histograms, so that training rows get it when they come back.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from sinkdist import similarity
from sinkdist.errors import InputError, InputTypeError
from sinkdist.learn.estimator import TransportEstimator
from sinkdist.learn.hashed_rows import HashedRows

__all__ = ["TransportKernel"]

Array: TypeAlias = npt.NDArray[Any]

_QUANTILES = ("q10", "q20", "q50")  # the last of what `similarity.bandwidths` lists
_ROUNDING = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-4}  # the tolerances of solvers


class TransportKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, TransportEstimator):  # type: ignore[misc]
    """Similarities ``exp(-d(x, y) / t)`` of histograms to those of the training set.

    What it returns is made for estimators that take ``kernel="precomputed"``: SVC, KernelPCA,
    KernelRidge, SpectralClustering.

    Parameters
    ----------
    ground : Ground or array_like, shape (d, d), optional
        Costs between bins; symmetric. By default bins lie on a line, one apart, as those of an
        ordinary histogram: ``Ground.grid(d)``. Pass ``Ground.grid(8, 8)`` for images.
    lam, reg, alpha : float, optional
        At most one: the member of the family, as for `sinkdist.pairwise`, limits included
        (``lam=inf`` is the exact distance, ``lam=0`` the independence table). Without any of them,
        ``lam`` is 9 divided by the median of the costs.
    iterations, tol, max_iter : optional
        As for `sinkdist.pairwise`.
    distance : str
        "transport"; or "euclidean", "sqeuclidean", "hellinger", "chi2" or "total_variation", for
        which the options above are ignored; or "precomputed": `X` is then the square matrix
        of distances between the training rows, and later that of distances to them.
    t : float or {"q10", "q20", "q50"}
        The bandwidth: a positive number, or the quantile of the distances between training rows.
    coincidence : bool
        The paper's indicator: the distance of a histogram to itself becomes 0.
    normalize : bool
        Divide rows by their sums. With False, rows that do not sum to 1 are an error.
    dtype : {"float32", "float64"}, optional
        What to compute in; by default what the training set is in, float64 for counts.
    workers : int, optional
        Threads; all cores by default.
    verbose : int
        1 shows progress while distances are computed.

    Attributes
    ----------
    ground_ : Ground or None
        The costs that were used.
    t_ : float
        The bandwidth.
    shift_ : float
        The term on the diagonal; 0 where the matrix was positive semi-definite without it.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sinkdist.learn import TransportKernel
    >>> kernel = TransportKernel(lam=float("inf"), t=1.0)
    >>> kernel.fit_transform([[1, 0, 0], [0, 1, 0], [0, 0, 1]]).round(3)
    array([[1.   , 0.368, 0.135],
           [0.368, 1.   , 0.368],
           [0.135, 0.368, 1.   ]])
    >>> kernel.transform([[1, 1, 0]]).round(3)
    array([[0.607, 0.607, 0.223]])
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
        t: float | str = "q50",
        coincidence: bool = False,
        normalize: bool = True,
        dtype: Any = None,
        workers: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.ground = ground
        self.lam = lam
        self.reg = reg
        self.alpha = alpha
        self.iterations = iterations
        self.tol = tol
        self.max_iter = max_iter
        self.distance = distance
        self.t = t
        self.coincidence = coincidence
        self.normalize = normalize
        self.dtype = dtype
        self.workers = workers
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> TransportKernel:
        """Learn the training set, the bandwidth and the term on the diagonal.

        Parameters
        ----------
        X : array_like or sparse array, shape (n, d)
            Histograms; with ``distance="precomputed"`` distances, shape (n, n).
        y : ignored

        Returns
        -------
        TransportKernel
            Itself.
        """
        self._fitted_matrix(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """The same, and the kernel of the training set: as by `fit` and `transform`.

        Parameters
        ----------
        X, y
            As for `fit`.

        Returns
        -------
        ndarray, shape (n, n)
        """
        return self._fitted_matrix(X)

    def transform(self, X: Any) -> Any:
        """The kernel between rows and the training set.

        Parameters
        ----------
        X : array_like or sparse array, shape (m, d)
            Histograms; with ``distance="precomputed"`` their distances to the training rows, shape
            (m, n).

        Returns
        -------
        ndarray, shape (m, n)
        """
        return self._matrix(X)

    def _fitted_matrix(self, X: Any) -> Array:
        """Fit, and the kernel as a plain array, whatever ``set_output`` says."""
        checked, bandwidth = self._checked(X, fit=True), _check_bandwidth(self.t)
        self._learn_rows(checked)
        self._refuse_asymmetric_costs()
        rows = self._training
        D = self._distances(rows)
        between = _symmetric(D)
        self.t_ = _bandwidth(between, bandwidth)
        K = similarity.kernel(D, self.t_)
        repairable = K if between is D else similarity.kernel(between, self.t_)
        if len(rows.distinct) < len(rows):  # rows that repeat ask for no larger term
            repairable = repairable[np.ix_(rows.distinct, rows.distinct)]
        self.shift_ = float(similarity.shift(repairable))
        self._n_features_out = len(rows)
        return self._with_term(K, rows)

    def _matrix(self, X: Any) -> Array:
        """The kernel to the training set as a plain array, whatever ``set_output`` says."""
        rows = self._new_rows(X)
        return self._with_term(similarity.kernel(self._distances(rows), self.t_), rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _with_term(self, K: Array, rows: HashedRows) -> Array:
        """Add the term where a row is one of the training set's."""
        if self.shift_ == 0.0:
            return K
        same = rows.same(self._training)
        return np.asarray(similarity.repaired_cross(K, self.shift_, same), K.dtype)

    def _refuse_asymmetric_costs(self) -> None:
        """Only symmetric distances can make a kernel."""
        if self._spec is not None and not self._spec.is_symmetric:
            raise InputError(
                "The 'ground' option must be symmetric, or exp(-d/t) is no kernel. Pass "
                "(M + M.T) / 2 if the direction of a move carries no meaning."
            )


def _check_bandwidth(t: Any) -> float | str:
    """The ``t`` option, if it is one."""
    if isinstance(t, str) and t in _QUANTILES:
        return t
    said = "The 't' option must be a positive number, 'q10', 'q20' or 'q50'."
    if isinstance(t, bool) or not isinstance(t, (numbers.Real, str)):
        raise InputTypeError(f"{said} Got {t!r} instead.")
    number = math.nan if isinstance(t, str) else float(t)
    if not 0.0 < number < math.inf:
        raise InputError(f"{said} Got {t!r} instead.")
    return number


def _bandwidth(D: Array, t: float | str) -> float:
    """The bandwidth as a number."""
    if not isinstance(t, str):
        return t
    if len(D) < 2:
        raise InputError(
            f"t={t!r} is a quantile of the distances between training rows, and there is only "
            "1 sample: pass a number."
        )
    quantiles = similarity.bandwidths(D)[1:]  # without those that are 0, which come first
    place = _QUANTILES.index(t) - len(_QUANTILES)
    if len(quantiles) < -place:
        raise InputError(
            f"t={t!r} is 0 here: that many of the training rows coincide. Pass a larger quantile "
            "or a number."
        )
    return float(quantiles[place])


def _symmetric(D: Array) -> Array:
    """Distances between training rows, equal in both directions."""
    if np.array_equal(D, D.T):
        return D
    away = np.abs(D - D.T)
    if away.max() > _ROUNDING[D.dtype] * D.max():
        i, j = np.unravel_index(away.argmax(), D.shape)
        raise InputError(
            f"The distances between training rows must be symmetric. Got {D[i, j]:.7g} from row "
            f"{i} to {j} and {D[j, i]:.7g} back: pass (D + D.T) / 2 if that is meant."
        )
    return np.asarray((D + D.T) / 2)
