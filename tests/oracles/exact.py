"""Histograms as exact numbers, and the intervals that oracles answer with."""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np


@dataclass(frozen=True)
class Enclosure:
    """The truth lies between ``lower`` and ``upper``: fractions, or numbers that become one."""

    lower: Fraction
    upper: Fraction

    def meets(self, other):
        """Whether both may hold the same truth."""
        return self.lower <= other.upper and other.lower <= self.upper

    def cut(self, other):
        """What both allow; this one where the other has too few digits to meet it."""
        if not self.meets(other):
            return self
        return Enclosure(max(self.lower, other.lower), min(self.upper, other.upper))

    @property
    def width(self):
        return self.upper - self.lower


def normalised(values, negligible=0.0):
    """The histogram that some floats stand for: exact masses that sum to 1.

    Masses below ``negligible`` times the total count as zero.
    """
    exact = [Fraction(float(x)) for x in values]
    total, least = sum(exact), Fraction(negligible)
    kept = [x if x >= least * total else Fraction(0) for x in exact]
    total = sum(kept)
    return [x / total for x in kept]


def on_support(r, c, M):
    """Masses and costs on the bins with mass: two lists of fractions and an array."""
    rows = [i for i, x in enumerate(r) if x > 0]
    columns = [j for j, x in enumerate(c) if x > 0]
    costs = np.asarray(M, float)[np.ix_(rows, columns)]
    return [r[i] for i in rows], [c[j] for j in columns], costs


def mean_cost(r, c, M):
    """``r^T M c``, exactly."""
    r, c, M = on_support(r, c, M)
    return sum(
        a * sum(b * Fraction(x) for b, x in zip(c, row, strict=True))
        for a, row in zip(r, M.tolist(), strict=True)
    )
