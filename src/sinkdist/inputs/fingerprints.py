"""Fingerprints: digests that two inputs share only if they are the same, to the bit."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from sinkdist.inputs.histograms import Histograms

__all__ = ["digest", "fingerprint"]


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
