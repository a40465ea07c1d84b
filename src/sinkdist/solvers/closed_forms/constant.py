"""One cost for all moves, also for staying: every plan costs the same."""

from __future__ import annotations

import numpy as np

from sinkdist.ground import Ground
from sinkdist.ground.structure import Structure
from sinkdist.kernels.compiled import Array
from sinkdist.solution.plans import SparsePlan
from sinkdist.solvers.closed_forms.coupling import MONOTONE
from sinkdist.solvers.exact_result import Exact

__all__ = ["exact_at_one_cost", "values_at_one_cost"]


def exact_at_one_cost(ground: Ground, structure: Structure, r: Array, c: Array) -> Exact:
    """One pair; some plan."""
    cost = float(structure.lengths[0])
    f, g = np.where(r > 0.0, 0.0, -np.inf), np.where(c > 0.0, cost, -np.inf)
    return Exact(SparsePlan(*MONOTONE[0](r, c)), f, g, cost, cost, cost)


def values_at_one_cost(structure: Structure, R: Array, C: Array) -> tuple[Array, Array]:
    """The values of many pairs, all known."""
    return np.full(len(C), structure.lengths[0]), np.ones(len(C), bool)
