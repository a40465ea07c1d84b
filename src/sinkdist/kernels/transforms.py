"""Two transforms of a potential, for one histogram against many in compressed rows.

The mass that two histograms share stays where it is, so that both transforms are minima over few
bins; see `search.transforms` for what that proves.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array, compiled

__all__ = ["two_transforms"]


@compiled
def two_transforms(
    M: Array, rows: Array, r: Array, start: Array, bins: Array, mass: Array, index: Array,
    g: Array, margin: float, here: Array, there: Array, columns: Array, left: Array, bound: Array,
) -> None:  # fmt: skip
    """Raise ``bound_k`` to what ``g`` and its transform prove for histogram ``index_k``.

    Parameters
    ----------
    M : ndarray
        All costs, a metric.
    rows, r : ndarray
        The bins with mass of the query, and their masses.
    start, bins, mass : ndarray
        The others in compressed rows.
    g : ndarray, shape (d,)
        Any potential.
    margin : float
        Taken off every bound.
    here : ndarray, shape (d,)
        The query on all bins.
    there, columns, left : ndarray, shape (d,)
        Scratch; ``there`` is zero, and is left so.
    """
    for k in range(index.size):
        begin, end = start[index[k]], start[index[k] + 1]
        count, total, other = 0, 0.0, 0.0
        for e in range(begin, end):
            j = bins[e]
            there[j] = mass[e]
            more = mass[e] - here[j]
            if more > 0.0:
                columns[count], left[count] = j, g[j]
                total += more * g[j]
                count += 1
        if count > 0:
            for p in range(rows.size):
                more = r[p] - there[rows[p]]
                if more > 0.0:
                    line, least, nearest = M[rows[p]], np.inf, np.inf
                    for q in range(count):
                        cost = line[columns[q]]
                        nearest = min(nearest, cost)
                        least = min(least, cost - left[q])
                    total += more * least
                    other += more * nearest
            bound[k] = max(bound[k], max(total, other) - margin)
        for e in range(begin, end):
            there[bins[e]] = 0.0
