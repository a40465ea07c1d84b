"""Two transforms: a bound on the exact distance for histograms with few bins, as of documents.

*Conditions.* Costs are a metric, and candidates are compressed rows. It bounds every distance that
is at least the exact one.

*Proof.* Where costs are a metric, mass that ``r`` and ``c`` share may stay: the exact distance is
that of ``r' = (r - c)+`` and ``c' = (c - r)+``. For any potential ``g`` let ``f'_i = min_j (M_ij -
g_j)`` over the bins of ``c'``: then ``f'_i + g_j <= M_ij`` on all bins that are left, and every
coupling of ``r'`` and ``c'`` costs at least ``<f', r'> + <g, c'>``. The potentials tried are ``g =
0``, the relaxed bound of the query's side, and the transforms ``g_j = min_i (M_ij - f_i)``, over
the bins ``i != j`` of the query, of ``f = 0`` and of the potentials of solves. For these ``f' >=
f`` on ``r'``, since no bin is in both; ``f_j + g_j <= M_jj = 0`` where mass stays; so this is at
least what the plane of ``f`` proves. One transform alone proves ``<f, r'> + <g, c'>``, which is
``<f, r> - <f, min(r, c)> + <g, c'>``, a sum over the bins of ``c``: most candidates are dropped by
that, and ``f'`` is for those that are left.

*Rounding.* Any ``g`` will do for two transforms, so it does not matter how it is rounded. All
masses sum to at most 1, so sums are off by at most `rounding_of(n)` of the largest potential. Since
``|g_j| <= max |f| + max M``, that is at most the largest ``f`` and twice the largest cost; a metric
may violate triangles by `BENT` of the largest cost. Costs and potentials are read in single
precision, which changes each, and their sum, by at most 2^-24 of the largest. The margin is four
times the first and the last, of twice the largest ``f`` and thrice the largest cost; the second;
and what costs that are computed on demand may differ by, the ``blur``. One transform is summed in
single precision: weights and a sum of ``n`` terms lose at most ``n + 2`` units of 2^-24 of the
same, and twice ``n`` of them are taken off as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sinkdist.ground import Ground
from sinkdist.ground.metric import BENT
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.transforms import (
    UNUSED,
    costs_to_query,
    number_bins,
    one_transform,
    transform_all,
    two_transforms,
)
from sinkdist.kernels.vectors import HUGE, LANES
from sinkdist.kernels.work_space import aligned
from sinkdist.search.candidates import Survivors
from sinkdist.solution.certificates import rounding_of
from sinkdist.solvers.bins import SparseRows

__all__ = ["Transforms"]

NAME = "two transforms"
_UNIT = 2.0**-24


class _Potentials(NamedTuple):
    """Potentials, side by side, as `kernels.transforms` takes them, their sums, margins."""

    G: Array
    largest: Array
    sums: Array
    margins: Array


class Transforms:
    """The bound for one query with mass ``r`` on ``bins``.

    Costs are read once, and only those to bins of candidates that have been looked at: from
    ``single``, all costs in single precision, if it is given.
    """

    def __init__(
        self, ground: Ground, bins: Array, r: Array, rows: SparseRows, most: int, blur: float,
        single: Array | None = None,
    ) -> None:  # fmt: skip
        self._matrix = ground.dense if single is None and ground.is_dense else single
        self._ground, self._bins, self._r, self._rows = ground, bins, r, rows
        self._blur, own = blur, bins.size
        self._terms = own + most
        self._width = -(-own // LANES) * LANES
        d = ground.shape[1]
        self._label, self._columns = np.full(d, UNUSED, np.int32), np.empty(d, np.int64)
        self._label[bins], self._columns[:own] = np.arange(own), bins
        self._T = np.empty((0, self._width), np.float32)
        self._mass = self._left = np.empty(0)  # of the query on the columns; scratch
        self._count = 0  # columns whose costs are in the table
        self._at, self._weight = (
            np.empty(2 * most + 1, np.int64),
            np.empty(2 * most + 1, np.float32),
        )
        self._excess = np.empty(most + 1)

    def begin(self, survivors: Survivors, enough: float) -> None:
        """Raise what is known of survivors to what no potential, and that of 0, prove."""
        zero = self._potentials(survivors, np.zeros((1, self._bins.size)))
        which = np.zeros(survivors.index.size, np.int64)
        self._twice(survivors, zero, which, zero.margins[0], enough)

    def raise_bounds(self, survivors: Survivors, F: Array, enough: float) -> None:
        """Raise what is known of survivors to what potentials of the query's bins prove.

        Bounds above ``enough`` are raised no further.
        """
        known = self._potentials(survivors, F)
        which = self._once(survivors, known)
        self._twice(survivors, known, which, np.inf, enough)

    def _potentials(self, survivors: Survivors, F: Array) -> _Potentials:
        """Potentials of the query's bins, as kernels take them for some survivors."""
        self._look_at(survivors.index)
        top, size, own = self._ground.max, self._count, self._bins.size
        G = _table(size + own, -(-len(F) // LANES) * LANES)
        largest, sums = np.empty((2, len(F)))
        transform_all(self._T, self._r, F, G, largest, sums)
        largest = 2.0 * largest + 3.0 * top
        margins = 4.0 * (rounding_of(self._terms) + _UNIT) * largest + BENT * top + self._blur
        return _Potentials(G, largest, sums, margins)

    def _once(self, survivors: Survivors, known: _Potentials) -> Array:
        """By one transform; which potential proves most of each candidate."""
        single = 2.0 * self._terms * _UNIT * known.largest
        which = np.empty(survivors.index.size, np.int64)
        one_transform(
            *self._tables(), survivors.index, known.G, self._bins.size,
            known.margins + single + known.sums, self._at, self._weight,
            np.empty(known.G.shape[1], np.float32), which, survivors.bound,
        )  # fmt: skip
        return which

    def _twice(
        self, survivors: Survivors, known: _Potentials, which: Array, plain: float, enough: float
    ) -> None:  # fmt: skip
        """By two transforms, of the potential that promises most first."""
        two_transforms(
            *self._tables(), survivors.index, known.G, self._bins.size, known.margins,
            which, plain, enough, self._left, self._at, self._excess, self._weight,
            np.empty(self._width, np.float32), survivors.bound,
        )  # fmt: skip

    def _tables(self) -> tuple[Array, Array, Array, Array, Array, Array]:
        """What both kernels begin with."""
        return self._T, self._mass, *self._rows, self._label

    def _look_at(self, index: Array) -> None:
        """Read the costs to all bins of some candidates that are not in the table yet."""
        held, own = self._count, self._bins.size
        count = number_bins(
            self._rows.start, self._rows.bins, index, max(held, own), self._label, self._columns
        )  # fmt: skip
        if count == held:
            return
        table = _table(count, self._width)
        table[:held] = self._T
        new, ground = self._columns[held:count], self._ground
        if self._matrix is not None:
            costs_to_query(self._matrix, self._bins, new, table[held:])
        else:
            costs = np.ascontiguousarray(ground.block(self._bins, new))
            costs_to_query(costs, np.arange(own), np.arange(new.size), table[held:])
        if held == 0 and own > 1:
            table.ravel()[: own * self._width : self._width + 1] = HUGE
        self._T, self._count = table, count
        self._mass, self._left = np.zeros((2, count))
        self._mass[:own] = self._r


def _table(rows: int, width: int) -> Array:
    """Rows of single precision, each of which begins at a cache line."""
    return aligned(rows * width, np.float32).reshape(rows, width)
