"""Bounds on the exact distance by sums that are right to the last digit.

The bounds that compiled code takes allow for the rounding of sums of many terms, which is as many
times larger as there are terms. Here sums are exact before they are rounded (`math.fsum`), so that
only the rounding of terms counts. Slower, and tried where more has to be proven.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import Array
from sinkdist.solution.plans import SparsePlan

__all__ = ["lower_bound", "upper_bound"]

_EPS = 2.0**-53


def lower_bound(M: Array, r: Array, c: Array, f: Array) -> float:
    """What a potential of the rows proves; infinite entries are those of bins without mass."""
    rows, columns = np.flatnonzero(r), np.flatnonzero(c)
    r, c, f = r[rows], c[columns], f[rows]
    f = f - f @ r
    g = (M[np.ix_(rows, columns)] - f[:, None]).min(axis=0)
    # Terms, the c-transform, and sums of masses that are not quite 1 are each off by their last
    # digit; a constant moves from one side to the other, so that what is off is small.
    shift = 0.5 * float(f @ r - g @ c)
    sizes = r @ np.abs(f) + c @ np.abs(g) + r @ np.abs(f - shift) + c @ np.abs(g + shift)
    total = math.fsum([*(r * f).tolist(), *(c * g).tolist()])
    return total - 4.0 * _EPS * float(sizes)


def upper_bound(M: Array, r: Array, c: Array, plan: SparsePlan) -> float:
    """The cost of a plan and of mending it by way of its largest move.

    Infinite where no move is large enough.
    """
    largest = int(plan.mass.argmax())
    i, j = int(plan.rows[largest]), int(plan.columns[largest])
    off = _missing(r, plan.rows, plan.mass), _missing(c, plan.columns, plan.mass)
    if plan.mass[largest] <= 2.0 * (off[0].sum() + off[1].sum()):
        return math.inf
    cost = math.fsum((plan.mass * M[plan.rows, plan.columns]).tolist())
    detour = off[0] @ M[:, j] + M[i] @ off[1]
    return cost * (1.0 + 4.0 * _EPS) + float(detour) * (1.0 + 1e-12)


def _missing(mass: Array, bins: Array, moved: Array) -> Array:
    """By how much the moves of every bin sum to too much or too little.

    With the last digit of its mass, by which a sum that is not quite 1 puts it off.
    """
    parts = [[x] for x in (-mass).tolist()]
    for b, x in zip(bins.tolist(), moved.tolist(), strict=True):
        parts[b].append(x)
    off = np.abs([math.fsum(part) for part in parts])
    excess = abs(math.fsum([-1.0, *mass.tolist()]))
    return np.asarray(off + (excess + _EPS) * mass)
