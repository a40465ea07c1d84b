"""Derivatives by the implicit function theorem: what a solved plan gives, at the cost of one linear
system and with no memory of the sweeps that led to it.

Of the objective ``<P, M> - h(P) / lam`` they are the potentials and the plan. Of the value ``<P,
M>`` they take the system of `linear` with the right side ``((P*M) 1, (P*M)^T 1)``: its solution
``(x, y)`` are the derivatives by r and c, and ``P * (1 - lam (M - x_i - y_j))`` is that by M. Of
the constrained distance they are ``f - log(r) / lam``, ``g - log(c) / lam`` and P.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.linear import Coupling, solve_marginals
from sinkdist.solvers.arrays.products import Array, BatchedKernel, SharedKernel
from sinkdist.solvers.arrays.stabilised import Potentials, plan
from sinkdist.solvers.arrays.transport import BlockSpec, Domain, Parameters

__all__ = ["Gradients", "gradients"]


class Gradients(NamedTuple):
    """With respect to both histograms of every pair, and to the costs (None if not wanted)."""

    R: Array
    C: Array
    M: Array | None


def gradients(
    xp: Any, control: Control, asked: BlockSpec, numbers: Parameters, R: Array, C: Array, M: Array,
    potentials: Potentials, lam: Array, by_value: Array, by_objective: Array | None,
) -> Gradients:  # fmt: skip
    """Pull the gradients of a loss with respect to values and objectives back to r, c and M.

    ``by_value`` and ``by_objective`` are of shape (n,). Bins without mass get 0. Constants are
    arbitrary: they are removed where histograms are divided by their sums.
    """
    F, G = (xp.where(xp.isfinite(x), x, 0.0) for x in potentials)
    top = xp.max(M)
    unit = xp.where(top > 0, top, 1.0)  # of the system, whose squares may not be representable
    P, costs = _products(xp, asked, M, lam, potentials, unit)
    value, lam = by_value[:, None], lam[:, None]
    if asked.domain is Domain.CONSTRAINED:
        X = value * (F - xp.log(xp.where(R > 0, R, 1.0)) / lam)
        Y = value * (G - xp.log(xp.where(C > 0, C, 1.0)) / lam)
        by_M = P.outer(value, xp.ones_like(Y)) if asked.learns else None
        return Gradients(_inside(xp, R, X), _inside(xp, C, Y), by_M)
    right = costs.rows(xp.ones_like(costs.V)), costs.columns(xp.ones_like(costs.U))
    x, y, _ = solve_marginals(xp, control, P, *right, numbers.tol)
    x, y = unit * x, unit * y
    X, Y = value * x, value * y
    weight = value
    if by_objective is not None:
        objective = by_objective[:, None]
        X, Y, weight = X + objective * F, Y + objective * G, value + objective
    by_M = None
    if asked.learns:
        ones = xp.ones_like(Y)
        by_M = P.outer(weight + lam * value * x, ones) + P.outer(lam * value + 0.0 * x, y)
        by_M = by_M - M * P.outer(lam * value + 0.0 * x, ones)
    return Gradients(_inside(xp, R, X), _inside(xp, C, Y), by_M)


def _products(
    xp: Any, asked: BlockSpec, M: Array, lam: Array, potentials: Potentials, unit: Array
) -> tuple[Coupling, Coupling]:
    """The plans, and the plans times costs in some unit, as products."""
    F, G = potentials
    if asked.domain is Domain.SCALING:
        U, V = xp.exp(lam[:, None] * F), xp.exp(lam[:, None] * G)
        K = xp.exp(-lam[0] * M)
        return Coupling(SharedKernel(xp, K), U, V), Coupling(SharedKernel(xp, K * (M / unit)), U, V)
    P = plan(xp, M, lam[:, None], potentials)
    U, V = xp.ones_like(F), xp.ones_like(G)
    return Coupling(BatchedKernel(xp, P), U, V), Coupling(BatchedKernel(xp, P * (M / unit)), U, V)


def _inside(xp: Any, weights: Array, gradient: Array) -> Array:
    """0 on bins without mass; summed over pairs where they share one histogram."""
    gradient = xp.where(weights > 0, gradient, 0.0)
    shared = weights.shape[0] == 1 and gradient.shape[0] != 1
    return xp.sum(gradient, axis=0, keepdims=True) if shared else gradient
