"""The commands about matrices on disk: `info` describes one, `export` makes a plain file of it."""

from __future__ import annotations

from typing import Annotated

import typer

from sinkdist.cli import options
from sinkdist.cli.mistakes import stoppable
from sinkdist.errors import InputError

__all__ = ["EXPORT_EXAMPLES", "INFO_EXAMPLES", "export", "info"]

INFO_EXAMPLES = options.examples("sinkdist info D.zarr")
EXPORT_EXAMPLES = options.examples(
    "sinkdist export D.zarr D.npy", "sinkdist export D.zarr D.csv --overwrite"
)

Matrix = Annotated[str, typer.Argument(metavar="MATRIX", help="A .zarr written by pairwise.")]


def info(matrix: Matrix) -> None:
    """What is in a stored matrix: its parameters, pairs done and missing, how they ended."""
    import sinkdist as sd

    with stoppable():
        typer.echo(str(sd.open_matrix(options.without_slash(matrix)).summary()))


def export(
    matrix: Matrix,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="What to write: a .npy; a .csv, without a heading; or a .parquet, with columns "
            "that are called 0, 1, 2 and so on.",
        ),
    ],
    overwrite: options.Overwrite = False,
) -> None:
    """Write a finished matrix to a plain file, block by block: it need not fit in memory."""
    import sinkdist as sd
    from sinkdist.files import WRITTEN, check_target, write

    matrix = options.without_slash(matrix)
    check_target(file, WRITTEN, overwrite=overwrite)
    with stoppable(f"'{file}' was not written."):
        stored = sd.open_matrix(matrix)
        if not stored.is_complete:
            found = stored.summary()
            raise InputError(
                f"'{matrix}' is incomplete: {found.missing_pairs:,} of "
                f"{found.pairs + found.missing_pairs:,} pairs have not been computed yet. Give the "
                "command that began it once more: it goes on where it stopped."
            )
        write(file, stored)
    n, m = stored.shape
    typer.echo(f"{file}: {n:,} x {m:,} distances, {stored.dtype}")
