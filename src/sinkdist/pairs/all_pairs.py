"""All pairs of two families, or of one: what `pairwise` computes, tile by tile.

Apart from `matched`, whose pairs are matched row by row.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.inputs.arrays import is_sparse
from sinkdist.inputs.fingerprints import identities
from sinkdist.inputs.histograms import Histograms
from sinkdist.interrupts import Stop
from sinkdist.pairs.job import job_of, mean_support
from sinkdist.pairs.matched import Postprocess, empty_rows, pairs_at_once, some_rows
from sinkdist.pairs.tile_part import TilePart, quarters
from sinkdist.problem.problem import Problem
from sinkdist.scale import threads
from sinkdist.scale.job import TileResult, check_matrix
from sinkdist.scale.run import run
from sinkdist.scale.tally import Tally
from sinkdist.scale.tiles import RowBatch, Tile, row_batches, support_order
from sinkdist.solution.status import Status
from sinkdist.solvers.members import solve_batch, takes_all
from sinkdist.solvers.outcome import Answers
from sinkdist.solvers.prepared import Prepared, Wishes

__all__ = ["AllPairs", "all_pairs"]

Array = npt.NDArray[Any]


class AllPairs:
    """All pairs of two families, or the upper triangle of one: answers tiles.

    It can be pickled; what solvers prepare is left out and prepared again where it is used.

    Attributes
    ----------
    upper : bool
        Whether only pairs ``i <= j`` are computed, because the others are the same.
    postprocess : callable or None
        Rewrites the answers of every row batch.
    need_error : bool
        Whether the marginal error is wanted where it is not a by-product.
    workers : int or None
        Threads that may prepare what pairs share; None for the cores of the machine it is used on.
    """

    def __init__(
        self, problem: Problem, A: Histograms, B: Histograms, *, one_family: bool,
        need_error: bool, workers: int | None = None, postprocess: Postprocess | None = None,
    ) -> None:  # fmt: skip
        self.problem, self.A, self.B = problem, A, B
        self.one_family = one_family
        self.upper = one_family and problem.ground.is_symmetric and problem.member.is_symmetric
        self.need_error = need_error
        self.workers = workers
        self.postprocess = postprocess
        self.watch: Callable[[int], None] | None = None
        # Neighbours that share their bins are of use only to pairs that are solved together.
        order = np.arange(B.n) if problem.member.reads_sparse else support_order(B.rows)
        self.order = order[~empty_rows(B)[order]]
        self._names = identities(A, B) if problem.options.coincidence else None

    @cached_property
    def task(self) -> Prepared:
        """What all pairs share."""
        keep = self.postprocess is not None and getattr(self.postprocess, "keep", False)
        workers, pairs = threads.count(self.workers), self.A.n * self.B.n
        entries = mean_support(self.A) * mean_support(self.B)
        wishes = Wishes(keep, self.need_error, pairs, workers, entries)
        task: Prepared = self.problem.member.prepare(self.problem, wishes)
        return task

    @property
    def reads_sparse(self) -> bool:
        """Whether rows are handed on as they are stored."""
        return self.task.member.reads_sparse and self.postprocess is None

    @property
    def is_sparse(self) -> bool:
        """Whether both families are stored sparse."""
        return is_sparse(self.A.rows) and is_sparse(self.B.rows)

    @property
    def is_local(self) -> bool:
        """Whether pairs are solved on the costs between the bins of their tile."""
        problem = self.problem
        needs_matrix: bool = problem.member.needs_matrix(problem)
        return self.postprocess is None and not problem.ground.is_dense and needs_matrix

    @property
    def stop(self) -> Stop:
        """Set when nobody waits for the answer any more."""
        return self.task.stop

    def solve(self, batch: RowBatch, of_tile: TilePart | None = None) -> Answers:
        """Answer the pairs of a row batch, on the bins of its tile where these are a part."""
        if of_tile is not None:
            return of_tile.solve(batch.i, batch.j)
        i = np.array([batch.i])
        as_stored = self.reads_sparse or (
            self.postprocess is None and not self.task.ground.is_dense
        )
        left, right = some_rows(self.A, i, as_stored), some_rows(self.B, batch.j, as_stored)
        part = solve_batch(self.task, left, right)
        if self.postprocess is not None:
            self.postprocess(part, left, right, i, batch.j)
        return part

    def __call__(self, tile: Tile) -> TileResult:
        """Answer the pairs of a tile; where the matrix is symmetric, both halves of it."""
        values = np.full(tile.shape, np.nan, self.problem.dtype)
        status = np.full(tile.shape, Status.EMPTY, np.int8)
        error = np.full(tile.shape, np.nan, np.float32)
        down, across = tile.rows.start, tile.columns.start
        smaller = quarters(self.A, self.B, tile, upper=self.upper) if self.is_local else []
        if smaller:
            self._fill(smaller, tile, (values, status, error))
            return TileResult(values, status, error)
        order = self.order[(self.order >= across) & (self.order < tile.columns.stop)]
        upper = self.upper and tile.is_diagonal
        size = pairs_at_once(self.problem.ground, self.is_sparse)
        part = self._part(tile)
        for batch in row_batches(self._rows(tile.rows), order, size, upper=upper):
            if self.stop.is_set():
                break
            found, j = self.solve(batch, part), batch.j - across
            if self.watch is not None:
                self.watch(batch.j.size)
            mirrored = batch.j < tile.rows.stop
            for whole, some in (
                (values, found.value), (status, found.status), (error, found.error)
            ):  # fmt: skip
                whole[batch.i - down, j] = some
                if upper:
                    whole[batch.j[mirrored] - down, batch.i - across] = some[mirrored]
        self.zero_identical(values, tile)
        return TileResult(values, status, error)

    def _part(self, tile: Tile) -> TilePart | None:
        """The bins of a tile and the costs between them, where its pairs are solved on these."""
        if not self.is_local or takes_all(
            self.task, self.A.rows[tile.rows], self.B.rows[tile.columns]
        ):
            return None
        return TilePart.of(self.task, self.A, self.B, tile)

    def _fill(self, smaller: list[Tile], tile: Tile, wholes: tuple[Array, ...]) -> None:
        """Answer a tile by smaller ones; where it is symmetric, by its upper half."""
        down, across = tile.rows.start, tile.columns.start
        for piece in smaller:
            rows, columns = (
                slice(side.start - first, side.stop - first)
                for side, first in ((piece.rows, down), (piece.columns, across))
            )
            for whole, some in zip(wholes, self(piece), strict=True):
                whole[rows, columns] = some
                if self.upper and tile.is_diagonal and not piece.is_diagonal:
                    whole[columns, rows] = some.T

    def zero_identical(self, values: Array, tile: Tile) -> None:
        """Set distances of equal histograms to 0 where that was asked for."""
        if self._names is not None:
            first, second = self._names
            equal = first[tile.rows][:, None] == second[tile.columns]
            values[equal & ~np.isnan(values)] = 0.0

    def _rows(self, rows: slice) -> Any:
        """Rows with mass."""
        empty = self.A.empty
        if empty is None:
            return range(rows.start, rows.stop)
        return rows.start + np.flatnonzero(~empty[rows])

    def __reduce__(self) -> Any:
        kept = {k: v for k, v in self.__dict__.items() if k != "task"} | {"watch": None}
        return AllPairs.__new__, (AllPairs,), kept


def all_pairs(pairs: AllPairs, workers: int) -> tuple[Any, Tally]:
    """Every distance, in memory or in a store, and how the pairs ended."""
    options = pairs.problem.options
    in_memory = options.out is None and options.client is None and not options.overwrite
    if in_memory and pairs.postprocess is None:
        quick = _at_once(pairs)
        if quick is not None:
            return quick, Tally({}, {})
    return run(job_of(pairs, stored=options.out is not None), options, workers)


def _at_once(pairs: AllPairs) -> Array | None:
    """All distances where they are one product of matrices."""
    problem, A, B = pairs.problem, pairs.A, pairs.B
    if not problem.member.is_one_product:
        return None
    check_matrix((A.n, B.n), problem.dtype, problem.options.memory)
    values: Array = problem.member.all_at_once(problem.ground, A, B).astype(problem.dtype)
    values[empty_rows(A)], values[:, empty_rows(B)] = np.nan, np.nan
    pairs.zero_identical(values, Tile((0, 0), slice(0, A.n), slice(0, B.n)))
    return values
