"""What the estimators share: reading rows as scikit-learn does, and distances to the training set.

scikit-learn looks at the kind and shape of the input and at feature names; what a histogram must
be is left to `sinkdist.inputs.histograms`.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted, validate_data

from sinkdist.errors import InputError, NegativeMassError
from sinkdist.inputs import histograms
from sinkdist.inputs.arrays import is_sparse
from sinkdist.inputs.flags import flag
from sinkdist.inputs.histograms import Histograms, working_dtype
from sinkdist.inputs.named_options import named_options
from sinkdist.inputs.sparsity import check_structure
from sinkdist.learn.cache import distance_cache
from sinkdist.learn.distance_spec import PRECOMPUTED, DistanceSpec, check_distance, spec_of
from sinkdist.learn.hashed_rows import HashedRows, hashed_rows
from sinkdist.problem.options import Options

__all__ = ["TransportEstimator"]

Array: TypeAlias = npt.NDArray[Any]

_ROUNDING = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}  # of the largest distance
_NO_LABELS = "no_validation"  # scikit-learn's word


class TransportEstimator(BaseEstimator):  # type: ignore[misc]
    """Estimators that learn from distances between rows; each names its own parameters."""

    ground: Any
    lam: float | str | None
    reg: float | None
    alpha: float | None
    iterations: int | None
    tol: float | None
    max_iter: int | None
    distance: str
    coincidence: bool
    normalize: bool
    dtype: Any
    workers: int | None
    verbose: int
    _spec: DistanceSpec | None
    _training: HashedRows

    def __init_subclass__(cls, **more: Any) -> None:
        """Let constructors name our option where another package's is given."""
        super().__init_subclass__(**more)
        if "__init__" in vars(cls):
            cls.__init__ = named_options(cls.__init__)  # type: ignore[method-assign]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.positive_only = True
        tags.input_tags.pairwise = self.distance == PRECOMPUTED
        tags.input_tags.sparse = self.distance != PRECOMPUTED
        return tags

    def _checked(
        self, X: Any, y: Any = _NO_LABELS, *, fit: bool, multi_output: bool = False
    ) -> Any:
        """Input as scikit-learn wants it: two-dimensional, finite, with the features of the fit."""
        check_distance(self.distance)
        precomputed = self.distance == PRECOMPUTED
        if is_sparse(X):  # before scikit-learn converts it
            check_structure(X, "'X'")
        return validate_data(
            self, X, y, reset=fit, dtype=(np.float64, np.float32),
            accept_sparse=False if precomputed else "csr",
            ensure_min_features=2 if fit and not precomputed else 1,
            **({"multi_output": True, "y_numeric": True} if multi_output else {}),
        )  # fmt: skip

    def _learn_rows(self, X: Any) -> None:
        """Keep the training set, which was checked; nothing is solved yet."""
        dtype = working_dtype(X, dtype=self.dtype)
        flag("coincidence", self.coincidence)
        if self.distance == PRECOMPUTED:
            self._spec = None
            self.ground_ = None
            if X.shape[0] != X.shape[1]:
                raise InputError(
                    "Precomputed distances must be those between all training rows, a square "
                    f"matrix. Got shape {X.shape} instead."
                )
        else:
            options = Options(
                lam=self.lam, reg=self.reg, alpha=self.alpha, iterations=self.iterations,
                tol=self.tol, max_iter=self.max_iter, workers=self.workers,
                progress=bool(self.verbose),
            )  # fmt: skip
            self._spec = spec_of(self.distance, self.ground, options, X.shape[1], dtype)
            self.ground_ = self._spec.ground
        self._training = self._hashed(X, dtype, keep=True)

    def _hashed(self, X: Any, dtype: np.dtype[Any], keep: bool = False) -> HashedRows:
        """Rows that are histograms, or distances, with their digests."""
        if self.distance == PRECOMPUTED:
            family = Histograms(_non_negative(X, dtype))
        else:
            family = self._histograms(X, dtype)
        return hashed_rows(family.copy() if keep else family)

    def _histograms(self, X: Any, dtype: np.dtype[Any]) -> Histograms:
        """Checked histograms with mass."""
        bins = None if self.ground_ is None else self.ground_.shape[0]
        try:
            family = histograms.read(
                X, "X", dtype=dtype, bins=bins, normalize=self.normalize, on_empty="nan"
            )
        except NegativeMassError as error:  # in the words that scikit-learn's users know
            said = str(error)
            raise InputError(f"Negative values in data: {said[0].lower()}{said[1:]}") from None
        if family.empty is not None:
            rows = np.flatnonzero(family.empty)
            more = f" (and {rows.size - 1} more)" if rows.size > 1 else ""
            raise InputError(
                f"Row {rows[0]} of 'X'{more} has no mass, so there is nothing to transport: drop "
                "rows that are 0 everywhere."
            )
        return family

    def _new_rows(self, X: Any) -> HashedRows:
        """Rows to compare with the training set."""
        check_is_fitted(self)
        checked = self._checked(X, fit=False)
        return self._hashed(checked, self._training.rows.dtype)

    def _distances(self, rows: HashedRows) -> Array:
        """Distances from rows to the training set."""
        if self._spec is None:
            values: Array = np.array(rows.rows)
        else:
            values = distance_cache.distances(self._spec, rows, self._training)
        if self.coincidence:
            values[rows.same(self._training)] = 0.0
        return values


def _non_negative(D: Array, dtype: np.dtype[Any]) -> Array:
    """Distances, with negative ones that are mere rounding set to 0."""
    if D.min() >= 0.0:
        return np.ascontiguousarray(D, dtype)
    if D.min() < -_ROUNDING[D.dtype] * D.max():
        i, j = np.unravel_index(D.argmin(), D.shape)
        raise InputError(
            f"Negative values in data: entry ({i}, {j}) of 'X' is {D[i, j]:.7g}, but distances "
            "must be non-negative."
        )
    return np.ascontiguousarray(np.maximum(D, 0.0), dtype)
