"""Nearest neighbours in a matrix of distances: their order, their errors, and images to show.

Pure functions of arrays, separate from the data and the drawing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import NDArray

SHOWN = 5  # neighbours kept for each image


@dataclass(frozen=True)
class Ranking:
    """The nearest neighbours of every image under one distance.

    `meaning` says in a few words what the distance compares, `nearest` holds the indices, nearest
    first, and `wrong` marks images whose nearest neighbour shows another digit: the leave-one-out
    errors of the 1-nearest-neighbour rule.
    """

    name: str
    meaning: str
    seconds: float
    nearest: NDArray[np.int64]
    wrong: NDArray[np.bool_]

    @property
    def mistakes(self) -> int:
        """How many images have a nearest neighbour that shows another digit."""
        return int(self.wrong.sum())

    @property
    def error(self) -> float:
        """The share of images whose nearest neighbour shows another digit."""
        return float(self.wrong.mean())


def rank(
    name: str,
    meaning: str,
    distances: NDArray[np.floating],
    labels: NDArray[np.int64],
    *,
    seconds: float,
) -> Ranking:
    """The `SHOWN` nearest neighbours of each row, without itself; ties go to the lower index."""
    others = np.array(distances)
    np.fill_diagonal(others, np.inf)
    nearest = np.argsort(others, axis=1, kind="stable")[:, :SHOWN]
    return Ranking(name, meaning, seconds, nearest, labels[nearest[:, 0]] != labels)


def chance_gap(one: Ranking, other: Ranking) -> int:
    """The largest gap in mistakes that chance alone would explain, 19 times in 20.

    Only images on which exactly one of the two is wrong contribute to the gap. If each favours
    either side with probability 1/2, the gap has the standard deviation sqrt(their number).
    """
    return int(2 * sqrt(np.count_nonzero(one.wrong != other.wrong)))


@dataclass(frozen=True)
class Queries:
    """Images to show: some on which the distances disagree, and ordinary ones."""

    disputed: tuple[int, ...]
    ordinary: tuple[int, ...]


def choose_queries(
    first: Ranking,
    others: Sequence[Ranking],
    labels: NDArray[np.int64],
    *,
    disputed: int = 5,
    ordinary: int = 3,
) -> Queries:
    """Choose images to show, deterministically and without favouring a distance.

    Disputed images are taken in turn from those where `first` is right and some other distance
    wrong, and from those where it is the other way round; ordinary ones are right under all.
    """
    any_wrong = np.logical_or.reduce([other.wrong for other in others])
    any_right = np.logical_or.reduce([~other.wrong for other in others])
    wins = _varied(np.flatnonzero(~first.wrong & any_wrong), labels)
    losses = _varied(np.flatnonzero(first.wrong & any_right), labels)
    chosen = _in_turn(wins, losses)[:disputed]
    shown = set(labels[chosen])
    plain = _varied(np.flatnonzero(~first.wrong & ~any_wrong), labels)
    plain.sort(key=lambda i: labels[i] in shown)  # stable: digits not shown yet come first
    return Queries(tuple(sorted(chosen)), tuple(plain[: disputed + ordinary - len(chosen)]))


def _varied(indices: NDArray[np.int64], labels: NDArray[np.int64]) -> list[int]:
    """The indices, reordered so that every digit comes once before any comes twice."""
    seen: dict[int, int] = {}
    keyed = []
    for index in indices.tolist():
        label = int(labels[index])
        seen[label] = seen.get(label, 0) + 1
        keyed.append((seen[label], index))
    return [index for _, index in sorted(keyed)]


def _in_turn(one: list[int], other: list[int]) -> list[int]:
    """Items of both lists alternately, then the rest of the longer one."""
    both = [item for pair in zip(one, other, strict=False) for item in pair]
    return both + one[len(other) :] + other[len(one) :]
