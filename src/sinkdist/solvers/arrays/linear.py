"""The linear system of a coupling: how potentials move when marginals do.

    [diag(P1), P; P^T, diag(P^T1)] (x, y) = (m, k)

It gives Newton's step and the derivatives of a solved pair. Its null vector ``(1, -1)`` is the
freedom of moving a constant from one potential to the other. With y eliminated and x scaled by the
rows' masses the matrix is ``1 - B B^T``, B of norm 1, which conjugate gradients solve for all pairs
at once, with two products each.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sinkdist.solution.reductions import inverse
from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.products import Array, BatchedKernel, Products, SharedKernel
from sinkdist.solvers.policy import CG_LIMIT, CG_LOOK

__all__ = ["Coupling", "solve_marginals"]


class Coupling(NamedTuple):
    """``P = diag(u) K diag(v)`` of every pair, as products."""

    products: Products
    U: Array
    V: Array

    def rows(self, Y: Array) -> Array:
        """``P y``."""
        return self.U * self.products.rows(self.V * Y)

    def columns(self, X: Array) -> Array:
        """``P^T x``."""
        return self.V * self.products.columns(self.U * X)

    def outer(self, X: Array, Y: Array) -> Array:
        """``sum_k diag(x_k) P_k diag(y_k)``, of kernels that are matrices."""
        assert isinstance(self.products, SharedKernel | BatchedKernel)
        return self.products.outer(self.U * X, self.V * Y)


class _Conjugate(NamedTuple):
    """Conjugate gradients of every pair: iterate, residual, direction, squared residual, aim."""

    z: Array
    residual: Array
    direction: Array
    square: Array
    aim: Array

    @property
    def going(self) -> Array:
        """Which pairs are still above their aim."""
        return self.square > self.aim


def solve_marginals(
    xp: Any, control: Control, P: Coupling, m: Array, k: Array, tol: Any, limit: int = CG_LIMIT
) -> tuple[Array, Array, Any]:
    """Solve the system for a right side whose two parts have equal sums.

    To a residual of a tenth of ``tol``, relative; x has mean 0 under the rows' masses. Returns x,
    y and the steps made.
    """
    a, b = P.rows(xp.ones_like(P.V)), P.columns(xp.ones_like(P.U))
    root, inverse_b = xp.sqrt(a), inverse(xp, b)
    inverse_root = inverse(xp, root)

    def apply(z: Array) -> Array:
        x = inverse_root * z
        return z - inverse_root * P.rows(inverse_b * P.columns(x))

    def one(s: _Conjugate) -> _Conjugate:
        image = apply(s.direction)
        curvature = xp.sum(s.direction * image, axis=1)
        move = s.going & (curvature > 0)
        length = xp.where(move, s.square / xp.where(move, curvature, 1.0), 0.0)[:, None]
        residual = s.residual - length * image
        square = xp.where(move, xp.sum(residual * residual, axis=1), 0.0)
        ratio = square / xp.where(s.square > 0, s.square, 1.0)
        direction = residual + ratio[:, None] * s.direction
        return _Conjugate(s.z + length * s.direction, residual, direction, square, s.aim)

    def step(pairs: Any, s: _Conjugate, count: Any) -> _Conjugate:
        result: _Conjugate = control.repeat(count, one, s)
        return result

    right = inverse_root * (m - P.rows(inverse_b * k))
    total = xp.sum(a, axis=1, keepdims=True)
    right = right - root * (xp.sum(root * right, axis=1, keepdims=True) / total)
    square = xp.sum(right * right, axis=1)
    eps = float(xp.finfo(a.dtype).eps)
    aim = square * xp.maximum(0.1 * tol + xp.zeros_like(square), 10.0 * eps) ** 2
    s = _Conjugate(xp.zeros_like(right), right, right, square, aim)
    s, made = control.until_done(xp, step, (), s, CG_LOOK, limit, retire=False)
    x = inverse_root * s.z
    x = x - xp.sum(a * x, axis=1, keepdims=True) / total
    return x, inverse_b * (k - P.columns(x)), made
