"""Cutting pairs into tiles: one row of the first family against some rows of the second.

A tile shares its first histogram, so its kernel is cut to that histogram's bins once; the second
ones are taken in an order that puts similar supports together, so that few bins are computed in
vain.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Fan", "fans", "support_order"]

Index = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Fan:
    """Row ``i`` of the first family against the rows ``j`` of the second."""

    i: int
    j: Index


def fans(rows: int, order: Index, size: int, *, upper: bool) -> Iterator[Fan]:
    """All pairs of two families, or the upper triangle of one, in tiles of ``size``."""
    for i in range(rows):
        columns = order[order >= i] if upper else order
        pieces = max(1, -(-columns.size // size))
        for j in np.array_split(columns, pieces):
            if j.size:
                yield Fan(i, j)


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
    occupied = family != 0
    stored = occupied.sum() if isinstance(occupied, np.ndarray) else occupied.nnz
    if n < 3 or stored == n * d:
        return None
    directions = np.random.default_rng(0).standard_normal((d, 12)).astype(np.float32)
    ones = occupied.astype(np.float32)
    # One step of subspace iteration is enough to find the directions in which supports differ.
    for _ in range(2):
        scores = ones @ directions
        scores -= scores.mean(axis=0)
        directions, _ = np.linalg.qr(ones.T @ scores)
    scores = ones @ directions
    return np.asarray(scores - scores.mean(axis=0), dtype=np.float32)


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
