"""Costs that are path lengths in a tree: lengths of edges times the net mass that passes them.

Stars, ``M_ij = w_i + w_j``, are trees whose centre is no bin, and equal costs are a star with equal
weights. Lines are trees too, and have a plan of their own (`line`).
"""

from __future__ import annotations

import numpy as np

from sinkdist.ground import Ground
from sinkdist.ground.structure import Structure
from sinkdist.kernels.compiled import Array
from sinkdist.solvers.closed_forms.coupling import (
    Couplings,
    from_the_leaves,
    from_the_leaves_exactly,
    plan_of,
)
from sinkdist.solvers.closed_forms.flows import (
    flows_on,
    in_integers,
    is_fine,
    on_nodes,
    potentials,
)
from sinkdist.solvers.exact_result import Exact

__all__ = ["by_flows", "exact_on_tree", "values_on_tree"]


def exact_on_tree(ground: Ground, structure: Structure, r: Array, c: Array) -> Exact:
    """One pair; its plan matches mass from the leaves up."""
    parent = structure.parent
    couplings = (
        lambda a, b: from_the_leaves(parent, a, b),
        lambda a, b: from_the_leaves_exactly(parent, a, b),
    )
    return by_flows(ground, structure, r, c, couplings)


def by_flows(
    ground: Ground, structure: Structure, r: Array, c: Array, couplings: Couplings
) -> Exact:
    """One pair on a tree of any kind; the potential rises along an edge where mass goes up it."""
    parent, lengths = structure.parent, structure.lengths
    a, b = on_nodes(structure, r[None]), on_nodes(structure, c[None])
    flows = flows_on(parent, a, b)
    value, lost = flows.cost(lengths)
    if not is_fine(value, lost).all():
        flows = in_integers(parent, a[0], b[0])
        value, lost = flows.cost(lengths)
    total = float(value[0])
    rounding = flows.rounding(lengths, total, float(lost[0]))
    potential = potentials(parent, np.sign(flows.net[0]) * lengths)
    plan = plan_of(ground, structure.bins, a[0], b[0], total, couplings)
    return Exact(
        plan, *on_bins(structure.bins, potential, r, c), total,
        max(0.0, total - rounding), total + rounding,
    )  # fmt: skip


def on_bins(bins: Array, potential: Array, r: Array, c: Array) -> tuple[Array, Array]:
    """Potentials of both sides from one on the nodes; -inf on bins without mass."""
    f, g = np.full(r.size, -np.inf), np.full(c.size, -np.inf)
    first = int(bins[0] < 0)
    whole = np.empty(r.size)
    whole[bins[first:]] = potential[first:]
    f[r > 0.0], g[c > 0.0] = whole[r > 0.0], -whole[c > 0.0]
    return f, g


def values_on_tree(structure: Structure, R: Array, C: Array) -> tuple[Array, Array]:
    """The values of many pairs, and which of them floats know; ``R`` may have one row for all."""
    flows = flows_on(structure.parent, on_nodes(structure, R), on_nodes(structure, C))
    value, lost = flows.cost(structure.lengths)
    return value, is_fine(value, lost)
