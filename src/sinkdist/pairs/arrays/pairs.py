"""Many pairs on a device: cut into blocks that bound memory, solved, put together again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sinkdist.pairs.arrays.call import Call
from sinkdist.pairs.arrays.exact import ExactPairs, solve_exactly
from sinkdist.pairs.arrays.masses import solve_masses
from sinkdist.solution.reductions import entropy, log, weighted
from sinkdist.solution.status import Status
from sinkdist.solvers.adjoint.frameworks import transport
from sinkdist.solvers.arrays.products import Array
from sinkdist.solvers.arrays.transport import Answer, Domain
from sinkdist.solvers.members import (
    Constrained,
    Exact,
    Independent,
    Member,
    Penalised,
    Unbalanced,
)
from sinkdist.solvers.outcome import INDEPENDENCE
from sinkdist.solvers.policy import PATIENCE_ARRAYS

__all__ = ["Solved", "block_size", "solve_pairs"]

# Numbers in one array of a block: small enough for a processor's cache, large enough to feed an
# accelerator.
_SMALL, _LARGE = 1 << 20, 1 << 23


class Solved(NamedTuple):
    """The answer of every pair, and where plans of exact pairs are, if there are such pairs.

    Pair ``exact_pairs[k]`` has the k-th plan of ``exact``.
    """

    answer: Answer
    exact: ExactPairs | None = None
    exact_pairs: npt.NDArray[np.intp] | None = None


def block_size(call: Call) -> int:
    """How many pairs are solved together."""
    d, e = call.costs.shape
    axes = call.spec.axes
    kept = d * e if axes is None else axes.kept
    whole = call.spec.domain in (Domain.SCALING, Domain.AUTO)
    numbers = _LARGE if call.context.is_large else _SMALL
    return int(max(1, numbers // (max(d, e) if whole else kept // 4 + 1)))


def solve_pairs(call: Call, R: Array, C: Array) -> Solved:
    """Whichever member of the family is asked for; ``R`` has one row, shared, or one per pair."""
    return _SOLVE[type(call.member)](call, R, C)


def _exact(call: Call, R: Array, C: Array) -> Solved:
    """The exact distance, with its plans."""
    exact = solve_exactly(call.context, call.costs, R, C)
    return Solved(_exact_answer(call.context.xp, exact), exact, np.arange(C.shape[0]))


def _penalised(call: Call, R: Array, C: Array) -> Answer:
    """Scaling; pairs that it does not bring to an end go on in the log domain.

    Where numbers are not known yet, nor are these pairs: scaling goes on.
    """
    asked, stop = call.spec, call.stopping
    patient = replace(call, stopping=replace(stop, max_iter=min(stop.max_iter, PATIENCE_ARRAYS)))
    by_scaling = asked.domain is Domain.SCALING and asked.relax and asked.iterations is None
    if not (by_scaling and call.known):
        return _in_blocks(call, R, C)
    found, context = _in_blocks(patient, R, C), call.context
    status = context.host(found.status)
    if status is None:
        return found
    slow = np.flatnonzero(status != Status.CONVERGED)
    left = stop.max_iter - PATIENCE_ARRAYS
    if slow.size == 0 or left <= 0:
        return found
    other = replace(
        call, spec=replace(asked, domain=Domain.LOG), stopping=replace(stop, max_iter=left)
    )
    part = _in_blocks(other, *_rows(call, R, C, slow))
    part = part._replace(n_iter=part.n_iter + context.xp.take(found.n_iter, context.put(slow)))
    place = np.arange(status.size)
    place[slow] = status.size + np.arange(slow.size)
    return _merged(call, found, part, place)


def _merged(call: Call, first: Answer, second: Answer, place: npt.NDArray[np.intp]) -> Answer:
    """Each pair from its place in the two answers, one behind the other."""
    xp, order = call.context.xp, call.context.put(place)
    return Answer(
        *(xp.take(xp.concat([a, b]), order, axis=0) for a, b in zip(first, second, strict=True))
    )


def _in_blocks(call: Call, R: Array, C: Array) -> Answer:
    """Blocks of nearly equal size: JAX compiles for two shapes at most."""
    n, xp = int(C.shape[0]), call.context.xp
    count = max(1, -(-n // block_size(call)))
    edges = [n * k // count for k in range(count + 1)]
    parts = [
        transport(
            call.context, call.spec, call.numbers, R if R.shape[0] == 1 else R[a:b, :], C[a:b, :],
            call.costs.array,
        )
        for a, b in pairwise(edges)
    ]  # fmt: skip
    return parts[0] if count == 1 else Answer(*(xp.concat(x) for x in zip(*parts, strict=True)))


def _independent(call: Call, R: Array, C: Array) -> Answer:
    """``r^T M c``; potentials are the limit of the others', centred."""
    xp, costs = call.context.xp, call.operator
    column = costs.means(R)
    value = xp.sum(column * C, axis=1)
    half = 0.5 * value[:, None]
    F = xp.where(R > 0, costs.turned.means(C) - half, -xp.inf)
    G = xp.where(C > 0, column - half, -xp.inf)
    none = xp.zeros_like(value)
    whole = xp.astype(none, xp.int32)
    return Answer(value, none - xp.inf, F, G, none, whole + 1, whole, none, whole + INDEPENDENCE)


