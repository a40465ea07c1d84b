"""The command line: a thin Typer application over the package.

::

    __init__.py         the application and its commands
      |-- options.py        the options that commands share, in plain words
      |-- computing.py      pairwise, distance
      |-- searching.py      nearest
      |-- certificates.py   what is known of pairs, as lines of text
      |-- means.py          barycenter, cluster
      |-- exploring.py      explore
      |-- stored.py         info, export
      |-- plugins.py        commands of other distributions, such as reproduce and demo
      |-- warmup.py         warmup
      `-- mistakes.py       from errors and warnings to one sentence and an exit code

A command reads its arguments and calls the package. What it needs is imported when it runs, so that
asking for help is quick.
"""

from __future__ import annotations

from typing import Annotated

import typer

from sinkdist import __version__
from sinkdist.cli import computing, exploring, means, searching, stored, warmup
from sinkdist.cli.mistakes import quiet, report_errors
from sinkdist.cli.options import examples
from sinkdist.cli.plugins import Commands

__all__ = ["app", "main"]

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=examples(
        "sinkdist pairwise X.npy --ground grid:20x20 --lam 9/median --out D.zarr",
        "sinkdist info D.zarr",
        "sinkdist export D.zarr D.npy",
        closing="Each command has its own help: sinkdist pairwise --help",
    ),
)


def _show_version(wanted: bool) -> None:
    """Print the version and stop."""
    if wanted:
        typer.echo(f"sinkdist {__version__}")
        raise typer.Exit


@app.callback()
def sinkdist(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Sinkhorn distances between histograms: fast, stable and certified."""


app.command(epilog=computing.PAIRWISE_EXAMPLES)(computing.pairwise)
app.command(epilog=computing.DISTANCE_EXAMPLES)(computing.distance)
app.command(epilog=means.BARYCENTER_EXAMPLES)(means.barycenter)
app.command(epilog=means.CLUSTER_EXAMPLES)(means.cluster)
app.command(epilog=searching.EXAMPLES)(searching.nearest)
app.command(epilog=exploring.EXAMPLES)(exploring.explore)
app.command(epilog=stored.INFO_EXAMPLES)(stored.info)
app.command(epilog=stored.EXPORT_EXAMPLES)(stored.export)
app.command(epilog=warmup.EXAMPLES)(warmup.warmup)


def main() -> None:
    """Run the command line; mistakes of the user end in one sentence and exit code 2."""
    with quiet(), report_errors():
        app()
