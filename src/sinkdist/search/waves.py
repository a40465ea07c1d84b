"""Queries in tiles, tiles in waves: which are answered together, and what is known by then.

A tile is answered by one thread and is what a store keeps. Of one family under symmetric costs a
pair that was solved for one row is known to the other: to later rows of its tile, and to all tiles
of later waves. Tiles of a wave know nothing of each other. Tiles and waves depend on the number of
queries alone, so that answers do not depend on threads, memory or interruptions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sinkdist.kernels.compiled import Array

__all__ = ["KnownPairs", "QueryTile", "SharedSolves", "Waves"]

_SMALL, _LARGE, _TILES = 16, 128, 1024  #: queries of a tile; tiles from which it grows
_TILES_AT_ONCE, _WAVES = 8, 16  #: tiles of a wave at least, waves at most


class KnownPairs(NamedTuple):
    """Pairs that are solved already, in the order of their queries.

    Attributes
    ----------
    query, other : ndarray of int64
        The pair.
    value, upper : ndarray of float64
        Its distance, and what that is proven to be at most.
    """

    query: Array
    other: Array
    value: Array
    upper: Array

    @classmethod
    def none(cls) -> KnownPairs:
        """No pairs."""
        nothing = np.zeros(0, np.int64)
        return cls(nothing, nothing, np.zeros(0), np.zeros(0))

    def between(self, first: int, last: int) -> KnownPairs:
        """Those of some queries: ``first`` and the following up to ``last``, exclusive."""
        part = slice(*np.searchsorted(self.query, (first, last)))
        return KnownPairs(*(x[part] for x in self))


@dataclass(frozen=True, slots=True, eq=False)
class QueryTile:
    """Consecutive queries, and what is known of them; as `scale.tiles.Tile` to those who run it."""

    place: tuple[int, int]
    rows: slice
    columns: slice
    known: KnownPairs = field(default_factory=KnownPairs.none)


@dataclass(frozen=True, slots=True)
class Waves:
    """Queries cut into tiles and waves.

    Examples
    --------
    >>> waves = Waves.of_family(200)
    >>> [(wave[0].rows.start, wave[-1].rows.stop) for wave in waves]
    [(0, 128), (128, 200)]
    """

    queries: int
    searched: int
    tile: int
    wave: int

    @classmethod
    def of_family(cls, rows: int) -> Waves:
        """Of a family that is searched for its own rows."""
        tile = _tile(rows)
        return cls(rows, rows, tile, max(_TILES_AT_ONCE, -(-rows // (_WAVES * tile))))

    @classmethod
    def of_queries(cls, queries: int, searched: int, workers: int | None) -> Waves:
        """One wave, since nothing is shared: tiles for all workers; fixed ones where it is None."""
        tile = _tile(queries)
        if workers is not None:
            tile = max(1, min(_SMALL, -(-queries // workers)))
        return cls(queries, searched, tile, max(1, -(-queries // tile)))

    def __iter__(self) -> Iterator[list[QueryTile]]:
        """Waves, one after the other."""
        step = self.tile * self.wave
        for first in range(0, self.queries, step):
            last = min(first + step, self.queries)
            yield [self._at(row) for row in range(first, last, self.tile)]

    def _at(self, row: int) -> QueryTile:
        stop = min(row + self.tile, self.queries)
        return QueryTile((row // self.tile, 0), slice(row, stop), slice(0, self.searched))


class SharedSolves:
    """For each row, the nearest of the later rows that it was solved against."""

    def __init__(self, rows: int, width: int) -> None:
        self._index = np.full((rows, width), -1, np.int64)
        self._value, self._upper = np.zeros((2, rows, width))

    @property
    def width(self) -> int:
        """How many are kept for a row."""
        return int(self._index.shape[1])

    def put(self, row: int, pairs: KnownPairs) -> None:
        """Keep what one row was solved against; nearest first."""
        count = min(self.width, pairs.other.size)
        self._index[row, :count] = pairs.other[:count]
        self._value[row, :count] = pairs.value[:count]
        self._upper[row, :count] = pairs.upper[:count]

    def known_to(self, first: int, last: int) -> KnownPairs:
        """What rows before ``first`` know of those from ``first`` up to ``last``, exclusive."""
        there = self._index[:first]
        rows, places = np.nonzero((there >= first) & (there < last))
        query = there[rows, places]
        order = np.argsort(query, kind="stable")
        rows, places = rows[order], places[order]
        return KnownPairs(
            query[order], rows, self._value[rows, places], self._upper[rows, places]
        )  # fmt: skip


def _tile(queries: int) -> int:
    """Queries of a tile: a power of two, so that few tiles are many files."""
    size = _SMALL
    while size < _LARGE and queries > _TILES * size:
        size *= 2
    return size
