"""Families of pairs: cut into tiles, run on threads, put together again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.call import Call
from sinkdist.errors import InputError
from sinkdist.histograms import Histograms
from sinkdist.report import is_short
from sinkdist.scale import threads
from sinkdist.scale.progress import counting
from sinkdist.scale.tiles import Fan, fans, support_order
from sinkdist.solution import Status
from sinkdist.solvers.outcome import Answers
from sinkdist.solvers.task import Task
from sinkdist.solvers.tile import solve_tile
from sinkdist.strength import Kind

__all__ = ["Rework", "all_pairs", "coincide", "identities", "matched", "same"]

Array = npt.NDArray[Any]
#: Rewrites the answers of a tile, given its histograms and where they stand in their families.
Rework = Callable[[Answers, Array, Array, Array, Array], None]

_TILE_PAIRS = 512


def matched(
    task: Task, R: Histograms, C: Histograms, workers: int, progress: Any,
    rework: Rework | None = None,
) -> Answers:  # fmt: skip
    """Row by row; one histogram against every row where one side has only one.

    What ``rework`` reads of a tile beside its numbers is not kept.
    """
    if not (R.is_vector or C.is_vector or R.n == C.n):
        raise InputError(
            f"'r' has {R.n} rows and 'c' has {C.n}: families are matched row by row. "
            "Use pairwise for all pairs."
        )
    pairs = C.n if R.is_vector else R.n
    answers = Answers.blank(pairs, task.ground.shape, task.strength.lam, task.keep and not rework)
    full = np.flatnonzero(~(_empty(R) | _empty(C)))

    def work(chosen: Array) -> None:
        left = _rows(R, None if R.is_vector else chosen)
        right = _rows(C, None if C.is_vector else chosen)
        right = right if len(right) == chosen.size else right.repeat(chosen.size, 0)
        part = solve_tile(task, left, right)
        if rework is not None:
            first = np.zeros(1, int) if R.is_vector else chosen
            rework(part, left, right, first, np.zeros(1, int) if C.is_vector else chosen)
        answers.put_tile(chosen, part)
        counter.add(chosen.size, _unconverged(part))

    size = min(_TILE_PAIRS, -(-full.size // workers)) or 1
    tiles = (full[k : k + size] for k in range(0, full.size, size))
    with counting(progress, full.size) as counter:
        threads.run(tiles, work, workers, task.stop)
    return answers


def all_pairs(
    call: Call, A: Histograms, B: Histograms, one_family: bool, workers: int, progress: Any,
    rework: Rework | None = None,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Values, status and error of every pair of two families."""
    keep = rework is not None and call.strength.kind is Kind.PENALISED
    task = call.task(keep, workers, A.n * B.n)
    values = np.full((A.n, B.n), np.nan, call.dtype)
    status = np.full((A.n, B.n), Status.EMPTY, np.int8)
    error = np.zeros((A.n, B.n), np.float32)
    empty_rows, empty_columns = _empty(A), _empty(B)
    if call.strength.kind is Kind.INDEPENDENCE and rework is None:  # one matrix product
        values[:] = np.asarray((A.rows @ call.ground.matrix) @ B.rows.T)
        values[empty_rows], values[:, empty_columns] = np.nan, np.nan
        return values, status, error
    mirrored = one_family and call.ground.is_symmetric
    order = support_order(B.rows)
    order = order[~empty_columns[order]]

    def work(fan: Fan) -> None:
        if empty_rows[fan.i]:
            return
        i = np.array([fan.i])
        left, right = _rows(A, i), _rows(B, fan.j)
        part = solve_tile(task, left, right)
        if rework is not None:
            rework(part, left, right, i, fan.j)
        values[fan.i, fan.j] = part.value
        status[fan.i, fan.j], error[fan.i, fan.j] = part.status, part.error
        if mirrored:
            values[fan.j, fan.i] = part.value
        counter.add(fan.j.size, _unconverged(part))

    rows = int((~empty_rows).sum())
    total = rows * (rows + 1) // 2 if mirrored else rows * order.size
    with counting(progress, total) as counter:
        plan = fans(A.n, order, _TILE_PAIRS, upper=mirrored)
        threads.run(plan, work, workers, task.stop)
    return values, status, error


def coincide(R: Histograms, C: Histograms) -> Array:
    """Which matched pairs are of equal histograms with mass."""
    first, second = identities(R, C)
    return np.asarray((first == second) & ~(_empty(R) | _empty(C)))


def same(A: Histograms, B: Histograms) -> Array:
    """Whether each row of one family equals each row of another and has mass."""
    first, second = identities(A, B)
    return np.asarray((first[:, None] == second) & ~(_empty(A)[:, None] | _empty(B)))


def identities(A: Histograms, B: Histograms) -> tuple[Array, Array]:
    """A number for each row of two families; equal rows have equal numbers."""
    numbers: dict[bytes, int] = {}

    def number(family: Histograms, k: int) -> int:
        row = _rows(family, np.array([k])) + 0.0  # -0.0 is 0.0
        return numbers.setdefault(row.tobytes(), len(numbers))

    if A is B:
        first = np.array([number(A, k) for k in range(A.n)], int)
        return first, first
    if A.d != B.d:
        return np.arange(A.n), -1 - np.arange(B.n)
    return (
        np.array([number(A, k) for k in range(A.n)], int),
        np.array([number(B, k) for k in range(B.n)], int),
    )


def _rows(family: Histograms, index: Array | None) -> Array:
    """Dense rows; None for all of them."""
    return family.dense(slice(None) if index is None else index)


def _empty(family: Histograms) -> Array:
    """Which rows are without mass."""
    return np.zeros(family.n, bool) if family.empty is None else family.empty


def _unconverged(answers: Answers) -> int:
    """Pairs that stopped short."""
    return int(np.count_nonzero(is_short(answers.status)))
