"""From the first basis to an optimal one: price some rows, exchange an edge, and so on.

Four rows at a time are priced, and their best move enters the basis if it improves the plan; then
the next four are looked at. When all rows have been passed without an improvement, potentials are
computed afresh and all rows priced once more. Large problems are priced in single precision first,
which reads half as much: a candidate is then judged by its reduced cost in double precision.
"""

from __future__ import annotations

import numpy as np
from numba import types

from sinkdist.kernels.compiled import FLOAT, INT, MATRIX, VECTOR, Array, one_version, shared
from sinkdist.solvers.compiled.simplex.pricing import (
    ROWS,
    SINGLE_MATRIX,
    SINGLE_VECTOR,
    best_move,
    best_move_single,
    row_minima,
)
from sinkdist.solvers.compiled.simplex.start import take_cheapest, whole_masses
from sinkdist.solvers.compiled.simplex.tree import NODES, WHOLE, build, exchange, set_potentials

__all__ = ["ABANDONED", "dual_value", "optimise"]

TOL = 2.0**-44  #: of the range of potentials: reduced costs above minus this count as 0
COARSE = 2.0**-18  #: the same for pricing in single precision
REFRESHES = 20  #: times that potentials are computed afresh
PIVOTS = 200  #: for each row and column; more means that rounding leads in circles
REST = 7  #: rounds, at most, that rows without a candidate are passed over
ROUNDS = 2  #: through all rows, after which it is asked whether the distance is large enough
ABANDONED = 2**62  #: in place of a number of pivots


@shared(
    MATRIX, SINGLE_MATRIX, INT, INT, VECTOR, WHOLE, VECTOR, SINGLE_VECTOR, NODES,
    types.uint32[::1], VECTOR, FLOAT, WHOLE,
    allocates=False,
)  # fmt: skip
def optimise(
    C: Array, coarse: Array, m: int, n: int, mass: Array, flow: Array, potential: Array,
    single: Array, links: Array, order: Array, scratch: Array, enough: float, stop: Array,
) -> tuple[int, int]:  # fmt: skip
    """An optimal basis in ``links`` and its ``potential``; the root, and the number of pivots.

    The number is negative where it did not come to an end, and ``-ABANDONED`` where the distance
    is proven to exceed ``enough``. ``coarse`` are the costs in single precision, or empty.
    """
    one_version()
    first, width = C.shape
    nothing = m - m  # a literal 0 has a type of its own: a version of every callee
    whole_masses(mass[:m], m + 1, nothing + 1, nothing, flow[:m])
    whole_masses(mass[first : first + n], m + 1, nothing, m, flow[first : first + n])
    root = take_cheapest(C, m, n, mass, flow, potential, links, order, scratch)
    build(links, order, m + n - 1, root)
    for x in range(first + width):
        potential[x] = 0.0  # of padding; `set_potentials` gives all others theirs
    pivots = 0
    if coarse.shape[0] > 0:
        pivots = _coarsely(
            C, coarse, m, n, mass, flow, potential, single, links, order, scratch, root, enough,
            stop,
        )  # fmt: skip
        if pivots < 0:
            return root, pivots
    rounds = 0
    most = PIVOTS * (m + n) + 1000
    for _ in range(REFRESHES):
        tol = TOL * set_potentials(links, C, first, root, potential)
        i, clean, before = nothing, 0, pivots
        while clean < m:
            row, column, reduced = best_move(C, potential, i, -tol)
            clean += ROWS
            if column >= 0:
                clean = 0
                pivots += 1
                exchange(
                    links, flow, potential, single[:0], first, m + n, row, first + column, reduced,
                    pivots,
                )  # fmt: skip
                if stop[0] != 0 or pivots > most:
                    return root, -pivots
            i = i + ROWS if i + ROWS < m else nothing
            if i == 0 and enough < np.inf:
                rounds += 1
                if rounds % ROUNDS == 0 and dual_value(C, m, n, mass, potential, scratch) > enough:
                    return root, -ABANDONED
        if pivots == before:
            return root, pivots
    return root, -pivots


@shared(MATRIX, INT, INT, VECTOR, VECTOR, VECTOR, allocates=False)
def dual_value(C: Array, m: int, n: int, mass: Array, potential: Array, scratch: Array) -> float:
    """A lower bound on the distance: the best potentials of rows for those of the columns."""
    one_version()
    first, width = C.shape
    w, least = potential[first : first + width], scratch[:4]
    total = 0.0
    for i in range(0, m, ROWS):
        row_minima(C, w, i, least)
        for k in range(min(ROWS, m - i)):
            total += mass[i + k] * least[k]
    for j in range(n):
        total -= mass[first + j] * w[j]
    return total


@shared(
    MATRIX, SINGLE_MATRIX, INT, INT, VECTOR, WHOLE, VECTOR, SINGLE_VECTOR, NODES,
    types.uint32[::1], VECTOR, INT, FLOAT, WHOLE, allocates=False,
)  # fmt: skip
def _coarsely(
    C: Array, coarse: Array, m: int, n: int, mass: Array, flow: Array, potential: Array,
    single: Array, links: Array, rests: Array, scratch: Array, root: int, enough: float,
    stop: Array,
) -> int:  # fmt: skip
    """Exchange edges as long as single precision finds candidates; how many, or ``-ABANDONED``.

    Groups of rows without a candidate rest for some rounds, longer each time; before it ends, all
    are looked at.
    """
    one_version()
    first, width = C.shape
    tol = COARSE * set_potentials(links, C, first, root, potential)
    for x in range(first + width):
        single[x] = potential[x]
    groups = -(-m // ROWS)
    rest, length = rests[:groups], rests[groups : 2 * groups]
    for group in range(2 * groups):
        rests[group] = 0
    pivots, awake, most, rounds, look = 0, True, PIVOTS * (m + n), 0, 1
    while True:
        before = pivots
        for group in range(groups):
            if rest[group] > 0:
                rest[group] -= 1
                continue
            row, column, _ = best_move_single(coarse, single, ROWS * group, np.float32(-tol))
            exact = 0.0
            if column >= 0:
                exact = C[row, column] + potential[first + column] - potential[row]
            if exact < -0.5 * tol:
                pivots += 1
                length[group] = 0
                exchange(
                    links, flow, potential, single, first, m + n, row, first + column, exact,
                    pivots,
                )  # fmt: skip
            else:
                rest[group] = length[group] = min(2 * length[group] + 1, REST)
            if stop[0] != 0 or pivots > most:
                return pivots
        if pivots == before:
            if awake:
                return pivots
            for group in range(groups):
                rest[group] = 0
        awake = pivots == before
        rounds += 1
        if enough < np.inf and rounds == look:  # seldom: it reads all costs
            look *= 2
            if dual_value(C, m, n, mass, potential, scratch) > enough:
                return -ABANDONED
