"""The bins that some compressed rows use, numbered anew; rows and costs on these numbers.

The bins of a query come first, in their order, so that a bin has one number on both sides.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array, compiled

__all__ = ["costs_between", "number_columns", "renumber_rows"]

UNUSED, MET = -2, -1
ONE = np.uint64(1)  #: unsigned numbers count no entries from the end of an array


@compiled
def number_columns(
    start: Array, bins: Array, index: Array, own: Array, label: Array, columns: Array
) -> int:
    """Number the bins ``own`` and those of the rows ``index``; how many there are.

    Parameters
    ----------
    own : ndarray of int
        Bins that come first.
    label, columns : ndarray of int, shape (d,)
        Out: the number of every bin, negative for unused ones; and the bin of every number.
    """
    for j in range(label.size):
        label[j] = UNUSED
    for i in range(own.size):
        label[own[i]], columns[i] = i, own[i]
    for k in range(index.size):
        row = np.uint64(index[k])
        for e in range(np.uint64(start[row]), np.uint64(start[row + ONE])):
            b = np.uint64(bins[e])
            if label[b] == UNUSED:
                label[b] = MET
    count = own.size
    for j in range(label.size):
        if label[j] == MET:
            label[j], columns[count] = count, j
            count += 1
    return count


@compiled
def renumber_rows(
    start: Array, bins: Array, mass: Array, index: Array, label: Array, own: int, new_start: Array,
    new_bins: Array, new_mass: Array,
) -> None:  # fmt: skip
    """Copy some rows with numbers for bins, sorted: those below ``own`` come before the others."""
    at = 0
    for k in range(index.size):
        new_start[k], row = at, np.uint64(index[k])
        for later in range(2):
            for e in range(np.uint64(start[row]), np.uint64(start[row + ONE])):
                j = label[np.uint64(bins[e])]
                if (j >= own) == (later == 1):
                    new_bins[at], new_mass[at] = j, mass[e]
                    at += 1
    new_start[index.size] = at


@compiled
def costs_between(M: Array, rows: Array, columns: Array, costs: Array) -> None:
    """``costs_ij = M[rows_i, columns_j]``.

    Four rows at once, so that the processor waits for several lines of ``M`` at a time.
    """
    last = rows.size - 1
    for i in range(0, rows.size, 4):
        i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
        line0, line1, line2, line3 = M[rows[i]], M[rows[i1]], M[rows[i2]], M[rows[i3]]
        part0, part1, part2, part3 = costs[i], costs[i1], costs[i2], costs[i3]
        for j in range(columns.size):
            b = np.uint64(columns[j])
            part0[j], part1[j], part2[j], part3[j] = line0[b], line1[b], line2[b], line3[b]
