"""All pairs of two families, or of one: what `pairwise` computes, by batch or by tile.

Apart from `families`, whose pairs are matched; apart from `jobs`, which describes the same work to
stores and clusters.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.inputs.histograms import Histograms
from sinkdist.interrupts import Stop
from sinkdist.pairs.call import Call
from sinkdist.pairs.matched import TILE_PAIRS, Postprocess, dense_rows, empty_rows, identities
from sinkdist.pairs.report import SHORT
from sinkdist.problem.strength import Kind
from sinkdist.scale import threads
from sinkdist.scale.job import TileResult, check_matrix
from sinkdist.scale.progress import counting
from sinkdist.scale.tally import Tally
from sinkdist.scale.tiles import RowBatch, Tile, row_batches, support_order
from sinkdist.solution.status import Status
from sinkdist.solvers.compiled.batch import solve_batch
from sinkdist.solvers.outcome import Answers
from sinkdist.solvers.task import Task

__all__ = ["AllPairs", "all_pairs"]

Array = npt.NDArray[Any]


class AllPairs:
    """All pairs of two families, or the upper triangle of one, by row batches and by tiles.

    It can be pickled; what solvers prepare is left out and prepared again where it is used.

    Attributes
    ----------
    upper : bool
        Whether only pairs ``i <= j`` are computed, because the others are the same.
    coincidence : bool
        Whether equal histograms have distance 0.
    postprocess : callable or None
        Rewrites the answers of every batch.
    need_error : bool
        Whether the marginal error is wanted where it is not a by-product.
    workers : int or None
        Threads that may prepare what pairs share; None for the cores of the machine it is used on.
    """

    def __init__(
        self, call: Call, A: Histograms, B: Histograms, *, one_family: bool, coincidence: bool,
        need_error: bool, workers: int | None = None, postprocess: Postprocess | None = None,
    ) -> None:  # fmt: skip
        self.call, self.A, self.B = call, A, B
        self.one_family = one_family
        self.upper = one_family and call.ground.is_symmetric
        self.coincidence = coincidence
        self.need_error = need_error
        self.workers = workers
        self.postprocess = postprocess
        order = support_order(B.rows)
        self.order = order[~empty_rows(B)[order]]
        self._names = identities(A, B) if coincidence else None

    @cached_property
    def task(self) -> Task:
        """What is asked of every pair."""
        keep = self.postprocess is not None and self.call.strength.kind is Kind.PENALISED
        workers, pairs = threads.count(self.workers), self.A.n * self.B.n
        return self.call.task(keep, workers, pairs, self.need_error)

    @property
    def stop(self) -> Stop:
        """Set when nobody waits for the answer any more."""
        return self.task.stop

    @property
    def count(self) -> int:
        """Pairs to be solved: those without an empty histogram."""
        rows = int((~empty_rows(self.A)).sum())
        return rows * (rows + 1) // 2 if self.upper else rows * self.order.size

    def row_batches(self) -> Iterator[RowBatch]:
        """All pairs, for those who hold the whole matrix."""
        return row_batches(self._rows(0, self.A.n), self.order, TILE_PAIRS, upper=self.upper)

    def solve(self, batch: RowBatch) -> Answers:
        """Answer the pairs of a batch."""
        i = np.array([batch.i])
        left, right = dense_rows(self.A, i), dense_rows(self.B, batch.j)
        part = solve_batch(self.task, left, right)
        if self.postprocess is not None:
            self.postprocess(part, left, right, i, batch.j)
        return part

    def __call__(self, tile: Tile) -> TileResult:
        """Answer the pairs of a tile; where the matrix is symmetric, both halves of it."""
        values = np.full(tile.shape, np.nan, self.call.dtype)
        status = np.full(tile.shape, Status.EMPTY, np.int8)
        error = np.full(tile.shape, np.nan, np.float32)
        down, across = tile.rows.start, tile.columns.start
        order = self.order[(self.order >= across) & (self.order < tile.columns.stop)]
        upper = self.upper and tile.is_diagonal
        for batch in row_batches(self._rows(down, tile.rows.stop), order, TILE_PAIRS, upper=upper):
            if self.stop.is_set():
                break
            part, j = self.solve(batch), batch.j - across
            for whole, some in (
                (values, part.value), (status, part.status), (error, part.error)
            ):  # fmt: skip
                whole[batch.i - down, j] = some
                if upper:
                    whole[j, batch.i - down] = some
        self.zero_identical(values, tile.rows, tile.columns)
        return TileResult(values, status, error)

    def zero_identical(self, values: Array, rows: slice, columns: slice) -> None:
        """Set distances of equal histograms to 0 where that was asked for."""
        if self._names is not None:
            first, second = self._names
            equal = first[rows][:, None] == second[columns]
            values[equal & ~np.isnan(values)] = 0.0

    def _rows(self, first: int, last: int) -> Any:
        """Rows with mass."""
        empty = self.A.empty
        return range(first, last) if empty is None else first + np.flatnonzero(~empty[first:last])

    def __reduce__(self) -> Any:
        kept = {k: v for k, v in self.__dict__.items() if k != "task"}
        return AllPairs.__new__, (AllPairs,), kept


def all_pairs(pairs: AllPairs, workers: int, progress: Any, memory: Any) -> tuple[Array, Tally]:
    """Every distance in memory, and how the pairs ended."""
    A, B, dtype = pairs.A, pairs.B, pairs.call.dtype
    check_matrix((A.n, B.n), dtype, memory)
    values = np.full((A.n, B.n), np.nan, dtype)

    def work(batch: RowBatch) -> None:
        part = pairs.solve(batch)
        values[batch.i, batch.j] = part.value
        if pairs.upper:
            values[batch.j, batch.i] = part.value
        counter.add(batch.j.size, Tally.of(part.status, part.error))

    with counting(progress, pairs.count, SHORT) as counter:
        kind = pairs.call.strength.kind
        if kind is Kind.INDEPENDENCE and pairs.postprocess is None:  # one matrix product
            values[:] = np.asarray((A.rows @ pairs.call.ground.matrix) @ B.rows.T)
            values[empty_rows(A)], values[:, empty_rows(B)] = np.nan, np.nan
        else:
            threads.run(pairs.row_batches(), work, workers, pairs.stop)
    for start in range(0, A.n, TILE_PAIRS):
        rows = slice(start, start + TILE_PAIRS)
        pairs.zero_identical(values[rows], rows, slice(None))
    return values, counter.tally
