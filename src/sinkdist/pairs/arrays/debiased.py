"""The Sinkhorn divergence of arrays on a device, with gradients and without a rule of its own.

Potentials are solved for as constants. Then every term is written as a value of the dual,
``<f, r> + <g, c> - (sum P - 1) / lam``, whose ordinary derivatives at the optimum are those of the
objective: f for r, g for c, P for M. So the divergence has ``f - p`` for r, with p the potential of
r against itself.

Self terms take a fixed number of sweeps, because their rate is known: the relaxed update
``t (t + 2 u) / (2 t + u)`` towards ``t = r / (K u)`` leaves a third of the error where the kernel
is positive semi-definite. Nothing is looked at on the way, so that they run under `jit` and `vmap`.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy.typing as npt

from sinkdist.pairs.arrays.call import Call, read
from sinkdist.pairs.arrays.pairs import Solved, solve_pairs
from sinkdist.pairs.arrays.reading import Family, matched, require_families
from sinkdist.pairs.arrays.verbs import all_pairs, finished, square, values, warn_short
from sinkdist.pairs.divergence import debiased, refuse, self_objective
from sinkdist.problem.options import Options
from sinkdist.solution.reductions import Array, weighted
from sinkdist.solution.status import Status
from sinkdist.solvers.adjoint.frameworks import no_compile
from sinkdist.solvers.arrays.operators import Potentials, plan
from sinkdist.solvers.arrays.products import Products
from sinkdist.solvers.arrays.transport import Domain
from sinkdist.solvers.members import Penalised
from sinkdist.solvers.policy import ROUNDING_OF_DIVERGENCES

__all__ = ["divergence", "pairwise"]


class _Self(NamedTuple):
    """Histograms against themselves, one row or entry per histogram."""

    objective: Array  #: ``<P, M> - h(P) / lam`` (or the value in the limits); differentiable
    U: Array  #: the scaling on the kernel with ones on its diagonal
    image: Array  #: ``K u``
    mass: Array  #: ``u^T K u``; the root of the histogram's mass where masses may differ
    error: Array  #: L1 marginal error


@no_compile
def divergence(r: Any, c: Any, ground: Any, options: Options) -> Array:
    """Of one pair (0-d), or of pairs matched row by row."""
    call, A, B = read(r, c, ("r", "c"), ground, options, keep=False)
    refuse(call.member, call.costs.is_symmetric(call.context), call.costs.shape)
    R, C = matched(call.context, A, B)
    first = _self_terms(call, R)
    second = first if R is C else _self_terms(call, C)
    solved = finished(call, A, B, R, C, _debiased(call, R, C, first, second), False)
    warn_short(call, solved)
    return values(call, A, B, solved)


@no_compile
def pairwise(X: Any, Y: Any, ground: Any, options: Options) -> npt.NDArray[Any]:
    """Between all rows of one family, or of two; pairs in blocks that bound memory."""
    one = Y is None
    call, A, B = read(X, X if one else Y, ("X", "X" if one else "Y"), ground, options, keep=False)
    require_families(A, B)
    refuse(call.member, call.costs.is_symmetric(call.context), call.costs.shape)
    xp = call.context.xp
    first = _self_terms(call, A.rows)
    second = first if one else _self_terms(call, B.rows)

    def block(A: Family, B: Family, i: Array, j: Array) -> Solved:
        mine, other = (
            _Self(*(xp.take(x, index, axis=0) for x in terms))
            for terms, index in ((first, i), (second, j))
        )
        solved = _debiased(call, A.rows, B.rows, mine, other)
        return finished(call, A, B, A.rows, B.rows, solved, False)

    solved = all_pairs(call, A, B, one, options.progress, block)
    warn_short(call, solved)
    return square(call, A, B, one, solved)


def _debiased(call: Call, R: Array, C: Array, first: _Self, second: _Self) -> Solved:
    """``S`` of matched pairs, and how their own solves and those of their self terms ended."""
    xp, halves = call.context.xp, 0.5 * (first.objective + second.objective)
    lam, at_self = call.member.lam, None
    if call.member.any_total:
        return _of_masses(call, R, C, first, second)
    if not isinstance(call.member, Penalised):
        solved = solve_pairs(call, R, C)
        own = solved.answer.value
    else:
        solved = solve_pairs(_constant(call), *map(call.context.constant, (R, C)))
        own = _dual(call, R, C, solved.answer.F, solved.answer.G)
        at_self = xp.sum(first.image * second.U, axis=1), 0.5 * (first.mass + second.mass)
    value = debiased(xp, own, halves, xp.all(R == C, axis=1), lam, at_self)
    worst = xp.maximum(first.error, second.error)
    short, found = worst > call.stopping.tol, solved.answer
    status = xp.where(short, int(Status.MAX_ITER), found.status)
    error = xp.where(short, worst, found.error)
    return Solved(found._replace(value=value, status=status, error=error))


def _of_masses(call: Call, R: Array, C: Array, first: _Self, second: _Self) -> Solved:
    """``S`` where masses may differ: the formula of `pairs.mass_debiasing`."""
    xp, lam, found = call.context.xp, call.member.lam, solve_pairs(call, R, C).answer
    halves = 0.5 * (first.objective + second.objective)
    value = found.objective - halves + (first.mass - second.mass) ** 2 / (2.0 * lam)
    eps = ROUNDING_OF_DIVERGENCES * float(xp.finfo(value.dtype).eps)
    rounding = eps * (xp.abs(found.objective) + xp.abs(halves))
    worst = xp.maximum(xp.maximum(first.error, second.error), 0.0 * found.error)
    # Duals are off by the square of an error, so what is negative by that is 0.
    slack = rounding + call.stopping.tol**2 * xp.abs(halves)
    nothing = xp.all(R == C, axis=1) | ((value < 0.0) & (value >= -slack))
    short = worst > call.stopping.tol
    status = xp.where(short, int(Status.MAX_ITER), found.status)
    error = xp.where(short, worst, found.error)
    value = xp.where(nothing, 0.0 * value, value)
    return Solved(found._replace(value=value, status=status, error=error))


def _dual(call: Call, R: Array, C: Array, F: Array, G: Array) -> Array:
    """``<f, r> + <g, c> - (sum P - 1) / lam``; the plan's mass is 1 unless costs are learnt."""
    xp, M, lam = call.context.xp, call.costs.array, call.member.lam
    value = weighted(xp, R, F) + weighted(xp, C, G)
    if not call.context.is_learned(M):
        return value
    if call.spec.domain is Domain.SCALING:
        mass = xp.sum((xp.exp(lam * F) @ xp.exp(-lam * M)) * xp.exp(lam * G), axis=1)
    else:
        one = xp.ones_like(F[:1, :1])
        mass = xp.sum(plan(xp, M, lam * one, Potentials(F, G)), axis=(1, 2))
    return value - (mass - call.context.constant(mass)) / lam


