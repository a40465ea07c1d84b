"""The hard constraint: for each pair the lam at which ``KL(P || r c^T)`` reaches alpha.

``Phi(lam) = min lam <P, M> + KL(P || r c^T)`` is concave, and ``d_{M,alpha} = max_lam (Phi(lam) -
alpha) / lam``: errors in lam count only to second order, and every lam gives a lower bound, every
plan inside the ball an upper one. The search is a secant in ``log I`` over ``log lam``, inside a
bracket, for all pairs at once; potentials are carried from one lam to the next.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sinkdist.solution.reductions import log, weighted
from sinkdist.solvers.arrays import stabilised
from sinkdist.solvers.arrays.control import Control, chosen
from sinkdist.solvers.arrays.operators import MatrixCosts, Potentials, plan
from sinkdist.solvers.arrays.products import Array
from sinkdist.solvers.arrays.sweeps import ConvergenceState
from sinkdist.solvers.policy import AIM, FARTHEST_ARRAYS, GROWTH, LOOSE_SEARCH, TRIALS_ARRAYS

__all__ = ["Search", "search"]

_SATURATED = 100.0  #: the power where the information hardly grows any more
_NOTHING = 1e-30


class Search(NamedTuple):
    """Where each pair's search stands.

    ``lam`` and potentials are those of the last solve; ``next_lam`` and ``inner`` those of the next
    one. ``failures`` of the convergence is positive for pairs that are not within their tolerance.
    """

    potentials: Potentials
    convergence: ConvergenceState
    lam: Array
    next_lam: Array
    inner: Array
    low: Array
    high: Array
    information: Array
    power: Array

    @property
    def going(self) -> Array:
        """Which pairs are still at work."""
        return self.convergence.going


class _Pairs(NamedTuple):
    """What belongs to the pairs."""

    R: Array
    C: Array
    flat: Array  #: whether costs do not depend on the plan, so that every lam is right


def search(
    xp: Any, control: Control, M: Array, alpha: Any, R: Array, C: Array, tol: Any, max_iter: Any
) -> Search:
    """Search lam for each pair, until its value is proven to ``tol`` or lam leaves all bounds."""
    top, eps = xp.max(M), float(xp.finfo(C.dtype).eps)

    def step(pairs: _Pairs, state: Search, count: Any) -> Search:
        lam, old = state.next_lam, state.convergence
        potentials, convergence = stabilised.to_tolerance(
            xp, control, MatrixCosts(xp, M), lam[:, None], pairs.R, pairs.C, state.inner, max_iter,
            True, state.potentials, xp.zeros_like(lam),
        )  # fmt: skip
        value, information, lower = _measure(xp, M, alpha, lam, pairs.R, pairs.C, potentials)
        error, n_iter = convergence.error, old.n_iter + convergence.n_iter
        inside = information <= alpha * (1.0 + 8.0 * eps)
        close = inside & (value - lower <= tol * value + 8.0 * eps * top)
        slack = 0.5 * top * error  # what the marginals may hide
        proven = close & (value + slack - lower <= tol * value + 8.0 * eps * top)
        done = (proven & (error <= tol)) | pairs.flat
        low = xp.where(inside, lam, state.low)
        high = xp.where(inside, xp.where(state.high > lam, state.high, xp.inf), lam)
        low = xp.where(low < high, low, 0.0)
        aim = alpha - xp.minimum(AIM * tol * value * lam, 0.5 * alpha)
        power = _power(xp, state, lam, information)
        next_lam = _next(xp, lam, information, aim, power, low, high)
        off = xp.abs(information - alpha) / alpha
        finest = xp.maximum(0.5 * tol * xp.minimum(value / top, 1.0), 50.0 * eps)
        better = error > xp.where(close, finest, xp.maximum(0.3 * off, finest))
        # At the end of the range the plan is solved as well as can be; see `pairs` for the rest.
        far = lam * top >= FARTHEST_ARRAYS
        better = better | (far & (error > finest))
        going = old.going & ~done & (n_iter < max_iter) & ~(far & ~better)
        new = Search(
            potentials,
            convergence._replace(
                n_iter=n_iter, going=going, failures=xp.astype(~done, old.failures.dtype)
            ),
            lam,
            xp.where(better, lam, next_lam),
            xp.maximum(xp.where(better, 0.1 * error, xp.minimum(state.inner, 0.05 * off)), finest),
            low, high, information, power,
        )  # fmt: skip
        result: Search = chosen(xp, old.going, new, state)
        return result

    lam, flat = _first(xp, M, alpha, R, C, top)
    zeros = xp.zeros_like(lam)
    none = xp.astype(zeros, xp.int32)
    state = Search(
        stabilised.rest(xp, R, C),
        ConvergenceState(zeros + 1.0, zeros, zeros + 2.0, none + 1, none, zeros == 0.0),
        lam, lam, zeros + LOOSE_SEARCH, zeros, zeros + xp.inf, zeros, zeros + 0.5,
    )  # fmt: skip
    pairs = _Pairs(R, C, flat)
    found: Search = control.until_done(xp, step, pairs, state, 1, TRIALS_ARRAYS)[0]
    return found


def _first(xp: Any, M: Array, alpha: Any, R: Array, C: Array, top: Array) -> tuple[Array, Array]:
    """``sqrt(2 alpha) / sigma``, sigma the deviation of doubly centred costs under ``r c^T``.

    In units of the largest cost, whose square may not be representable.
    """
    unit = xp.where(top > 0, top, 1.0)
    M = M / unit
    row, column = C @ M.T, R @ M
    mean = xp.sum(column * C, axis=1)
    square = xp.sum((R @ (M * M)) * C, axis=1)
    variance = (
        square - xp.sum(R * row * row, axis=1) - xp.sum(C * column * column, axis=1) + mean * mean
    )
    eps = float(xp.finfo(C.dtype).eps)
    flat = variance <= 64.0 * eps
    sigma = xp.sqrt(xp.where(flat, 1.0, variance))
    return xp.where(flat, 1.0, (2.0 * alpha) ** 0.5 / sigma) / unit, flat


def _measure(
    xp: Any, M: Array, alpha: Any, lam: Array, R: Array, C: Array, potentials: Potentials
) -> tuple[Array, Array, Array]:
    """Value and information of the plans, and the lower bound on the distance."""
    P = plan(xp, M, lam[:, None], potentials)
    value = xp.sum(P * M, axis=(1, 2))
    rows, columns = xp.sum(P, axis=2), xp.sum(P, axis=1)
    f = _above_mass(xp, lam, potentials.F, R)
    g = _above_mass(xp, lam, potentials.G, C)
    information = weighted(xp, rows, f) + weighted(xp, columns, g) - lam * value
    dual = weighted(xp, R, f) + weighted(xp, C, g) - (xp.sum(rows, axis=1) - 1.0)
    return value, xp.maximum(information, 0.0), (dual - alpha) / lam


def _above_mass(xp: Any, lam: Array, potential: Array, weights: Array) -> Array:
    """``lam f - log r``, 0 on bins without mass."""
    held = xp.where(weights > 0, potential, 0.0)
    return lam[:, None] * held - log(xp, weights, 0.0)


def _power(xp: Any, state: Search, lam: Array, information: Array) -> Array:
    """How lam grows with the information, as a power: 1/2 near 0, and large where it saturates."""
    run = xp.log(lam / state.lam)
    rise = xp.log(xp.maximum(information, _NOTHING) / xp.maximum(state.information, _NOTHING))
    grows = rise * run > 1e-9 * run * run
    secant = xp.clip(run / xp.where(grows, rise, 1.0), 0.1, _SATURATED)
    moved = (state.information > 0) & (run != 0)
    return xp.where(moved, xp.where(grows, secant, _SATURATED), state.power)


def _next(
    xp: Any, lam: Array, information: Array, aim: Array, power: Array, low: Array, high: Array
) -> Array:
    """Where the information will be as aimed at: by that power, inside the bracket."""
    guess = lam * xp.clip((aim / xp.maximum(information, _NOTHING)) ** power, 1 / GROWTH, GROWTH)
    finite = xp.where(high < xp.inf, high, 1.0)
    middle = xp.where(low > 0, xp.sqrt(low * finite), lam / GROWTH)
    middle = xp.where(high < xp.inf, middle, lam * GROWTH)
    return xp.where((guess > low) & (guess < high), guess, middle)
