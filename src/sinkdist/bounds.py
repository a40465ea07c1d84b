"""Certificates: what the potentials of a pair prove about the exact EMD and about themselves.

Every bound holds at any iterate, converged or not (ALGORITHMS: the c-transform of any potential is feasible for
the dual of the EMD; a plan rounded to exact marginals is feasible for the primal).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.histograms import Histograms

__all__ = ["Measures", "measure", "plan", "rounded"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Measures:
    """Numbers that take a look at the whole plan, one entry per pair."""

    value: Array
    entropy: Array
    alpha: Array
    lower: Array
    upper: Array
    gap: Array


def measure(
    M: Array, lam: float, f: Array, g: Array, r: Histograms, c: Histograms
) -> Measures:
    """All certificates of the pairs with potentials ``f, g``; NaN where a histogram is empty."""
    numbers = np.full((6, len(f)), np.nan)
    for k in range(len(f)):
        a = r.dense(slice(k, k + 1) if r.n > 1 else slice(0, 1))[0].astype(float)
        b = c.dense(slice(k, k + 1) if c.n > 1 else slice(0, 1))[0].astype(float)
        rows, columns = np.flatnonzero(a), np.flatnonzero(b)
        if rows.size and columns.size:
            costs = M if rows.size == a.size and columns.size == b.size else M[np.ix_(rows, columns)]
            a, b = a[rows] / a.sum(), b[columns] / b.sum()  # float32 sums are 1 to 1e-7 only
            numbers[:, k] = _pair(costs, lam, f[k][rows], g[k][columns], a, b)
    return Measures(*numbers)


def plan(M: Array, lam: float, f: Array, g: Array) -> npt.NDArray[np.float64]:
    """``P = exp(lam (f_i + g_j - M_ij))``."""
    P = f[:, None] + g - M
    P *= lam
    return np.exp(P, out=P)


def rounded(P: Array, r: Array, c: Array) -> npt.NDArray[np.float64]:
    """The nearest coupling by scaling down and a rank-one repair (Altschuler, Weed, Rigollet 2017)."""
    with np.errstate(divide="ignore", over="ignore"):  # a sum of 0 is scaled by 1
        G = P * np.minimum(1.0, r / P.sum(axis=1))[:, None]
        G *= np.minimum(1.0, c / G.sum(axis=0))
    left, missing = np.maximum(r - G.sum(axis=1), 0.0), np.maximum(c - G.sum(axis=0), 0.0)
    if left.sum() > 0.0:
        G += np.outer(left, missing) / left.sum()
    return G


def _pair(M: Array, lam: float, f: Array, g: Array, r: Array, c: Array) -> tuple[float, ...]:
    """The six numbers of `Measures` for one pair on bins with mass."""
    P = plan(M, lam, f, g)
    rows, columns = P.sum(axis=1), P.sum(axis=0)
    entropy = _entropy(P)
    alpha = max(0.0, -entropy - float(rows @ np.log(r)) - float(columns @ np.log(c)))
    lower = max(
        0.0,
        float(f @ r + (M - f[:, None]).min(axis=0) @ c),
        float(g @ c + (M - g).min(axis=1) @ r),
    )
    G = rounded(P, r, c)
    upper = float(np.vdot(G, M))
    dual = float(f @ r + g @ c) - (float(P.sum()) - 1.0) / lam
    gap = max(0.0, upper - _entropy(G) / lam - dual)
    return float(np.vdot(P, M)), entropy, alpha, lower, upper, gap


def _entropy(P: Array) -> float:
    """``-sum P log P``, with 0 log 0 = 0."""
    positive = P[P > 0.0]
    return -float(positive @ np.log(positive))
