"""A family prepared for queries: candidates and their bounds, and the answers of a tile."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from sinkdist.inputs.histograms import Histograms
from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.problem.problem import Problem
from sinkdist.search.candidates import Candidates
from sinkdist.search.cascade import Cascade
from sinkdist.search.exhaustive import all_distances, is_formula
from sinkdist.search.neighbors import Neighbors
from sinkdist.search.projections import Features
from sinkdist.search.query import Answer, search
from sinkdist.search.ranking import Rule
from sinkdist.search.waves import KnownPairs, QueryTile
from sinkdist.solvers.bins import in_double

__all__ = ["SOLVES", "TILE", "Engine", "assemble"]

TILE = 16  #: queries whose first bounds are computed together
_BYTES = 1 << 26  #: that these bounds may take
SOLVES = 64  #: of a query, about


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
        self.cascade = Cascade(problem, candidates, SOLVES * queries, features)
        self.formula = is_formula(self.cascade.task.member, self.cascade.task.ground)
        self._same: dict[bytes, list[int]] | None = None
        if problem.options.coincidence:
            self._same = {}
            for k in np.flatnonzero(~self.candidates.empty):
                self._same.setdefault(self._key(self._row(int(k))), []).append(int(k))

    @property
    def bounds(self) -> tuple[str, ...]:
        """The names of what rules candidates out."""
        return self.cascade.names if self.formula is None else (self.formula,)

    def stoppable(self, rule: Rule) -> Cascade:
        """The cascade with a `Stop` of one call's own."""
        cascade, stop = copy.copy(self.cascade), Stop()
        if rule.heuristic:
            cascade = cascade.with_potentials(self.problem)
        cascade.task = cascade.task._replace(stop=stop)
        if cascade.exact is not None:
            cascade.exact = cascade.exact._replace(stop=stop)
        return cascade

    def answers(
        self, cascade: Cascade, queries: Histograms, tile: QueryTile, rule: Rule, *, own: bool,
        share: bool, at_once: int = TILE,
    ) -> Iterator[tuple[int, Answer]]:  # fmt: skip
        """Queries of a tile, each with its answer; none for those without mass.

        Parameters
        ----------
        cascade : Cascade
            From `stoppable`.
        own : bool
            Whether queries are the candidates themselves, each of which is no neighbour of its own.
        share : bool
            Whether a pair that was solved for one of them serves the other.
        at_once : int
            Queries whose first bounds are in memory together.
        """
        rule = Rule(rule.k, rule.radius / cascade.task.unit, rule.budget, rule.heuristic)
        rows = np.arange(tile.rows.start, tile.rows.stop)
        full = rows if queries.empty is None else rows[~queries.empty[rows]]
        most = max(1, min(at_once, _BYTES // max(1, 8 * self.candidates.n)))
        of_tile = _OfTile(tile.known)
        for start in range(0, full.size, most):
            some = full[start : start + most]
            R = in_double(queries.dense(some))
            first = cascade.start(R) if self.formula is None else None
            for row, query in enumerate(some.tolist()):
                cascade.task.stop.check()
                left_out = self.candidates.empty.copy()
                if own:
                    left_out[query] = True
                if first is None:
                    answer = self._by_formula(cascade, R[row], left_out, rule)
                else:
                    zeros, known = self._zeros(R[row], left_out), of_tile.about(query)
                    answer = search(cascade, R[row], first[row], left_out, rule, zeros, known)
                if share:
                    of_tile.learn(query, answer.pairs)
                yield query, replace(answer, distances=answer.distances * cascade.task.unit)

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
        pairs = KnownPairs.none()
        return Answer(index, values[index], proven, solved, nothing.astype(np.int8), nothing, pairs)

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


class _OfTile:
    """Pairs that are known within one tile: from outside, and from its earlier queries."""

    def __init__(self, known: KnownPairs) -> None:
        self._known = known
        self._learned: dict[int, list[tuple[int, float, float]]] = {}

    def about(self, query: int) -> KnownPairs:
        """Those of a query."""
        there = self._known.between(query, query + 1)
        more = self._learned.pop(query, [])
        if not more:
            return there
        index, value, upper = (np.array(x) for x in zip(*more, strict=True))
        parts = zip(there, (np.full(index.size, query), index, value, upper), strict=True)
        return KnownPairs(*(np.concatenate(part) for part in parts))

    def learn(self, query: int, pairs: KnownPairs) -> None:
        """Keep what a query was solved against, for the others."""
        for k, value, upper in zip(*(x.tolist() for x in pairs[1:]), strict=True):
            if k > query:
                self._learned.setdefault(k, []).append((query, value, upper))


def assemble(
    answers: dict[int, Answer], queries: int, searched: int, k: int | None, dtype: np.dtype[Any],
    bounds: tuple[str, ...],
) -> Neighbors:  # fmt: skip
    """Answers as arrays; queries without an answer have no neighbours."""
    width = max((x.indices.size for x in answers.values()), default=0) if k is None else k
    indices = np.full((queries, width), -1, np.int64)
    distances = np.full((queries, width), np.nan, dtype)
    proven, solved = np.zeros((queries, width), bool), np.zeros(queries, np.int64)
    for query, answer in answers.items():
        count = answer.indices.size
        indices[query, :count] = answer.indices
        distances[query, :count] = answer.distances
        proven[query, :count] = answer.proven
        solved[query] = answer.solved
    return Neighbors(indices, distances, proven, solved, bounds, searched)
