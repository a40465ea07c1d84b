"""Sinkhorn's sweeps over a block of pairs, and the policy that relaxes and ends them.

A pair's state is consistent after every sweep: ``u = r / (K v)`` has made rows exact, and ``A = K^T
u`` tells how far the columns are off. A relaxed update is ``t (w t + (2-w) u) / ((2-w) t + w u)``
with t the plain one: to first order it is ``t^w u^(1-w)``, it stays within a factor ``w / (2-w)``
of t, and it takes no powers.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sinkdist.solution.reductions import inverse
from sinkdist.solvers.arrays.control import Control, chosen
from sinkdist.solvers.arrays.products import Array, Products
from sinkdist.solvers.policy import FAILURES, LOOK, NEAR, SLOWEST, STUCK

__all__ = ["ConvergenceState", "Scalings", "begin", "decide", "fixed", "sweeps", "to_tolerance"]

_QUICKEST = 1e-6  #: smaller rates count as this one


class Scalings(NamedTuple):
    """``u``, ``v`` and ``A = K^T u`` of every pair."""

    U: Array
    V: Array
    A: Array


class ConvergenceState(NamedTuple):
    """How each pair is getting on; all of shape (n,).

    ``omega`` is the relaxation, ``theta2`` the estimated rate of plain sweeps, ``error`` the L1
    violation of the marginals, ``failures`` the looks without progress.
    """

    omega: Array
    theta2: Array
    error: Array
    failures: Array
    n_iter: Array
    going: Array


class _State(NamedTuple):
    """Scalings, and how the pairs are getting on."""

    scalings: Scalings
    convergence: ConvergenceState

    @property
    def going(self) -> Array:
        """Which pairs are still at work."""
        return self.convergence.going


def begin(xp: Any, like: Array) -> ConvergenceState:
    """Fresh pairs, one for each row of an array."""
    ones = xp.ones_like(like[:, 0])
    count = xp.astype(xp.zeros_like(ones), xp.int32)
    return ConvergenceState(ones, 0.0 * ones, 2.0 * ones, count, count, ones > 0)


def sweeps(
    control: Control, products: Products, R: Array, C: Array, s: Scalings, omega: Array | None,
    count: Any,
) -> Scalings:  # fmt: skip
    """``count`` sweeps; the last row update is plain, so that rows are exact.

    ``omega`` of shape (n,), or None for plain sweeps.
    """

    def plain(s: Scalings) -> Scalings:
        V = C / s.A
        U = R / products.rows(V)
        return Scalings(U, V, products.columns(U))

    if omega is None:
        result: Scalings = control.repeat(count, plain, s)
        return result
    xp, w = products.xp, omega[:, None]
    inverse_R, inverse_C = inverse(xp, R), inverse(xp, C)

    def towards(new: Array, ratio: Array) -> Array:
        """The relaxed update; ``ratio`` is that of the old to the new scaling."""
        return new * ((w + (2.0 - w) * ratio) / ((2.0 - w) + w * ratio))

    def relaxed(s: Scalings) -> Scalings:
        V = towards(C / s.A, s.V * s.A * inverse_C)
        S = products.rows(V)
        U = towards(R / S, s.U * S * inverse_R)
        return Scalings(U, V, products.columns(U))

    s = control.repeat(count - 1, relaxed, s)
    V = towards(C / s.A, s.V * s.A * inverse_C)
    U = R / products.rows(V)
    return Scalings(U, V, products.columns(U))


def fixed(
    xp: Any, control: Control, products: Products, R: Array, C: Array, steps: int
) -> tuple[Array, Array]:
    """Algorithm 1 of the paper from its own starting point; columns are exact at the end."""
    some = R > 0
    bins = xp.sum(xp.astype(some, R.dtype), axis=1, keepdims=True)
    U = xp.where(some, bins, 0.0) + xp.zeros_like(C[:, :1])  # x = ones / length(r)
    s = Scalings(U, C, products.columns(U))
    s = sweeps(control, products, R, C, s, None, steps)
    return s.U, C / s.A


def decide(
    xp: Any, convergence: ConvergenceState, s: Scalings, C: Array, tol: Any, count: Any, relax: bool
) -> ConvergenceState:
    """Look at the errors after ``count`` sweeps: who has ended, and how the others go on."""
    error = xp.sum(xp.abs(s.V * s.A - C), axis=1)
    going = convergence.going & (error > tol)
    n_iter = convergence.n_iter + xp.astype(convergence.going, xp.int32) * count
    rate = (error / xp.where(convergence.error > 0, convergence.error, 1.0)) ** (1.0 / count)
    rate = xp.maximum(rate, _QUICKEST)
    failed = rate >= 1.0
    failures = xp.where(failed, convergence.failures + 1, xp.maximum(convergence.failures - 1, 0))
    going = going & ((failures < FAILURES) | (error > STUCK))
    error = xp.where(convergence.going, error, convergence.error)
    if not relax:
        return ConvergenceState(
            convergence.omega, convergence.theta2, error, failures, n_iter, going
        )
    w = convergence.omega
    seen = xp.where(rate > w - 1.0, (rate + w - 1.0) ** 2 / (rate * w * w), 0.0)
    theta2 = xp.where(w == 1.0, rate, xp.maximum(convergence.theta2, seen))
    theta2 = xp.where(failed, 0.0, xp.minimum(theta2, SLOWEST))
    best = 2.0 / (1.0 + xp.sqrt(1.0 - theta2))
    shy = xp.where(failures < FAILURES // 2, 1.0 + 0.5 * (w - 1.0), 1.0)
    best = xp.where(failures < FAILURES // 2, best, 1.0)
    omega = xp.where(error > NEAR, 1.0, xp.where(failed, shy, best))
    return ConvergenceState(omega, theta2, error, failures, n_iter, going)


def to_tolerance(
    control: Control, products: Products, R: Array, C: Array, tol: Any, max_iter: Any,
    relax: bool,
) -> tuple[Scalings, ConvergenceState]:  # fmt: skip
    """Sweep on one kernel that all pairs share, until every marginal error is at most ``tol``.

    A pair that has ended keeps its scalings: its result does not depend on the others. ``R`` may
    have one row, shared.
    """
    xp = products.xp

    def step(pairs: tuple[Array, Array], state: _State, count: Any) -> _State:
        convergence = state.convergence
        new = sweeps(
            control, products, *pairs, state.scalings, convergence.omega if relax else None, count
        )
        kept = chosen(xp, convergence.going, new, state.scalings)
        return _State(kept, decide(xp, convergence, new, pairs[1], tol, count, relax))

    V = xp.astype(C > 0, C.dtype)  # from ones on bins with mass
    U = R / products.rows(V)
    first = Scalings(U, V, products.columns(U))
    state = _State(first, decide(xp, begin(xp, C), first, C, tol, 1, relax=False))
    state, _ = control.until_done(xp, step, (R, C), state, LOOK, max_iter - 1)
    return state.scalings, state.convergence
