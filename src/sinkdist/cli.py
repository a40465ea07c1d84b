"""The command line: a thin Typer application over the package.

It reads arguments, calls one function and turns the package's own errors into one sentence and
exit code 2. What a command needs is imported when that command runs.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from sinkdist import __version__

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Example: [bold]sinkdist demo --n 500 --out pictures[/bold]",
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


@app.command(epilog="Example: [bold]sinkdist demo --n 500 --out pictures[/bold]")
def demo(
    out: Annotated[
        Path, typer.Option(help="Folder for the picture and the summary.", file_okay=False)
    ] = Path("sinkdist-demo"),
    n: Annotated[
        int | None, typer.Option("--n", help="How many digits to compare; all 1,797 by default.")
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Threads; all cores by default.", min=1)
    ] = None,
) -> None:
    """Compare 1,797 handwritten digits with each other, and draw their nearest neighbours."""
    from sinkdist.demo import run

    run(out, n=n, workers=workers)


def main() -> None:
    """Run the command line; mistakes of the user end in one sentence and exit code 2."""
    from sinkdist.errors import InputError, InputTypeError, MissingExtraError

    try:
        app()
    except (InputError, InputTypeError, MissingExtraError) as error:
        typer.echo(f"Error: {error}", err=True)
        sys.exit(2)
