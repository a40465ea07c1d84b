"""Derivatives by the implicit function theorem: what a solved plan gives, at the cost of one linear
system and with no memory of the sweeps that led to it.

Of the objective ``<P, M> - h(P) / lam`` they are the potentials and the plan. Of the value ``<P,
M>`` they take the system of `linear` with the right side ``((P*M) 1, (P*M)^T 1)``: its solution
``(x, y)`` are the derivatives by r and c, and ``P * (1 - lam (M - x_i - y_j))`` is that by M. Of
the constrained distance they are ``f - log(r) / lam``, ``g - log(c) / lam`` and P.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sinkdist.solvers.arrays.axes import operator_of
from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.linear import Coupling, solve_marginals
from sinkdist.solvers.arrays.operators import CostOperator, Potentials, System
from sinkdist.solvers.arrays.products import Array
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
    operator = operator_of(xp, asked.axes, M)
    top = operator.largest
    unit = xp.where(top > 0, top, 1.0)  # of the system, whose squares may not be representable
    P, *paid = _system(xp, asked, operator, lam, potentials, unit)
    value, lam = by_value[:, None], lam[:, None]
    if asked.domain is Domain.CONSTRAINED:
        X = value * (F - xp.log(xp.where(R > 0, R, 1.0)) / lam)
        Y = value * (G - xp.log(xp.where(C > 0, C, 1.0)) / lam)
        by_M = P.outer(value, xp.ones_like(Y)) if asked.learns else None
        return Gradients(_inside(xp, R, X), _inside(xp, C, Y), by_M)
    x, y, _ = solve_marginals(xp, control, P, paid[0], paid[1], numbers.tol)
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


def _system(
    xp: Any, asked: BlockSpec, costs: CostOperator, lam: Array, potentials: Potentials, unit: Array
) -> System:
    """The plans, and what they pay by rows and by columns, in the domain that they are from."""
    if asked.domain is not Domain.SCALING:
        return costs.system(lam[:, None], potentials, unit)
    U, V = (xp.exp(lam[:, None] * x) for x in potentials)
    paid = Coupling(costs.priced(lam[0], unit), U, V)
    rows, columns = paid.rows(xp.ones_like(V)), paid.columns(xp.ones_like(U))
    return System(Coupling(costs.kernel(lam[0]), U, V), rows, columns)


def _inside(xp: Any, weights: Array, gradient: Array) -> Array:
    """0 on bins without mass; summed over pairs where they share one histogram."""
    gradient = xp.where(weights > 0, gradient, 0.0)
    shared = weights.shape[0] == 1 and gradient.shape[0] != 1
    return xp.sum(gradient, axis=0, keepdims=True) if shared else gradient
