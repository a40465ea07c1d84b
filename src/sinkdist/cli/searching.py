"""The command that searches: `nearest`, the nearest histograms as a list."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from sinkdist.cli import options
from sinkdist.cli.computing import ZARR, after_a_stop, check_scheduler, cluster_at, family
from sinkdist.cli.mistakes import rename_arguments, stoppable
from sinkdist.errors import InputError
from sinkdist.inputs.messages import count

__all__ = ["EXAMPLES", "nearest"]

EXAMPLES = options.examples(
    "sinkdist nearest Y.npy --query X.npy --k 10 --ground grid:20x20 --emd --out near.csv",
    "sinkdist nearest words.npz --ground points:Z.npy --alpha 1 --normalize --names titles.txt",
    "sinkdist nearest Y.npy --radius 2.5 --ground M.npy --emd",
    "sinkdist nearest Y.npy --k 10 --ground grid:20x20 --emd --out near.zarr",
    closing="A run to a .zarr that is stopped or killed goes on when the same command is given "
    "again; finished tiles are kept.",
)


def nearest(
    y: Annotated[
        str, typer.Argument(metavar="Y", help="Histograms that are searched, one per row.")
    ],
    ground: options.Costs,
    query: Annotated[
        str | None,
        typer.Option(
            "--query",
            metavar="FILE",
            help="Histograms whose neighbours are wanted; without it, each row's nearest others.",
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            metavar="FILE",
            help="A .csv or .parquet file, written at the end, or a .zarr, written tile by tile, "
            "which survives being stopped; without it, lines of text.",
        ),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option(
            "--names",
            metavar="FILE",
            help="A text file with a name for each row of Y, one per line, to be written as well.",
        ),
    ] = None,
    k: options.K = None,
    radius: options.Radius = None,
    budget: options.Budget = None,
    order: options.Order = "proven",
    scaled: options.Scaled = False,
    overwrite: options.Overwrite = False,
    lam: options.Lam = None,
    reg: options.Reg = None,
    alpha: options.Alpha = None,
    emd: options.Emd = False,
    tol: options.Tol = None,
    max_iter: options.MaxIter = None,
    normalize: options.Normalize = False,
    on_empty: options.OnEmpty = options.WithoutMass.RAISE,
    label_column: options.LabelColumn = None,
    workers: options.Workers = None,
    memory: options.Memory = None,
    scheduler: options.Scheduler = None,
    progress: options.ShowProgress = True,
) -> None:
    """The nearest histograms, exactly, solving few of the pairs: one line for each neighbour."""
    import sinkdist as sd
    from sinkdist.files import check_target, read_ground
    from sinkdist.files.columns import COLUMNS, as_csv, write_columns

    asked, reg, alpha = options.strength(lam, reg, alpha, emd)
    store, stopped = None, ""
    if out is not None:
        out = options.without_slash(out)
        is_store = check_target(out, (ZARR, *COLUMNS), overwrite=overwrite) == ZARR
        store, stopped = (out if is_store else None), after_a_stop(out, is_store)
    if store is not None and names is not None:
        raise InputError("A .zarr holds numbers alone: leave out --names, or write a .csv.")
    if scheduler is not None:
        check_scheduler(scheduler)
    with stoppable(stopped), rename_arguments(X=query or y, Y=y), cluster_at(scheduler) as client:
        costs = read_ground(ground)
        Y, called = family(y, costs, label_column)
        X, asking = (None, called) if query is None else family(query, costs, label_column)
        if names is not None:
            called = _names(names, Y.shape[0])
        found = sd.neighbors(
            Y if X is None else X, None if X is None else Y,
            ground=costs.scaled() if scaled else costs, k=k, radius=radius, budget=budget,
            order=order, lam=asked, reg=reg, alpha=alpha, tol=tol, max_iter=max_iter,
            normalize=normalize, on_empty=on_empty.value, workers=workers,
            progress=progress and out is not None, memory=memory, out=store,
            overwrite=overwrite and store is not None, client=client,
        )  # fmt: skip
        if out is not None and store is None:
            write_columns(out, _columns(found, asking, called))
    if out is None:
        typer.echo(as_csv(_columns(found, asking, called)), nl=False)
    else:
        typer.echo(f"{out}: {found!r}")


def _columns(found: Any, asking: list[str] | None, names: list[str] | None) -> dict[str, Any]:
    """One line for each neighbour; queries and neighbours by name where they have names."""
    import numpy as np

    query, rank = np.nonzero(found.indices >= 0)
    index = found.indices[query, rank]
    columns = {"query": query, "rank": rank + 1, "neighbour": index}
    if asking is not None:
        columns = {"query": query, "query_name": np.array(asking)[query], **columns}
    if names is not None:
        columns["name"] = np.array(names)[index]
    return columns | {
        "distance": found.distances[query, rank], "proven": found.proven[query, rank]
    }  # fmt: skip


def _names(path: str, rows: int) -> list[str]:
    """A name for each row."""
    try:
        with open(path, encoding="utf-8") as file:
            names = file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"'{path}' cannot be read as text: {error}.") from error
    if len(names) != rows:
        raise InputError(
            f"'{path}' has {count(len(names), 'name')} for {count(rows, 'row')} of the table."
        )
    return names
