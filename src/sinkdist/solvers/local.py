"""Pairs on a ground without a matrix, by the matrix between the bins that they use.

Every member solves on a dense ground. Where there is none, the costs between the bins with mass of
a pair, or of a batch of pairs, are computed, solved on and forgotten.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sinkdist.ground.memory import require_memory
from sinkdist.kernels.compiled import Array
from sinkdist.solvers.bins import dense_rows
from sinkdist.solvers.explored import Explored
from sinkdist.solvers.outcome import Answers, Outcome
from sinkdist.solvers.prepared import Prepared

__all__ = [
    "MOST_COSTS", "Part", "explore_on_part", "most_bins", "part_of", "solve_on_part", "used_bins",
]  # fmt: skip

MOST_COSTS = 1 << 22  #: between the bins of a tile; one with more is cut into quarters
_COPIES = 4  #: of the costs that solvers hold: a kernel, work space
_LITTLE_MORE = 4.0  #: times the costs between all bins that are used: then both sides have them


class Part:
    """The bins that some pairs use, and the task on them.

    Attributes
    ----------
    rows, columns : ndarray
        Bins of the whole ground.
    task : Prepared
        The same task between these bins.
    """

    def __init__(self, task: Prepared, rows: Array, columns: Array) -> None:
        self.rows, self.columns, self.shape = rows, columns, task.ground.shape
        require_memory(
            _COPIES * rows.size, columns.size,
            f"The matrix between {rows.size:,} and {columns.size:,} bins with mass",
            "costs and work space",
        )  # fmt: skip
        ground = task.ground.on(rows, columns)
        assert task.local is not None
        self.task = task._replace(ground=ground, **task.member._operators(ground, *task.local))

    def give(self, found: Answers, answers: Answers) -> None:
        """Write answers of pairs on these bins to those on all bins."""
        everyone = np.arange(len(found.value))
        answers.put(everyone, found)
        answers.put_potentials(everyone, self.rows, self.columns, found.f, found.g)
        for k in everyone:
            if answers.plans is not None and found.plans is not None:
                plan = found.plans[k]
                answers.plans[k] = plan and plan.placed(self.rows, self.columns, self.shape)
            if answers.brackets is not None and found.brackets is not None:
                answers.brackets[k] = found.brackets[k]


def part_of(task: Prepared, R: Any, C: Any, dense: bool = True) -> tuple[Part, Any, Any]:
    """What pairs of rows use, and the rows on it, ``dense`` or as they are stored.

    On a square ground the bins of the rows are the first of the columns as well, so that a bin has
    one number on both sides: solvers tell by it what need not move.
    """
    rows, columns = used_bins(R), used_bins(C)
    if task.ground.shape[0] == task.ground.shape[1]:
        both = np.union1d(rows, columns)
        if both.size**2 <= _LITTLE_MORE * rows.size * columns.size:
            rows = columns = both
        else:
            columns = np.concatenate([rows, np.setdiff1d(columns, rows, assume_unique=True)])
    left, right = (H[:, bins] for H, bins in ((R, rows), (C, columns)))
    if dense:
        left, right = (np.ascontiguousarray(dense_rows(H)) for H in (left, right))
    return Part(task, rows, columns), left, right


def solve_on_part(task: Prepared, r: Array, c: Array) -> tuple[Outcome, Array, Array]:
    """One pair on the matrix between the bins that it uses; the outcome and these bins."""
    part, left, right = part_of(task, r[None], c[None])
    outcome, rows, columns = task.member.solve_pair(part.task, left[0], right[0])
    if outcome.plan is not None:
        outcome.plan = outcome.plan.placed(part.rows, part.columns, part.shape)
    return (
        outcome,
        part.rows if rows is None else part.rows[rows],
        part.columns if columns is None else part.columns[columns],
    )


def explore_on_part(task: Prepared, r: Array, C: Any, enough: float) -> Explored:
    """What a search asks of a member, on the matrix between the bins that the candidates use.

    Potentials are on the bins with mass of ``r``, in their order, as on all bins.
    """
    part, left, right = part_of(task, r[None], C, dense=not task.member.reads_sparse)
    row = np.ascontiguousarray(dense_rows(left)[0])
    found: Explored = task.member.explore(part.task, row, right, enough)
    return found


def most_bins(H: Any) -> int:
    """Bins with mass in a row, at most."""
    counts = np.count_nonzero(H, axis=1) if isinstance(H, np.ndarray) else np.diff(H.indptr)
    return int(counts.max(initial=0))


def used_bins(H: Any) -> Array:
    """Bins with mass in any row."""
    if isinstance(H, np.ndarray):
        return np.flatnonzero(H.any(axis=0))
    return np.unique(H.indices[H.data != 0.0]).astype(np.int64)
