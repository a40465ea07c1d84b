"""Reading the records: counts of iterations, and errors, for each lambda and dimension."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sinkdist_paper.fig5.measuring import SIMPLEX
from sinkdist_paper.figure import Record, Records

__all__ = ["COVERED", "column", "covering", "dimensions", "of", "share_stopped", "strengths"]

Array = npt.NDArray[np.float64]

COVERED = 95  # per cent of the pairs that have to pass the test


def of(
    records: Records, on: str = SIMPLEX, lam: float | None = None, d: float | None = None
) -> list[Record]:
    """The records of one kind of pairs, at one lambda or dimension if these are given."""
    return [
        record
        for record in records
        if record["on"] == on and lam in (None, record["lam"]) and d in (None, record["d"])
    ]


def column(records: Records, name: str) -> Array:
    """A column as numbers, of the records that have it."""
    return np.array([float(record[name]) for record in records if name in record])


def strengths(records: Records) -> list[float]:
    """The values of lambda, in increasing order."""
    return sorted({float(record["lam"]) for record in records})


def dimensions(records: Records) -> list[int]:
    """The values of d, in increasing order."""
    return sorted({int(record["d"]) for record in records})


def share_stopped(records: Records) -> float:
    """The share of pairs that passed the test."""
    return float(column(records, "stopped").mean())


def covering(records: Records) -> float:
    """The number of iterations by which 95 % of the pairs pass the test."""
    return float(np.percentile(column(records, "iterations"), COVERED, method="higher"))
