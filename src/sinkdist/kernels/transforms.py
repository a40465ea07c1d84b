"""Two transforms of a potential, for one histogram against many in compressed rows.

The mass that two histograms share stays where it is, so that both transforms are minima over few
bins; see `search.transforms` for what that proves. Loops run over the bins of the query, whose
costs to a bin of a candidate lie side by side.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.minimum import lesser

__all__ = ["two_transforms"]

HUGE = np.float32(1e38)


@compiled
def two_transforms(
    T: Array, rows: Array, r: Array, start: Array, bins: Array, mass: Array, index: Array,
    g: Array, margin: float, here: Array, there: Array, least: Array, bound: Array,
) -> None:  # fmt: skip
    """Raise ``bound_k`` to what ``g`` and its transform prove for histogram ``index_k``.

    Parameters
    ----------
    T : ndarray of float32, shape (d, width)
        Costs, a metric: from each bin to the bins with mass of the query, filled up with any
        numbers to whole vectors.
    rows, r : ndarray
        These bins, and their masses.
    start, bins, mass : ndarray
        The others in compressed rows.
    g : ndarray, shape (d,)
        Any potential.
    margin : float
        Taken off every bound.
    here : ndarray, shape (d,)
        The query on all bins.
    there, least : ndarray, shapes (d,) and (width,), the second of float32
        Scratch; ``there`` is zero, and is left so.
    """
    for k in range(index.size):
        begin, end = start[index[k]], start[index[k] + 1]
        for p in range(least.size):
            least[p] = HUGE
        total, moves = 0.0, False
        for e in range(begin, end):
            j = bins[e]
            there[j] = mass[e]
            more = mass[e] - here[j]
            if more > 0.0:
                moves, potential, line = True, np.float32(g[j]), T[j]
                total += more * potential
                for p in range(least.size):
                    least[p] = lesser(least[p], line[p] - potential)
        if moves:
            for p in range(rows.size):
                total += max(r[p] - there[rows[p]], 0.0) * least[p]
            bound[k] = max(bound[k], total - margin)
        for e in range(begin, end):
            there[bins[e]] = 0.0
