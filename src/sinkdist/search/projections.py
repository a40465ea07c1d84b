"""Projections: one-dimensional transport along some directions bounds the exact distance.

*Conditions.* Bins are points of the plane or of space, on a grid or anywhere, and costs are their
Euclidean distances, or city-block distances on a grid (`lines` finds them in the costs and compares
all of them). Histograms may have empty bins. It bounds every distance that is at least the exact
one.

*Proof.* Let ``M_ij >= |z_i - z_j| - off`` and ``w >= 0`` with ``sum_a w_a |<a, z>| <= |z|`` for all
``z``. Every coupling costs ``<P, M> + off >= sum_a w_a sum_ij P_ij |<a, z_i - z_j>|``, and the
inner sum is the cost of a coupling of the projections onto ``a``, hence at least their transport on
a line ``b_a = integral |difference of cumulative masses|``, or what `cloud` makes of that in cells.
So the exact distance is at least ``sum_a w_a b_a - off``, for every such ``w``; the largest of some
is used.

*Rounding.* Cumulative masses, times gaps, are numbers in single precision, off by at most 2^-24 of
the gap with the sum they come from; a difference, and a sum of ``n`` of them, lose at most ``n +
4`` units of 2^-24 of their value. `_margins` takes both off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sinkdist.ground import Ground
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.projections import projected
from sinkdist.search.candidates import Candidates
from sinkdist.search.lattice import weights_for
from sinkdist.search.lines import Lines, find_lines

__all__ = ["Features", "Projections"]

NAME = "projections"
_WIDTH = 256  #: histograms side by side
_UNIT = 2.0**-24
_SAMPLE = 40  #: histograms whose distances weights are made for
_NEAR = 3  #: neighbours of each that count


class Features(NamedTuple):
    """What is kept of candidates; computed, or read from an index."""

    weights: Array
    blocks: Array | None = None


class Projections:
    """Cumulative masses of all candidates along all directions; about 4 bytes for each gap."""

    def __init__(self, lines: Lines, candidates: Candidates, known: Features | None) -> None:
        self.lines, self.n = lines, candidates.n
        self.first = lines.first
        blocks = None if known is None else known.blocks
        self.blocks = self._blocks(candidates) if blocks is None else blocks
        if known is None:
            self.weights = weights_for(lines.directions, lines.norm, self._samples())
        else:
            self.weights = known.weights
        count = self.weights.shape[1]
        self._W = np.zeros((len(self.weights), -(-count // 4) * 4), np.float32)
        self._W[:, :count] = self.weights
        fill = np.full(self._W.shape[1] + 1 - self.first.size, self.first[-1])
        self._first = np.concatenate([self.first, fill])

    @classmethod
    def of(
        cls, ground: Ground, candidates: Candidates, known: Features | None = None
    ) -> Projections | None:
        """The bound, where its conditions hold."""
        lines = find_lines(ground)
        return None if lines is None else cls(lines, candidates, known)

    @property
    def features(self) -> Features:
        """What an index keeps."""
        return Features(self.weights, self.blocks)

    def bounds(self, R: Array) -> Array:
        """Lower bounds on the distances from each row of ``R`` to every candidate."""
        Q = self.lines.cumulated(R)
        blocks, _, width = self.blocks.shape
        out = np.empty((len(R), blocks, width), np.float32)
        scratch = np.empty((self._W.shape[1], width), np.float32), np.empty(width, np.float32)
        projected(Q, self.blocks, self._first, self._W, *scratch, out)
        relative, absolute = self._margins()
        found = out.reshape(len(R), -1)[:, : self.n].astype(np.float64)
        found *= (1.0 - relative) * self.lines.step
        found -= absolute * self.lines.step + self.lines.off
        return np.maximum(found, 0.0, out=found)

    @property
    def nbytes(self) -> int:
        """Memory of the features."""
        return int(self.blocks.nbytes)

    def _margins(self) -> tuple[float, float]:
        """What rounding may add to a bound: a part of it, and a number of steps."""
        count = len(self.lines.directions)
        terms = int(np.diff(self.first).max()) + count + 8
        # Weights and sums of the bounds are rounded as well; masses sum to 1 up to rounding.
        most = float((self.weights @ self.lines.lengths).max())
        return 2.0 * terms * _UNIT, 2.0 * _UNIT * most

    def _blocks(self, candidates: Candidates) -> Array:
        """Those of all candidates, many side by side."""
        count = -(-candidates.n // _WIDTH)
        blocks = np.zeros((count, int(self.first[-1]), _WIDTH), np.float32)
        for k in range(count):
            rows = candidates.dense_rows(k * _WIDTH, min((k + 1) * _WIDTH, candidates.n))
            blocks[k, :, : len(rows)] = self.lines.cumulated(rows).T
        return blocks

    def _samples(self) -> Array:
        """Distances along each direction, between some candidates that are near each other."""
        at = np.unique(np.linspace(0, self.n - 1, min(self.n, _SAMPLE)).astype(int))
        some = self.blocks[at // _WIDTH, :, at % _WIDTH]
        apart = np.abs(some[:, None] - some)
        sums = [
            apart[..., a:b].sum(axis=2) for a, b in zip(self.first, self.first[1:], strict=False)
        ]
        b = np.stack(sums, axis=2).astype(np.float64)
        near = np.argsort(b.sum(axis=2), axis=1)[:, 1 : _NEAR + 1]
        found = np.take_along_axis(b, near[..., None], axis=1).reshape(-1, b.shape[2])
        found = found[found.any(axis=1)]
        lengths = np.linalg.norm(self.lines.directions, axis=1)
        return np.vstack([lengths, found / np.maximum(found.sum(axis=1, keepdims=True), 1e-30)])
