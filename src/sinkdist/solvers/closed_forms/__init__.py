"""Exact distances by a formula, where the ground has a structure that gives one.

line      bins on a line, the distance between them as cost
tree      path lengths in a tree; also stars, ``M_ij = w_i + w_j``, and equal costs
cycle     path lengths on a circle
constant  one cost for all moves, also for staying
flows     the net mass over edges, which all but the last share
coupling  their plans

`CLOSED_FORMS` is the table: a new one is a file, an entry, and a kind of `ground.structure`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sinkdist.ground import Ground
from sinkdist.ground.structure import Structure
from sinkdist.kernels.compiled import Array
from sinkdist.solvers.closed_forms.constant import exact_at_one_cost, values_at_one_cost
from sinkdist.solvers.closed_forms.cycle import exact_on_cycle, values_on_cycle
from sinkdist.solvers.closed_forms.line import exact_on_line
from sinkdist.solvers.closed_forms.tree import exact_on_tree, values_on_tree
from sinkdist.solvers.exact_result import Exact
from sinkdist.solvers.outcome import CYCLE, LINE, STAR, TREE, UNIFORM

__all__ = ["CLOSED_FORMS", "ClosedForm"]


@dataclass(frozen=True, slots=True)
class ClosedForm:
    """A formula for one structure.

    Attributes
    ----------
    ran : int
        What `Solution.solver` says, as an index of `outcome.RAN`.
    exact : callable
        One pair, in float64: plan, potentials and bounds.
    values : callable
        The values of many pairs, and which of them are known in floats to more than 12 digits; the
        others are for `exact`.
    """

    ran: int
    exact: Callable[[Ground, Structure, Array, Array], Exact]
    values: Callable[[Structure, Array, Array], tuple[Array, Array]]


#: By the kind of a ground's structure.
CLOSED_FORMS = {
    "line": ClosedForm(LINE, exact_on_line, values_on_tree),
    "tree": ClosedForm(TREE, exact_on_tree, values_on_tree),
    "cycle": ClosedForm(CYCLE, exact_on_cycle, values_on_cycle),
    "star": ClosedForm(STAR, exact_on_tree, values_on_tree),
    "uniform": ClosedForm(UNIFORM, exact_on_tree, values_on_tree),
    "constant": ClosedForm(UNIFORM, exact_at_one_cost, values_at_one_cost),
}
