"""The commands that compute: `pairwise` for all pairs, `distance` for pairs row by row."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from sinkdist.cli import certificates, options
from sinkdist.cli.mistakes import rename_arguments, stoppable
from sinkdist.errors import InputError

__all__ = [
    "DISTANCE_EXAMPLES", "PAIRWISE_EXAMPLES", "ZARR", "after_a_stop", "check_scheduler",
    "cluster_at", "distance", "family", "pairwise",
]  # fmt: skip

_FILES = (
    "a .npy, .npz (dense or sparse; file.npz:key names an array), .csv, .parquet, .png or .tif file"
)
ZARR = ".zarr"

PAIRWISE_EXAMPLES = options.examples(
    "sinkdist pairwise X.npy --ground grid:20x20 --lam 9/median --out D.zarr",
    "sinkdist pairwise X.npy Y.npy --ground M.npy --reg 0.1 --scaled --out D.npy",
    "sinkdist pairwise X.npz --ground points:Z.npy:cosine --emd --out D.csv",
    "sinkdist pairwise X.npy --ground grid:20x20 --lam 9/median --out D.zarr --estimate",
    closing="A run to a .zarr that is stopped or killed goes on when the same command is given "
    "again; finished tiles are kept.",
)
DISTANCE_EXAMPLES = options.examples(
    "sinkdist distance r.npy c.npy --ground grid:20x20 --lam 9/median",
    "sinkdist distance r.csv others.csv --ground points:colours.csv --emd --all",
)


def pairwise(
    x: Annotated[str, typer.Argument(metavar="X", help=f"Histograms, one per row: {_FILES}.")],
    ground: options.Costs,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            metavar="FILE",
            help="Where the distances go: a .zarr, written tile by tile, which can be larger than "
            "memory and survives being stopped; or a .npy, .csv or .parquet, written at the end.",
        ),
    ],
    y: Annotated[
        str | None,
        typer.Argument(
            metavar="Y",
            help="Other histograms; without them, X against itself, each pair computed once.",
            show_default=False,
        ),
    ] = None,
    scaled: options.Scaled = False,
    overwrite: options.Overwrite = False,
    lam: options.Lam = None,
    reg: options.Reg = None,
    alpha: options.Alpha = None,
    emd: options.Emd = False,
    mass_penalty: options.MassPenalty = None,
    tol: options.Tol = None,
    max_iter: options.MaxIter = None,
    iterations: options.Iterations = None,
    solver: options.Solver = "auto",
    dtype: options.DType = None,
    normalize: options.Normalize = False,
    on_empty: options.OnEmpty = options.WithoutMass.RAISE,
    coincidence: options.Coincidence = False,
    label_column: options.LabelColumn = None,
    estimate: Annotated[
        bool,
        typer.Option(
            "--estimate",
            help="Compute nothing: say how many pairs there are, and what they will take in time "
            "and memory, from a sample of two seconds.",
            rich_help_panel="Where it runs",
        ),
    ] = False,
    workers: options.Workers = None,
    memory: options.Memory = None,
    scheduler: options.Scheduler = None,
    progress: options.ShowProgress = True,
) -> None:
    """Distances between all pairs of histograms: a matrix in a file."""
    import sinkdist as sd
    from sinkdist.files import WRITTEN, Labels, check_target, read_ground, write

    asked, reg, alpha = options.strength(lam, reg, alpha, emd)
    penalty = options.mass_penalty(mass_penalty)
    out = options.without_slash(out)
    is_store = check_target(out, (ZARR, *WRITTEN), overwrite=overwrite) == ZARR
    if scheduler is not None:
        check_scheduler(scheduler)
    with stoppable(after_a_stop(out, is_store)), rename_arguments(X=x, Y=y):
        costs = read_ground(ground)
        X, rows = family(x, costs, label_column)
        Y, columns = (None, rows) if y is None else family(y, costs, label_column)
        if estimate:
            found = sd.estimate(
                X, Y, ground=costs.scaled() if scaled else costs, lam=asked, reg=reg, alpha=alpha,
                mass_penalty=penalty, tol=tol, max_iter=max_iter, iterations=iterations,
                solver=solver, dtype=None if dtype is None else dtype.value, normalize=normalize,
                on_empty=on_empty.value, coincidence=coincidence, workers=workers,
            )  # fmt: skip
            typer.echo(found)
            return
        with cluster_at(scheduler) as client:
            distances = sd.pairwise(
                X, Y, ground=costs.scaled() if scaled else costs, lam=asked, reg=reg, alpha=alpha,
                mass_penalty=penalty, tol=tol, max_iter=max_iter, iterations=iterations,
                solver=solver, dtype=None if dtype is None else dtype.value, normalize=normalize,
                on_empty=on_empty.value, coincidence=coincidence, workers=workers,
                progress=progress, memory=memory, out=out if is_store else None,
                overwrite=overwrite and is_store, client=client,
            )  # fmt: skip
        if not is_store:
            write(out, distances, labels=Labels(rows, columns))
    n, m = distances.shape
    typer.echo(f"{out}: {n:,} x {m:,} distances, {distances.dtype}")


def distance(
    r: Annotated[
        str, typer.Argument(metavar="R", help=f"One histogram, or one per row: {_FILES}.")
    ],
    c: Annotated[
        str,
        typer.Argument(
            metavar="C",
            help="The same; matched row by row with R, or every row with one histogram.",
        ),
    ],
    ground: options.Costs,
    scaled: options.Scaled = False,
    everything: Annotated[
        bool,
        typer.Option(
            "--all",
            help="A table with what is known of each pair: proven bounds on the exact distance, "
            "the strength reached, the error of the marginals, how it ended.",
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="The same as one JSON object per line.")
    ] = False,
    lam: options.Lam = None,
    reg: options.Reg = None,
    alpha: options.Alpha = None,
    emd: options.Emd = False,
    mass_penalty: options.MassPenalty = None,
    tol: options.Tol = None,
    max_iter: options.MaxIter = None,
    iterations: options.Iterations = None,
    solver: options.Solver = "auto",
    dtype: options.DType = None,
    normalize: options.Normalize = False,
    on_empty: options.OnEmpty = options.WithoutMass.RAISE,
    coincidence: options.Coincidence = False,
    label_column: options.LabelColumn = None,
    workers: options.Workers = None,
) -> None:
    """The distance between two histograms, or between many pairs: one number per line."""
    import sinkdist as sd
    from sinkdist.files import read_ground

    asked, reg, alpha = options.strength(lam, reg, alpha, emd)
    penalty = options.mass_penalty(mass_penalty)
    verb = sd.solve if everything or as_json else sd.distance
    with stoppable(), rename_arguments(r=r, c=c):
        costs = read_ground(ground)
        first, second = (_histograms(path, costs, label_column) for path in (r, c))
        answer = verb(
            first, second, costs.scaled() if scaled else costs, lam=asked, reg=reg, alpha=alpha,
            mass_penalty=penalty, tol=tol, max_iter=max_iter, iterations=iterations, solver=solver,
            dtype=None if dtype is None else dtype.value, normalize=normalize,
            on_empty=on_empty.value, coincidence=coincidence, workers=workers,
        )  # fmt: skip
        if as_json:
            lines = certificates.json_lines(answer)
        elif everything:
            lines = certificates.table(answer)
        else:
            lines = certificates.numbers(answer)
    typer.echo("\n".join(lines))


def check_scheduler(address: str) -> None:
    """Raise at once if a scheduler cannot be at this address."""
    from sinkdist.scale.cluster import check_address

    check_address(address)


@contextmanager
def cluster_at(address: str | None) -> Iterator[Any]:
    """A client of the cluster at an address, closed at the end; None without one."""
    if address is None:
        yield None
        return
    from sinkdist.scale.cluster import connect

    with connect(address) as client:
        yield client


def family(path: str, ground: Any, label_column: str | None = None) -> tuple[Any, list[str] | None]:
    """Histograms for `pairwise` and `nearest`, with their labels if there are any.

    Rows of a table, or a stack of pictures.
    """
    from sinkdist.files import as_rows, read_labelled

    rows, labels = read_labelled(path, label_column)
    rows = as_rows(rows, ground)
    if rows.ndim == 1:
        raise InputError(
            f"'{path}' holds one histogram of {rows.size} bins, but all pairs need a family, one "
            "per row. Use 'sinkdist distance' for a single one."
        )
    return rows, labels


def _histograms(path: str, ground: Any, label_column: str | None) -> Any:
    """Histograms for `distance`: one, also if it is written as a table of one row or column."""
    from sinkdist.files import as_rows, read_labelled

    histograms = as_rows(read_labelled(path, label_column)[0], ground)
    if histograms.ndim != 2:
        return histograms
    is_table = path.lower().endswith((".csv", ".parquet"))
    if histograms.shape[0] == 1 or (is_table and histograms.shape[1] == 1):
        return histograms.reshape(-1)  # sparse arrays know one dimension as well
    return histograms


def after_a_stop(out: str, is_store: bool) -> str:
    """What Ctrl-C leaves behind."""
    if is_store:
        return f"Finished tiles are kept in '{out}': give the same command again to continue."
    return f"'{out}' was not written. A run with --out to a .zarr can be continued."
