"""Derivatives where marginals are held by a penalty, on the host.

With ``m, n`` the masses, ``x, y`` the log scalings of ``P = Q exp(x_i + y_j - lam M_ij)``,
``Q = r c^T / sqrt(m n)``, and ``k = lam rho``, the optimum has ``P 1 = r exp(-x / k_1)`` and
``P^T 1 = c exp(-y / k_2)``. The least objective is differentiated at fixed potentials (it is their
maximum): by r that gives ``rho (1 - exp(-f / rho))``, with ``f = x / lam``, and what ``Q`` depends
on. ``V = <P, M>`` takes the adjoint ``(s, t)`` of the two conditions,

    [diag(p (1 + 1 / k_1)), P; P^T, diag(q (1 + 1 / k_2))] (s, t) = ((P*M) 1, (P*M)^T 1),

with ``p, q`` the marginals. The matrix is positive definite, for one penalty is finite.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["MassGradients", "gradients", "objective"]

Array: TypeAlias = npt.NDArray[Any]
Penalties = tuple[float, float]


class MassGradients(NamedTuple):
    """With respect to both histograms of every pair, and to the costs."""

    R: Array
    C: Array
    M: Array


def objective(r: Array, c: Array, f: Array, g: Array, lam: float, rho: Penalties) -> float:
    """The dual at the potentials of a plan whose rows are exact, on bins with mass."""
    m, n = float(r.sum()), float(c.sum())
    x, y = _bare(r, f, lam), _bare(c, g, lam)
    mass = float(r @ np.exp(-x / rho[0])) if rho[0] < math.inf else m
    total = float(r @ _slope(x, rho[0])) + float(c @ _slope(y, rho[1]))
    return total + (math.sqrt(m) * math.sqrt(n) - mass) / lam


def gradients(
    R: Array, C: Array, M: Array, F: Array, G: Array, lam: float, rho: Penalties, by_value: Array,
    by_objective: Array,
) -> MassGradients:  # fmt: skip
    """Pull the gradients of a loss by values and objectives back; 0 on bins without mass.

    ``R`` has one row, shared, or one per pair.
    """
    found = MassGradients(np.zeros(R.shape), np.zeros(C.shape), np.zeros(M.shape))
    for k in range(len(C)):
        i = k if len(R) > 1 else 0
        rows, columns = np.flatnonzero(F[k] > -np.inf), np.flatnonzero(G[k] > -np.inf)
        rows, columns = rows[R[i, rows] > 0.0], columns[C[k, columns] > 0.0]
        if not (rows.size and columns.size and (by_value[k] or by_objective[k])):
            continue
        r, c, costs = R[i, rows], C[k, columns], M[np.ix_(rows, columns)]
        by_r, by_c, by_costs = _of_pair(
            r, c, costs, F[k, rows], G[k, columns], lam, rho, float(by_value[k]),
            float(by_objective[k]),
        )  # fmt: skip
        found.R[i, rows] += by_r
        found.C[k, columns] += by_c
        found.M[np.ix_(rows, columns)] += by_costs
    return found


def _of_pair(
    r: Array, c: Array, M: Array, f: Array, g: Array, lam: float, rho: Penalties, by_value: float,
    by_objective: float,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """The gradients of one pair on its bins with mass."""
    P = np.exp(lam * (f[:, None] + g - M))
    p, q, m, n = P.sum(axis=1), P.sum(axis=0), float(r.sum()), float(c.sum())
    mass = float(p.sum())
    by_r = by_objective * _of_objective(r, f, p, mass, m, n, lam, rho[0])
    by_c = by_objective * _of_objective(c, g, q, mass, n, m, lam, rho[1])
    by_M = by_objective * P
    if by_value:
        costs = P * M
        a, b = costs.sum(axis=1), costs.sum(axis=0)
        s, t = _adjoint(P, p, q, a, b, lam, rho)
        rest = (float(s @ p) + float(t @ q) - float(a.sum())) / 2.0
        by_r = by_r + by_value * ((a - P @ t) / r + rest / m)
        by_c = by_c + by_value * ((b - P.T @ s) / c + rest / n)
        by_M = by_M + by_value * (P * (1.0 + lam * (s[:, None] + t - M)))
    return by_r, by_c, by_M


def _of_objective(
    h: Array, f: Array, marginal: Array, mass: float, own: float, other: float, lam: float,
    rho: float,
) -> Array:  # fmt: skip
    """Of the least objective by one histogram."""
    by_reference = 0.5 * (mass / own + math.sqrt(other / own)) - marginal / h
    return np.asarray(_slope(_bare(h, f, lam), rho) + by_reference / lam)


def _adjoint(
    P: Array, p: Array, q: Array, a: Array, b: Array, lam: float, rho: Penalties
) -> tuple[Array, Array]:
    """The linear system, with its second part eliminated."""
    one, two = p * (1.0 + 1.0 / (lam * rho[0])), q * (1.0 + 1.0 / (lam * rho[1]))
    s = np.linalg.solve(np.diag(one) - (P / two) @ P.T, a - P @ (b / two))
    return s, (b - P.T @ s) / two


def _bare(h: Array, f: Array, lam: float) -> Array:
    """A plan's potential without the logarithms of the reference."""
    return np.asarray(f - (np.log(h) - 0.5 * math.log(float(h.sum()))) / lam)


def _slope(f: Array, rho: float) -> Array:
    """``rho (1 - exp(-f / rho))``, and ``f`` where a side is held exactly."""
    return np.asarray(f if rho == math.inf else -rho * np.expm1(-f / rho))
