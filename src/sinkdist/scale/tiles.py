"""Cutting a matrix of pairs: into square tiles, which are stored, and row batches.

A batch is one row of the first family against some rows of the second: it shares its first
histogram, so its kernel is cut to that histogram's bins once; the second ones are taken in an order
that puts similar supports together, so that few bins are computed in vain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["RowBatch", "RowTiling", "Tile", "Tiling", "row_batches", "support_order"]

Index = npt.NDArray[np.intp]

_BAND_ROWS = 1024  # looked at together, so that no second copy of a family is made


@dataclass(frozen=True, slots=True)
class RowBatch:
    """Row ``i`` of the first family against the rows ``j`` of the second."""

    i: int
    j: Index


@dataclass(frozen=True, slots=True)
class Tile:
    """A block of the matrix, by its place among the tiles and by its rows and columns."""

    place: tuple[int, int]
    rows: slice
    columns: slice

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the block."""
        return self.rows.stop - self.rows.start, self.columns.stop - self.columns.start

    @property
    def is_diagonal(self) -> bool:
        """Whether the matrix's diagonal runs through it."""
        rows, columns = self.rows, self.columns
        return bool(rows.start < columns.stop and columns.start < rows.stop)


@dataclass(frozen=True, slots=True)
class Tiling:
    """A matrix cut into square tiles; with ``upper``, those below the diagonal are left out.

    Examples
    --------
    >>> tiling = Tiling((5, 5), 2, upper=True)
    >>> [tile.place for tile in tiling]
    [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    >>> tiling.total_pairs, tiling.pairs(tiling.tile(2, 2))
    (15, 1)
    """

    shape: tuple[int, int]
    side: int
    upper: bool

    @property
    def places(self) -> tuple[int, int]:
        """Rows and columns of tiles."""
        return -(-self.shape[0] // self.side), -(-self.shape[1] // self.side)

    def __iter__(self) -> Iterator[Tile]:
        """Tiles in turn, row by row, so that neighbours share their first histograms."""
        down, across = self.places
        for i in range(down):
            for j in range(i if self.upper else 0, across):
                yield self.tile(i, j)

    def __len__(self) -> int:
        down, across = self.places
        return down * (down + 1) // 2 if self.upper else down * across

    def tile(self, i: int, j: int) -> Tile:
        """The tile at a place."""
        (n, m), side = self.shape, self.side
        return Tile(
            (i, j),
            slice(i * side, min((i + 1) * side, n)),
            slice(j * side, min((j + 1) * side, m)),
        )

    def pairs(self, tile: Tile) -> int:
        """Pairs that a tile has to answer."""
        rows, columns = tile.shape
        return rows * (rows + 1) // 2 if self.upper and tile.is_diagonal else rows * columns

    @property
    def total_pairs(self) -> int:
        """Pairs of the whole matrix."""
        n, m = self.shape
        return n * (n + 1) // 2 if self.upper else n * m


@dataclass(frozen=True, slots=True)
class RowTiling:
    """A matrix cut into bands of rows; with ``upper``, each begins at the diagonal.

    Examples
    --------
    >>> tiling = RowTiling((3, 3), 2, upper=True)
    >>> [(tile.rows, tile.columns) for tile in tiling]
    [(slice(0, 2, None), slice(0, 3, None)), (slice(2, 3, None), slice(2, 3, None))]
    >>> tiling.total_pairs
    6
    """

    shape: tuple[int, int]
    high: int
    upper: bool

    @property
    def places(self) -> tuple[int, int]:
        """Bands, one below the other."""
        return -(-self.shape[0] // self.high), 1

    def __iter__(self) -> Iterator[Tile]:
        n, m = self.shape
        for k, start in enumerate(range(0, n, self.high)):
            first = start if self.upper else 0
            yield Tile((k, 0), slice(start, min(start + self.high, n)), slice(first, m))

    def pairs(self, tile: Tile) -> int:
        """Pairs to be computed for a tile."""
        rows, columns = tile.shape
        return rows * columns - rows * (rows - 1) // 2 if self.upper else rows * columns

    @property
    def total_pairs(self) -> int:
        """Pairs of the whole matrix."""
        n, m = self.shape
        return n * (n + 1) // 2 if self.upper else n * m


def row_batches(rows: range, order: Index, size: int, *, upper: bool) -> Iterator[RowBatch]:
    """Some rows against the columns in ``order``, or those from the diagonal on."""
    for i in rows:
        columns = order[order >= i] if upper else order
        pieces = max(1, -(-columns.size // size))
        for j in np.array_split(columns, pieces):
            if j.size:
                yield RowBatch(i, j)


def support_order(family: Any) -> Index:
    """An order of the rows of a (dense or sparse) family in which neighbours share their bins.

    Rows are sorted along a space-filling walk of their supports: by the leading components of the
    matrix of supports, halved again and again. Families of full support keep their order.
    """
    supports = _supports(family)
    if supports is None:
        return np.arange(family.shape[0])
    return _halved(np.arange(len(supports)), supports)


def _supports(family: Any) -> npt.NDArray[np.float32] | None:
    """Rows' supports projected on a few directions, or None when every bin is occupied."""
    n, d = family.shape
    bands = [slice(start, start + _BAND_ROWS) for start in range(0, n, _BAND_ROWS)]
    if n < 3 or sum(_occupied(family, band).sum() for band in bands) == n * d:
        return None
    directions = np.random.default_rng(0).standard_normal((d, min(12, d))).astype(np.float32)
    scores = np.empty((n, min(12, d)), np.float32)
    # Two steps of subspace iteration are enough to find the directions in which supports differ.
    for _ in range(2):
        _project(family, bands, directions, scores)
        directions, _ = np.linalg.qr(sum(_occupied(family, b).T @ scores[b] for b in bands))
    _project(family, bands, directions, scores)
    return scores


def _project(family: Any, bands: list[slice], directions: Any, scores: Any) -> None:
    """Supports along directions, centred."""
    for band in bands:
        scores[band] = _occupied(family, band) @ directions
    scores -= scores.mean(axis=0)


def _occupied(family: Any, band: slice) -> Any:
    """Ones where some rows have mass, else zeros; sparse where the family is."""
    return (family[band] != 0).astype(np.float32)


def _halved(index: Index, scores: npt.NDArray[np.float32], smallest: int = 64) -> Index:
    """Split along the direction of largest spread until pieces are small; the pieces in order."""
    if index.size <= smallest:
        return index
    part = scores[index]
    along = part[:, int(np.argmax(part.var(axis=0)))]
    ranked = index[np.argsort(along, kind="stable")]
    middle = ranked.size // 2
    return np.concatenate(
        [_halved(ranked[:middle], scores, smallest), _halved(ranked[middle:], scores, smallest)]
    )
