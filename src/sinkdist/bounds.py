"""Certificates: what a pair's potentials and plan prove, converged or not.

The c-transform of any potential is feasible for the dual of the exact distance, a plan rounded to
exact marginals is feasible for the primal; so every bound here holds at any iterate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Measures", "SparsePlan", "bracket", "entropic_plan", "least_at", "measure", "rounded"]

Array = npt.NDArray[Any]

_ROUNDING = 4e-16  # of the sum of the terms' sizes


def least_at(mean: float, spread: float, alpha: float) -> float:
    """A lower bound on ``d_{M,alpha}`` from ``r^T M c`` alone, by Pinsker's inequality."""
    return max(0.0, mean - 0.5 * spread * math.sqrt(2.0 * alpha))


@dataclass(frozen=True, slots=True, eq=False)
class SparsePlan:
    """A plan with few entries: masses at rows and columns."""

    rows: Array
    columns: Array
    mass: Array

    def dense(self, shape: tuple[int, int]) -> npt.NDArray[np.float64]:
        """The plan as a matrix."""
        P = np.zeros(shape)
        np.add.at(P, (self.rows, self.columns), self.mass)
        return P

    def marginal_error(self, r: Array, c: Array) -> float:
        """``|P1 - r|_1 + |P^T1 - c|_1``."""
        rows = np.bincount(self.rows, self.mass, r.size)
        columns = np.bincount(self.columns, self.mass, c.size)
        return float(np.abs(rows - r).sum() + np.abs(columns - c).sum())


@dataclass(frozen=True, slots=True)
class Measures:
    """Numbers that take a look at the whole plan of one pair.

    Attributes
    ----------
    value, entropy, alpha : float
        ``<P, M>``, ``h(P)`` and ``KL(P || r c^T)``.
    lower, upper : float
        Bounds on the exact distance.
    gap : float
        How far the rounded plan is from optimal for its own objective.
    """

    value: float
    entropy: float
    alpha: float
    lower: float
    upper: float
    gap: float


def entropic_plan(M: Array, lam: float, f: Array, g: Array) -> npt.NDArray[np.float64]:
    """``P = exp(lam (f_i + g_j - M_ij))``."""
    P = f[:, None] + g - M
    P *= lam
    return np.asarray(np.exp(P, out=P), dtype=np.float64)


def rounded(P: Array, r: Array, c: Array) -> npt.NDArray[np.float64]:
    """A coupling near ``P``: scaled down, then repaired by rank one (Altschuler et al. 2017)."""
    with np.errstate(divide="ignore", over="ignore"):  # a sum of 0 is scaled by 1
        G = P * np.minimum(1.0, r / P.sum(axis=1))[:, None]
        G *= np.minimum(1.0, c / G.sum(axis=0))
    left = np.maximum(r - G.sum(axis=1), 0.0)
    missing = np.maximum(c - G.sum(axis=0), 0.0)
    if left.sum() > 0.0:
        G += np.outer(left, missing) / left.sum()
    return np.asarray(G, dtype=np.float64)


def measure(P: Array, M: Array, lam: float, f: Array, g: Array, r: Array, c: Array) -> Measures:
    """All certificates of one pair on bins with mass; ``lam`` may be 0 or inf."""
    entropy = _entropy(P)
    rows, columns = P.sum(axis=1), P.sum(axis=0)
    alpha = max(0.0, -entropy - float(rows @ np.log(r)) - float(columns @ np.log(c)))
    lower = max(
        0.0,
        float(f @ r + (M - f[:, None]).min(axis=0) @ c),
        float(g @ c + (M - g).min(axis=1) @ r),
    )
    G = rounded(P, r, c)
    upper = float(np.vdot(G, M))
    if lam == 0.0:
        gap = 0.0
    elif lam == np.inf:
        gap = max(0.0, upper - lower)
    else:
        dual = float(f @ r + g @ c) - (float(P.sum()) - 1.0) / lam
        gap = max(0.0, upper - _entropy(G) / lam - dual)
    return Measures(float(np.vdot(P, M)), entropy, alpha, lower, upper, gap)


def bracket(
    M: Array, lam: float, f: Array, g: Array, r: Array, c: Array, alpha: float
) -> tuple[float, float]:
    """A proven lower and upper bound on ``d_{M,alpha}``, from potentials at any lam.

    Below by duality. Above by the rounded plan, mixed with ``r c^T`` as far as the constraint asks:
    the divergence is convex, so the mixture has at most its share of the information.
    """
    P = entropic_plan(M, lam, f, g)
    log_r, log_c = np.log(r), np.log(c)
    phi = lam * float(f @ r + g @ c) - (float(P.sum()) - 1.0) - float(r @ log_r + c @ log_c)
    terms = lam * float(np.abs(f) @ r + np.abs(g) @ c) - float(r @ log_r + c @ log_c) + 1.0
    phi -= _ROUNDING * terms  # what the sums above may have lost
    lower = max((phi - alpha) / lam, float(f @ r + (M - f[:, None]).min(axis=0) @ c), 0.0)
    G = rounded(P, r, c)
    information = -_entropy(G) - float(r @ log_r) - float(c @ log_c)
    share = 1.0 if information <= alpha else alpha / information
    upper = share * float(np.vdot(G, M)) + (1.0 - share) * float(r @ M @ c)
    return lower, upper


def _entropy(P: Array) -> float:
    """``-sum P log P``, with 0 log 0 = 0."""
    positive = P[P > 0.0]
    return -float(positive @ np.log(positive))
