"""Two transforms of potentials, for one histogram against many in compressed rows.

The mass that two histograms share stays where it is, so that both transforms are minima over few
bins; see `search.transforms` for what that proves. Costs from a bin of a candidate to those of the
query lie side by side. Numbers of bins and rows are taken as unsigned ones: none is counted from
the end of an array.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sinkdist.kernels.compiled import Array, compiled, part
from sinkdist.kernels.vectors import HUGE, Vectors, least_sums, over_rows

__all__ = [
    "UNUSED", "costs_to_query", "number_bins", "one_transform", "transform_all", "two_transforms",
]  # fmt: skip

NOTHING, ONE = np.float32(0.0), np.uint64(1)
UNUSED, MET = -2, -1  #: in place of the number of a bin


def _least(vectors: Vectors, held: Any, row: list[Any], shift: Any) -> Any:
    """``min(held, row + shift)``."""
    return vectors.lesser(held, vectors.plus(row[0], shift))


def _least_in_python(V: Array, at: Array, shift: Array, count: int, out: Array) -> None:
    out[:] = (V[at[:count]] + shift[:count, None]).min(axis=0, initial=HUGE)


def _sum(vectors: Vectors, held: Any, row: list[Any], weight: Any) -> Any:
    """``held + weight row``."""
    return vectors.plus(held, vectors.times(row[0], weight))


def _sum_in_python(V: Array, at: Array, weight: Array, count: int, out: Array) -> None:
    out[:] = weight[:count] @ V[at[:count]]


#: ``out_p = min_a V[at_a, p] + shift_a``, and ``sum_a weight_a V[at_a, q]``, over some ``a``.
least_of = over_rows(_least, HUGE, 1, _least_in_python)
sum_of = over_rows(_sum, 0.0, 1, _sum_in_python)


@compiled
def number_bins(
    start: Array, bins: Array, index: Array, count: int, label: Array, columns: Array
) -> int:
    """Number the bins of the rows ``index`` that have no number yet; how many have one then.

    Parameters
    ----------
    count : int
        How many bins have a number already.
    label, columns : ndarray of int, shape (d,)
        The number of every bin, `UNUSED` without one; and the bin of every number.
    """
    before = count
    for k in range(index.size):
        row = np.uint64(index[k])
        for e in range(np.uint64(start[row]), np.uint64(start[row + ONE])):
            b = np.uint64(bins[e])
            if label[b] == UNUSED:
                label[b] = MET
                count += 1
    if count > before:  # in order, so that costs are read in order
        at = before
        for j in range(label.size):
            if label[j] == MET:
                label[j], columns[at] = at, j
                at += 1
    return count


@compiled
def costs_to_query(M: Array, rows: Array, columns: Array, T: Array) -> None:
    """``T_ai = M[rows_i, columns_a]`` in single precision; finite numbers behind the last row."""
    last = rows.size - 1
    for i in range(0, T.shape[1], 4):
        line0, line1 = M[rows[min(i, last)]], M[rows[min(i + 1, last)]]
        line2, line3 = M[rows[min(i + 2, last)]], M[rows[min(i + 3, last)]]
        for a in range(columns.size):
            j, t = columns[a], T[a]
            t[i], t[i + 1], t[i + 2], t[i + 3] = line0[j], line1[j], line2[j], line3[j]


@part
def _what_moves(
    r: Array, own: int, start: Array, bins: Array, mass: Array, label: Array, k: int, left: Array,
    moving: Array, excess: Array,
) -> int:  # fmt: skip
    """The columns where row ``k`` has more than the query, and by how much; what the query has left
    on its bins; how many columns that are.
    """
    count = 0
    for p in range(own):
        left[p] = r[p]
    row = np.uint64(k)
    for e in range(np.uint64(start[row]), np.uint64(start[row + ONE])):
        j = np.uint64(label[np.uint64(bins[e])])
        more = mass[e] - r[j]
        left[j] = max(-more, 0.0)
        moving[count], excess[count] = j, more
        count += 1 if more > 0.0 else 0
    return count


@compiled
def transform_all(
    T: Array, r: Array, F: Array, G: Array, largest: Array, sums: Array
) -> None:  # fmt: skip
    """Centre potentials ``f_q``, and transform them at all columns: ``G_jq = min_i T_ji - f_qi``.

    Parameters
    ----------
    T : ndarray of float32, shape (columns, at least the bins of the query)
        Costs from each column to the bins of the query.
    r, F : ndarray, shapes (bins of the query,) and (potentials, bins of the query)
        Masses of the query, and its potentials.
    G : ndarray of float32, shape (columns + bins of the query, whole vectors)
        Out: side by side, the transforms, and behind them the potentials times -1.
    largest, sums : ndarray, shape (potentials,)
        Out: the largest number in each centred potential, and its sum over the masses, times -1.
    """
    own, columns = r.size, T.shape[0]
    for q in range(F.shape[0]):
        mean = top = total = 0.0
        for i in range(own):
            mean += r[i] * F[q, i]
        for i in range(own):
            x = F[q, i] - mean
            top, G[columns + i, q] = max(top, abs(x)), -x
            total += r[i] * G[columns + i, q]
        largest[q], sums[q] = top, total
    for i in range(own):
        for q in range(F.shape[0], G.shape[1]):
            G[columns + i, q] = NOTHING
    least_sums(T, G[columns:], G)


@compiled
def one_transform(
    T: Array, r: Array, start: Array, bins: Array, mass: Array, label: Array, index: Array,
    G: Array, own: int, margins: Array, at: Array, weight: Array, sums: Array, which: Array,
    bound: Array,
) -> None:  # fmt: skip
    """Raise ``bound_k`` to what potentials of the query prove for histogram ``index_k``.

    Parameters
    ----------
    T : ndarray of float32, shape (columns, width)
        Costs, a metric: from each column to the bins with mass of the query, filled up with any
        numbers to whole vectors. The first columns are the bins of the query, and have `HUGE`
        costs to themselves.
    r : ndarray, shape (columns,)
        Masses of the query, 0 on columns that are none of its bins.
    start, bins, mass : ndarray
        The others in compressed rows.
    label : ndarray of int
        The column of every bin.
    G : ndarray of float32, shape (columns + bins of the query, whole vectors)
        Transforms of potentials, side by side; behind them the potentials on the bins of the
        query, times -1.
    own : int
        The bins of the query.
    margins : ndarray, shape (potentials,)
        What is taken off the bound of each potential, with its sum over the masses of the query.
    at, weight, sums : ndarray
        Scratch: integers and float32, longer than twice the longest row; of float32, a row of
        ``G``.
    which : ndarray of int64, shape (kept,)
        Out: the potential that proves most for each histogram.
    """
    columns, inside = np.uint64(r.size), np.uint64(own)
    for k in range(index.size):
        row, count = np.uint64(index[k]), 0
        for e in range(np.uint64(start[row]), np.uint64(start[row + ONE])):
            j = np.uint64(label[np.uint64(bins[e])])
            more = mass[e] - r[j]
            at[count], weight[count] = j, more
            count += 1 if more > 0.0 else 0
            if j < inside:
                at[count], weight[count] = columns + j, min(mass[e], r[j])
                count += 1
        sum_of(G, at, weight, count, sums)
        most = sums[0] - margins[0]
        which[k] = 0
        for q in range(1, margins.size):
            if sums[q] - margins[q] > most:
                most, which[k] = sums[q] - margins[q], q
        bound[k] = max(bound[k], most)


@compiled
def two_transforms(
    T: Array, r: Array, start: Array, bins: Array, mass: Array, label: Array, index: Array,
    G: Array, own: int, margins: Array, which: Array, plain: float, enough: float, left: Array,
    moving: Array, excess: Array, shift: Array, least: Array, bound: Array,
) -> None:  # fmt: skip
    """The same by potentials and the transforms of their transforms.

    Parameters
    ----------
    margins : ndarray, shape (potentials,)
        What is taken off the bound of each potential.
    which : ndarray of int64
        The potential to begin with, for each histogram.
    plain : float
        What is taken off a bound without potentials, which is tried before; inf if it is not.
    enough : float
        A bound above this need not be raised further.
    left, moving, excess, shift, least : ndarray
        Scratch: as long as ``r``; longer than the longest row: integers, numbers and float32; of
        float32, a row of ``T``.
    """
    for k in range(index.size):
        if bound[k] > enough:
            continue
        count = _what_moves(r, own, start, bins, mass, label, index[k], left, moving, excess)
        if count == 0:
            continue
        best = bound[k]
        if plain < np.inf:
            for a in range(count):
                shift[a] = NOTHING
            least_of(T, moving, shift, count, least)
            total = 0.0
            for p in range(own):
                total += left[p] * least[p]
            best = max(best, total - plain)
        for turn in range(margins.size):
            if best > enough:
                break
            q, total = turn if turn > which[k] else turn - 1, 0.0
            if turn == 0:
                q = which[k]
            for a in range(count):
                x = G[np.uint64(moving[a]), np.uint64(q)]
                shift[a] = -x
                total += excess[a] * x
            least_of(T, moving, shift, count, least)
            for p in range(own):
                total += left[p] * least[p]
            best = max(best, total - margins[q])
        bound[k] = best
