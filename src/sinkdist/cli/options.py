"""The options that commands share: each is declared and explained once, in plain words.

Options that stand for one decision share a panel of the help.
"""

from __future__ import annotations

import enum
import math
from typing import Annotated, TypeAlias

import typer

from sinkdist.errors import InputError

__all__ = ["Precision", "WithoutMass", "examples", "strength", "without_slash"]

_STRENGTH = "Which distance (exactly one)"
_STOPPING = "When to stop"
_READING = "How histograms are read"
_MACHINE = "Where it runs"


class Precision(enum.StrEnum):
    """What to compute in."""

    FLOAT32 = "float32"
    FLOAT64 = "float64"


class WithoutMass(enum.StrEnum):
    """What becomes of histograms without mass."""

    RAISE = "raise"
    NAN = "nan"


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
Lam: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--lam",
        metavar="NUMBER",
        help="The paper's lambda: the larger, the closer to the exact distance. 9 is a common "
        "choice with --scaled.",
        rich_help_panel=_STRENGTH,
    ),
]
Reg: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--reg",
        metavar="NUMBER",
        help="The same as 1 / lambda, which other packages call reg or epsilon.",
        rich_help_panel=_STRENGTH,
    ),
]
Alpha: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--alpha",
        metavar="NUMBER",
        help="The radius of the Kullback-Leibler ball: the paper's true metric.",
        rich_help_panel=_STRENGTH,
    ),
]
Emd: TypeAlias = Annotated[
    bool,
    typer.Option("--emd", help="The exact distance, without entropy.", rich_help_panel=_STRENGTH),
]
Tol: TypeAlias = Annotated[
    float | None,
    typer.Option(
        "--tol",
        metavar="NUMBER",
        help="How far the sums of a plan may be from the histograms: 1e-6, or 1e-4 in float32, "
        "by default.",
        rich_help_panel=_STOPPING,
    ),
]
MaxIter: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--max-iter",
        metavar="N",
        help="The most work for one pair, in reads of the kernel; 10,000 by default.",
        rich_help_panel=_STOPPING,
    ),
]
Iterations: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--iterations",
        metavar="N",
        help="Run exactly so many steps of the paper's Algorithm 1 instead, with no test.",
        rich_help_panel=_STOPPING,
    ),
]
Solver: TypeAlias = Annotated[
    str,
    typer.Option(
        "--solver",
        metavar="NAME",
        help="auto, plain, relaxed, newton or log: changes the time it takes, not the answer.",
        rich_help_panel=_STOPPING,
    ),
]
DType: TypeAlias = Annotated[
    Precision | None,
    typer.Option(
        "--dtype",
        help="What to compute in; float32 where all input is, else float64, by default.",
        rich_help_panel=_READING,
    ),
]
Normalize: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--normalize",
        help="Divide histograms by their sums: for counts. Without it, they must sum to 1.",
        rich_help_panel=_READING,
    ),
]
OnEmpty: TypeAlias = Annotated[
    WithoutMass,
    typer.Option(
        "--on-empty",
        help="Whether histograms without mass are an error or have the distance nan.",
        rich_help_panel=_READING,
    ),
]
Coincidence: TypeAlias = Annotated[
    bool,
    typer.Option(
        "--coincidence",
        help="Make the distance of equal histograms 0; with entropy it is a little above.",
        rich_help_panel=_READING,
    ),
]
Workers: TypeAlias = Annotated[
    int | None,
    typer.Option(
        "--workers",
        metavar="N",
        help="Threads; all cores by default.",
        min=1,
        rich_help_panel=_MACHINE,
    ),
]
Memory: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--memory",
        metavar="SIZE",
        help="The most memory to use, such as 2GB or 500MB; by default what suits the machine.",
        rich_help_panel=_MACHINE,
    ),
]
Scheduler: TypeAlias = Annotated[
    str | None,
    typer.Option(
        "--scheduler",
        metavar="ADDRESS",
        help="Run on a Dask cluster, such as tcp://10.0.0.1:8786.",
        rich_help_panel=_MACHINE,
    ),
]
Overwrite: TypeAlias = Annotated[
    bool, typer.Option("--overwrite", help="Replace what is there already.")
]
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
    lam: float | None, reg: float | None, alpha: float | None, emd: bool
) -> tuple[float | None, float | None, float | None]:
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
    return (math.inf if emd else lam), reg, alpha


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
