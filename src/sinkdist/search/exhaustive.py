"""All distances of a query, where they are a formula: a product, or a closed form of the ground.

Then a bound would cost as much as the distance itself.
"""

from __future__ import annotations

import numpy as np

from sinkdist.ground import Ground
from sinkdist.kernels.compiled import Array
from sinkdist.search.candidates import Candidates, Survivors
from sinkdist.solvers.bins import dense_rows
from sinkdist.solvers.explored import Plane
from sinkdist.solvers.members.base import Member
from sinkdist.solvers.outcome import Answers
from sinkdist.solvers.prepared import Prepared

__all__ = ["all_distances", "is_formula"]

_AT_ONCE = 512  #: candidates


def is_formula(member: Member, ground: Ground) -> str | None:
    """What gives all distances without a search, in a word; None where nothing does."""
    if member.is_one_product:
        return "one product"
    if member.has_closed_forms and ground.structure is not None:
        return "a closed form"
    return None


def all_distances(task: Prepared, r: Array, candidates: Candidates) -> Array:
    """Distances from ``r`` to all candidates; NaN for those without mass."""
    if task.member.is_one_product:
        found = Survivors(np.arange(candidates.n), np.full(candidates.n, -np.inf))
        g = np.asarray(task.ground.mean_costs(r[None]))[0]
        candidates.raise_bounds(found, [Plane(np.ascontiguousarray(g), 0.0)])
        values = found.bound
    else:
        values = np.full(candidates.n, np.nan)
        full = np.flatnonzero(~candidates.empty)
        for start in range(0, full.size, _AT_ONCE):
            some = full[start : start + _AT_ONCE]
            answers = Answers.blank(some.size, task.ground.shape, task.member.lam, False)
            task.stop.check()
            task.member.solve_batch(task, r[None], dense_rows(candidates.rows(some)), answers)
            values[some] = answers.value
    values[candidates.empty] = np.nan
    return values
