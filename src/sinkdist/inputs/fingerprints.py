"""Fingerprints: digests that two inputs share only if they are the same, to the bit."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.inputs.histograms import Histograms

__all__ = ["digest", "fingerprint", "identities"]

Array = npt.NDArray[Any]


def fingerprint(family: Histograms) -> str:
    """The digest of a family of histograms."""
    rows = family.rows
    if isinstance(rows, np.ndarray):
        arrays = [rows]
    else:  # the type of indices is SciPy's choice
        arrays = [rows.indptr.astype(np.int64), rows.indices.astype(np.int64), rows.data]
    return digest(arrays, f"{rows.shape} {rows.dtype}")


def digest(arrays: list[Any], about: str) -> str:
    """A digest of arrays and of what they are."""
    found = hashlib.sha256(about.encode())
    for array in arrays:
        found.update(np.ascontiguousarray(array).data if array.size else b"")
    return found.hexdigest()


def identities(A: Histograms, B: Histograms) -> tuple[Array, Array]:
    """A number for each row of two families; equal rows have equal numbers."""
    numbers: dict[bytes, int] = {}

    def number(family: Histograms, k: int) -> int:
        row = family.dense(np.array([k])) + 0.0  # -0.0 is 0.0
        return numbers.setdefault(row.tobytes(), len(numbers))

    first = np.array([number(A, k) for k in range(A.n)], int)
    if A is B:
        return first, first
    if A.d != B.d:
        return np.arange(A.n), -1 - np.arange(B.n)
    return first, np.array([number(B, k) for k in range(B.n)], int)
