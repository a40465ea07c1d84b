"""Derivatives of plain barycentres by the implicit function theorem, on the host.

At the optimum ``sum_k w_k log u_k`` is constant, where ``P_k = diag(u_k) K diag(v_k)`` has the rows
``a`` and the columns ``b_k``. With ``S_k = diag(a) - P_k diag(1 / b_k) P_k^T``, moving the
marginals of one plan moves ``log u_k`` by ``S_k^+ (da - P_k db_k / b_k)``, up to a constant; hence

    H da = sum_k w_k S_k^+ P_k db_k / b_k - sum_k dw_k log u_k,    H = sum_k w_k S_k^+,

and a gradient ``a'`` is pulled back with the ``x`` that has sum 0 and ``H x = a'`` up to a
constant. Debiased barycentres have bins that vanish, where there is no derivative.
"""

from __future__ import annotations

from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from sinkdist.means.barycenters import Found, Kept, Request

__all__ = ["MeanGradients", "gradients"]

Array: TypeAlias = npt.NDArray[Any]


class MeanGradients(NamedTuple):
    """With respect to histograms and to weights that sum to 1; 0 where these are 0."""

    histograms: Array
    weights: Array


def gradients(request: Request, found: Found, by: Array) -> MeanGradients:
    """Pull gradients by barycentres, shape (m, d), back; a dense system for each histogram."""
    X, W = request.histograms, request.weights
    out = MeanGradients(np.zeros(X.shape), np.zeros(W.shape))
    for k, kept in found.kept.items():
        plans = _Plans(request, found.histogram[k], W[k], kept)
        x = plans.solve(by[k])
        out.weights[k, kept.histogram] = -kept.log_u @ x
        out.histograms[:] += plans.pulled(x, X)
    return MeanGradients(_tangential(out.histograms, X), _tangential(out.weights, W))


class _Plans:
    """The plans from one barycentre to its histograms."""

    def __init__(self, request: Request, a: Array, weights: Array, kept: Kept) -> None:
        self.request, self.a, self.kept = request, a.astype(np.float64), kept
        self.weights = weights[kept.histogram]

    def solve(self, by: Array) -> Array:
        """``x`` of sum 0 with ``H x = by`` up to a constant."""
        d = self.a.size
        system = np.ones((d + 1, d + 1))
        system[:d, :d], system[d, d] = 0.0, 0.0
        for k, weight in enumerate(self.weights):
            system[:d, :d] += weight * cho_solve(self._factor(k), np.eye(d))
        x: Array = np.linalg.solve(system, np.append(by, 0.0))[:d]
        return x

    def pulled(self, x: Array, X: Array) -> Array:
        """What ``x`` gives for each histogram."""
        out = np.zeros(X.shape)
        for k, weight in enumerate(self.weights):
            P, bins = self._plan(k)
            row = out[self.kept.histogram[k]]
            row[bins] = weight * (P.T @ cho_solve(self._factor(k), x)) / P.sum(axis=0)
        return out

    def _plan(self, k: int) -> tuple[Array, Array]:
        """One plan on the bins where the histogram has mass, and these."""
        kept = self.kept
        columns = np.arange(kept.log_v.shape[1]) if kept.columns is None else kept.columns
        b = self.request.histograms[kept.histogram[k], columns]
        some = np.flatnonzero(b)
        costs = self.request.ground.block(None, columns[some])
        logs = kept.log_u[k][:, None] + kept.log_v[k, some] - self.request.lam * costs
        return np.exp(logs), columns[some]

    def _factor(self, k: int) -> Any:
        """Of ``S_k + a a^T``, which is definite: constants are all that ``S_k`` takes to 0."""
        P, _ = self._plan(k)
        rows = P.sum(axis=1)
        S = np.diag(rows) - (P / P.sum(axis=0)) @ P.T
        return cho_factor(S + np.outer(rows, rows))


def _tangential(gradient: Array, rows: Array) -> Array:
    """The gradient by rows that are divided by their sums, which are 1 here; 0 where rows are 0."""
    mean = np.sum(gradient * rows, axis=1, keepdims=True)
    return np.where(rows > 0.0, gradient - mean, 0.0)
