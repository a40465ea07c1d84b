"""The first basis: moves in the order of their cost, each as far as it goes.

Costs are centred first, ``C_ij - (C b)_i - (a C)_j`` for masses ``a`` and ``b``, which takes a
fifth to a half off the pivots that follow. The cheapest move among open rows and columns is found
by the minima of rows, which are looked up again only when their column has been closed. The place
of a minimum is kept in its last bits (`placed`).

Masses are whole numbers, perturbed so that a row and a column are never used up together (Orden
1956): every step closes one of them, which becomes a child of the other, and the steps make a
spanning tree without edges of flow 0.
"""

from __future__ import annotations

import numpy as np
from numba import types

from sinkdist.kernels.compiled import INT, MATRIX, VECTOR, Array, one_version, part, shared
from sinkdist.kernels.minimum import lesser, place_in, placed
from sinkdist.solvers.compiled.simplex.pricing import HUGE
from sinkdist.solvers.compiled.simplex.tree import NODES, PARENT, WHOLE

__all__ = ["BITS", "GROUP", "take_cheapest", "whole_masses"]

GROUP = 32  #: rows whose least key is kept, so that a change is not one of all rows
BITS = 52  #: masses are rounded to this part of their sum, or less where flows would overflow


@shared(VECTOR, INT, INT, INT, WHOLE, allocates=False)
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


@shared(MATRIX, INT, INT, VECTOR, WHOLE, VECTOR, NODES, types.uint32[::1], VECTOR, allocates=False)
def take_cheapest(
    C: Array, m: int, n: int, mass: Array, flow: Array, potential: Array, links: Array,
    order: Array, scratch: Array,
) -> int:  # fmt: skip
    """Parents and flows of the first basis; the root, a column.

    ``flow`` holds the whole masses of all nodes at first, and ``order`` gets the nodes in the order
    in which they are closed. ``potential`` is scratch as well: minima of rows, ``w`` of columns.
    """
    one_version()
    first, width = C.shape
    least, w, centre = potential[:first], potential[first : first + width], scratch[:first]
    keys = scratch[first : first + -(-m // GROUP) * GROUP]
    groups = scratch[2 * first + GROUP : 2 * first + GROUP + -(-m // GROUP)]
    mask = nothing = m - m
    while mask < max(first, width):
        mask = 2 * mask + 1
    _centre(C, m, n, mass, centre, w)
    for i in range(keys.size):
        keys[i] = 2.0 * HUGE
    for i in range(m):
        least[i] = _least(C, i, w, mask)
        keys[i] = placed(least[i] - centre[i], i, mask)
    for group in range(groups.size):
        groups[group] = _least_of(keys, group)
    steps, step, x = m + n - 1, nothing, nothing
    while step < steps:
        top = 4.0 * HUGE
        for group in range(groups.size):
            top = lesser(top, groups[group])
        i = place_in(top, mask)
        j = place_in(least[i], mask)
        if w[j] < HUGE:
            x = first + j
            if flow[i] < flow[x] or step == steps - 1:
                flow[x] -= flow[i]
                links[PARENT, i], order[step], keys[i] = x, i, 2.0 * HUGE
            else:
                flow[i] -= flow[x]
                links[PARENT, x], order[step], w[j] = i, x, HUGE
            step += 1
        if w[j] >= HUGE:
            least[i] = _least(C, i, w, mask)
            keys[i] = placed(least[i] - centre[i], i, mask)
        groups[i // GROUP] = _least_of(keys, i // GROUP)
    return x


@shared(MATRIX, INT, INT, VECTOR, VECTOR, VECTOR, allocates=False)
def _centre(C: Array, m: int, n: int, mass: Array, centre: Array, w: Array) -> None:
    """Mean costs of rows, and the negative ones of columns; `HUGE` for padding."""
    one_version()
    demand = mass[C.shape[0] : C.shape[0] + n]
    total = 0.0
    for i in range(m):
        total += mass[i]
    for j in range(w.size):
        w[j] = 0.0 if j < n else HUGE
    for i in range(m):
        share, mean = mass[i] / total, 0.0
        for j in range(demand.size):
            mean += C[i, j] * demand[j]
            w[j] -= share * C[i, j]
        centre[i] = mean / total


@part
def _least(C: Array, i: int, w: Array, mask: int) -> float:
    """The least ``C_ij + w_j`` of a row, with its column in the last bits."""
    least = 4.0 * HUGE
    for j in range(w.size):
        least = lesser(least, placed(C[i, j] + w[j], j, mask))
    return least


@part
def _least_of(keys: Array, group: int) -> float:
    """The least key of a group."""
    some, least = keys[group * GROUP : (group + 1) * GROUP], 4.0 * HUGE
    for k in range(GROUP):
        least = lesser(least, some[k])
    return least
