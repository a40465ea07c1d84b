"""One query: rounds of solves until no candidate is left, or the budget is used up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sinkdist.kernels.compiled import Array
from sinkdist.search.candidates import Survivors
from sinkdist.search.cascade import Cascade
from sinkdist.search.guessing import Guessing
from sinkdist.search.ranking import Ranking, Rule
from sinkdist.search.rounds import Run
from sinkdist.search.waves import KnownPairs

__all__ = ["Answer", "search"]


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """The neighbours of one query, nearest first, and what they took.

    ``pairs`` are those that were solved for it and bounded from above, nearest first.
    """

    indices: Array
    distances: Array
    proven: Array
    solved: int
    status: Array
    error: Array
    pairs: KnownPairs


def search(
    cascade: Cascade, r: Array, bounds: Array, left_out: Array, rule: Rule, zeros: Array,
    known: KnownPairs,
) -> Answer:  # fmt: skip
    """Answer one query.

    Parameters
    ----------
    cascade : Cascade
        Bounds and candidates.
    r : ndarray
        The query.
    bounds : ndarray, shape (n,)
        What is known of all candidates.
    left_out : ndarray of bool, shape (n,)
        Those that are no candidates.
    zeros : ndarray of int
        Candidates whose distance is 0 by definition.
    known : KnownPairs
        Candidates that were solved already.
    """
    ranking = Ranking(rule)
    left_out = left_out.copy()
    for k in zeros.tolist():
        ranking.put(k, 0.0, 0.0)
    left_out[zeros] = True
    for k, value, upper in zip(*(x.tolist() for x in known[1:]), strict=True):
        if not left_out[k]:
            ranking.put(k, value, upper)
            left_out[k] = True
    before = len(ranking.index)
    survivors = Survivors.all_of(bounds, left_out)
    ranking.drop(survivors)
    bounded = cascade.for_query(r)
    bounded.begin(survivors, ranking)
    kind = Guessing if rule.heuristic else Run
    run = kind(cascade, r, bounded, ranking, survivors)
    while survivors.index.size and run.room() > 0:
        run.round()
    if survivors.index.size:
        bounded.complete(survivors, ranking)
    indices, distances, proven = ranking.best(min(survivors.least, run.skipped))
    status, error = np.array(run.status, np.int8), np.array(run.error)
    pairs = ranking.solved_from(before)
    return Answer(indices, distances, proven, len(run.status), status, error, pairs)
