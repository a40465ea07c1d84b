"""The Mahalanobis distance as a Euclidean one, between histograms multiplied by a matrix.

With ``A = L L^T``, ``(x - y)^T A (x - y) = |L^T x - L^T y|^2``. Differences of histograms sum to 0,
so ``A`` may have any constant added and its row means taken off: what is left keeps its digits also
where a small t makes all entries of ``A`` nearly equal.
"""

from __future__ import annotations

import numpy as np

from sinkdist.classic.summed import Array
from sinkdist.errors import InputError
from sinkdist.ground import Ground

__all__ = ["factor"]

_ROUNDING = 1e-10  # of the largest eigenvalue: a negative one below it is no rounding
_WORST_CONDITION = 1e10  # of what is inverted: leaves some six digits of each distance


def factor(ground: Ground, t: float, *, inverse: bool) -> Array:
    """``L`` of shape (d, rank) with ``A = L L^T`` between histograms, for ``A = exp(-t M^2)``.

    Parameters
    ----------
    ground : Ground
        The costs M, symmetric.
    t : float
        Positive.
    inverse : bool
        Whether ``A`` is the inverse of that.
    """
    if not ground.is_symmetric:
        raise InputError(
            "The ground matrix must be symmetric for a Mahalanobis distance. "
            f"Got {ground.shape[0]} x {ground.shape[1]} costs that are not."
        )
    with np.errstate(over="ignore", under="ignore"):  # far bins do not resemble each other at all
        exponents = -np.square(np.sqrt(t) * ground.matrix)
        return _inverse_factor(np.exp(exponents), t) if inverse else _factor(exponents, t)


def _factor(exponents: Array, t: float) -> Array:
    """A factor of ``exp(exponents)`` without its row means."""
    A = np.expm1(exponents)
    means = A.mean(axis=0)
    values, vectors = np.linalg.eigh(A - means - means[:, None] + means.mean())
    _check_positive(values, t)
    kept = values > values[-1] * len(values) * np.finfo(float).eps
    return np.asarray(vectors[:, kept] * np.sqrt(values[kept]))


def _inverse_factor(A: Array, t: float) -> Array:
    """A factor of the inverse of ``A``, without its column means."""
    values, vectors = np.linalg.eigh(A)
    _check_positive(values, t)
    if values[0] * _WORST_CONDITION < values[-1]:
        rounding = len(values) * np.finfo(float).eps * values[-1]
        condition = values[-1] / max(values[0], rounding)
        least = "at least " if values[0] < rounding else ""
        raise InputError(
            f"exp(-t M^2) with t = {t:g} has a condition number of {least}{condition:.2g}, so too "
            f"few digits of its inverse could be trusted (the limit is {_WORST_CONDITION:.0e}). "
            "Pass a larger 't', or leave out 'inverse'."
        )
    L = vectors / np.sqrt(values)
    return np.asarray(L - L.mean(axis=0))


def _check_positive(values: Array, t: float) -> None:
    """Raise if the smallest of sorted eigenvalues is negative beyond rounding."""
    if values[0] < -_ROUNDING * max(values[-1], 0.0):
        raise InputError(
            f"exp(-t M^2) with t = {t:g} is not positive semi-definite, so it gives no distance: "
            f"it has the negative eigenvalue {values[0]:.3g} (the largest is {values[-1]:.3g}). It "
            "is for every t where costs are Euclidean distances; else a larger 't' may do."
        )
