"""The verbs on device arrays: `solve`, `distance` and `pairwise` as `api` hands them over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.pairs.arrays.call import Call, read
from sinkdist.pairs.arrays.evidence import ArrayEvidence
from sinkdist.pairs.arrays.grid_evidence import GridEvidence
from sinkdist.pairs.arrays.mass_evidence import ArrayMassEvidence
from sinkdist.pairs.arrays.pairs import Solved, block_size, solve_pairs
from sinkdist.pairs.arrays.reading import Family, matched, require_families
from sinkdist.pairs.report import SHORT, warn
from sinkdist.problem.options import Options
from sinkdist.scale.progress import counting
from sinkdist.scale.tally import Tally
from sinkdist.solution.reductions import Array
from sinkdist.solution.solution import Solution
from sinkdist.solution.status import Status
from sinkdist.solvers.adjoint.frameworks import no_compile
from sinkdist.solvers.members import Independent
from sinkdist.solvers.outcome import NONE, RAN

__all__ = [
    "all_pairs", "distance", "finished", "pairwise", "solve", "square", "values", "warn_short",
]  # fmt: skip


@no_compile
def solve(r: Any, c: Any, ground: Any, options: Options) -> Solution:
    """All that is known about one pair, or about pairs matched row by row."""
    call, A, B = read(r, c, ("r", "c"), ground, options, keep=True)
    R, C = matched(call.context, A, B)
    solved = finished(call, A, B, R, C, solve_pairs(call, R, C), options.coincidence)
    warn_short(call, solved)
    return _solution(call, R, C, solved, A.is_vector and B.is_vector)


def _solution(call: Call, R: Array, C: Array, solved: Solved, single: bool) -> Solution:
    """Answers to all pairs as the user sees them."""
    found, ran = solved.answer, call.context.host(solved.answer.ran)
    kind: type[ArrayEvidence] = ArrayMassEvidence if call.member.any_total else ArrayEvidence
    kind = kind if call.costs.grid is None else GridEvidence
    evidence = kind(call, R, C, solved, single)
    shaped = evidence.shaped
    names = call.ran if ran is None else np.array(RAN)[ran]
    return Solution(
        shaped(found.value), shaped(found.error), evidence.one(found.n_iter),
        evidence.one(found.status), names if ran is None or not single else str(names[0]),
        shaped(found.lam), (shaped(found.F), shaped(found.G)), call.costs.given,
        _evidence=evidence,
    )  # fmt: skip


@no_compile
def distance(r: Any, c: Any, ground: Any, options: Options) -> Array:
    """``<P, M>`` of one pair (0-d), or of pairs matched row by row."""
    call, A, B = read(r, c, ("r", "c"), ground, options, keep=False)
    R, C = matched(call.context, A, B)
    solved = finished(call, A, B, R, C, solve_pairs(call, R, C), options.coincidence)
    warn_short(call, solved)
    return values(call, A, B, solved)


@no_compile
def pairwise(X: Any, Y: Any, ground: Any, options: Options) -> npt.NDArray[Any]:
    """``<P, M>`` between all rows of one family, or of two.

    Of one family under a constant symmetric ground each pair is computed once.
    """
    one = Y is None
    call, A, B = read(X, X if one else Y, ("X", "X" if one else "Y"), ground, options, keep=False)
    require_families(A, B)
    if isinstance(call.member, Independent) and not options.coincidence and A.empty is None:
        means = call.operator.means(A.rows) @ B.rows.T
        wrong = _invalid(call, A.bad[:, None], B.bad)
        means = means if wrong is None else _spoiled(call.context.xp, means, wrong)
        matrix: npt.NDArray[Any] = call.context.cast(means, call.dtype)
        return matrix
    learned = call.context.is_learned(call.costs.array)
    same = call.member.is_symmetric and call.costs.is_symmetric(call.context) is True
    mirrored = one and not learned and same

    def block(A: Family, B: Family, i: Array, j: Array) -> Solved:
        solved = solve_pairs(call, A.rows, B.rows)
        return finished(call, A, B, A.rows, B.rows, solved, options.coincidence)

    solved = all_pairs(call, A, B, mirrored, options.progress, block)
    warn_short(call, solved)
    return square(call, A, B, mirrored, solved)


def all_pairs(
    call: Call, A: Family, B: Family, mirrored: bool, progress: Any,
    block: Callable[[Family, Family, Array, Array], Solved],
) -> Solved:  # fmt: skip
    """Values, status and error of all pairs of rows, in blocks that bound memory."""
    xp, context, step = call.context.xp, call.context, block_size(call)
    rows, columns = _pairs(A, B, mirrored)
    found = []
    with counting(progress, rows.size, SHORT) as counter:
        for k in range(0, max(rows.size, 1), step):
            i, j = context.put(rows[k : k + step]), context.put(columns[k : k + step])
            found.append(block(A.taken(xp, i), B.taken(xp, j), i, j).answer)
            counter.add(rows[k : k + step].size, Tally({}, {}))  # how they ended stays there
    names = ("value", "status", "error")
    parts = {name: xp.concat([getattr(part, name) for part in found]) for name in names}
    return Solved(found[0]._replace(**parts))


def square(call: Call, A: Family, B: Family, mirrored: bool, solved: Solved) -> npt.NDArray[Any]:
    """Values of all pairs as a matrix of the caller's kind."""
    xp, value = call.context.xp, call.context.cast(solved.answer.value, call.dtype)
    if mirrored:
        rows, columns = _pairs(A, B, mirrored)
        place = np.empty((A.n, A.n), np.int64)
        place[rows, columns] = place[columns, rows] = np.arange(rows.size)
        value = xp.take(value, call.context.put(place.ravel()))
    result: npt.NDArray[Any] = xp.reshape(value, (A.n, B.n))
    return result


