"""Features for the independence kernel: every histogram a vector, every distance a product.

For a Euclidean distance matrix ``M_ij = |phi_i - phi_j|^2`` the independence distance is ``r^T M c
= r.u + c.u - 2 <L^T r, L^T c>`` with ``u_i = |phi_i|^2`` and ``L L^T`` the Gram matrix of the phi:
one product per histogram instead of one per pair (the remark after the paper's Property 2).
"""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.ground import Ground
from sinkdist.inputs import histograms

__all__ = ["IndependenceFeatures", "independence_features"]

Array = npt.NDArray[Any]

_ROUNDING = 1e-10  # of the largest eigenvalue


@dataclass(frozen=True, slots=True, eq=False)
class IndependenceFeatures:
    """Histograms prepared for the independence distance.

    Attributes
    ----------
    vectors : ndarray, shape (n, rank)
        The mean of the embedded bins under each histogram.
    norms : ndarray, shape (n,)
        The mean of their squared lengths.
    """

    vectors: Array
    norms: Array

    def distances(self, others: IndependenceFeatures | None = None) -> Array:
        """``r^T M c`` between all histograms, or to those of other features."""
        other = self if others is None else others
        products = self.vectors @ other.vectors.T
        return np.asarray(self.norms[:, None] + other.norms - 2.0 * products)


def independence_features(
    X: Any, ground: Any, *, power: float = 1.0, normalize: bool = False
) -> IndependenceFeatures:
    """Prepare histograms so that every independence distance is an inner product away.

    Parameters
    ----------
    X : array_like, shape (n, d)
        Histograms.
    ground : Ground or array_like
        Costs; must be a Euclidean distance matrix (squared distances between points in some space),
        as metrics like the Euclidean distance itself are. Then ``exp(-t r^T M c)`` is a kernel.
    power : float
        Use ``M^power``; of a Euclidean distance matrix every power in (0, 1] is one again.
    normalize : bool
        Divide histograms by their sums.

    Examples
    --------
    >>> import sinkdist as sd
    >>> features = independence_features([[1, 0], [0, 1], [0.5, 0.5]], sd.Ground.grid(2))
    >>> features.distances().round(12) + 0.0
    array([[0. , 1. , 0.5],
           [1. , 0. , 0.5],
           [0.5, 0.5, 0.5]])
    """
    ground = Ground.of(ground)
    if isinstance(power, bool) or not isinstance(power, numbers.Real) or not 0.0 < power < np.inf:
        raise InputError(f"The 'power' option must be a positive number. Got {power!r} instead.")
    L, u = _embedding(ground, float(power))
    dtype = np.dtype(np.float64)
    family = histograms.read(X, "X", dtype=dtype, bins=ground.shape[0], normalize=normalize)
    return IndependenceFeatures(np.asarray(family.rows @ L), np.asarray(family.rows @ u))


def _embedding(ground: Ground, power: float) -> tuple[Array, Array]:
    """Points whose squared distances are the costs, and their squared lengths."""
    if not ground.is_symmetric or ground.matrix.diagonal().any():
        raise InputError(
            "The ground matrix is no Euclidean distance matrix: it must be symmetric and 0 on the "
            "diagonal."
        )
    M = ground.matrix**power
    means = M.mean(axis=0)
    gram = -0.5 * (M - means - means[:, None] + means.mean())
    values, vectors = np.linalg.eigh(gram)
    if values[0] < -_ROUNDING * max(values[-1], 0.0) - 1e-300:
        raise InputError(
            "The ground matrix is no Euclidean distance matrix, so exp(-t r^T M c) is no kernel: "
            f"the Gram matrix of its bins has the negative eigenvalue {values[0]:.3g} (the largest "
            f"is {values[-1]:.3g}). Try a smaller 'power'."
        )
    kept = values > _ROUNDING * values[-1]
    L = vectors[:, kept] * np.sqrt(values[kept])
    return L, np.einsum("ij,ij->i", L, L)
