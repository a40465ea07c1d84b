"""The verbs on device arrays: `solve`, `distance` and `pairwise` as `api` hands them over."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.inputs.array_context import ArrayContext
from sinkdist.pairs.arrays.call import Call, Options, read
from sinkdist.pairs.arrays.pairs import Solved, block_size, solve_pairs
from sinkdist.pairs.arrays.reading import Family
from sinkdist.pairs.arrays.solution import ArraySolution
from sinkdist.pairs.report import SHORT, warn
from sinkdist.problem.strength import Kind
from sinkdist.scale.progress import counting
from sinkdist.scale.tally import Tally
from sinkdist.solution.solution import Solution
from sinkdist.solution.status import Status
from sinkdist.solvers.adjoint.frameworks import no_compile
from sinkdist.solvers.arrays.products import Array
from sinkdist.solvers.outcome import NONE

__all__ = [
    "Options", "distance", "invalid", "matched", "pairwise", "require_families", "solve", "spoiled",
    "warn_short",
]  # fmt: skip


@no_compile
def solve(r: Any, c: Any, ground: Any, options: Options) -> Solution:
    """All that is known about one pair, or about pairs matched row by row."""
    call, A, B = read(r, c, ("r", "c"), ground, options, keep=True)
    R, C = matched(call.home, A, B)
    solved = _finished(call, A, B, R, C, solve_pairs(call, R, C), options.coincidence)
    warn_short(call, solved)
    found = ArraySolution.of(call, R, C, solved, A.is_vector and B.is_vector)
    return cast(Solution, found)  # it has the same attributes


@no_compile
def distance(r: Any, c: Any, ground: Any, options: Options) -> Array:
    """``<P, M>`` of one pair (0-d), or of pairs matched row by row."""
    call, A, B = read(r, c, ("r", "c"), ground, options, keep=False)
    R, C = matched(call.home, A, B)
    solved = _finished(call, A, B, R, C, solve_pairs(call, R, C), options.coincidence)
    warn_short(call, solved)
    value = call.home.cast(solved.answer.value, call.dtype)
    return value[0] if A.is_vector and B.is_vector else value


@no_compile
def pairwise(X: Any, Y: Any, ground: Any, options: Options) -> npt.NDArray[Any]:
    """``<P, M>`` between all rows of one family, or of two.

    Of one family under a constant symmetric ground each pair is computed once.
    """
    one_family = Y is None
    Y, other = (X, "X") if one_family else (Y, "Y")
    call, A, B = read(X, Y, ("X", other), ground, options, keep=False)
    require_families(A, B)
    xp, n, m = call.home.xp, A.n, B.n
    if call.strength.kind is Kind.INDEPENDENCE and not options.coincidence and A.empty is None:
        means = (A.rows @ call.costs.matrix) @ B.rows.T
        wrong = invalid(call, A.bad[:, None], B.bad)
        means = means if wrong is None else spoiled(xp, means, wrong)
        matrix: npt.NDArray[Any] = call.home.cast(means, call.dtype)
        return matrix
    mirrored = one_family and _is_symmetric(call)
    rows, columns = np.triu_indices(n) if mirrored else np.indices((n, m)).reshape(2, -1)
    solved = _all_pairs(call, A, B, rows, columns, options)
    warn_short(call, solved)
    value = call.home.cast(solved.answer.value, call.dtype)
    if mirrored:
        place = np.empty((n, n), np.int64)
        place[rows, columns] = place[columns, rows] = np.arange(rows.size)
        value = xp.take(value, call.home.put(place.ravel()))
    result: npt.NDArray[Any] = xp.reshape(value, (n, m))  # of the caller's kind
    return result


def require_families(*families: Family) -> None:
    """Raise for a single histogram where a family is wanted."""
    for family in families:
        if family.is_vector:
            raise InputError(
                f"'{family.name}' must be a family of histograms, one per row. Got one histogram: "
                f"pass {family.name}[None], or use distance."
            )


def _all_pairs(
    call: Call, A: Family, B: Family, rows: npt.NDArray[np.intp], columns: npt.NDArray[np.intp],
    options: Options,
) -> Solved:  # fmt: skip
    """Values, status and error of the given pairs, in blocks that bound memory."""
    xp, home, step = call.home.xp, call.home, block_size(call)
    found = []
    with counting(options.progress, rows.size, SHORT) as counter:
        for k in range(0, max(rows.size, 1), step):
            i, j = home.put(rows[k : k + step]), home.put(columns[k : k + step])
            R, C = xp.take(A.rows, i, axis=0), xp.take(B.rows, j, axis=0)
            left, right = _picked(xp, A, i), _picked(xp, B, j)
            solved = solve_pairs(call, R, C)
            found.append(_finished(call, left, right, R, C, solved, options.coincidence).answer)
            counter.add(int(R.shape[0]), Tally({}, {}))  # how they ended stays on the device
    whole = found[0]
    if len(found) > 1:
        value, status, error = (
            xp.concat([getattr(part, name) for part in found])
            for name in ("value", "status", "error")
        )
        whole = whole._replace(value=value, status=status, error=error)
    return Solved(whole)


def _picked(xp: Any, family: Family, index: Array) -> Family:
    """Some rows of a family, for what is said about empty ones."""
    empty = None if family.empty is None else xp.take(family.empty, index)
    return Family(family.name, family.rows, False, empty, xp.take(family.bad, index), family.given)


def matched(home: ArrayContext, A: Family, B: Family) -> tuple[Array, Array]:
    """Rows of matched pairs; a single histogram on the left stays one row."""
    if not (A.is_vector or B.is_vector or A.n == B.n):
        raise InputError(
            f"'r' has {A.n} rows and 'c' has {B.n}: families are matched row by row. "
            "Use pairwise for all pairs."
        )
    if B.is_vector and not A.is_vector:
        return A.rows, home.xp.broadcast_to(B.rows, (A.n, B.rows.shape[1]))
    return A.rows, B.rows


def _is_symmetric(call: Call) -> bool:
    """Whether costs are constant and symmetric; those of the device are looked at there."""
    costs, home = call.costs, call.home
    if costs.ground is not None:
        return costs.ground.is_symmetric
    M = costs.matrix
    if M.shape[0] != M.shape[1] or home.is_learned(M):
        return False
    same = home.host(home.xp.all(M == M.T))
    return same is not None and bool(same)


def _finished(
    call: Call, A: Family, B: Family, R: Array, C: Array, solved: Solved, coincidence: bool
) -> Solved:
    """NaN for empty histograms, and 0 for equal ones where that is asked for.

    NaN as well for what is no histogram, where no error could be raised.
    """
    xp, found = call.home.xp, solved.answer
    if coincidence and R.shape[1] == C.shape[1]:
        found = found._replace(value=xp.where(xp.all(R == C, axis=1), 0.0, found.value))
    if A.empty is not None and B.empty is not None:
        empty = A.empty | B.empty
        found = found._replace(
            value=xp.where(empty, xp.nan, found.value),
            objective=xp.where(empty, xp.nan, found.objective),
            error=xp.where(empty, xp.nan, found.error),
            F=xp.where(empty[:, None], -xp.inf, found.F),
            G=xp.where(empty[:, None], -xp.inf, found.G),
            n_iter=xp.where(empty, 0, found.n_iter),
            status=xp.where(empty, int(Status.EMPTY), found.status),
            ran=xp.where(empty, NONE, found.ran),
        )
    wrong = invalid(call, A.bad, B.bad)
    if wrong is not None:
        found = found._replace(
            value=spoiled(xp, found.value, wrong),
            objective=spoiled(xp, found.objective, wrong),
            error=spoiled(xp, found.error, wrong),
            status=xp.where(wrong, int(Status.EMPTY), found.status),
            ran=xp.where(wrong, NONE, found.ran),
        )
    return solved._replace(answer=found)


def invalid(call: Call, first: Array, second: Array) -> Array | None:
    """Which pairs would be refused; None where numbers were looked at, so that none is left."""
    if call.known:
        return None
    wrong = first | second
    return wrong if call.costs.bad is None else wrong | call.costs.bad


def spoiled(xp: Any, numbers: Array, wrong: Array) -> Array:
    """NaN where pairs are wrong, in gradients as well."""
    return numbers * xp.where(wrong, xp.nan, xp.ones_like(numbers))


def warn_short(call: Call, solved: Solved) -> None:
    """One warning where pairs stopped short; none while that is not known."""
    if call.stopping.iterations is not None or call.strength.kind is Kind.INDEPENDENCE:
        return
    home, found = call.home, solved.answer
    status = home.host(found.status)
    if status is None or not ((status == Status.MAX_ITER) | (status == Status.STALLED)).any():
        return
    error = home.host(found.error)
    if error is not None:
        warn(Tally.of(status, error), call.stopping, depth=6)
