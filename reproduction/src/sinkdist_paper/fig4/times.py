"""Reading the records: mean times of each contestant at each dimension."""

from __future__ import annotations

import math

import numpy as np

from sinkdist_paper.fig4.measuring import TIMED
from sinkdist_paper.figure import Record, Records

__all__ = ["Times", "dimensions", "last_common", "of", "state", "times_of"]

#: Mean seconds by solver, lambda and dimension.
Times = dict[tuple[str, float, int], float]


def of(records: Records, solver: str, lam: float = math.inf, d: int | None = None) -> list[Record]:
    """The records of one contestant, at one dimension if it is given."""
    return [
        record
        for record in records
        if record["solver"] == solver and record["lam"] == lam and d in (None, record["d"])
    ]


def times_of(records: Records) -> Times:
    """Mean seconds per distance."""
    taken: dict[tuple[str, float, int], list[float]] = {}
    for record in records:
        if record["state"] == TIMED:
            name = str(record["solver"]), float(record["lam"]), int(record["d"])
            taken.setdefault(name, []).append(float(record["seconds"]))
    return {name: float(np.mean(seconds)) for name, seconds in taken.items()}


def dimensions(records: Records) -> list[int]:
    """The values of d, in increasing order."""
    return sorted({int(record["d"]) for record in records})


def last_common(times: Times, *contestants: tuple[str, float]) -> int | None:
    """The largest dimension at which all of these were timed."""
    timed = [{d for name, lam, d in times if (name, lam) == one} for one in contestants]
    common = set.intersection(*timed) if timed else set()
    return max(common, default=None)


def state(records: Records, solver: str, d: int) -> str:
    """Why an exact solver was not timed at a dimension."""
    return next((str(record["state"]) for record in of(records, solver, d=d)), "-")
