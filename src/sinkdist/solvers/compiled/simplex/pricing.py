"""Pricing: the least reduced cost of some rows, by vector minima over whole rows of costs.

The reduced cost of a move is ``C_ij - u_i - v_j``. Kernels keep ``w = -v``, so that ``C_ij + w_j``
is all that a loop over columns computes; ``u_i`` is taken off the minimum of a row. Four rows share
the loads of ``w``. Rows and columns are padded with `HUGE` costs to whole groups and vectors, and
nodes are numbered so that ``w`` begins at a cache line.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from sinkdist.kernels.compiled import FLOAT, INT, MATRIX, VECTOR, Array, one_version, part, shared
from sinkdist.kernels.minimum import lesser

__all__ = [
    "COLUMNS", "HUGE", "LINE", "ROWS", "SINGLE_MATRIX", "SINGLE_VECTOR", "best_move",
    "best_move_single", "padded", "row_minima",
]  # fmt: skip

HUGE = 1e30  #: the cost of padding, and of what is closed; costs are at most 1
SINGLE_MATRIX, SINGLE_VECTOR = types.float32[:, ::1], types.float32[::1]
ROWS, COLUMNS = 4, 32  #: multiples that rows and columns are padded to
LINE = 16  #: numbers in a cache line, at most: the multiple that columns are counted from


def padded(m: int, n: int) -> tuple[int, int]:
    """The shape of a padded block of costs.

    Examples
    --------
    >>> padded(5, 33)
    (16, 64)
    """
    return -(-m // LINE) * LINE, -(-n // COLUMNS) * COLUMNS


@part
def _row_minima(C: Array, w: Array, i: int, huge: Any) -> tuple[Any, Any, Any, Any]:
    """``min_j C[i + k, j] + w[j]`` for four rows."""
    s0 = s1 = s2 = s3 = huge
    for j in range(w.size):
        x = w[j]
        s0 = lesser(s0, C[i, j] + x)
        s1 = lesser(s1, C[i + 1, j] + x)
        s2 = lesser(s2, C[i + 2, j] + x)
        s3 = lesser(s3, C[i + 3, j] + x)
    return s0, s1, s2, s3


@part
def _best_row(C: Array, potential: Array, w: Array, i: int, huge: Any) -> tuple[int, Any, Any]:
    """Among four rows: the one of least reduced cost, its minimum, and the reduced cost."""
    s0, s1, s2, s3 = _row_minima(C, w, i, huge)
    row, least, best = i, s0, s0 - potential[i]
    if s1 - potential[i + 1] < best:
        row, least, best = i + 1, s1, s1 - potential[i + 1]
    if s2 - potential[i + 2] < best:
        row, least, best = i + 2, s2, s2 - potential[i + 2]
    if s3 - potential[i + 3] < best:
        row, least, best = i + 3, s3, s3 - potential[i + 3]
    return row, least, best


@shared(MATRIX, VECTOR, INT, FLOAT, allocates=False)
def best_move(C: Array, potential: Array, i: int, bound: float) -> tuple[int, int, float]:
    """The move of least reduced cost among four rows from ``i`` on: row, column, reduced cost.

    The column is -1 where no reduced cost is below ``bound``. Of equal columns it is the last.
    Padded rows are to have potentials that are no larger than costs.
    """
    one_version()
    w = potential[C.shape[0] : C.shape[0] + C.shape[1]]
    row, least, best = _best_row(C, potential, w, i, 4.0 * HUGE)
    column = -1
    if best < bound:
        for j in range(w.size):
            column = max(column, j if C[row, j] + w[j] <= least else -1)
    return row, column, best


@shared(SINGLE_MATRIX, SINGLE_VECTOR, INT, types.float32, allocates=False)
def best_move_single(C: Array, potential: Array, i: int, bound: Any) -> tuple[int, int, float]:
    """The same in single precision, with indices as short as the numbers."""
    one_version()
    w = potential[C.shape[0] : C.shape[0] + C.shape[1]]
    row, least, best = _best_row(C, potential, w, i, np.float32(4.0 * HUGE))
    none = column = np.int32(-1)
    if best < bound:
        for j in range(w.size):
            column = max(column, np.int32(j) if C[row, j] + w[j] <= least else none)
    return row, int(column), best


@shared(MATRIX, VECTOR, INT, VECTOR, allocates=False)
def row_minima(C: Array, w: Array, i: int, least: Array) -> None:
    """``least[k] = min_j C[i + k, j] + w[j]`` for four rows."""
    one_version()
    least[0], least[1], least[2], least[3] = _row_minima(C, w, i, 4.0 * HUGE)
