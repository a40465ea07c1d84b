"""The family of distances: which member a strength asks for, and its answers in the caller's unit.

penalised    a positive, finite lam
constrained  a positive, finite alpha
exact        no entropy: lam or alpha infinite
independent  nothing but entropy: lam or alpha 0
unbalanced   a positive, finite lam, and marginals held by a penalty
base         what every member can do
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sinkdist.interrupts import beside_main
from sinkdist.kernels.compiled import Array
from sinkdist.problem.masses import MassPenalty
from sinkdist.problem.strength import Strength
from sinkdist.solvers.explored import Explored
from sinkdist.solvers.local import explore_on_part, most_bins, part_of, solve_on_part
from sinkdist.solvers.members.base import Member, Solved
from sinkdist.solvers.members.constrained import Constrained
from sinkdist.solvers.members.exact import Exact
from sinkdist.solvers.members.independent import Independent
from sinkdist.solvers.members.penalised import Penalised
from sinkdist.solvers.members.unbalanced import Unbalanced, refuse_strength
from sinkdist.solvers.outcome import Answers
from sinkdist.solvers.prepared import Prepared

__all__ = [
    "FAMILY", "Constrained", "Exact", "Independent", "Member", "Penalised", "Unbalanced",
    "explore", "member_of", "solve_batch", "solve_interruptibly", "solve_pair",
    "takes_all",
]  # fmt: skip

#: Every member, for contract tests and docs.
FAMILY: tuple[type[Member], ...] = (Penalised, Constrained, Exact, Independent, Unbalanced)

# Below this, log(mass) / lam is no longer a finite number and the entropy is all that is left.
_SMALLEST_LAM = 1e-305


def member_of(strength: Strength, mass_penalty: MassPenalty | None = None) -> Member:
    """The member that a number asks for; the only place that knows the limits.

    Examples
    --------
    >>> member_of(Strength("lam", 9.0)), member_of(Strength("alpha", math.inf))
    (Penalised(lam=9.0), Exact())
    """
    name, value = strength
    if mass_penalty is not None:
        if name == "alpha" or not _SMALLEST_LAM <= value < math.inf:
            raise refuse_strength(name, value)
        return Unbalanced(value, mass_penalty)
    if value == math.inf:
        return Exact()
    if name == "alpha":
        return Constrained(value) if value > 0.0 else Independent()
    return Penalised(value) if value >= _SMALLEST_LAM else Independent()


def solve_pair(task: Prepared, r: Array, c: Array) -> Solved:
    """One pair; the outcome, and the bins with mass of both sides (None for all)."""
    if takes_all(task, r[None], c[None]):
        outcome, rows, columns = task.member.solve_pair(task, r, c)
    else:
        outcome, rows, columns = solve_on_part(task, r, c)
    if task.unit != 1.0:
        outcome.in_units_of(task.unit, task.asked_lam)
    return outcome, rows, columns


def takes_all(task: Prepared, R: Any, C: Any) -> bool:
    """Whether pairs are solved on all bins; else on the matrix between those that they use."""
    if task.ground.is_dense or not task.member.needs_matrix(task):
        return True
    on_clouds: bool = task.member.is_on_clouds(task, most_bins(R), most_bins(C))
    return on_clouds


def solve_interruptibly(task: Prepared, r: Array, c: Array) -> Solved:
    """`solve_pair` for the caller of a verb: beside the main thread where it may take long."""
    enough = task.member.long_entries
    if r.size * c.size <= enough or np.count_nonzero(r) * np.count_nonzero(c) <= enough:
        return solve_pair(task, r, c)
    return beside_main(lambda: solve_pair(task, r, c), task.stop)


def solve_batch(task: Prepared, R: Array, C: Array) -> Answers:
    """Answer the pairs ``(R, C)``; ``R`` has one row, shared, or one per pair; no row is empty."""
    answers = Answers.blank(C.shape[0], task.ground.shape, task.member.lam, task.keep_potentials)
    if takes_all(task, R, C):
        task.member.solve_batch(task, R, C, answers)
    else:
        part, left, right = part_of(task, R, C)
        some = Answers.blank(
            len(right), part.task.ground.shape, task.member.lam, answers.f is not None
        )
        task.member.solve_batch(part.task, left, right, some)
        part.give(some, answers)
    if task.unit != 1.0:
        answers.in_units_of(task.unit, task.asked_lam)
    return answers


def explore(task: Prepared, r: Array, C: Any, enough: float) -> Explored:
    """Distances from ``r`` to the rows ``C`` for a search, in the task's unit of cost."""
    if task.ground.is_dense or not task.member.needs_matrix(task):
        found: Explored = task.member.explore(task, r, C, enough)
        return found
    return explore_on_part(task, r, C, enough)
