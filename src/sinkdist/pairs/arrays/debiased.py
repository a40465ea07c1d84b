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

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.pairs.arrays.call import Call, Options, read
from sinkdist.pairs.arrays.pairs import Solved, block_size, solve_pairs
from sinkdist.pairs.arrays.reading import Family
from sinkdist.pairs.arrays.verbs import invalid, matched, require_families, spoiled, warn_short
from sinkdist.pairs.report import SHORT
from sinkdist.problem.strength import Kind
from sinkdist.scale.progress import counting
from sinkdist.scale.tally import Tally
from sinkdist.solution.status import Status
from sinkdist.solvers.adjoint.frameworks import no_compile
from sinkdist.solvers.arrays.products import Array, log, weighted
from sinkdist.solvers.arrays.stabilised import Potentials, plan
from sinkdist.solvers.arrays.transport import Domain
from sinkdist.solvers.policy import ROUNDING_OF_DIVERGENCES

__all__ = ["divergence", "pairwise"]


class _Self(NamedTuple):
    """Histograms against themselves, one row or entry per histogram.

    Attributes
    ----------
    objective : array
        ``<P, M> - h(P) / lam`` (or the value in the limits); differentiable.
    U, image, mass : array
        The scaling on the kernel with ones on its diagonal, ``K u`` and ``u^T K u``.
    error : array
        L1 marginal error.
    """

    objective: Array
    U: Array
    image: Array
    mass: Array
    error: Array


@no_compile
def divergence(r: Any, c: Any, ground: Any, options: Options) -> Array:
    """Of one pair (0-d), or of pairs matched row by row."""
    call, A, B = read(r, c, ("r", "c"), ground, options, keep=False)
    _refuse(call)
    R, C = matched(call.home, A, B)
    first = _self_terms(call, R)
    second = first if R is C else _self_terms(call, C)
    value, solved = _debiased(call, R, C, first, second)
    warn_short(call, solved)
    value = _without_empty(call, value, A.empty, B.empty)
    value = call.home.cast(_without_invalid(call, value, A.bad, B.bad), call.dtype)
    return value[0] if A.is_vector and B.is_vector else value


@no_compile
def pairwise(X: Any, Y: Any, ground: Any, options: Options) -> npt.NDArray[Any]:
    """Between all rows of one family, or of two; pairs in blocks that bound memory."""
    call, A, B = read(X, X if Y is None else Y, ("X", "X" if Y is None else "Y"), ground, options,
                      keep=False)  # fmt: skip
    require_families(A, B)
    _refuse(call)
    xp, home, step = call.home.xp, call.home, block_size(call)
    first = _self_terms(call, A.rows)
    second = first if Y is None else _self_terms(call, B.rows)
    n, m = A.n, B.n
    rows, columns = np.triu_indices(n) if Y is None else np.indices((n, m)).reshape(2, -1)
    values, ends = [], []
    with counting(options.progress, rows.size, SHORT) as counter:
        for k in range(0, max(rows.size, 1), step):
            i, j = home.put(rows[k : k + step]), home.put(columns[k : k + step])
            R, C = xp.take(A.rows, i, axis=0), xp.take(B.rows, j, axis=0)
            value, solved = _debiased(call, R, C, _taken(xp, first, i), _taken(xp, second, j))
            value = _without_empty(call, value, _picked(xp, A, i), _picked(xp, B, j))
            values.append(_without_invalid(call, value, xp.take(A.bad, i), xp.take(B.bad, j)))
            ends.append(solved.answer)
            counter.add(int(R.shape[0]), Tally({}, {}))  # how they ended stays on the device
    whole = ends[0]._replace(
        status=xp.concat([end.status for end in ends]), error=xp.concat([end.error for end in ends])
    )
    warn_short(call, Solved(whole))
    value = home.cast(xp.concat(values), call.dtype)
    if Y is None:
        place = np.empty((n, n), np.int64)
        place[rows, columns] = place[columns, rows] = np.arange(rows.size)
        value = xp.take(value, home.put(place.ravel()))
    result: npt.NDArray[Any] = xp.reshape(value, (n, m))  # of the caller's kind
    return result


def _refuse(call: Call) -> None:
    """What has no divergence; whether traced costs are symmetric cannot be asked."""
    if call.strength.kind is Kind.CONSTRAINED:
        raise InputError(
            "The divergence needs 'lam' or 'reg'. Got 'alpha': the hard constraint has no "
            "objective in common for a pair and its self terms."
        )
    if _is_symmetric(call) is False:
        rows, columns = call.costs.matrix.shape
        found = "is not" if rows == columns else f"is {rows} x {columns}"
        raise InputError(
            "The divergence needs a symmetric ground, to compare histograms with themselves; "
            f"this one {found}. Use distance, or make it symmetric, as by (M + M.T) / 2."
        )


def _is_symmetric(call: Call) -> bool | None:
    """Whether costs are symmetric; None while that is not known."""
    M, home = call.costs.matrix, call.home
    if call.costs.ground is not None:
        return call.costs.ground.is_symmetric
    if M.shape[0] != M.shape[1]:
        return False
    same = home.host(home.xp.all(M == M.T))
    return None if same is None else bool(same)


