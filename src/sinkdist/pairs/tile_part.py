"""A tile of pairs on a ground without a matrix: the costs between its bins, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy.typing as npt

from sinkdist.inputs.histograms import Histograms
from sinkdist.scale.tiles import Tile
from sinkdist.solvers.local import MOST_COSTS, most_bins, part_of, used_bins
from sinkdist.solvers.members import solve_batch
from sinkdist.solvers.outcome import Answers
from sinkdist.solvers.prepared import Prepared

__all__ = ["TilePart", "quarters"]

Array = npt.NDArray[Any]

_OWN = 4  #: times the costs of its largest pair: less than that is not worth cutting


@dataclass(frozen=True, slots=True, eq=False)
class TilePart:
    """The rows of a tile on its bins, and the task between these bins."""

    task: Prepared
    left: Any
    right: Any
    first: int
    across: int

    @classmethod
    def of(cls, task: Prepared, A: Histograms, B: Histograms, tile: Tile) -> TilePart:
        """The part of a tile."""
        R, C = A.rows[tile.rows], B.rows[tile.columns]
        part, left, right = part_of(task, R, C, dense=not task.member.reads_sparse)
        return cls(part.task, left, right, tile.rows.start, tile.columns.start)

    def solve(self, i: int, j: Array) -> Answers:
        """Answer the pairs of row ``i`` and the rows ``j`` of the families."""
        return solve_batch(self.task, self.left[[i - self.first]], self.right[j - self.across])


def quarters(A: Histograms, B: Histograms, tile: Tile, *, upper: bool) -> list[Tile]:
    """The quarters of a tile between whose bins there are too many costs; empty if there are not.

    With ``upper``, those of a tile on the diagonal are on it or above. Where the pairs alone use
    about as many costs, nothing is gained by cutting.
    """
    R, C = A.rows[tile.rows], B.rows[tile.columns]
    costs = used_bins(R).size * used_bins(C).size
    if costs <= MOST_COSTS or costs <= _OWN * most_bins(R) * most_bins(C) or tile.shape == (1, 1):
        return []
    return [
        Tile((i, j), rows, columns)
        for i, rows in enumerate(_halves(tile.rows))
        for j, columns in enumerate(_halves(tile.columns))
        if i <= j or not (upper and tile.is_diagonal)
    ]


def _halves(side: slice) -> list[slice]:
    """Two halves of a side; one, if it is a single row."""
    middle = (side.start + side.stop + 1) // 2
    parts = [slice(side.start, middle), slice(middle, side.stop)]
    return [part for part in parts if part.stop > part.start]
