"""A family prepared for queries: candidates, their bounds, and queries in tiles on threads."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from sinkdist.inputs.histograms import Histograms
from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.pairs.report import SHORT
from sinkdist.problem.problem import Problem
from sinkdist.scale import threads
from sinkdist.scale.progress import counting
from sinkdist.scale.tally import Tally
from sinkdist.search.candidates import Candidates
from sinkdist.search.cascade import Cascade
from sinkdist.search.exhaustive import all_distances, is_formula
from sinkdist.search.neighbors import Neighbors
from sinkdist.search.projections import Features
from sinkdist.search.query import Answer, search
from sinkdist.search.ranking import Rule
from sinkdist.solvers.bins import in_double

__all__ = ["Engine", "assemble"]

_TILE = 16  #: queries whose first bounds are computed together
_BYTES = 1 << 26  #: that these bounds may take
_SOLVES = 64  #: of a query, about


class Engine:
    """Answers queries; nothing of it changes, so threads may share it.

    Attributes
    ----------
    problem : Problem
        What distance is asked for.
    candidates : Candidates
        The rows that are searched.
    cascade : Cascade
        Their bounds.
    """

    def __init__(
        self, problem: Problem, candidates: Candidates, queries: int,
        features: Features | None = None,
    ) -> None:  # fmt: skip
        self.problem, self.candidates = problem, candidates
        self.cascade = Cascade(problem, candidates, _SOLVES * queries, features)
        self.formula = is_formula(self.cascade.task)
        self._same: dict[bytes, list[int]] | None = None
        if problem.options.coincidence:
            self._same = {}
            for k in np.flatnonzero(~self.candidates.empty):
                self._same.setdefault(self._key(self._row(int(k))), []).append(int(k))

    @property
    def bounds(self) -> tuple[str, ...]:
        """The names of what rules candidates out."""
        return self.cascade.names if self.formula is None else (self.formula,)

    def nearest(
        self, queries: Histograms, rule: Rule, *, own: bool, workers: int, progress: Any
    ) -> tuple[Neighbors, Tally]:
        """The neighbours of all queries, and how the pairs ended that were solved.

        ``own`` says that queries are the candidates themselves, each of which is no neighbour of
        its own.
        """
        cascade, answers = self._stoppable(rule), {}
        rule = _in_unit(rule, cascade.task.unit)

        def work(tile: Array) -> None:
            R = in_double(queries.dense(tile))
            first = cascade.start(R) if self.formula is None else None
            for row, query in enumerate(tile.tolist()):
                cascade.task.stop.check()
                left_out = self.candidates.empty.copy()
                if own:
                    left_out[query] = True
                if first is None:
                    answer = self._by_formula(cascade, R[row], left_out, rule)
                else:
                    zeros = self._zeros(R[row], left_out)
                    answer = search(cascade, R[row], first[row], left_out, rule, zeros)
                answers[query] = answer
                counter.add(self.candidates.n, Tally.of(answer.status, answer.error))

        full = np.arange(queries.n) if queries.empty is None else np.flatnonzero(~queries.empty)
        with counting(progress, full.size * self.candidates.n, SHORT) as counter:
            threads.run(self._tiles(full, workers), work, workers, cascade.task.stop)
        found = assemble(
            answers, queries.n, self.candidates.n, rule.k, cascade.task.unit, self.problem.dtype,
            self.bounds,
        )  # fmt: skip
        return found, counter.tally

    def _tiles(self, queries: Array, workers: int) -> Iterator[Array]:
        """Queries that are looked at together."""
        most = max(1, _BYTES // max(1, 8 * self.candidates.n))
        size = max(1, min(_TILE, most, -(-queries.size // workers)))
        return (queries[k : k + size] for k in range(0, queries.size, size))

    def _stoppable(self, rule: Rule) -> Cascade:
        """The cascade with a `Stop` of this call's own."""
        cascade, stop = copy.copy(self.cascade), Stop()
        if rule.heuristic:
            cascade = cascade.with_potentials(self.problem)
        cascade.task = cascade.task._replace(stop=stop)
        if cascade.exact is not None:
            cascade.exact = cascade.exact._replace(stop=stop)
        return cascade

    def _by_formula(self, cascade: Cascade, r: Array, left_out: Array, rule: Rule) -> Answer:
        """All distances, of which the smallest are taken."""
        values = all_distances(cascade.task, r, self.candidates)
        values[self._zeros(r, left_out)] = 0.0
        index = np.flatnonzero(~left_out)
        order = np.lexsort((index, values[index]))
        index = index[order]
        index = index[values[index] <= rule.radius][: rule.k]
        nothing = np.zeros(0)
        proven = np.ones(index.size, bool)
        solved = int((~left_out).sum())
        return Answer(index, values[index], proven, solved, nothing.astype(np.int8), nothing)

    def _zeros(self, r: Array, left_out: Array) -> Array:
        """Candidates that equal the query, where that makes their distance 0."""
        if self._same is None:
            return np.zeros(0, np.int64)
        same = np.array(self._same.get(self._key(r), []), np.int64)
        return same[~left_out[same]]

    def _row(self, k: int) -> Array:
        return np.asarray(self.candidates.dense_rows(k, k + 1)[0])

    def _key(self, row: Array) -> bytes:
        """The same for equal rows, and only for these."""
        bins = np.flatnonzero(row)
        return bins.tobytes() + row[bins].tobytes() if self.candidates.d == row.size else b""


def _in_unit(rule: Rule, unit: float) -> Rule:
    """The rule for distances in another unit."""
    return Rule(rule.k, rule.radius / unit, rule.budget, rule.heuristic)


def assemble(
    answers: dict[int, Answer], queries: int, searched: int, k: int | None, unit: float,
    dtype: np.dtype[Any], bounds: tuple[str, ...],
) -> Neighbors:  # fmt: skip
    """Answers as arrays; queries without an answer have no neighbours."""
    width = max((x.indices.size for x in answers.values()), default=0) if k is None else k
    indices = np.full((queries, width), -1, np.int64)
    distances = np.full((queries, width), np.nan, dtype)
    proven, solved = np.zeros((queries, width), bool), np.zeros(queries, np.int64)
    for query, answer in answers.items():
        count = answer.indices.size
        indices[query, :count] = answer.indices
        distances[query, :count] = answer.distances * unit
        proven[query, :count] = answer.proven
        solved[query] = answer.solved
    return Neighbors(indices, distances, proven, solved, bounds, searched)
