"""The command that writes a page: `explore`, a family of histograms in the browser."""

from __future__ import annotations

import enum
from typing import Annotated, Any

import typer

from sinkdist.cli import options
from sinkdist.cli.computing import family
from sinkdist.cli.mistakes import rename_arguments, stoppable
from sinkdist.errors import InputError

__all__ = ["EXAMPLES", "explore"]

EXAMPLES = options.examples(
    "sinkdist explore X.npy --ground grid:20x20 --labels y.npy --out page.html",
    "sinkdist explore X.npz --ground points:Z.npy --bins words.txt --names titles.txt "
    "--out page.html",
    "sinkdist explore X.npy --ground grid:20x20 --distances D.zarr --out page.html",
)


class Map(enum.StrEnum):
    """How the map is made."""

    TSNE = "tsne"
    MDS = "mds"


def explore(
    x: Annotated[
        str,
        typer.Argument(metavar="X", help="Histograms, one per row; up to 5,000, in a .npy, .npz, "
                       ".csv or .parquet file."),
    ],
    ground: options.Costs,
    out: Annotated[str, typer.Option("--out", metavar="FILE", help="The page, a .html file.")],
    labels: Annotated[
        str | None,
        typer.Option("--labels", metavar="FILE", help="A label for each row: numbers in a .npy or "
                     ".csv, or text, one per line."),
    ] = None,
    names: Annotated[
        str | None,
        typer.Option("--names", metavar="FILE", help="A text file with a name for each row."),
    ] = None,
    bins: Annotated[
        str | None,
        typer.Option("--bins", metavar="FILE", help="A text file with a name for each bin."),
    ] = None,
    distances: Annotated[
        str | None,
        typer.Option("--distances", metavar="MATRIX", help="Distances that are known: a .zarr "
                     "written by pairwise, or a file with a square matrix."),
    ] = None,
    how: Annotated[
        Map,
        typer.Option("--map", help="Keep neighbours together (tsne, by scikit-learn) or distances "
                     "(mds)."),
    ] = Map.TSNE,
    title: Annotated[
        str | None, typer.Option("--title", metavar="TEXT", help="The heading.")
    ] = None,
    scaled: options.Scaled = False,
    overwrite: options.Overwrite = False,
    lam: options.Lam = None,
    alpha: options.Alpha = None,
    emd: options.Emd = False,
    normalize: options.Normalize = False,
    workers: options.Workers = None,
    progress: options.ShowProgress = True,
) -> None:  # fmt: skip
    """A page for the browser: a map of the histograms, their nearest, and what moves between two.

    Without --lam, --alpha and --distances, by the exact distance.
    """
    from sinkdist.explore import family_of, write_page
    from sinkdist.files import check_target, read_ground

    if sum([lam is not None, alpha is not None, emd, distances is not None]) > 1:
        raise InputError("Give at most one of --lam, --alpha, --emd and --distances.")
    check_target(out, (".html",), overwrite=overwrite)
    with stoppable(f"'{out}' was not written."), rename_arguments(X=x):
        costs, (points, metric) = read_ground(ground), _points(ground)
        rows, called = family(x, costs)
        shown = family_of(
            rows, costs.scaled() if scaled else costs, distances=_matrix(distances),
            labels=_labels(labels), names=_lines(names) if names else called, bins=_lines(bins),
            points=points, metric=metric, lam=options.lam_of(lam), alpha=alpha, method=how.value,
            normalize=normalize, workers=workers, progress=progress,
        )  # fmt: skip
        size = write_page(shown, out, title=title or f"{shown.rows.shape[0]:,} histograms")
    typer.echo(f"{out}: {shown.rows.shape[0]:,} histograms, {shown.distance}, {size / 1e6:.1f} MB")
    if not shown.has_costs:
        typer.echo("The page shows no plans: too many bins are in use to hold their costs.")


def _points(ground: str) -> tuple[Any, str]:
    """The points of a ground that is made of them, if a page can compute their costs."""
    from sinkdist.files.grounds import read_points
    from sinkdist.ground.on_demand import POINT_METRICS

    found = read_points(ground)
    return found if found is not None and found[1] in POINT_METRICS else (None, "euclidean")


def _matrix(path: str | None) -> Any:
    """Distances from a store or from a file."""
    from sinkdist import open_matrix
    from sinkdist.files import read

    if path is None:
        return None
    path = options.without_slash(path)
    return open_matrix(path) if path.endswith(".zarr") else read(path)


def _labels(path: str | None) -> Any:
    """Labels: numbers from a file of numbers, else lines of text."""
    from sinkdist.files import read

    if path is None or not path.lower().endswith((".npy", ".npz", ".parquet")):
        return _lines(path)
    numbers = read(path).ravel()
    return [f"{number:g}" for number in numbers]


def _lines(path: str | None) -> list[str] | None:
    """The lines of a text file."""
    if path is None:
        return None
    try:
        with open(path, encoding="utf-8") as file:
            return file.read().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"'{path}' cannot be read as text: {error}.") from error
