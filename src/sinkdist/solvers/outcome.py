"""What solvers hand back: `Outcome` for one pair, `Answers` for the pairs of a tile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sinkdist.kernels.compiled import Array
from sinkdist.solution.plans import Plan, in_units
from sinkdist.solution.status import Status
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, OVERFLOW, RUNNING

__all__ = ["RAN", "Answers", "Outcome", "potential"]

#: What `Solution.solver` may say; `Answers.solver` holds the index. New names go to the end.
RAN = (
    "plain", "relaxed", "newton", "log", "algorithm1", "constrained", "simplex", "line",
    "independence", "none", "tree", "cycle", "star", "uniform", "symmetric", "accelerated",
)  # fmt: skip
PLAIN, RELAXED, NEWTON, LOG, ALGORITHM1, CONSTRAINED, SIMPLEX, LINE, INDEPENDENCE, NONE = range(10)
TREE, CYCLE, STAR, UNIFORM, SYMMETRIC, ACCELERATED = range(10, 16)

#: The status of a pair by how its loop ended.
STATUS_OF = {
    CONVERGED: int(Status.CONVERGED),
    RUNNING: int(Status.MAX_ITER),
    HANDED_OVER: int(Status.STALLED),
    OVERFLOW: int(Status.STALLED),
}
STATUS_CONVERGED, STATUS_FIXED = int(Status.CONVERGED), int(Status.FIXED)
STATUS_EMPTY = int(Status.EMPTY)


@dataclass(slots=True)
class Outcome:
    """One pair on its bins with mass; what was not asked for is None.

    ``lam`` is that of the plan: 0 for the independence table, inf for a plan of the exact distance.
    ``plan`` is there where the potentials do not give it.
    """

    value: float
    error: float
    n_iter: int
    status: int
    solver: int
    f: Array | None = None
    g: Array | None = None
    lam: float = np.nan
    plan: Plan | None = None
    bracket: tuple[float, float] | None = None  #: proven, where that takes more than the plan

    def in_units_of(self, unit: float, asked_lam: float | None) -> None:
        """Turn costs that are in a ``unit`` into the caller's."""
        self.value *= unit
        self.lam = self.lam / unit if asked_lam is None else asked_lam
        self.f, self.g = (None if x is None else x * unit for x in (self.f, self.g))
        self.plan, self.bracket = in_units(self.plan, unit), _times(self.bracket, unit)


@dataclass(slots=True)
class Answers:
    """One entry per pair of a tile; ``f, g`` and ``plans`` only where they are wanted."""

    value: Array
    error: Array
    n_iter: Array
    status: Array
    solver: Array
    lam: Array
    f: Array | None = None
    g: Array | None = None
    plans: list[Plan | None] | None = None
    brackets: list[tuple[float, float] | None] | None = None

    @classmethod
    def blank(cls, pairs: int, shape: tuple[int, int], lam: float, keep: bool) -> Answers:
        """Answers to be filled in; NaN and STATUS_EMPTY until then."""
        f, g = (np.full((pairs, d), -np.inf) for d in shape) if keep else (None, None)
        return cls(
            np.full(pairs, np.nan), np.full(pairs, np.nan), np.zeros(pairs, np.int64),
            np.full(pairs, STATUS_EMPTY, np.int8), np.full(pairs, NONE, np.int8),
            np.full(pairs, lam), f, g,
            [None] * pairs if keep else None, [None] * pairs if keep else None,
        )  # fmt: skip

    def in_units_of(self, unit: float, asked_lam: float | None) -> None:
        """Turn costs that are in a ``unit`` into the caller's."""
        self.value *= unit
        self.lam = self.lam / unit if asked_lam is None else np.full(self.lam.shape, asked_lam)
        self.f, self.g = (None if x is None else x * unit for x in (self.f, self.g))
        if self.plans is not None and self.brackets is not None:
            self.plans = [in_units(plan, unit) for plan in self.plans]
            self.brackets = [_times(bracket, unit) for bracket in self.brackets]

    def put(self, pairs: Any, part: Answers | Outcome) -> None:
        """Write the numbers of some pairs, potentials apart."""
        self.value[pairs], self.error[pairs] = part.value, part.error
        self.n_iter[pairs], self.status[pairs] = part.n_iter, part.status
        self.solver[pairs] = part.solver
        if isinstance(part, Answers) or not np.isnan(part.lam):
            self.lam[pairs] = part.lam

    def put_potentials(self, pairs: Any, rows: Array, columns: Array, f: Any, g: Any) -> None:
        """Write potentials on the given bins, if they are kept."""
        if self.f is not None and self.g is not None:
            self.f[np.ix_(np.atleast_1d(pairs), rows)] = f
            self.g[np.ix_(np.atleast_1d(pairs), columns)] = g

    def put_tile(self, pairs: Array, part: Answers) -> None:
        """Write all that a tile answered."""
        self.put(pairs, part)
        if self.f is not None and self.g is not None:
            self.f[pairs], self.g[pairs] = part.f, part.g
        for k, pair in enumerate(pairs):
            if self.plans is not None and part.plans is not None:
                self.plans[pair] = part.plans[k]
            if self.brackets is not None and part.brackets is not None:
                self.brackets[pair] = part.brackets[k]


def _times(bracket: tuple[float, float] | None, unit: float) -> tuple[float, float] | None:
    """A bracket in another unit."""
    return None if bracket is None else (bracket[0] * unit, bracket[1] * unit)


def potential(scaling: Array, lam: float) -> Array:
    """``log(u) / lam``, -inf where there is no mass."""
    with np.errstate(divide="ignore"):
        out = np.log(scaling, dtype=np.float64)
    out /= lam
    return out
