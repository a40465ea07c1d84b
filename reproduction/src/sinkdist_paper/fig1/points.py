"""Reading the records: kinds of points, their columns, and their places in the drawing."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sinkdist_paper.fig1.measuring import BASIS, POINTS, C, R
from sinkdist_paper.figure import Record, Records

__all__ = ["column", "of", "places"]

Array = npt.NDArray[np.float64]


def of(records: Records, what: str, radius: float | None = None) -> list[Record]:
    """The records of one kind."""
    return [
        record
        for record in records
        if record["what"] == what and radius in (None, record["radius"])
    ]


def column(records: Records, name: str) -> Array:
    """A column as numbers."""
    return np.array([float(record[name]) for record in records])


def places(records: Records) -> Array:
    """Points in the plane of the drawing, r c^T at its origin; shape (2, n)."""
    rows = np.array([column(records, name) for name in POINTS])
    return np.asarray(BASIS @ (rows - (R[0] * C)[:, None]))
