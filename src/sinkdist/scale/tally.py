"""Counting how pairs ended, tile by tile: what is left of statuses and errors when tiles are gone.

A matrix of 10^8 pairs cannot keep two more arrays only to say at the end how many fell short.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Tally"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Tally:
    """How many pairs ended with each status code, and the largest error among them.

    Attributes
    ----------
    counts : dict of int to int
        Pairs by status code; codes that did not occur are absent.
    worst : dict of int to float
        The largest error by status code; NaN where none was measured.

    Examples
    --------
    >>> Tally.of(np.array([0, 0, 1]), np.array([1e-9, 1e-8, 0.5])) + Tally({1: 2}, {1: 0.25})
    Tally(counts={0: 2, 1: 3}, worst={0: 1e-08, 1: 0.5})
    """

    counts: dict[int, int]
    worst: dict[int, float]

    @classmethod
    def of(cls, status: Array, error: Array) -> Tally:
        """Count arrays of one entry per pair."""
        counts: dict[int, int] = {}
        worst: dict[int, float] = {}
        for code in np.unique(status).tolist():
            chosen = error[status == code]
            counts[code] = chosen.size
            worst[code] = float(np.fmax.reduce(chosen, axis=None, initial=np.nan))
        return cls(counts, worst)

    def __add__(self, other: Tally) -> Tally:
        codes = sorted({*self.counts, *other.counts})
        return Tally(
            {code: self.counts.get(code, 0) + other.counts.get(code, 0) for code in codes},
            {code: _larger(self.worst.get(code), other.worst.get(code)) for code in codes},
        )

    def count(self, codes: tuple[int, ...]) -> int:
        """Pairs with one of these statuses."""
        return sum(self.counts.get(code, 0) for code in codes)


def _larger(first: float | None, second: float | None) -> float:
    """The larger of two errors, as far as they are known."""
    return float(
        np.fmax(math.nan if first is None else first, math.nan if second is None else second)
    )
