"""Knowing histograms and costs again: digests of their content, and numbers for equal rows.

Stores and caches tell inputs apart by these; nothing here knows what is computed from them.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.inputs.histograms import Histograms

__all__ = ["family_fingerprint", "identities", "matrix_fingerprint"]

Array = npt.NDArray[Any]


def family_fingerprint(family: Histograms) -> str:
    """A number that two families share only if they are the same, to the bit."""
    rows = family.rows
    if isinstance(rows, np.ndarray):
        arrays = [rows]
    else:  # the type of indices is SciPy's choice
        arrays = [rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data]
    return _digest(arrays, f"{rows.shape} {rows.dtype}")


def matrix_fingerprint(matrix: Array) -> str:
    """The same for costs between bins."""
    return _digest([matrix], str(matrix.shape))


def identities(A: Histograms, B: Histograms) -> tuple[Array, Array]:
    """A number for each row of two families; equal rows have equal numbers."""
    numbers: dict[bytes, int] = {}

    def number(family: Histograms, k: int) -> int:
        row = family.dense(np.array([k])) + 0.0  # -0.0 is 0.0
        return numbers.setdefault(row.tobytes(), len(numbers))

    first = np.array([number(A, k) for k in range(A.n)], int)
    if A is B:
        return first, first
    return first, np.array([number(B, k) for k in range(B.n)], int)


def _digest(arrays: list[Any], about: str) -> str:
    """A digest of arrays and of what they are."""
    digest = hashlib.sha256(about.encode())
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data if array.size else b"")
    return digest.hexdigest()
