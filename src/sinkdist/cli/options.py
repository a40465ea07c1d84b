"""The options that commands share: flags and help come from `problem.options`.

Options that stand for one decision share a panel of the help.
"""

from __future__ import annotations

import enum
import math
from dataclasses import fields
from typing import Annotated, Any, TypeAlias

import typer

from sinkdist.errors import InputError
from sinkdist.problem.options import Options
from sinkdist.problem.strength import is_relative

__all__ = [
    "Precision", "WithoutMass", "declared", "examples", "lam_of", "mass_penalty", "strength",
    "without_slash",
]  # fmt: skip

_STRENGTH = "Which distance (exactly one)"
_STOPPING = "When to stop"
_READING = "How histograms are read"
_SEARCH = "Which neighbours"
_MACHINE = "Where it runs"


class Precision(enum.StrEnum):
    """What to compute in."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"


class WithoutMass(enum.StrEnum):
    """What becomes of histograms without mass."""

    RAISE = "raise"
    NAN = "nan"


def declared(
    name: str,
    panel: str | None,
    metavar: str | None = None,
    *,
    of: type[Any] = Options,
    **more: Any,
) -> Any:
    """The flag of an option of the package, with its one line of documentation."""
    known = {x.name: x.metadata for x in fields(of)}[name]
    return typer.Option(
        known["flag"], metavar=metavar, help=known["summary"], rich_help_panel=panel, **more
    )


Costs: TypeAlias = Annotated[
    str,
    typer.Option(
        "--ground",
        metavar="GROUND",
        help="What it costs to move mass between bins: a file with a matrix of costs; "
        r"grid:HxW\[:metric] for pixels, with any number of sides (grid:20x20, grid:100, "
        r"grid:8x8x8:cityblock); points:FILE\[:metric] for points, one per row, with any metric of "
        "SciPy; graph:FILE for shortest paths along the edges of a sparse matrix.",
    ),
]
Scaled: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--scaled",
        help="Divide the costs by their median, as the paper does: the same --lam then means the "
        "same on every ground.",
    ),
]
Lam: TypeAlias = Annotated[str | None, declared("lam", _STRENGTH, "NUMBER[/median]")]
Reg: TypeAlias = Annotated[float | None, declared("reg", _STRENGTH, "NUMBER")]
Alpha: TypeAlias = Annotated[float | None, declared("alpha", _STRENGTH, "NUMBER")]
MassPenalty: TypeAlias = Annotated[
    str | None, declared("mass_penalty", _STRENGTH, "NUMBER[,NUMBER]")
]
Emd: TypeAlias = Annotated[
    bool,
    typer.Option("--emd", help="The exact distance, without entropy.", rich_help_panel=_STRENGTH),
]
Tol: TypeAlias = Annotated[float | None, declared("tol", _STOPPING, "NUMBER")]
MaxIter: TypeAlias = Annotated[int | None, declared("max_iter", _STOPPING, "N")]
Iterations: TypeAlias = Annotated[int | None, declared("iterations", _STOPPING, "N")]
Solver: TypeAlias = Annotated[str, declared("solver", _STOPPING, "NAME")]
DType: TypeAlias = Annotated[Precision | None, declared("dtype", _READING)]
Normalize: TypeAlias = Annotated[bool, declared("normalize", _READING)]
OnEmpty: TypeAlias = Annotated[WithoutMass, declared("on_empty", _READING)]
Coincidence: TypeAlias = Annotated[bool, declared("coincidence", _READING)]
Workers: TypeAlias = Annotated[int | None, declared("workers", _MACHINE, "N", min=1)]
Memory: TypeAlias = Annotated[str | None, declared("memory", _MACHINE, "SIZE")]
Scheduler: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Run on a Dask cluster, such as tcp://10.0.0.1:8786.",
        rich_help_panel=_MACHINE,
    ),
]
LabelColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--label-column",
        metavar="COLUMN",
        help="Columns of a .csv or .parquet file that hold labels of the rows, not masses: by "
        "heading or by number from 1, as in 1,2; none if all are bins. Results carry them.",
        rich_help_panel=_READING,
    ),
]
K: TypeAlias = Annotated[int | None, declared("k", _SEARCH, "N")]
Radius: TypeAlias = Annotated[float | None, declared("radius", _SEARCH, "NUMBER")]
Budget: TypeAlias = Annotated[int | None, declared("budget", _SEARCH, "N")]
Order: TypeAlias = Annotated[str, declared("order", _SEARCH, "NAME")]
Overwrite: TypeAlias = Annotated[bool, declared("overwrite", None)]
ShowProgress: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--progress/--no-progress",
        help="Show pairs done, pairs per second and the time left: as a bar in a terminal, as a "
        "line every ten seconds in a log.",
        rich_help_panel=_MACHINE,
    ),
]


def strength(
    lam: str | None, reg: float | None, alpha: float | None, emd: bool
) -> tuple[float | str | None, float | None, float | None]:
    """`lam`, `reg` and `alpha` as the verbs take them; exactly one has to be given, or `emd`.

    Examples
    --------
    >>> strength(None, None, None, True)
    (inf, None, None)
    """
    values = (("--lam", lam), ("--reg", reg), ("--alpha", alpha), ("--emd", emd or None))
    given = [name for name, value in values if value is not None]
    if len(given) != 1:
        raise InputError(
            "Which distance is wanted must be said by exactly one of --lam, --reg, --alpha and "
            f"--emd. Got {' and '.join(given) or 'none of them'} instead."
        )
    return (math.inf if emd else lam_of(lam)), reg, alpha


def lam_of(given: str | None) -> float | str | None:
    """A number, or a number over the median cost, as the verbs take them.

    Examples
    --------
    >>> lam_of("9"), lam_of("9/median")
    (9.0, '9/median')
    """
    if given is None or is_relative(given):
        return given
    try:
        return float(given)
    except ValueError:
        raise InputError(
            f"--lam must be a number, or one over the median cost as in 9/median. Got {given!r} "
            "instead."
        ) from None


def mass_penalty(given: str | None) -> float | tuple[float, float] | None:
    """One number, or two with a comma between them, as the verbs take them.

    Examples
    --------
    >>> mass_penalty("2"), mass_penalty("1,inf")
    (2.0, (1.0, inf))
    """
    if given is None:
        return None
    try:
        numbers = tuple(float(part) for part in given.split(","))
    except ValueError:
        numbers = ()
    if len(numbers) not in (1, 2):
        raise InputError(
            f"--mass-penalty must be a number, or two as in 1,inf. Got {given!r} instead."
        )
    return numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])


def without_slash(name: str) -> str:
    """A name without the slash that a shell puts behind folders when it completes them.

    Examples
    --------
    >>> without_slash("results/D.zarr/")
    'results/D.zarr'
    """
    return name.rstrip("/\\") or name


def examples(*commands: str, closing: str = "") -> str:
    """The end of a help page: one command per line."""
    heading = "Example" if len(commands) == 1 else "Examples"
    lines = [f"[bold]{command}[/bold]" for command in commands]
    if len(lines) == 1:
        return f"{heading}: {lines[0]}"
    return "\n\n".join([f"{heading}:", *lines, *([closing] if closing else [])])