def _exact_answer(xp: Any, exact: ExactPairs) -> Answer:
    """Exact distances as answers."""
    value, whole = exact.value, xp.astype(xp.zeros_like(exact.error), xp.int32)
    return Answer(
        value, value, exact.F, exact.G, exact.error, whole + 1, exact.status,
        xp.zeros_like(exact.error) + xp.inf, exact.ran,
    )  # fmt: skip


def _constrained(call: Call, R: Array, C: Array) -> Solved:
    """The hard constraint; the exact distance where its plan satisfies it.

    Where numbers are not known yet (under `jit`) every pair is searched, up to a large lam.
    """
    assert isinstance(call.member, Constrained)
    context, xp, alpha = call.context, call.context.xp, call.member.alpha
    most = context.host(xp.minimum(entropy(xp, R), entropy(xp, C)))
    if most is None:
        return Solved(_in_blocks(call, R, C))
    vacuous = alpha >= (1.0 - 1e-12) * most
    searched = np.flatnonzero(~vacuous)
    found = _in_blocks(call, *_rows(call, R, C, searched)) if searched.size else None
    status = context.host(found.status) if found is not None else np.zeros(0)
    assert status is not None
    stuck = searched[status != Status.CONVERGED]
    asked = np.sort(np.concatenate([np.flatnonzero(vacuous), stuck]))
    if asked.size == 0:
        assert found is not None
        return Solved(found)
    exact = solve_exactly(context, call.costs, *_rows(call, R, C, asked))
    if found is not None:
        found = _proven(call, found, exact, searched, asked)
    inside = vacuous[asked] | (_information(call, exact, R, C, asked) <= alpha)
    taken = np.flatnonzero(inside)
    exact = ExactPairs(*(xp.take(x, context.put(taken), axis=0) for x in exact))
    part = _exact_answer(xp, exact)
    if found is None:
        return Solved(part, exact, asked[taken])
    # Where each pair is found: among those that were searched, or behind them among the exact ones.
    place = np.zeros(len(most), np.int64)
    place[searched] = np.arange(searched.size)
    place[asked[taken]] = searched.size + np.arange(taken.size)
    return Solved(_merged(call, found, part, place), exact, asked[taken])


def _proven(
    call: Call, found: Answer, exact: ExactPairs, searched: npt.NDArray[np.intp],
    asked: npt.NDArray[np.intp],
) -> Answer:  # fmt: skip
    """Searched pairs whose plan is inside the ball and costs no more than the exact distance.

    They are solved: the constraint may be satisfied by another optimal plan than the simplex found.
    """
    context, stop = call.context, call.stopping
    known = [context.host(x) for x in (found.value, found.error, found.status, exact.value)]
    value, error, status, least = map(np.asarray, known)
    largest = call.costs.largest or 0.0
    where = np.full(searched.size, -np.inf)  # the exact distance of pairs that were asked for it
    where[np.isin(searched, asked)] = least[np.isin(asked, searched)]
    close = value + 0.5 * largest * error - where <= stop.tol * value
    status = np.where(close & (error <= stop.tol), int(Status.CONVERGED), status)
    return found._replace(status=context.put(status.astype(np.int32)))


def _rows(call: Call, R: Array, C: Array, pairs: npt.NDArray[np.intp]) -> tuple[Array, Array]:
    """The histograms of some pairs."""
    if pairs.size == C.shape[0]:
        return R, C
    xp, index = call.context.xp, call.context.put(pairs)
    return R if R.shape[0] == 1 else xp.take(R, index, axis=0), xp.take(C, index, axis=0)


def _information(
    call: Call, exact: ExactPairs, R: Array, C: Array, pairs: npt.NDArray[np.intp]
) -> npt.NDArray[Any]:
    """``KL(P || r c^T)`` of exact plans."""
    known = (call.context.host(x) for x in (*_rows(call, R, C, pairs), *exact.plan))
    r, c, at, to, mass = map(np.asarray, known)
    r = np.broadcast_to(r, (len(c), r.shape[1]))
    product = np.take_along_axis(r, at, axis=1) * np.take_along_axis(c, to, axis=1)
    return np.asarray(weighted(np, mass, log(np, mass) - log(np, product, 0.0)))


#: How the members of the family are solved on arrays.
_SOLVE: dict[type[Member], Callable[[Call, Array, Array], Solved]] = {
    Penalised: lambda call, R, C: Solved(_penalised(call, R, C)),
    Constrained: _constrained,
    Exact: _exact,
    Independent: lambda call, R, C: Solved(_independent(call, R, C)),
    Unbalanced: lambda call, R, C: Solved(solve_masses(call, R, C)),
}
