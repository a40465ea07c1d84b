"""The table of solvers: what can be asked for by name.

A solver is a record of what it tries, in order: scaling sweeps with some patience, then a fallback
for pairs that are too slow or not representable. Contract tests, benchmarks and docs iterate this
table.
"""

from __future__ import annotations

from dataclasses import dataclass

from sinkdist.errors import InputError
from sinkdist.solvers.compiled.relaxation import FOREVER, PLAIN
from sinkdist.wording import option

__all__ = ["SOLVERS", "Solver", "by_name"]


@dataclass(frozen=True, slots=True)
class Solver:
    """How to reach a tolerance.

    Attributes
    ----------
    name : str
        The word for ``solver=``.
    summary : str
        One line for docs and messages.
    patience : float or None
        Sweeps that scaling may be projected to need before it hands over; None skips scaling.
    fallback : {"newton", "log"}
        What takes the pairs that scaling hands over.
    symmetric : bool
        Whether a histogram against itself is tried by the symmetric fixed point before that.
    accelerated : bool
        Whether large pairs are tried by accelerated sweeps before all else.
    """

    name: str
    summary: str
    patience: float | None
    fallback: str
    symmetric: bool = False
    accelerated: bool = False


SOLVERS = {
    solver.name: solver
    for solver in (
        Solver(
            "auto",
            "sweeps, relaxed where that helps; Newton where sweeps would be many",
            40.0,
            "newton",
            symmetric=True,
            accelerated=True,
        ),
        Solver("plain", "Sinkhorn's sweeps and nothing else", PLAIN, "log"),
        Solver("relaxed", "over-relaxed sweeps with safeguards", FOREVER, "log"),
        Solver("newton", "Newton on a ladder of lam, in the log domain", None, "newton"),
        Solver("log", "plain sweeps in the log domain", None, "log"),
    )
}


def by_name(name: object) -> Solver:
    """The solver called `name`, or an error that lists the names."""
    if isinstance(name, str) and name in SOLVERS:
        return SOLVERS[name]
    names = ", ".join(repr(known) for known in SOLVERS)
    raise InputError(
        "The {} option must be one of {}. Got {!r} instead.", option("solver"), names, name
    )
