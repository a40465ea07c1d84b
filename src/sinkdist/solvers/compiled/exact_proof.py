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
    """The cost of a plan and of mending it by way of its largest move, as `misfit` says.

    Infinite where no move is large enough.
    """
    rows, columns, mass = plan.rows, plan.columns, plan.mass
    largest = int(mass.argmax())
    i, j = int(rows[largest]), int(columns[largest])
    x, too_much_in_rows = _misfit(r, rows, mass)
    y, too_much_in_columns = _misfit(c, columns, mass)
    np.add.at(x, rows, mass * too_much_in_columns[columns])
    np.add.at(y, columns, mass * too_much_in_rows[rows])
    if mass[largest] <= 2.0 * (x.sum() + y.sum()):
        return math.inf
    cost = math.fsum((mass * M[rows, columns]).tolist())
    detour = x @ M[:, j] + M[i] @ y
    return cost * (1.0 + 4.0 * _EPS) + float(detour) * (1.0 + 1e-12)


def _misfit(mass: Array, bins: Array, moved: Array) -> tuple[Array, Array]:
    """What bins of one side lack, and the part of their sums that is too much.

    With the last digit of a bin's mass, by which a sum that is not quite 1 puts it off.
    """
    parts = [[x] for x in (-mass).tolist()]
    for b, x in zip(bins.tolist(), moved.tolist(), strict=True):
        parts[b].append(x)
    over = np.asarray([math.fsum(part) for part in parts])
    slack = (abs(math.fsum([-1.0, *mass.tolist()])) + _EPS) * mass
    sums = over + mass
    held = sums > 0.0
    part = np.divide(np.maximum(over, 0.0) + slack, sums, out=np.zeros_like(sums), where=held)
    return np.maximum(-over, 0.0) + slack, part
