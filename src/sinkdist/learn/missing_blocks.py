"""What is missing in a matrix, as few blocks: distances are solved by families, not one by one.

Folds leave blocks behind: rows of one fold miss the same columns. Rows are grouped by what they
miss, so every block is full of gaps and no pair is solved for nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["rectangles", "triangles"]

Index: TypeAlias = npt.NDArray[np.intp]
Mask: TypeAlias = npt.NDArray[np.bool_]


def rectangles(missing: Mask) -> Iterator[tuple[Index, Index]]:
    """Rows and columns of blocks that hold every gap once, and nothing else.

    Examples
    --------
    >>> [(r.tolist(), c.tolist()) for r, c in rectangles(np.array([[0, 1], [1, 1], [0, 1]]) > 0)]
    [([0, 2], [1]), ([1], [0, 1])]
    """
    for rows in _alike(missing):
        columns = np.flatnonzero(missing[rows[0]])
        if columns.size:
            yield rows, columns


def triangles(missing: Mask) -> Iterator[tuple[Index, Index | None]]:
    """The same for a symmetric matrix of gaps, each pair once; no columns for a block with itself.

    Examples
    --------
    >>> [(r.tolist(), c if c is None else c.tolist()) for r, c in triangles(np.ones((2, 2)) > 0)]
    [([0, 1], None)]
    """
    done = np.zeros(len(missing), bool)
    for rows in _alike(missing):
        wanted = missing[rows[0]]
        if wanted[rows[0]]:  # rows that are alike miss one another all or not at all
            yield rows, None
        done[rows] = True
        columns = np.flatnonzero(wanted & ~done)
        if columns.size:
            yield rows, columns


def _alike(missing: Mask) -> list[Index]:
    """Rows grouped by what they miss."""
    groups: dict[bytes, list[int]] = {}
    for k, pattern in enumerate(np.packbits(missing, axis=1)):
        groups.setdefault(pattern.tobytes(), []).append(k)
    return [np.array(group, np.intp) for group in groups.values()]
