"""Distances between definitions, and how often the nearest ones are of another kind.

Each distance is judged by the same rule: a definition is given the kind that most of its five
nearest have (of equal ones, that of the nearest), itself left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import sqrt
from time import perf_counter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from sinkdist.classic import euclidean, hellinger
from sinkdist_paper.demo.definitions import Definitions

VOTES = 5
Matrix: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ranking:
    """The nearest definitions under one distance, and which of them are judged wrong."""

    name: str
    meaning: str
    seconds: float
    nearest: NDArray[np.intp]
    wrong: NDArray[np.bool_]

    @property
    def mistakes(self) -> int:
        """Definitions whose neighbours are of another kind."""
        return int(self.wrong.sum())

    @property
    def error(self) -> float:
        """Their share."""
        return float(self.wrong.mean())


def judge(
    name: str,
    meaning: str,
    seconds: float,
    nearest: NDArray[np.intp],
    kinds: NDArray[np.str_],
) -> Ranking:
    """Give each row the kind of its nearest, and compare it with its own."""
    given = np.array([_vote(kinds[row].tolist()) for row in nearest])
    return Ranking(name, meaning, seconds, nearest, given != kinds)


def rank(
    name: str, meaning: str, compute: Callable[[], Matrix], kinds: NDArray[np.str_]
) -> Ranking:
    """Compute a distance between all rows, and judge it; of equal ones the first are nearest."""
    start = perf_counter()
    distances = np.array(compute(), dtype=np.float64)
    np.fill_diagonal(distances, np.inf)
    nearest = np.argsort(distances, axis=1, kind="stable")[:, :VOTES]
    return judge(name, meaning, perf_counter() - start, nearest, kinds)


def rivals(definitions: Definitions) -> list[Ranking]:
    """Distances that do not move words, the simplest first."""
    counted = definitions.histograms.toarray()
    kinds = definitions.kinds
    return [
        rank("Euclidean", "counts, word by word", lambda: euclidean(counted), kinds),
        rank("Hellinger", "roots of shares, word by word", lambda: hellinger(counted), kinds),
        rank("TF-IDF cosine", "rare words count more", lambda: tf_idf(definitions), kinds),
        rank("Mean vector", "cosine of mean word vectors", lambda: means(definitions), kinds),
    ]


def tf_idf(definitions: Definitions) -> Matrix:
    """One minus the cosine of counts that are weighted by the rarity of words."""
    counts = definitions.counts
    spread = np.bincount(counts.indices, minlength=counts.shape[1])
    return _cosine(counts.toarray() * np.log(len(definitions) / np.maximum(spread, 1)))


def means(definitions: Definitions) -> Matrix:
    """One minus the cosine of the mean vectors of words."""
    return _cosine(definitions.histograms @ definitions.vectors)


def chance_gap(one: Ranking, other: Ranking) -> int:
    """The largest gap in mistakes that chance alone would explain, 19 times in 20.

    Only rows on which exactly one of the two is wrong contribute to the gap. If each favours either
    side with probability 1/2, the gap has the standard deviation sqrt(their number).
    """
    return int(2 * sqrt(np.count_nonzero(one.wrong != other.wrong)))


def _cosine(rows: Matrix) -> Matrix:
    """One minus the cosine of all pairs of rows."""
    unit = rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-300)
    return np.asarray(1.0 - unit @ unit.T)


def _vote(kinds: list[str]) -> str:
    """The most frequent, of equal ones the first."""
    counted = Counter(kinds)
    return max(kinds, key=lambda kind: counted[kind])
