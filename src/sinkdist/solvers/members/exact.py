"""The exact distance: no entropy at all."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from sinkdist.ground import Ground
from sinkdist.kernels.compiled import Array
from sinkdist.problem.stopping import Stopping
from sinkdist.solvers.bins import in_double
from sinkdist.solvers.compiled.exact import GAP, exact_on_line, exact_pair, load_simplex
from sinkdist.solvers.compiled.relaxation import HANDED_OVER
from sinkdist.solvers.members.base import Member, Solved
from sinkdist.solvers.outcome import LINE, SIMPLEX, STATUS_CONVERGED, STATUS_OF, Outcome
from sinkdist.solvers.prepared import Prepared, Wishes

__all__ = ["Exact", "exact_outcome", "knows_metric"]

_CHECKED_BINS = 512  #: up to which every triangle is looked at for a single pair


@dataclass(frozen=True, slots=True)
class Exact(Member):
    """``lam = inf`` or ``alpha = inf``."""

    word: ClassVar[str] = "exact"
    lam: float = field(default=math.inf, init=False, repr=False)
    long_entries: ClassVar[float] = 1 << 16

    def facts(self, stopping: Stopping) -> dict[str, Any]:
        """Solved to the end, whatever the tolerance."""
        return {"lam": math.inf, "alpha": None, "tol": None, "max_iter": None}

    def seconds_per_entry(self, stopping: Stopping) -> float:
        """By the network simplex."""
        return 1e-7

    def load(self) -> None:
        """The network simplex."""
        load_simplex()

    def _operators(self, ground: Ground, dtype: np.dtype[Any], wishes: Wishes) -> dict[str, Any]:
        return {"metric": knows_metric(ground, wishes.pairs)}

    def solve_pair(self, task: Prepared, r: Array, c: Array) -> Solved:
        """One pair on all bins."""
        return exact_outcome(task, r, c, GAP), None, None


def knows_metric(ground: Ground, pairs: int) -> bool:
    """Whether the costs are known to be a metric, or it is worth finding out."""
    worth = max(ground.shape) <= max(_CHECKED_BINS, pairs)
    return ground.is_known_metric or (worth and bool(ground.is_metric))


def exact_outcome(task: Prepared, r: Array, c: Array, within: float) -> Outcome:
    """The exact distance of one pair on all bins; a closed form where the bins lie on a line."""
    r, c = in_double(r), in_double(c)
    line = task.ground.line
    if line is not None:
        end, ran = exact_on_line(line, task.ground.dense, r, c), LINE
    else:
        end = exact_pair(task.ground.dense, r, c, metric=task.metric, stop=task.stop, within=within)
        ran = SIMPLEX
    error = end.plan.marginal_error(r, c)
    status = STATUS_CONVERGED if end.solved else STATUS_OF[HANDED_OVER]
    bracket = end.lower, end.upper
    return Outcome(end.value, error, 1, status, ran, end.f, end.g, np.inf, end.plan, bracket)