def _debiased(call: Call, R: Array, C: Array, first: _Self, second: _Self) -> tuple[Array, Solved]:
    """``S`` of matched pairs, and how their own solves and those of their self terms ended."""
    xp, halves = call.home.xp, 0.5 * (first.objective + second.objective)
    if call.strength.kind is not Kind.PENALISED:
        solved = solve_pairs(call, R, C)
        own = solved.answer.value
        value, scale = own - halves, xp.abs(call.home.constant(own + halves))
    else:
        lam = call.strength.lam
        solved = solve_pairs(_constant(call), *map(call.home.constant, (R, C)))
        F, G = solved.answer.F, solved.answer.G
        own = _dual(call, R, C, F, G)
        # the dual at the potentials of the self terms, a lower bound as well
        product = xp.sum(first.image * second.U, axis=1)
        bound = (0.5 * (first.mass + second.mass) - product) / lam
        value, scale = xp.maximum(own - halves, bound), 1.0 / lam + 0.0 * bound
    eps = float(xp.finfo(value.dtype).eps)
    value = xp.where(
        (value < 0) & (value >= -ROUNDING_OF_DIVERGENCES * eps * scale), 0.0 * value, value
    )
    value = xp.where(xp.all(R == C, axis=1), 0.0 * value, value)
    worst = xp.maximum(first.error, second.error)
    short = worst > call.stopping.tol
    found = solved.answer
    status = xp.where(short, int(Status.MAX_ITER), found.status)
    error = xp.where(short, worst, found.error)
    return value, Solved(found._replace(status=status, error=error))


def _dual(call: Call, R: Array, C: Array, F: Array, G: Array) -> Array:
    """``<f, r> + <g, c> - (sum P - 1) / lam``; the plan's mass is 1 unless costs are learnt."""
    xp, M, lam = call.home.xp, call.costs.matrix, call.strength.lam
    value = weighted(xp, R, F) + weighted(xp, C, G)
    if not call.home.is_learned(call.costs.matrix):
        return value
    if call.question.domain is Domain.SCALING:
        K = xp.exp(-lam * M)
        mass = xp.sum((xp.exp(lam * F) @ K) * xp.exp(lam * G), axis=1)
    else:
        one = xp.ones_like(F[:1, :1])
        mass = xp.sum(plan(xp, M, lam * one, Potentials(F, G)), axis=(1, 2))
    return value - (mass - call.home.constant(mass)) / lam


def _self_terms(call: Call, R: Array) -> _Self:
    """Every row against itself."""
    home, xp, kind = call.home, call.home.xp, call.strength.kind
    none = xp.zeros_like(call.home.constant(R[:, 0]))
    if kind is not Kind.PENALISED:
        solved = solve_pairs(call, R, R)
        return _Self(solved.answer.value, R, R, none, none)
    lam, M = call.strength.lam, home.constant(call.costs.matrix)
    half = 0.5 * xp.linalg.diagonal(M)
    K = xp.exp(-lam * (M - half[:, None] - half))
    fixed = home.constant(R)
    sweeps = 2 + math.ceil(math.log(1.0 / call.stopping.tol, 3.0))
    U = _symmetric(xp, K, fixed, sweeps)
    image = U @ K
    error = 2.0 * xp.sum(xp.abs(U * image - fixed), axis=1)
    seen = home.host(error)
    if seen is not None and not (seen <= call.stopping.tol).all():  # a kernel that it does not suit
        found = solve_pairs(_constant(call), fixed, fixed).answer
        U = xp.exp(lam * (0.5 * (found.F + found.G) - half))
        image, error = U @ K, found.error
    potential = log(xp, U) / lam + half
    mass = xp.sum(U * image, axis=1)
    objective = 2.0 * weighted(xp, R, potential)
    if call.home.is_learned(call.costs.matrix):
        learnt = xp.exp(-lam * (call.costs.matrix - half[:, None] - half))
        moving = xp.sum((U @ learnt) * U, axis=1)
        objective = objective - (moving - home.constant(moving)) / lam
    return _Self(objective - (mass - 1.0) / lam, U, image, mass, error)


def _symmetric(xp: Any, K: Array, R: Array, sweeps: int) -> Array:
    """The scaling of every row against itself, from one of the right mass."""
    floor = float(xp.finfo(R.dtype).smallest_normal)  # for bins without mass: 0 over it is 0
    U = xp.sqrt(R)
    S = U @ K
    size = xp.sqrt(xp.sum(U * S, axis=1, keepdims=True))
    U, S = U / size, S / size
    for _ in range(sweeps):
        T = R / xp.maximum(S, floor)
        U = T * ((T + 2.0 * U) / xp.maximum(2.0 * T + U, floor))
        S = U @ K
    return U


def _constant(call: Call) -> Call:
    """The same call on costs that no gradient is taken of."""
    costs = replace(call.costs, matrix=call.home.constant(call.costs.matrix))
    return replace(call, costs=costs)


def _taken(xp: Any, terms: _Self, index: Array) -> _Self:
    """Some rows."""
    return _Self(*(xp.take(x, index, axis=0) for x in terms))


def _picked(xp: Any, family: Family, index: Array) -> Array | None:
    """Which of some rows are without mass."""
    return None if family.empty is None else xp.take(family.empty, index)


def _without_invalid(call: Call, value: Array, first: Array, second: Array) -> Array:
    """NaN for what is no histogram, where no error could be raised."""
    wrong = invalid(call, first, second)
    return value if wrong is None else spoiled(call.home.xp, value, wrong)


def _without_empty(call: Call, value: Array, *empty: Array | None) -> Array:
    """NaN where a histogram has no mass."""
    for rows in empty:
        if rows is not None:
            value = call.home.xp.where(rows, call.home.xp.nan, value)
    return value
