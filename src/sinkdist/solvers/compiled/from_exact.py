"""One pair at a large lam, begun at the exact distance.

At a large lam the plan is nearly that of the exact distance: potentials of the transport simplex
lie within some units of ``1 / lam`` of those wanted, and the simplex takes less time than a ladder
of smaller lam does. Around them nearly all of the kernel is too small to matter. Newton's method
works on the rest, in compressed rows; then one sweep in float64 over all entries, made from the
costs and not kept, is what is returned and says whether the rest was enough. If not, the kernel is
cut anew around the potentials that were found.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.near_entries import near_entries, near_row_pass
from sinkdist.solvers.bins import sparse_rows
from sinkdist.solvers.compiled import newton
from sinkdist.solvers.compiled.large_pair import WITHIN, Finished, LargePair
from sinkdist.solvers.compiled.relaxation import CONVERGED
from sinkdist.solvers.compiled.simplex.batch import transport
from sinkdist.solvers.policy import ACCELERATED_ENTRIES

__all__ = ["from_exact", "is_nearly_exact"]

#: Lam times the mean cost from which a pair begins here, over the fourth root of its entries: the
#: larger a pair, the more of its entries lie within some units of ``1 / lam`` of the plan.
NEARLY = 5.0
#: Entries of a pair, at least: the ladder over a small kernel takes less time than the simplex and
#: Newton's method from a vertex. At most: the simplex needs the memory of one and a half kernels.
LEAST, MOST = ACCELERATED_ENTRIES, 1 << 22
FEWEST = 50  #: reads that have to be allowed
ATTEMPTS = 3
#: How far below the smaller mass of their bins entries are left out, as a logarithm beyond that of
#: the tolerance: at first, and more each time. Around a basis of the simplex, whose entries are 1,
#: it is from 1.
DEPTH, DEEPER = 4.0, 6.0
DENSITY = 0.12  #: of entries that matter, at most: else the whole kernel is the faster one
PLAIN_SWEEPS = 3  #: before Newton's method


def is_nearly_exact(height: float, entries: int, max_iter: int) -> bool:
    """Whether to begin at the exact distance, by lam times the mean cost."""
    steep = height >= NEARLY * math.sqrt(math.sqrt(entries))
    return steep and LEAST <= entries <= MOST and max_iter >= FEWEST


def from_exact(
    M: Array, lam: float, r: Array, c: Array, tol: float, max_iter: int, stop: Stop,
    workers: int = 1,
) -> tuple[Finished, int] | None:  # fmt: skip
    """A plan within ``tol`` and the reads made; None where this is not the way to it."""
    sides = sparse_rows(r[None]), sparse_rows(c[None])
    found = transport(M, float(M.max()), *sides, metric=False, stop=stop, keep=True)
    f, g = found.F[0], found.G[0]
    if not (np.isfinite(f).all() and np.isfinite(g).all()):
        return None
    heights = np.zeros(r.size), np.zeros(c.size)  # logarithms: those of the basis, then of masses
    m, n = M.shape
    room = int(DENSITY * m * n) + n
    near = np.empty(m + 1, np.int32), np.empty(room, np.int32), np.empty(room)
    pair = LargePair(M, r, c, max_iter, stop, workers, np.empty((0, n), np.float32))
    made, depth = 0, DEPTH - math.log(tol)
    with pair.helped():
        for _ in range(ATTEMPTS):
            low_rows, low_columns = heights[0] - depth, heights[1] - depth
            if near_entries(M, lam, f, g, low_rows, low_columns, *near) < 0:
                return None
            scalings, reads = _newton_on(near, r, c, WITHIN * tol, max_iter - made, stop)
            made += reads + 2
            if scalings is None:
                return None
            u, v = scalings
            pair.potentials = f + np.log(u) / lam, g + np.log(v) / lam
            end = pair.finish(lam)
            if not np.isfinite(end.value):
                return None
            if end.error <= tol:
                return end, made
            pair.update_columns(lam)
            f, g = pair.potentials
            heights, depth = (np.log(r), np.log(c)), depth + DEEPER
    return None


def _newton_on(
    near: tuple[Array, Array, Array], r: Array, c: Array, tol: float, allowance: int, stop: Stop
) -> tuple[tuple[Array, Array] | None, int]:
    """Scalings of compressed rows, None where Newton's method does not find them; its reads."""
    u, v, acc = np.empty(r.size), np.ones(c.size), np.empty(c.size)
    control = np.empty(newton.FIELDS)
    newton.begin(control)
    for _ in range(PLAIN_SWEEPS):
        if not near_row_pass(*near, r, v, u, acc) or not acc.min() > 0.0:
            return None, PLAIN_SWEEPS
        v[:] = c / acc
    stop.check()
    act, _ = newton.newton_pair(
        newton.NO_MATRIX, *near, r, c, u, v, acc, control, tol, float(allowance),
        *newton.scratch_for(r.size, c.size, near[1].size),
    )  # fmt: skip
    made = PLAIN_SWEEPS + int(control[newton.READS])
    return ((u, v) if act == CONVERGED else None), made
