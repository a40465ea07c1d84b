"""Relaxed transport to many histograms in compressed rows: every unit of mass takes its cheapest
way, whatever the other units do; see `search.relaxed` for what that proves.

Single precision: the caller takes off a margin for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.minimum import lesser
from sinkdist.kernels.vectors import HUGE, Vectors, over_rows

__all__ = ["least_costs", "relaxed_alone", "relaxed_transport"]

SINGLE: Any = np.float32
NOTHING: Any = np.float32(0.0)
COLUMNS = 2048  #: whose costs are looked at together


def _pay(vectors: Vectors, held: Any, row: list[Any], mass: Any) -> Any:
    """``held - min(free - mass, 0) pays``."""
    pays, free = row
    beyond = vectors.lesser(vectors.minus(free, mass), vectors.number(0.0))
    return vectors.minus(held, vectors.times(beyond, pays))


def _pay_in_python(table: Array, at: Array, mass: Array, count: int, out: Array) -> None:
    pays, free = table[at[:count], : out.size], table[at[:count], out.size :]
    out[:] = (np.maximum(mass[:count, None] - free, NOTHING) * pays).sum(axis=0)


_paid = over_rows(_pay, 0.0, 2, _pay_in_python)


@compiled
def least_costs(M: Array, rows: Array, own: Array, out: Array) -> None:
    """``out_j = min_i M_ij`` over some rows, without the entries in columns ``own_i``; 0 where
    nothing is left.

    Parameters
    ----------
    rows : ndarray of int
        The rows of ``M``.
    own : ndarray of int
        For each of them the column that it leaves out; -1 for none.
    out : ndarray of float32
    """
    for first in range(0, out.size, COLUMNS):
        part = out[first : first + COLUMNS]
        for j in range(part.size):
            part[j] = HUGE
        for i in range(rows.size):
            line, at = M[rows[i], first : first + COLUMNS], own[i] - first
            inside = at >= 0 and at < part.size
            before = part[at] if inside else NOTHING
            for j in range(part.size):
                part[j] = lesser(part[j], SINGLE(line[j]))
            if inside:
                part[at] = before
        for j in range(part.size):
            part[j] = NOTHING if part[j] >= HUGE else part[j]


@compiled
def relaxed_alone(
    start: Array, bins: Array, mass: Array, pays: Array, free: Array, margin: float, out: Array
) -> None:
    """``out_k = max(sum_j max(c_kj - free_j, 0) pays_j - margin, 0)`` for all rows ``c_k``.

    Parameters
    ----------
    start, bins, mass : ndarray
        Compressed rows, masses of float32.
    pays, free : ndarray of float32, shape (d,)
        For every bin: what a unit of mass pays, and how much need not pay.
    out : ndarray of float64, shape (n,)
    """
    for k in range(out.size):
        total = NOTHING
        some, masses = bins[start[k] : start[k + 1]], mass[start[k] : start[k + 1]]
        for e in range(some.size):
            j = some[e]
            total -= lesser(free[j] - masses[e], NOTHING) * pays[j]
        out[k] = max(total - margin, 0.0)


@compiled
def relaxed_transport(
    start: Array, bins: Array, mass: Array, table: Array, margins: Array, sums: Array, out: Array
) -> None:
    """The same for some queries.

    Parameters
    ----------
    table : ndarray of float32, shape (d, 2 LANES)
        For every bin: what each query pays, and then how much need not pay.
    margins : ndarray, shape (queries,)
        What is taken off.
    sums : ndarray of float32, shape (LANES,)
        Scratch.
    out : ndarray of float64, shape (queries, n)
    """
    for k in range(out.shape[1]):
        a, b = start[k], start[k + 1]
        _paid(table, bins[a:b], mass[a:b], b - a, sums)
        for q in range(out.shape[0]):
            out[q, k] = max(sums[q] - margins[q], 0.0)
