"""Relaxed transport to many histograms in compressed rows: every unit of mass takes its cheapest
way, whatever the other units do; see `search.relaxed` for what that proves.

Single precision: the caller takes off a margin for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.minimum import lesser

__all__ = ["HUGE", "LANES", "least_costs", "relaxed_alone", "relaxed_transport"]

NOTHING: Any = np.float32(0.0)
HUGE = 1e30  #: of no way at all
LANES = 16  #: queries that are served together, as single numbers of one vector
COLUMNS = 2048  #: whose costs are looked at together


@compiled
def least_costs(M: Array, rows: Array, own: Array, out: Array) -> None:
    """``out_j = min_i M_ij`` over some rows, without the entries in columns ``own_i``.

    Parameters
    ----------
    rows : ndarray of int
        The rows of ``M``.
    own : ndarray of int
        For each of them the column that it leaves out; -1 for none.
    """
    for first in range(0, out.size, COLUMNS):
        part = out[first : first + COLUMNS]
        for j in range(part.size):
            part[j] = HUGE
        for i in range(rows.size):
            line, at = M[rows[i], first : first + COLUMNS], own[i] - first
            inside = at >= 0 and at < part.size
            before = part[at] if inside else 0.0
            for j in range(part.size):
                part[j] = lesser(part[j], line[j])
            if inside:
                part[at] = before


@compiled
def relaxed_alone(
    start: Array, bins: Array, mass: Array, pays: Array, free: Array, out: Array
) -> None:
    """``out_k = sum_j max(c_kj - free_j, 0) pays_j`` for all rows ``c_k``: of one query.

    Parameters
    ----------
    start, bins, mass : ndarray
        Compressed rows.
    pays, free : ndarray of float32, shape (d,)
        For every bin: what a unit of mass pays, and how much need not pay.
    out : ndarray of float32, shape (n,)
    """
    for k in range(out.size):
        total = np.float32(0.0)
        some, masses = bins[start[k] : start[k + 1]], mass[start[k] : start[k + 1]]
        for e in range(some.size):
            j = some[e]
            total -= lesser(free[j] - np.float32(masses[e]), NOTHING) * pays[j]
        out[k] = total


@compiled
def relaxed_transport(
    start: Array, bins: Array, mass: Array, pays: Array, free: Array, sums: Array, out: Array
) -> None:
    """The same for some queries: tables have the shape (d, queries), ``out`` is (queries, n).

    ``sums`` is scratch, one for each query.
    """
    n = sums.size
    for k in range(out.shape[1]):
        for q in range(n):
            sums[q] = np.float32(0.0)
        for e in range(start[k], start[k + 1]):
            p, f, x = pays[bins[e]], free[bins[e]], np.float32(mass[e])
            for q in range(n):
                sums[q] -= lesser(f[q] - x, NOTHING) * p[q]
        for q in range(n):
            out[q, k] = sums[q]
