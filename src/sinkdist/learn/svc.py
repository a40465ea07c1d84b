"""`TransportSVC`: libsvm's one-against-one classifier on a transport kernel, as in the paper."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from sinkdist.inputs.flags import flag
from sinkdist.learn.estimator import TransportEstimator
from sinkdist.learn.kernel import TransportKernel

__all__ = ["TransportSVC"]

Array: TypeAlias = npt.NDArray[Any]

_FOLDS = 5  # of the cross-validation behind probabilities


class TransportSVC(ClassifierMixin, TransportEstimator):  # type: ignore[misc]
    """Support vector machines on ``exp(-d(x, y) / t)``, one against one.

    Parameters
    ----------
    ground, lam, reg, alpha, iterations, tol, max_iter, distance, t, coincidence, normalize, dtype,
    workers, verbose
        As for `TransportKernel`.
    C : float
        The price of a training row on the wrong side.
    class_weight : dict or "balanced", optional
        Factors of `C` by class, as for `sklearn.svm.SVC`.
    decision_function_shape : {"ovr", "ovo"}
        Whether `decision_function` has a column for each class or for each pair of them.
    probability : bool
        Whether `predict_proba` is wanted: probabilities are fitted to the decision function by
        cross-validation (scikit-learn's ``CalibratedClassifierCV``), which fits more machines.
    random_state : int, RandomState or None
        Of the folds, where ``probability=True``.

    Attributes
    ----------
    classes_ : ndarray
        The labels.
    kernel_ : TransportKernel
        The fitted kernel, with ``t_``, ``shift_`` and ``ground_``.
    svc_ : sklearn.svm.SVC
        The fitted machine, on a precomputed kernel.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from sinkdist.learn import TransportSVC
    >>> X = [[4, 1, 0, 0], [3, 2, 0, 0], [0, 0, 1, 4], [0, 0, 2, 3]]
    >>> machine = TransportSVC(C=10).fit(X, ["low", "low", "high", "high"])
    >>> machine.predict([[2, 2, 1, 0], [0, 1, 2, 2]])
    array(['low', 'high'], dtype='<U4')
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
        C: float = 1.0,
        class_weight: Any = None,
        decision_function_shape: str = "ovr",
        probability: bool = False,
        random_state: Any = None,
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
        self.C = C
        self.class_weight = class_weight
        self.decision_function_shape = decision_function_shape
        self.probability = probability
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> TransportSVC:
        """Learn from labelled histograms.

        Parameters
        ----------
        X : array_like or sparse array, shape (n, d)
            Histograms; with ``distance="precomputed"`` distances, shape (n, n).
        y : array_like, shape (n,)
            Their labels.

        Returns
        -------
        TransportSVC
            Itself.
        """
        X, y = self._checked(X, y, fit=True)
        check_classification_targets(y)
        self.kernel_ = TransportKernel(
            self.ground, lam=self.lam, reg=self.reg, alpha=self.alpha, iterations=self.iterations,
            tol=self.tol, max_iter=self.max_iter, distance=self.distance, t=self.t,
            coincidence=self.coincidence, normalize=self.normalize, dtype=self.dtype,
            workers=self.workers, verbose=self.verbose,
        )  # fmt: skip
        machine = SVC(
            C=self.C, kernel="precomputed", class_weight=self.class_weight,
            decision_function_shape=self.decision_function_shape,
        )  # fmt: skip
        K = self.kernel_._fitted_matrix(X)
        self.svc_ = machine.fit(K, y)
        self.classes_ = self.svc_.classes_
        if flag("probability", self.probability):
            folds = StratifiedKFold(_FOLDS, shuffle=True, random_state=self.random_state)
            self._calibrated = CalibratedClassifierCV(machine, cv=folds, ensemble=False).fit(K, y)
        return self

    def predict(self, X: Any) -> Array:
        """The label of each row.

        Parameters
        ----------
        X : array_like or sparse array, shape (m, d)
            Histograms; with ``distance="precomputed"`` their distances to the training rows.

        Returns
        -------
        ndarray, shape (m,)
        """
        K = self._kernel(X)
        return np.asarray(self.svc_.predict(K))

    @available_if(lambda machine: machine.probability)
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class; only with ``probability=True``.

        Parameters
        ----------
        X
            As for `predict`.

        Returns
        -------
        ndarray, shape (m, number of classes)
        """
        K = self._kernel(X)
        return np.asarray(self._calibrated.predict_proba(K))

    def decision_function(self, X: Any) -> Array:
        """How far rows are on the side of each class; see ``decision_function_shape``.

        Parameters
        ----------
        X
            As for `predict`.

        Returns
        -------
        ndarray, shape (m,) for two classes, else (m, columns)
        """
        K = self._kernel(X)
        return np.asarray(self.svc_.decision_function(K))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # The data behind this tag have two features; as histograms they lose one, their sum.
        tags.classifier_tags.poor_score = True
        return tags

    def _kernel(self, X: Any) -> Array:
        """Similarities to the training set."""
        check_is_fitted(self)
        return self.kernel_._matrix(self._checked(X, fit=False))