def _self_terms(call: Call, R: Array) -> _Self:
    """Every row against itself."""
    context, xp, lam = call.context, call.context.xp, call.member.lam
    if call.member.any_total:
        own = solve_pairs(call, R, R).answer
        return _Self(own.objective, R, R, xp.sqrt(xp.sum(R, axis=1)), own.error)
    if not isinstance(call.member, Penalised):
        none = xp.zeros_like(context.constant(R[:, 0]))
        return _Self(solve_pairs(call, R, R).answer.value, R, R, none, none)
    fixed = context.constant(R)
    K, half = _constant(call).operator.unit_kernel(lam)
    U = _symmetric(xp, K, fixed, 2 + math.ceil(math.log(1.0 / call.stopping.tol, 3.0)))
    image = K.columns(U)
    error = 2.0 * xp.sum(xp.abs(U * image - fixed), axis=1)
    seen = context.host(error)
    if seen is not None and not (seen <= call.stopping.tol).all():  # a kernel that it does not suit
        found = solve_pairs(_constant(call), fixed, fixed).answer
        U = xp.exp(lam * (0.5 * (found.F + found.G) - half))
        image, error = K.columns(U), found.error
    mass = xp.sum(U * image, axis=1)
    objective = self_objective(xp, U, half, R, mass, lam)
    if context.is_learned(call.costs.array):
        learnt = xp.exp(-lam * (call.costs.array - half[:, None] - half))
        moving = xp.sum((U @ learnt) * U, axis=1)
        objective = objective - (moving - context.constant(moving)) / lam
    return _Self(objective, U, image, mass, error)


def _symmetric(xp: Any, K: Products, R: Array, sweeps: int) -> Array:
    """The scaling of every row against itself, from one of the right mass."""
    floor = float(xp.finfo(R.dtype).smallest_normal)  # for bins without mass: 0 over it is 0
    U = xp.sqrt(R)
    S = K.columns(U)
    size = xp.sqrt(xp.sum(U * S, axis=1, keepdims=True))
    U, S = U / size, S / size
    for _ in range(sweeps):
        T = R / xp.maximum(S, floor)
        U = T * ((T + 2.0 * U) / xp.maximum(2.0 * T + U, floor))
        S = K.columns(U)
    return U


def _constant(call: Call) -> Call:
    """The same call on costs that no gradient is taken of."""
    costs = replace(call.costs, array=call.context.constant(call.costs.array))
    return replace(call, costs=costs)
