"""Two transforms: a bound on the exact distance for histograms with few bins, as of documents.

*Conditions.* Costs are a metric, and candidates are compressed rows. It bounds every distance that
is at least the exact one.

*Proof.* Where costs are a metric, mass that ``r`` and ``c`` share may stay: the exact distance is
that of ``r' = (r - c)+`` and ``c' = (c - r)+``. For any potential ``g`` let ``f'_i = min_j (M_ij -
g_j)`` over the bins of ``c'``: then ``f'_i + g_j <= M_ij`` on all bins that are left, and every
coupling of ``r'`` and ``c'`` costs at least ``<f', r'> + <g, c'>``. The potentials tried are ``g =
0``, the relaxed word mover's bound of one side, and the transforms ``g_j = min_i (M_ij - f_i)`` of
``f = 0`` and of the potentials of every solve, which make this at least what their plane proves.

*Rounding.* All masses sum to at most 1, so sums are off by at most `rounding_of(n)` of the largest
potential, which is at most that of ``g`` and the largest cost; a metric may violate triangles by
`BENT` of the largest cost. Costs and potentials are read in single precision, which changes each,
and their difference, by at most 2^-24 of the largest. The margin is four times the first and the
last, and the second; and what costs that are computed on demand may differ by, the ``blur``.
"""

from __future__ import annotations

import numpy as np

from sinkdist.ground.metric import BENT
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.transforms import two_transforms
from sinkdist.search.candidates import Candidates, Survivors
from sinkdist.solution.certificates import rounding_of
from sinkdist.solvers.explored import Plane

__all__ = ["Transforms"]

NAME = "two transforms"
_LANES = 16  #: numbers that are computed at once
_UNIT = 2.0**-24


class Transforms:
    """The bound for one query."""

    def __init__(
        self, costs: Array, columns: Array | None, top: float, r: Array, candidates: Candidates,
        blur: float,
    ) -> None:  # fmt: skip
        assert candidates.sparse is not None
        self._top, self._rows, self._blur = top, candidates.sparse, blur
        self._bins = np.flatnonzero(r)
        self._r, self._here, self._there = r[self._bins], np.array(r), np.zeros(r.size)
        width = -(-self._bins.size // _LANES) * _LANES
        self._to_query = np.zeros((r.size, width), np.float32)
        to = slice(None) if columns is None else columns
        self._to_query[to, : self._bins.size] = costs.T
        self._least = np.empty(width, np.float32)
        self._terms = self._bins.size + candidates.sparse.most

    def begin(self, survivors: Survivors, plane: Plane) -> None:
        """Raise what is known of survivors to what no potential, and that of a plane, prove."""
        self.raise_bounds(survivors, np.zeros(self._here.size))
        self.raise_bounds(survivors, plane.g)

    def raise_bounds(self, survivors: Survivors, g: Array) -> None:
        """Raise what is known of survivors to what a potential of all bins proves."""
        largest = 2.0 * float(np.abs(g).max()) + self._top
        margin = 4.0 * (rounding_of(self._terms) + _UNIT) * largest + BENT * self._top + self._blur
        two_transforms(
            self._to_query, self._bins, self._r, *self._rows, survivors.index, g, margin,
            self._here, self._there, self._least, survivors.bound,
        )  # fmt: skip
