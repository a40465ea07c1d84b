"""Blocks of a matrix on the bins with mass."""

from __future__ import annotations

from typing import Any

import numpy as np

from sinkdist.ground.operator import Array, Index

__all__ = ["block_of"]


def block_of(matrix: Array, rows: Index | None, columns: Index | None) -> Array:
    """The part of a matrix on the given bins; the matrix itself where that is all of it."""
    if rows is None and columns is None:
        return matrix
    from sinkdist.kernels.pair import gather  # Numba, on first use

    some: Any = np.arange(matrix.shape[0]) if rows is None else rows
    others: Any = np.arange(matrix.shape[1]) if columns is None else columns
    out = np.empty((some.size, others.size), matrix.dtype)
    gather(matrix, some, others, out)
    return out
