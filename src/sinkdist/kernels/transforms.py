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


@compiled
def two_transforms(
    T: Array, rows: Array, r: Array, start: Array, bins: Array, mass: Array, index: Array,
    g: Array, margin: float, here: Array, there: Array, least: Array, nearest: Array, bound: Array,
) -> None:  # fmt: skip
    """Raise ``bound_k`` to what ``g`` and its transform prove for histogram ``index_k``.

    Parameters
    ----------
    T : ndarray, shape (d, m)
        Costs, a metric: from each bin to the ``m`` bins with mass of the query.
    rows, r : ndarray, shape (m,)
        These bins, and their masses.
    start, bins, mass : ndarray
        The others in compressed rows.
    g : ndarray, shape (d,)
        Any potential.
    margin : float
        Taken off every bound.
    here : ndarray, shape (d,)
        The query on all bins.
    there, least, nearest : ndarray, shapes (d,), (m,) and (m,)
        Scratch; ``there`` is zero, and is left so.
    """
    m = rows.size
    for k in range(index.size):
        begin, end = start[index[k]], start[index[k] + 1]
        for p in range(m):
            least[p], nearest[p] = np.inf, np.inf
        total, other, moves = 0.0, 0.0, False
        for e in range(begin, end):
            j = bins[e]
            there[j] = mass[e]
            more = mass[e] - here[j]
            if more > 0.0:
                moves, potential, line = True, g[j], T[j]
                total += more * potential
                for p in range(m):
                    least[p] = lesser(least[p], line[p] - potential)
                    nearest[p] = lesser(nearest[p], line[p])
        if moves:
            for p in range(m):
                more = r[p] - there[rows[p]]
                if more > 0.0:
                    total += more * least[p]
                    other += more * nearest[p]
            bound[k] = max(bound[k], max(total, other) - margin)
        for e in range(begin, end):
            there[bins[e]] = 0.0
