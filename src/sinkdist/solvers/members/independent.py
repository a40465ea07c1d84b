"""The independence table: the limit of no constraint on the entropy, ``r^T M c``."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sinkdist.ground import Ground
from sinkdist.inputs.histograms import Histograms
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.pair import mean_cost
from sinkdist.problem.stopping import Stopping
from sinkdist.solvers.bins import in_double
from sinkdist.solvers.members.base import Member, Solved
from sinkdist.solvers.outcome import INDEPENDENCE, STATUS_CONVERGED, Answers, Outcome
from sinkdist.solvers.prepared import Prepared

__all__ = ["Independent", "independence_table"]


@dataclass(frozen=True, slots=True)
class Independent(Member):
    """``lam = 0`` or ``alpha = 0``."""

    word: ClassVar[str] = "independence"
    lam: float = field(default=0.0, init=False, repr=False)
    is_one_product: ClassVar[bool] = True

    def facts(self, stopping: Stopping) -> dict[str, Any]:
        """Nothing is iterated."""
        return {"lam": 0.0, "alpha": None, "tol": None, "max_iter": None}

    def seconds_per_entry(self, stopping: Stopping) -> float:
        """One product."""
        return 4e-11

    def needs_matrix(self, task: Prepared) -> bool:
        """Means of costs are all there is to it."""
        return False

    def solve_pair(self, task: Prepared, r: Array, c: Array) -> Solved:
        """The table of one pair; by means of costs where there is no matrix."""
        if task.ground.is_dense:
            return Member.solve_pair(self, task, r, c)
        r, c = in_double(r), in_double(c)
        toward, onward = task.ground.mean_costs(np.stack([c, r]))  # large grids are symmetric
        value = float(np.vdot(r, toward))
        f, g = (
            np.where(mass > 0.0, mean - 0.5 * value, -np.inf)
            for mass, mean in ((r, toward), (c, onward))
        )
        return (
            Outcome(value, 0.0, 1, STATUS_CONVERGED, INDEPENDENCE, f, g, 0.0), None, None
        )  # fmt: skip

    def solve_on_bins(
        self, task: Prepared, rows: Array | None, columns: Array | None, r: Array, c: Array
    ) -> Outcome:
        """The table of one pair."""
        return independence_table(task.ground.block(rows, columns), r, c)

    def solve_batch(self, task: Prepared, R: Any, C: Any, answers: Answers) -> None:
        """Products for many pairs."""
        if task.keep_potentials:
            Member.solve_batch(self, task, R, C, answers)
            return
        means = task.ground.mean_costs(R)
        dense = isinstance(
            C, np.ndarray
        )  # rows on a ground without a matrix are as they are stored
        answers.value[:] = (
            np.einsum("kj,kj->k", C, means) if dense else C.multiply(means).sum(axis=1)
        )
        answers.error[:], answers.n_iter[:] = 0.0, 1
        answers.status[:], answers.solver[:] = STATUS_CONVERGED, INDEPENDENCE

    def all_at_once(self, ground: Ground, A: Histograms, B: Histograms) -> Array:
        """One matrix product."""
        return np.asarray(ground.mean_costs(A.rows) @ B.rows.T)


def independence_table(costs: Array, r: Array, c: Array) -> Outcome:
    """The outcome ``r c^T``; its potentials are the limit of the others', centred."""
    value = mean_cost(costs, r, c)
    f, g = costs @ c - 0.5 * value, r @ costs - 0.5 * value
    return Outcome(value, 0.0, 1, STATUS_CONVERGED, INDEPENDENCE, f, g, 0.0)
