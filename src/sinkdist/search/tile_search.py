"""Answering tiles of queries, wherever that happens: on threads here, or on another machine."""

from __future__ import annotations

import threading
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from sinkdist.inputs.histograms import Histograms
from sinkdist.interrupts import Stop
from sinkdist.problem.problem import Problem
from sinkdist.search.candidates import Candidates
from sinkdist.search.cascade import Cascade
from sinkdist.search.engine import TILE, Engine
from sinkdist.search.exhaustive import is_formula
from sinkdist.search.query import Answer
from sinkdist.search.ranking import Rule
from sinkdist.search.waves import KnownPairs, QueryTile

__all__ = ["TileAnswers", "TileSearch"]

_PREPARING = threading.Lock()  #: threads of one machine prepare a family once
_USUAL, _FACTOR, _MORE = 10, 2, 12  #: solved pairs that are kept for a row: twice k, and some


class TileAnswers(NamedTuple):
    """The answers of a tile by query, and the bounds that were used."""

    answers: dict[int, Answer]
    bounds: tuple[str, ...]


class TileSearch:
    """All that is asked of a search; answers one tile at a time.

    It can be pickled; what an engine prepares is left out and prepared again where it is used.

    Parameters
    ----------
    problem : Problem
        What distance is asked for.
    queries : Histograms
        Whose neighbours are wanted.
    family : Histograms or Engine
        What is searched, or the same prepared already.
    rule : Rule
        Which neighbours.
    own : bool
        Whether the queries are what is searched.
    """

    def __init__(
        self, problem: Problem, queries: Histograms, family: Histograms | Engine, rule: Rule, *,
        own: bool,
    ) -> None:  # fmt: skip
        self.problem, self.queries, self.rule, self.own = problem, queries, rule, own
        self.family: Histograms | None = None
        self._engine: Engine | None = None
        if isinstance(family, Engine):
            self._engine = family
        else:
            self.family = family
        self.at_once = TILE
        self._cascade: Cascade | None = None

    @property
    def engine(self) -> Engine:
        """The family, prepared when it is first needed."""
        with _PREPARING:
            if self._engine is None:
                assert self.family is not None
                candidates = Candidates.of(self.family)
                self._engine = Engine(self.problem, candidates, self.queries.n)
            return self._engine

    @property
    def cascade(self) -> Cascade:
        """The bounds, with a `Stop` of this search."""
        engine = self.engine
        with _PREPARING:
            if self._cascade is None:
                self._cascade = engine.stoppable(self.rule)
            return self._cascade

    @property
    def stop(self) -> Stop:
        """Set when nobody waits for the answer any more."""
        return self.cascade.task.stop

    @property
    def searched(self) -> int:
        """Rows of the family."""
        return self.engine.candidates.n if self.family is None else self.family.n

    @property
    def shares(self) -> bool:
        """Whether a pair that was solved for one query serves the other.

        Not with ``iterations=``: a plan that is no coupling costs more one way than the other.
        """
        ground, member = self.problem.ground, self.problem.member
        symmetric = self.own and ground.is_symmetric and member.is_symmetric
        symmetric = symmetric and self.problem.stopping.iterations is None
        return symmetric and not self.rule.heuristic and is_formula(member, ground) is None

    @property
    def width(self) -> int:
        """Solved pairs that are kept for a row; more would seldom be of use to another."""
        return _FACTOR * (self.rule.k or _USUAL) + _MORE if self.shares else 0

    def __call__(self, tile: QueryTile) -> TileAnswers:
        """Answer a tile."""
        found = self.engine.answers(
            self.cascade, self.queries, tile, self.rule, own=self.own, share=self.shares,
            at_once=self.at_once,
        )  # fmt: skip
        width = self.width
        answers = {query: _for_later_rows(query, answer, width) for query, answer in found}
        return TileAnswers(answers, self.engine.bounds)

    def __reduce__(self) -> Any:
        kept = dict(self.__dict__)
        if self.family is not None:
            kept["_engine"] = None
        kept["_cascade"] = None
        return TileSearch.__new__, (TileSearch,), kept


def _for_later_rows(query: int, answer: Answer, width: int) -> Answer:
    """An answer whose pairs are those that other tiles may use."""
    later = np.flatnonzero(answer.pairs.other > query)[:width]
    _, *pairs = answer.pairs
    kept = KnownPairs(np.full(later.size, query), *(x[later] for x in pairs))
    return replace(answer, pairs=kept)
