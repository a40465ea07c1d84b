"""Bins on a line with the distance between them as cost: the distance of cumulative sums.

The value is the integral of ``|F - G|``. A line is a tree without branches; what is its own is the
plan, the monotone one.
"""

from __future__ import annotations

from sinkdist.ground import Ground
from sinkdist.ground.structure import Structure
from sinkdist.kernels.compiled import Array
from sinkdist.solvers.closed_forms.coupling import MONOTONE
from sinkdist.solvers.closed_forms.tree import by_flows
from sinkdist.solvers.exact_result import Exact

__all__ = ["exact_on_line"]


def exact_on_line(ground: Ground, structure: Structure, r: Array, c: Array) -> Exact:
    """One pair; its plan keeps the order of mass."""
    return by_flows(ground, structure, r, c, MONOTONE)
