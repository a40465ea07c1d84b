"""Which pairs of definitions to show: alike, and without a word in common.

The nearest of the first kinds, by the distance alone: the same on every machine.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import sinkdist as sd
from sinkdist_paper.demo.definitions import Definitions

SHOWN = 4  # pairs
MOVES = 5  # of words, of each


@dataclass(frozen=True)
class Example:
    """Two definitions, the words that move between them, and what that costs."""

    one: int
    other: int
    distance: float
    moves: tuple[tuple[str, str, float, float], ...]


def choose(definitions: Definitions, found: sd.Neighbors, ground: sd.Ground) -> list[Example]:
    """The nearest pairs that share no word, one of each of the first kinds."""
    kinds = definitions.kinds
    best: dict[str, tuple[int, int]] = {}
    order = np.argsort(found.distances, axis=None, kind="stable")
    for one, place in zip(*np.unravel_index(order, found.distances.shape), strict=True):
        other, kind = int(found.indices[one, place]), str(kinds[one])
        if kind == kinds[other] and kind not in best and not definitions.share_words(one, other):
            best[kind] = int(one), other
    wanted = [kind for kind in dict.fromkeys(kinds.tolist()) if kind in best][:SHOWN]
    return [example(definitions, *best[kind], ground) for kind in wanted]


def example(definitions: Definitions, one: int, other: int, ground: sd.Ground) -> Example:
    """What moves from one definition to another, the shortest ways first."""
    left, right = (definitions.histograms[[row]].toarray()[0] for row in (one, other))
    solution = sd.solve(left, right, ground, lam=np.inf)
    moves = solution.moves(top=None, names=definitions.words.tolist())
    found = [(str(m.source), str(m.target), float(m.mass), float(m.cost)) for m in moves]
    found.sort(key=lambda move: move[3])
    return Example(one, other, float(solution.value), tuple(found[:MOVES]))