def _pairs(A: Family, B: Family, mirrored: bool) -> Any:
    """Rows of both sides of all pairs."""
    return np.triu_indices(A.n) if mirrored else np.indices((A.n, B.n)).reshape(2, -1)


def values(call: Call, A: Family, B: Family, solved: Solved) -> Array:
    """Values of matched pairs; 0-d for a single one."""
    value = call.context.cast(solved.answer.value, call.dtype)
    return value[0] if A.is_vector and B.is_vector else value


def finished(
    call: Call, A: Family, B: Family, R: Array, C: Array, solved: Solved, coincidence: bool
) -> Solved:
    """NaN for empty histograms, and 0 for equal ones where that is asked for.

    NaN as well for what is no histogram, where no error could be raised.
    """
    xp, found = call.context.xp, solved.answer
    if coincidence and R.shape[1] == C.shape[1]:
        found = found._replace(value=xp.where(xp.all(R == C, axis=1), 0.0, found.value))
    wrong, numbers = _invalid(call, A.bad, B.bad), ("value", "objective", "error")
    if wrong is not None:
        found = found._replace(**{x: _spoiled(xp, getattr(found, x), wrong) for x in numbers})
    if A.empty is not None and B.empty is not None:
        empty = A.empty | B.empty
        nothing = {x: xp.where(empty, xp.nan, getattr(found, x)) for x in numbers}
        found = found._replace(
            **nothing,
            F=xp.where(empty[:, None], -xp.inf, found.F),
            G=xp.where(empty[:, None], -xp.inf, found.G),
            n_iter=xp.where(empty, 0, found.n_iter),
        )
        wrong = empty if wrong is None else empty | wrong
    if wrong is not None:
        status = xp.where(wrong, int(Status.EMPTY), found.status)
        found = found._replace(status=status, ran=xp.where(wrong, NONE, found.ran))
    return solved._replace(answer=found)


def _invalid(call: Call, first: Array, second: Array) -> Array | None:
    """Which pairs would be refused; None where numbers were looked at, so that none is left."""
    if call.known:
        return None
    wrong = first | second
    return wrong if call.costs.bad is None else wrong | call.costs.bad


def _spoiled(xp: Any, numbers: Array, wrong: Array) -> Array:
    """NaN where pairs are wrong, in gradients as well."""
    return numbers * xp.where(wrong, xp.nan, xp.ones_like(numbers))


def warn_short(call: Call, solved: Solved) -> None:
    """One warning where pairs stopped short; none while that is not known."""
    if call.stopping.iterations is not None or isinstance(call.member, Independent):
        return
    context, found = call.context, solved.answer
    status = context.host(found.status)
    if status is None or not ((status == Status.MAX_ITER) | (status == Status.STALLED)).any():
        return
    error = context.host(found.error)
    if error is not None:
        warn(Tally.of(status, error), call.stopping)
