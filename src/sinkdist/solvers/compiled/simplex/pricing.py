"""Pricing: the least reduced cost of some rows, by vector minima over whole rows of costs.

The reduced cost of a move is ``C_ij - u_i - v_j``. Kernels keep ``w = -v``, so that ``C_ij + w_j``
is all that a loop over columns computes; ``u_i`` is taken off the minimum of a row. Four rows share
the loads of ``w``. Rows and columns are padded with `HUGE` costs to whole groups and vectors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from sinkdist.kernels.compiled import FLOAT, INT, MATRIX, VECTOR, Array, one_version, part, shared
from sinkdist.kernels.minimum import lesser

__all__ = [
    "COLUMNS", "HUGE", "ROWS", "SINGLE_MATRIX", "SINGLE_VECTOR", "column_of",
    "column_of_single", "padded", "row_minima", "row_minima_single", "row_minimum",
]  # fmt: skip

HUGE = 1e30  #: the cost of padding, and of what is closed; costs are at most 1
SINGLE_MATRIX, SINGLE_VECTOR = types.float32[:, ::1], types.float32[::1]
ROWS, COLUMNS = 4, 32  #: multiples that rows and columns are padded to


def padded(m: int, n: int) -> tuple[int, int]:
    """The shape of a padded block of costs.

    Examples
    --------
    >>> padded(5, 33)
    (8, 64)
    """
    return -(-m // ROWS) * ROWS, -(-n // COLUMNS) * COLUMNS


@part
def _row_minima(C: Array, w: Array, i: int, least: Array, huge: Any) -> None:
    c0, c1, c2, c3 = C[i], C[i + 1], C[i + 2], C[i + 3]
    s0 = s1 = s2 = s3 = huge
    for j in range(w.size):
        x = w[j]
        s0 = lesser(s0, c0[j] + x)
        s1 = lesser(s1, c1[j] + x)
        s2 = lesser(s2, c2[j] + x)
        s3 = lesser(s3, c3[j] + x)
    least[0], least[1], least[2], least[3] = s0, s1, s2, s3


@part
def _column_of(c: Array, w: Array, least: float) -> int:
    found = -1
    for j in range(w.size):
        found = max(found, j if c[j] + w[j] <= least else -1)
    return found


@shared(MATRIX, VECTOR, INT, VECTOR)
def row_minima(C: Array, w: Array, i: int, least: Array) -> None:
    """``least[k] = min_j C[i + k, j] + w[j]`` for four rows."""
    one_version()
    _row_minima(C, w, i, least, 4.0 * HUGE)


@shared(SINGLE_MATRIX, SINGLE_VECTOR, INT, SINGLE_VECTOR)
def row_minima_single(C: Array, w: Array, i: int, least: Array) -> None:
    """The same in single precision."""
    one_version()
    _row_minima(C, w, i, least, np.float32(4.0 * HUGE))


@shared(VECTOR, VECTOR)
def row_minimum(c: Array, w: Array) -> float:
    """``min_j c[j] + w[j]``."""
    one_version()
    s = 4.0 * HUGE
    for j in range(w.size):
        s = lesser(s, c[j] + w[j])
    return s


@shared(VECTOR, VECTOR, FLOAT)
def column_of(c: Array, w: Array, least: float) -> int:
    """The last ``j`` with ``c[j] + w[j] <= least``; -1 where there is none."""
    one_version()
    return _column_of(c, w, least)


@shared(SINGLE_VECTOR, SINGLE_VECTOR, types.float32)
def column_of_single(c: Array, w: Array, least: float) -> int:
    """The same in single precision."""
    one_version()
    return _column_of(c, w, least)
