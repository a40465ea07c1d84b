"""Costs that are path lengths on a circle of bins: a line, once it is known where to cut it.

With ``x_k`` the mass over edge ``k`` of the circle cut anywhere, every plan sends ``x_k - t`` for
one ``t``, and the sum of ``l_k |x_k - t|`` is least at the weighted median of ``x``. Some edge is
that median; nothing passes it, so the circle can be cut there. An edge longer than all others
together is always the median: there the circle is a line.

The median is proven: potentials of slope +1 on edges above it, -1 on edges below it, and on the
edge itself what closes the circle are feasible, and their dual value is the lower bound.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np

from sinkdist.ground import Ground
from sinkdist.ground.structure import Structure
from sinkdist.kernels.compiled import Array
from sinkdist.solvers.closed_forms.coupling import MONOTONE, plan_of
from sinkdist.solvers.closed_forms.flows import (
    Flows,
    flows_on,
    is_fine,
    on_nodes,
    potentials,
)
from sinkdist.solvers.closed_forms.tree import on_bins
from sinkdist.solvers.compiled.rational import on_one_total
from sinkdist.solvers.exact_result import Exact

__all__ = ["exact_on_cycle", "values_on_cycle"]

_CUTS = 3  #: a second cut sees small differences of flows that the first lost beside large ones


class _Opened(NamedTuple):
    """Circles cut open, one row per pair: nodes, edges and histograms from the cut on.

    The edge of the first node is the one that was cut, and nothing passes it. ``slopes`` are those
    of feasible potentials, ``median`` the edges whose flow is the weighted median.
    """

    nodes: Array
    lengths: Array
    flows: Flows
    slopes: Array
    median: Array

    def bounds(self) -> tuple[Array, Array, Array]:
        """The cost, a lower bound by the potentials, and what rounding may have changed in both."""
        value, lost = self.flows.cost(self.lengths)
        return value, (self.slopes * self.lengths * self.flows.net).sum(axis=1), lost


def exact_on_cycle(ground: Ground, structure: Structure, r: Array, c: Array) -> Exact:
    """One pair; its plan keeps the order of mass on the line that is left."""
    A, B = on_nodes(structure, r[None]), on_nodes(structure, c[None])
    opened = _opened(structure, A, B)
    value, lower, lost = opened.bounds()
    if not is_fine(value, lost + (value - lower)).all():
        opened = _opened_exactly(structure, A[0], B[0])
        value, lower, lost = opened.bounds()
    total, nodes = float(value[0]), opened.nodes[0]
    rounding = opened.flows.rounding(opened.lengths[0], total, float(lost[0]))
    potential = potentials(structure.parent, opened.slopes[0] * opened.lengths[0])
    bins = structure.bins[nodes]
    plan = plan_of(ground, bins, A[0, nodes], B[0, nodes], total, MONOTONE)
    least = max(0.0, min(total, float(lower[0])) - rounding)
    return Exact(plan, *on_bins(bins, potential, r, c), total, least, total + rounding)


def values_on_cycle(structure: Structure, R: Array, C: Array) -> tuple[Array, Array]:
    """The values of many pairs, and which of them floats know; ``R`` may have one row for all."""
    opened = _opened(structure, on_nodes(structure, R), on_nodes(structure, C))
    value, lower, lost = opened.bounds()
    return value, is_fine(value, lost + (value - lower))


def _opened(structure: Structure, A: Array, B: Array) -> _Opened:
    """Circles cut where nothing passes, as far as floats know."""
    A, cut = np.broadcast_to(A, B.shape), np.zeros(len(B), np.int64)
    for left in reversed(range(_CUTS)):
        nodes = (cut[:, None] + np.arange(B.shape[1])) % B.shape[1]
        first, second = (np.take_along_axis(H, nodes, axis=1) for H in (A, B))
        flows, lengths = flows_on(structure.parent, first, second), structure.lengths[nodes]
        slopes, median = _slopes(flows.net, lengths)
        if not (left and np.take_along_axis(flows.net, median[:, None], axis=1).any()):
            break
        cut = (cut + median) % B.shape[1]
    return _Opened(nodes, lengths, flows, slopes, median)


def _opened_exactly(structure: Structure, a: Array, b: Array) -> _Opened:
    """One circle, without rounding."""
    first, second, total = on_one_total(a, b)
    below = [x - y for x, y in zip(first, second, strict=True)]
    over = [0, *reversed(list(accumulate(reversed(below[1:]))))]
    order = sorted(range(a.size), key=over.__getitem__)
    cut = order[int(_median(structure.lengths[None, order])[0])]
    nodes = (cut + np.arange(a.size)) % a.size
    net = np.array([[(over[k] - over[cut]) / total for k in nodes]])
    lengths = structure.lengths[nodes][None]
    flows = Flows(net, np.zeros(net.shape), np.zeros(1))
    return _Opened(nodes[None], lengths, flows, *_slopes(net, lengths))


def _median(lengths: Array) -> Array:
    """Where each row of lengths is passed by half."""
    reached = np.cumsum(lengths, axis=1)
    return np.asarray(np.argmax(reached >= 0.5 * reached[:, -1:], axis=1))


def _slopes(net: Array, lengths: Array) -> tuple[Array, Array]:
    """Slopes of potentials on edges: -1 below the median flow, +1 above; and the median's edge."""
    order = np.argsort(net, axis=1, kind="stable")
    ordered = np.take_along_axis(lengths, order, axis=1)
    place = _median(ordered)[:, None]
    rank = np.arange(net.shape[1])
    sign = np.sign(rank - place).astype(np.float64)
    edge = np.take_along_axis(ordered, place, axis=1)
    rest = -(sign * ordered).sum(axis=1, keepdims=True)
    even = np.clip(rest / np.where(edge > 0.0, edge, 1.0), -1.0, 1.0)
    slopes = np.empty(net.shape)
    np.put_along_axis(slopes, order, np.where(rank == place, even, sign), axis=1)
    return slopes, np.take_along_axis(order, place, axis=1)[:, 0]
