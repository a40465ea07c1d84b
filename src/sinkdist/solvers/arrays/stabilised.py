"""Sweeps in the log domain: potentials ``f, g``, absorbed into a kernel of each pair's own.

For where ``exp(-lam M)`` does not fit the dtype, and for pairs that have a lam each. A step is one
row update by log-sum-exp, which gives ``exp(lam (f_i + g_j - M_ij))`` with exact rows, then some
sweeps on that kernel, whose scalings go back into the potentials. A large lam is reached by way of
smaller ones, each twice the last.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from sinkdist.solution.reductions import log, weighted
from sinkdist.solvers import policy
from sinkdist.solvers.arrays.control import Control, chosen
from sinkdist.solvers.arrays.linear import Coupling, solve_marginals
from sinkdist.solvers.arrays.operators import CostOperator, Potentials
from sinkdist.solvers.arrays.products import Array
from sinkdist.solvers.arrays.sweeps import ConvergenceState, Scalings, begin, decide, sweeps

__all__ = ["fixed", "rest", "to_tolerance"]


class _Pairs(NamedTuple):
    """What belongs to the pairs; ``lam`` is of shape (n, 1), ``tol`` of shape (n,)."""

    R: Array
    C: Array
    lam: Array
    tol: Array


class _State(NamedTuple):
    """Potentials, how pairs are getting on, the doublings of lam that are still to come, and the
    steps since the last one.
    """

    potentials: Potentials
    convergence: ConvergenceState
    doublings: Array
    tries: Array

    @property
    def going(self) -> Array:
        """Which pairs are still at work."""
        return self.convergence.going


def rest(xp: Any, R: Array, C: Array) -> Potentials:
    """Potentials of 0 on bins with mass."""
    F, G = (xp.where(H > 0, xp.zeros_like(H), -xp.inf) for H in (R, C))
    return Potentials(F + xp.zeros_like(C[:, :1]), G)


def to_tolerance(
    xp: Any, control: Control, costs: CostOperator, lam: Array, R: Array, C: Array, tol: Any,
    max_iter: Any, relax: bool, warm: Potentials | None, doublings: Array,
) -> tuple[Potentials, ConvergenceState]:  # fmt: skip
    """Sweep until the marginal error of every pair is at most ``tol``, or ``max_iter`` is reached.

    ``doublings`` of shape (n,) says how many smaller lam come first, one step each.
    """
    floor = _floor(xp, C.dtype)

    def step(pairs: _Pairs, state: _State, count: Any) -> _State:
        convergence, left = state.convergence, state.doublings
        lam = pairs.lam * 0.5 ** xp.astype(left[:, None], C.dtype)
        # A constant that drifted from f to g, at a small lam far away, would cost digits of both.
        G, reads = state.potentials.G, convergence.n_iter
        G = G - xp.max(G, axis=1, keepdims=True)
        if relax:
            slow = xp.any(convergence.going & (convergence.n_iter >= policy.NEWTON_AFTER))
            step = partial(_newton, xp, control, costs, lam, pairs, convergence.going)
            G, reads = control.when(slow, step, (G, reads))
        products, F = costs.row_update(lam, pairs.R, G, floor)
        U, V = xp.astype(xp.isfinite(F), C.dtype), xp.astype(pairs.C > 0, C.dtype)
        s = Scalings(U, V, products.columns(U))
        s = sweeps(
            control, products, pairs.R, pairs.C, s, convergence.omega if relax else None, count
        )
        new = Potentials(F + log(xp, s.U) / lam, G + log(xp, s.V) / lam)
        kept = chosen(xp, convergence.going, new, state.potentials)
        next_course = decide(
            xp, convergence._replace(n_iter=reads), s, pairs.C, pairs.tol, count, relax
        )
        # A smaller lam is left when its potentials are a good start, or after some tries.
        tries = state.tries + 1
        ready = (left > 0) & ((next_course.error < policy.LOOSE_START) | (tries >= policy.TRIES))
        going = (next_course.going | (left > 0)) & (next_course.n_iter < max_iter)
        next_course = next_course._replace(going=going)
        begun = begin(xp, pairs.C)._replace(n_iter=next_course.n_iter, going=going)
        next_course = chosen(xp, ready, begun, next_course)
        tries = xp.where(ready, 0 * tries, tries)
        return _State(kept, next_course, xp.where(ready, left - 1, left), tries)

    state = _State(warm or rest(xp, R, C), begin(xp, C), doublings, xp.zeros_like(doublings))
    pairs = _Pairs(R, C, lam, tol + xp.zeros_like(doublings))
    state, _ = control.until_done(xp, step, pairs, state, policy.LOOK, max_iter)
    return state.potentials, state.convergence


def fixed(
    xp: Any, control: Control, costs: CostOperator, lam: Array, R: Array, C: Array, steps: int
) -> Potentials:
    """Algorithm 1 with logarithms of its scalings; columns are exact at the end."""
    some = R > 0
    bins = xp.sum(xp.astype(some, C.dtype), axis=1, keepdims=True)
    F = xp.where(some, xp.log(bins) / lam, -xp.inf) + 0.0 * C[:, :1]

    def sweep(potentials: Potentials) -> Potentials:
        _, G = costs.turned.row_update(lam, C, potentials.F)
        _, F = costs.row_update(lam, R, G)
        return Potentials(F, G)

    F, _ = control.repeat(steps, sweep, Potentials(F, xp.zeros_like(C)))
    _, G = costs.turned.row_update(lam, C, F)
    return Potentials(F, G)


def _newton(
    xp: Any, control: Control, costs: CostOperator, lam: Array, pairs: _Pairs, going: Array,
    state: tuple[Array, Array],
) -> tuple[Array, Array]:  # fmt: skip
    """Newton's step on the dual from exact rows, where the dual grows; counts its reads."""
    G, reads = state
    products, F = costs.row_update(lam, pairs.R, G)
    U, V = xp.ones_like(F), xp.ones_like(G)
    P = Coupling(products, U, V)
    columns = P.columns(U)
    _, y, made = solve_marginals(
        xp, control, P, xp.zeros_like(F), pairs.C - columns, policy.NEWTON_TOL, policy.NEWTON_LIMIT
    )
    some = pairs.C > 0
    start = xp.where(some, G, 0.0)
    farthest = xp.max(xp.abs(xp.where(some, y, 0.0)), axis=1, keepdims=True)
    length = 1.0 / xp.maximum(farthest / policy.NEWTON_STRIDE, 1.0)

    def attempt(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        length, best, taken = state
        tried = xp.where(some, start + length * y / lam, -xp.inf)
        dual = _dual(xp, pairs, costs.row_update(lam, pairs.R, tried)[1], tried)
        better = dual > best
        taken = xp.where(better[:, None], tried, taken)
        return 0.25 * length, xp.where(better, dual, best), taken

    _, _, taken = control.repeat(
        policy.NEWTON_ATTEMPTS, attempt, (length, _dual(xp, pairs, F, G), G)
    )
    return taken, reads + xp.astype(going, reads.dtype) * made


def _dual(xp: Any, pairs: _Pairs, F: Array, G: Array) -> Array:
    """``<f, r> + <g, c>``: what there is to maximise, where f is the best one for g."""
    return weighted(xp, pairs.R, F) + weighted(xp, pairs.C, G)


def _floor(xp: Any, dtype: Any) -> float:
    """What sums are kept above, so that scalings and products of two of them are representable."""
    smallest = float(xp.finfo(dtype).smallest_normal)
    return float(smallest**0.4)
