"""A problem: the ground, the member of the family, when to stop, what to compute in; all checked.

Everything below the verbs sees this record. Its `facts` identify a result everywhere: in stores, in
the caches of estimators, in reports.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from sinkdist.errors import InputError
from sinkdist.ground import Ground
from sinkdist.problem.options import Options, deciding
from sinkdist.problem.stopping import Stopping
from sinkdist.wording import setting

__all__ = ["SINGLE", "Member", "Problem", "Solver", "require_range"]

SINGLE = 1e-33, 1e37  #: largest costs that leave room for smaller distances in float32


class Member(Protocol):
    """What a problem knows of a member of the family; see `solvers.members`."""

    @property
    def word(self) -> str:
        """Its name in messages and stores."""

    @property
    def lam(self) -> float:
        """The paper's lambda; NaN where it has to be found."""

    def facts(self, stopping: Stopping) -> dict[str, Any]:
        """Options that decide its results, as they are used; None for those without a part."""


class Solver(Protocol):
    """What a problem knows of a solver; see `solvers.table`."""

    @property
    def name(self) -> str:
        """The word for ``solver=``."""

    @property
    def patience(self) -> float | None:
        """Sweeps that scaling may be projected to need; None skips scaling."""

    @property
    def fallback(self) -> str:
        """What takes the pairs that scaling hands over."""

    @property
    def symmetric(self) -> bool:
        """Whether a histogram against itself is tried by the symmetric fixed point before that."""

    @property
    def accelerated(self) -> bool:
        """Whether large pairs are tried by accelerated sweeps before all else."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """What was asked for, checked."""

    ground: Ground
    member: Any  #: a `Member`, with what the solvers add to it
    stopping: Stopping
    solver: Solver
    dtype: np.dtype[Any]
    options: Options

    def facts(self) -> dict[str, Any]:
        """What decides the result beside the histograms and the ground, as JSON."""
        used = {
            "solver": self.solver.name, "dtype": str(self.dtype),
            "iterations": self.stopping.iterations, "mass_penalty": None,
            **self.member.facts(self.stopping),
        }  # fmt: skip
        named = [name for name in deciding(type(self.options)) if name != "reg"]  # lam says it
        facts = {name: used.get(name, getattr(self.options, name)) for name in named}
        return {"distance": self.member.word} | {name: _json(x) for name, x in facts.items()}

    def __reduce__(self) -> Any:
        values = (self.ground, self.member, self.stopping, self.solver, self.dtype)
        return Problem, (*values, _bare(self.options))


def _bare(options: Options) -> Options:
    """The options that decide results: those of a run stay where it was started."""
    kept = {name: getattr(options, name) for name in deciding(type(options))}
    return type(options)(**kept)


def require_range(largest: float, dtype: np.dtype[Any]) -> None:
    """Raise where costs, and so the distances, are beyond float32, in which these would be."""
    least, most = SINGLE
    if dtype != np.float32 or least <= largest <= most or largest == 0.0:
        return
    raise InputError(
        "The largest cost is {:.3g}, which {} cannot hold, and neither could it hold the distance: "
        "pass histograms in float64, or {}, or a scaled ground.",
        largest, dtype.name, setting("dtype", "float64"),
    )  # fmt: skip


def _json(value: Any) -> Any:
    """A value that JSON can hold."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
