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
least what the plane of ``f`` proves.

*Rounding.* Any ``g`` will do, so it does not matter how it is rounded. All masses sum to at most 1,
so sums are off by at most `rounding_of(n)` of the largest potential, which is at most that of ``g``
and the largest cost; a metric may violate triangles by `BENT` of the largest cost. Costs and
potentials are read in single precision, which changes each, and their difference, by at most 2^-24
of the largest. The margin is four times the first and the last, and the second; and what costs that
are computed on demand may differ by, the ``blur``.
"""

from __future__ import annotations

import numpy as np

from sinkdist.ground.metric import BENT
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.planes import hard_transforms
from sinkdist.kernels.transforms import beside_diagonal, transposed, two_transforms
from sinkdist.search.candidates import Survivors
from sinkdist.search.near_columns import NearColumns
from sinkdist.solution.certificates import rounding_of
from sinkdist.solvers.bins import SparseRows

__all__ = ["Transforms"]

NAME = "two transforms"
_LANES = 16  #: numbers that are computed at once
_UNIT = 2.0**-24


class Transforms:
    """The bound for one query, on the columns that some candidates use."""

    def __init__(
        self, near: NearColumns, r: Array, top: float, rows: SparseRows, blur: float
    ) -> None:
        self._near, self._r, self._top, self._blur = near, r, top, blur
        self._rows, most = rows, rows.most
        width = -(-r.size // _LANES) * _LANES
        self._to_query = np.zeros((near.bins.size, width), np.float32)
        self._costs = near.costs.astype(np.float32)
        transposed(self._costs, self._to_query)
        self._scratch = (
            np.empty(r.size), np.empty(most, np.int64), np.empty(most), np.empty(width, np.float32),
        )  # fmt: skip
        self._terms = r.size + most

    def begin(self, survivors: Survivors, enough: float) -> None:
        """Raise what is known of survivors to what no potential, and that of 0, prove."""
        zero = np.zeros((1, self._r.size))
        nothing = np.zeros((1, self._near.bins.size), np.float32)
        self._raise(survivors, np.vstack([nothing, self._transformed(zero)]), enough)

    def raise_bounds(self, survivors: Survivors, F: Array, enough: float) -> None:
        """Raise what is known of survivors to what potentials of the query's bins prove.

        Bounds above ``enough`` are raised no further.
        """
        self._raise(survivors, self._transformed(F), enough)

    def _transformed(self, F: Array) -> Array:
        """Potentials of the columns, about as large above 0 as below."""
        costs = self._costs
        F = (F - (F @ self._r)[:, None]).astype(np.float32)
        G = np.empty((len(F), costs.shape[1]), np.float32)
        hard_transforms(costs, F, G)
        for f, g in zip(F, G, strict=True):
            beside_diagonal(costs, f, g)
        G -= np.float32(0.5) * (G.min(axis=1) + G.max(axis=1))[:, None]
        return G

    def _raise(self, survivors: Survivors, G: Array, enough: float) -> None:
        largest = 2.0 * np.abs(G).max(axis=1).astype(np.float64) + self._top
        margins = 4.0 * (rounding_of(self._terms) + _UNIT) * largest
        margins += BENT * self._top + self._blur
        two_transforms(
            self._to_query, self._r, *self._rows, self._near.label, survivors.index, G, margins,
            enough, *self._scratch, survivors.bound,
        )  # fmt: skip
