"""Net mass over the edges of a tree: what the closed forms on lines, trees, stars and cycles share.

The exact distance on a tree is the sum over its edges of their length times the net mass that has
to pass them. That mass is a sum over a subtree, computed for many pairs at once in twice the
working precision; where even that shows, because masses of 1e-300 stand beside 1, in integers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sinkdist.ground.structure import Structure
from sinkdist.kernels import flows as kernel
from sinkdist.kernels.compiled import Array
from sinkdist.solution.certificates import rounding_of
from sinkdist.solvers.compiled.rational import on_one_total

__all__ = [
    "SAME",
    "Flows",
    "flows_on",
    "in_integers",
    "is_fine",
    "on_nodes",
    "potentials",
]

SAME = 1e-13  #: of the value: what rounding may cost before integers take over
_SEEN = 4e-10  #: of the value: what rounding of the masses as they were given may widen bounds by
_SQUARE = 2.0**-106  #: the square of the relative error of one rounding
_FEW = 2.0**-50  #: the relative error of a handful of operations


class Flows(NamedTuple):
    """One row per pair: net mass over every edge, all mass below it, and the excess of totals."""

    net: Array
    mass: Array
    excess: Array

    def cost(self, lengths: Array) -> tuple[Array, Array]:
        """The sums of lengths times net masses, and what computing these may have lost of them."""
        value = (np.abs(self.net) * lengths).sum(axis=1)
        below = (self.mass * lengths).sum(axis=1)
        relative = _SQUARE * (4 * self.net.shape[1] + 64) + _FEW * self.excess
        return value, relative * below + np.where(below > 0.0, _FEW, 0.0) * value

    def rounding(self, lengths: Array, value: float, lost: float) -> float:
        """How far bounds on the value of the only pair are apart from it.

        The sum over edges is rounded, and so may be costs, as sums of lengths. Masses stand for
        numbers that were rounded before they came here: that is part of the bounds as well, unless
        these would say nothing then; where histograms are so close, masses count as they are.
        """
        unit = rounding_of(self.net.shape[1])
        smaller = np.minimum(self.mass[0], 2.0 - self.mass[0])
        seen = unit * float((smaller * lengths).sum())
        return lost + 2.0 * unit * value + (seen if seen <= _SEEN * value else 0.0)


def on_nodes(structure: Structure, H: Array) -> Array:
    """Histograms (rows) on the nodes of a structure; the centre of a star has no mass."""
    first = int(structure.bins[0] < 0)
    nodes = np.zeros((len(H), structure.bins.size))
    nodes[:, first:] = H[:, structure.bins[first:]]
    return nodes


def flows_on(parent: Array, A: Array, B: Array) -> Flows:
    """The net mass below every node; ``A`` has one row, shared, or one per row of ``B``."""
    net, mass, excess = np.empty(B.shape), np.empty(B.shape), np.empty(len(B))
    kernel.edge_flows(parent, A, B, net, mass, excess, np.empty((4, parent.size)))
    return Flows(net, mass, excess)


def in_integers(parent: Array, a: Array, b: Array) -> Flows:
    """The same of one pair without rounding, of the exactly normalised histograms."""
    first, second, total = on_one_total(a, b)
    below = [x - y for x, y in zip(first, second, strict=True)]
    up = parent.tolist()
    for k in range(len(below) - 1, 0, -1):
        below[up[k]] += below[k]
    net = np.array([[0.0, *(x / total for x in below[1:])]])
    return Flows(net, np.zeros(net.shape), np.zeros(1))


def is_fine(value: Array, lost: Array) -> Array:
    """Whether floats know the values."""
    return np.asarray(lost <= SAME * value)


def potentials(parent: Array, slopes: Array) -> Array:
    """Potentials of the nodes, given what each exceeds that of its parent by."""
    out, up = slopes.tolist(), parent.tolist()
    out[0] = 0.0
    for k in range(1, len(out)):
        out[k] += out[up[k]]
    return np.array(out)
