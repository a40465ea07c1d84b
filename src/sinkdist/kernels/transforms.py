"""Two transforms of potentials, for one histogram against many in compressed rows.

The mass that two histograms share stays where it is, so that both transforms are minima over few
bins; see `search.transforms` for what that proves. Loops run over the bins of the query, whose
costs to a bin of a candidate lie side by side.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.minimum import lesser

__all__ = ["beside_diagonal", "transposed", "two_transforms"]

HUGE = np.float32(1e38)


@compiled
def transposed(costs: Array, T: Array) -> None:
    """Costs transposed in single precision; what is behind the last row stays."""
    m, n = costs.shape
    for j in range(n):
        for i in range(m):
            T[j, i] = costs[i, j]


@compiled
def beside_diagonal(M: Array, f: Array, g: Array) -> None:
    """``g_j = min_i M_ij - f_i`` over the rows ``i != j``, for the columns that are rows as well.

    Of one row, the only column stays as it is.
    """
    m = f.size
    if m == 1:
        return
    for j in range(m):
        g[j] = np.inf
    for i in range(m):
        line, x, before = M[i], f[i], g[i]
        for j in range(m):
            g[j] = lesser(g[j], line[j] - x)
        g[i] = before


@compiled
def two_transforms(
    T: Array, r: Array, start: Array, bins: Array, mass: Array, label: Array, index: Array,
    G: Array, margins: Array, enough: float, left: Array, moving: Array, excess: Array,
    least: Array, bound: Array,
) -> None:  # fmt: skip
    """Raise ``bound_k`` to what potentials and their transforms prove for histogram ``index_k``.

    Parameters
    ----------
    T : ndarray of float32, shape (columns, width)
        Costs, a metric: from each column to the bins with mass of the query, filled up with any
        numbers to whole vectors. The first columns are the bins of the query.
    r : ndarray
        Masses of the query.
    start, bins, mass : ndarray
        The others in compressed rows.
    label : ndarray of int
        The column of every bin.
    G, margins : ndarray, shapes (potentials, columns) and (potentials,)
        Any potentials, of float32, and what is taken off the bound of each.
    enough : float
        A bound above this need not be raised further.
    left, moving, excess, least : ndarray
        Scratch: as long as ``r``; as the longest row, integers and numbers; of float32, a width.
    """
    own, width = r.size, least.size
    for k in range(index.size):
        for p in range(own):
            left[p] = r[p]
        count = 0
        for e in range(start[index[k]], start[index[k] + 1]):
            j, more = label[bins[e]], mass[e]
            if j < own:
                more -= r[j]
                left[j] = max(-more, 0.0)
            if more > 0.0:
                moving[count], excess[count] = j, more
                count += 1
        if count == 0:
            continue
        best = bound[k]
        for q in range(margins.size):
            g, total = G[q], 0.0
            for p in range(width):
                least[p] = HUGE
            for a in range(0, count, 4):  # what is left over is looked at more than once
                j, k1 = moving[a], moving[min(a + 1, count - 1)]
                k2, k3 = moving[min(a + 2, count - 1)], moving[min(a + 3, count - 1)]
                x0, x1, x2, x3 = g[j], g[k1], g[k2], g[k3]
                t0, t1, t2, t3 = T[j], T[k1], T[k2], T[k3]
                for p in range(width):
                    least[p] = lesser(
                        lesser(least[p], t0[p] - x0),
                        lesser(lesser(t1[p] - x1, t2[p] - x2), t3[p] - x3),
                    )
            for a in range(count):
                total += excess[a] * g[moving[a]]
            for p in range(own):
                total += left[p] * least[p]
            best = max(best, total - margins[q])
            if best > enough:
                break
        bound[k] = best
