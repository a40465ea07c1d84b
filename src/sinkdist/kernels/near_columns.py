"""The bins that some compressed rows use, numbered anew; rows and costs on these numbers.

The bins of a query come first, in their order, so that a bin has one number on both sides.
"""

from __future__ import annotations

from sinkdist.kernels.compiled import Array, compiled

__all__ = ["costs_between", "number_columns", "renumber_rows"]

UNUSED, MET = -2, -1


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
        for e in range(start[index[k]], start[index[k] + 1]):
            if label[bins[e]] == UNUSED:
                label[bins[e]] = MET
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
        new_start[k] = at
        for later in range(2):
            for e in range(start[index[k]], start[index[k] + 1]):
                j = label[bins[e]]
                if (j >= own) == (later == 1):
                    new_bins[at], new_mass[at] = j, mass[e]
                    at += 1
    new_start[index.size] = at


@compiled
def costs_between(M: Array, rows: Array, columns: Array, costs: Array) -> None:
    """``costs_ij = M[rows_i, columns_j]``."""
    for i in range(rows.size):
        line, part = M[rows[i]], costs[i]
        for j in range(columns.size):
            part[j] = line[columns[j]]
