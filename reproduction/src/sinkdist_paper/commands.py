"""The commands `sinkdist reproduce` and `sinkdist demo`.

`sinkdist` finds them by the entry points in this distribution's pyproject.toml. What a command
needs is imported when it runs, so that asking for help is quick.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from sinkdist import InputError
from sinkdist.cli import options
from sinkdist.cli.mistakes import stoppable

__all__ = ["demo_app", "reproduce_app"]

reproduce_app = typer.Typer(add_completion=False, rich_markup_mode="rich")
demo_app = typer.Typer(add_completion=False, rich_markup_mode="rich")

_REPRODUCE_EXAMPLES = options.examples(
    "sinkdist reproduce list",
    "sinkdist reproduce all --quick",
    "sinkdist reproduce fig3 fig4 --out results",
    "sinkdist reproduce fig2 --data mnist --n 3000,5000 --out mnist",
    closing="A run that was stopped resumes when the same command is given again, and one with "
    "more --n adds to it; nothing is measured twice.",
)
_DEMO_EXAMPLES = options.examples("sinkdist demo --n 500 --out pictures")
_LIST, _DRAW = "list", "draw"


class Images(enum.StrEnum):
    """The images of the figures."""

    DIGITS = "digits"
    MNIST = "mnist"


@reproduce_app.command(epilog=_REPRODUCE_EXAMPLES)
def reproduce(
    figures: Annotated[
        list[str],
        typer.Argument(
            metavar="FIGURES",
            help="fig1, fig2, fig3, fig4, fig5 or several of them; all; list, which shows the "
            "figures and which of them have been measured; or draw, which measures nothing and "
            "draws and judges what has been measured.",
            show_default=False,
        ),
    ],
    data: Annotated[
        Images,
        typer.Option(
            help="The images: the 1,797 digits that scikit-learn includes, or MNIST as in the "
            "paper, which is downloaded unless it is in the folder that SINKDIST_DATA names."
        ),
    ] = Images.DIGITS,
    n: Annotated[
        list[str] | None,
        typer.Option(
            "--n",
            metavar="N",
            help="How many images; several numbers are separated by commas. By default "
            "600,1200,1797 of the digits; for MNIST, the numbers of the paper, 3000 to 25000.",
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Run a small version of every experiment, in minutes.")
    ] = False,
    out: Annotated[
        Path, typer.Option(help="Folder for the measurements, the figures and the report.")
    ] = Path("sinkdist-paper"),
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    workers: options.Workers = None,
    progress: Annotated[
        bool,
        typer.Option(
            "--progress/--no-progress",
            help="Show what is being measured and the time left: as a bar in a terminal, as lines "
            "in a log.",
        ),
    ] = True,
) -> None:
    """Measure the paper's figures again, and write a report on which of its claims hold."""
    from sinkdist_paper import run, settings

    if _LIST in figures:
        _list(out)
        return
    if _DRAW in figures:
        _conclude(out, run.draw(out))
        return
    wanted = run.chosen(figures)
    setting = settings.asked(
        out, data=data.value, sizes=_numbers(n or ()), quick=quick, seed=seed, workers=workers
    )
    kept = f"Finished measurements are kept in '{out}': give the same command again to continue."
    with stoppable(kept):
        report = run.reproduce(wanted, setting, out, progress=progress)
    _conclude(out, report)


@demo_app.command(epilog=_DEMO_EXAMPLES)
def demo(
    out: Annotated[
        Path, typer.Option(help="Folder for the pictures and the summary.", file_okay=False)
    ] = Path("sinkdist-demo"),
    n: Annotated[
        int | None,
        typer.Option("--n", help="How many definitions to compare; all 1,600 by default."),
    ] = None,
    workers: options.Workers = None,
) -> None:
    """Find which of 1,600 dictionary definitions mean alike, and draw what moves."""
    from sinkdist_paper.demo import run

    with stoppable():
        run(out, n=n, workers=workers)


def _numbers(texts: list[str] | tuple[()]) -> list[int]:
    """Numbers of images, separated by commas or given one by one."""
    try:
        return [int(part) for text in texts for part in text.split(",")]
    except ValueError:
        raise InputError(
            "--n must be whole numbers separated by commas, such as 3000,5000. "
            f"Got '{','.join(texts)}' instead."
        ) from None


def _list(out: Path) -> None:
    """Print the figures, and which of them have been measured."""
    from sinkdist_paper import manifest, run
    from sinkdist_paper.progress import duration

    for name, title in run.TITLES.items():
        about = manifest.read(out / name)
        if about is None:
            state = "not measured yet"
        elif about.finished:
            state = f"measured in {duration(about.seconds)}"
        else:
            state = "started"
        typer.echo(f"{name}  {title}  ({state})")
    typer.echo(f"Results are in '{out}'." if out.exists() else f"There is no folder '{out}' yet.")


def _conclude(out: Path, report: Path) -> None:
    """Print the verdicts, and where the report is."""
    from sinkdist_paper import run

    for finding in run.findings(out):
        typer.echo(f"{finding.label}: {finding.experiment.title}")
        for claim in finding.claims():
            typer.echo(f"  {claim.verdict.value}: {claim.paper}")
    typer.echo(f"The report: {report}")
