"""The first basis: moves in the order of their cost, each as far as it goes.

Costs are centred first, ``C_ij - (C b)_i - (a C)_j`` for masses ``a`` and ``b``, which takes a
fifth to a half off the pivots that follow. The cheapest move among open rows and columns is found
by the minima of rows, which are looked up again only when their column has been closed.

Masses are whole numbers, perturbed so that a row and a column are never used up together (Orden
1956): every step closes one of them, which becomes a child of the other, and the steps make a
spanning tree without edges of flow 0.
"""

from __future__ import annotations

import numpy as np
from numba import types

from sinkdist.kernels.compiled import INT, MATRIX, VECTOR, Array, one_version, shared
from sinkdist.kernels.minimum import lesser
from sinkdist.solvers.compiled.simplex.pricing import HUGE, column_of, row_minima, row_minimum
from sinkdist.solvers.compiled.simplex.tree import NODES, PARENT, WHOLE

__all__ = ["BITS", "take_cheapest", "whole_masses"]

BITS = 52  #: masses are rounded to this part of their sum, or less where flows would overflow


@shared(VECTOR, INT, INT, INT, WHOLE)
def whole_masses(mass: Array, scale: int, each: int, extra: int, out: Array) -> None:
    """Masses as positive whole numbers ``q`` of one sum, turned into ``q * scale + each``.

    The last one gets ``extra`` on top.
    """
    one_version()
    bits, count = BITS, mass.size
    while (np.int64(1) << (62 - bits)) <= scale:
        bits -= 1
    whole = np.int64(1) << bits
    total, top = 0.0, 0
    for k in range(count):
        total += mass[k]
        if mass[k] > mass[top]:
            top = k
    unit = float(whole) / total
    left = whole
    for k in range(count):
        out[k] = max(np.int64(mass[k] * unit + 0.5), np.int64(1))
        left -= out[k]
    out[top] += left
    for k in range(count):
        out[k] = out[k] * scale + each
    out[count - 1] += extra


@shared(MATRIX, INT, INT, VECTOR, WHOLE, VECTOR, NODES, types.uint32[::1], VECTOR)
def take_cheapest(
    C: Array, m: int, n: int, mass: Array, flow: Array, potential: Array, links: Array,
    order: Array, scratch: Array,
) -> int:  # fmt: skip
    """Parents and flows of the first basis; the root, a column.

    ``flow`` holds the whole masses of all nodes at first, and ``order`` gets the nodes in the order
    in which they are closed. ``potential`` is scratch as well: minima of rows, ``w`` of columns.
    """
    one_version()
    parent = links[PARENT]
    first, width = C.shape
    least, w = potential[:first], potential[first : first + width]
    centre, keys = scratch[:first], scratch[first : first + m]
    demand = mass[first : first + n]
    total = 0.0
    for i in range(m):
        total += mass[i]
    for j in range(width):
        w[j] = 0.0
    for i in range(m):
        c, share, mean = C[i], mass[i] / total, 0.0
        for j in range(n):
            mean += c[j] * demand[j]
            w[j] -= share * c[j]
        centre[i] = mean / total
    for j in range(n, width):
        w[j] = HUGE
    for i in range(0, first, 4):
        row_minima(C, w, i, least[i : i + 4])
    for i in range(m):
        keys[i] = least[i] - centre[i]
    steps, x = m + n - 1, 0
    for step in range(steps):
        while True:
            top = HUGE
            for k in range(m):
                top = lesser(top, keys[k])
            i = 0
            for k in range(m):
                i = max(i, k if keys[k] <= top else 0)
            j = column_of(C[i], w, least[i])
            if j >= 0:
                break
            least[i] = row_minimum(C[i], w)
            keys[i] = least[i] - centre[i]
        x = first + j
        if flow[i] < flow[x] or step == steps - 1:
            flow[x] -= flow[i]
            parent[i], order[step], keys[i] = x, i, HUGE
        else:
            flow[i] -= flow[x]
            parent[x], order[step], w[j] = i, x, HUGE
    return x
