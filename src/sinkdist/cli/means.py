"""The commands for summaries of a family: `barycenter` and `cluster`."""

from __future__ import annotations

import enum
from typing import Annotated, Any

import typer

from sinkdist.cli import options
from sinkdist.cli.mistakes import rename_arguments, stoppable
from sinkdist.errors import InputError

__all__ = ["BARYCENTER_EXAMPLES", "CLUSTER_EXAMPLES", "barycenter", "cluster"]

_FILES = (
    "a .npy, .npz (dense or sparse; file.npz:key names an array), .csv, .parquet, .png or .tif file"
)
_WRITTEN = ".npy, .csv or .parquet"

BARYCENTER_EXAMPLES = options.examples(
    "sinkdist barycenter X.npy --ground grid:28x28 --lam 5/median --out mean.npy",
    "sinkdist barycenter X.npy --ground grid:28x28 --lam 5/median --weights W.csv --out means.npy",
)
CLUSTER_EXAMPLES = options.examples(
    "sinkdist cluster X.npy --ground grid:28x28 --lam 5/median -k 10 --out y.csv --centers C.npy",
    "sinkdist cluster X.npy --ground grid:28x28 --emd -k 10 --around medoids --out labels.csv",
)

Histograms = Annotated[str, typer.Argument(metavar="X", help=f"Histograms, one per row: {_FILES}.")]


class Around(enum.StrEnum):
    """What is in the middle of a cluster."""

    BARYCENTERS = "barycenters"
    MEDOIDS = "medoids"


def barycenter(
    x: Histograms,
    ground: options.Costs,
    out: Annotated[
        str,
        typer.Option("--out", metavar="FILE", help=f"Where the barycentres go: {_WRITTEN}."),
    ],
    weights: Annotated[
        str | None,
        typer.Option(
            "--weights",
            metavar="FILE",
            help="Weights of the histograms, one row for each barycentre; equal by default.",
        ),
    ] = None,
    debiased: Annotated[
        bool,
        typer.Option(
            "--debiased/--no-debiased", help="Without the blur of the entropy, or with it."
        ),
    ] = True,
    scaled: options.Scaled = False,
    overwrite: options.Overwrite = False,
    lam: options.Lam = None,
    reg: options.Reg = None,
    tol: options.Tol = None,
    max_iter: options.MaxIter = None,
    dtype: options.DType = None,
    normalize: options.Normalize = False,
    label_column: options.LabelColumn = None,
    workers: options.Workers = None,
) -> None:
    """The mean of a family of histograms under transport, or several: a row each in a file."""
    import numpy as np

    import sinkdist as sd
    from sinkdist.files import WRITTEN, check_target, read, read_ground, write

    check_target(out, WRITTEN, overwrite=overwrite)
    with stoppable(f"'{out}' was not written."), rename_arguments(X=x):
        costs = read_ground(ground)
        found = sd.solve_barycenter(
            _family(x, costs, label_column)[0], ground=costs.scaled() if scaled else costs,
            weights=None if weights is None else read(weights), lam=options.lam_of(lam), reg=reg,
            debiased=debiased, tol=tol, max_iter=max_iter,
            dtype=None if dtype is None else dtype.value, normalize=normalize, workers=workers,
        )  # fmt: skip
        rows = np.atleast_2d(found.histogram)
        write(out, rows)
    n, fine = np.shape(found.weights)[-1], int(np.count_nonzero(found.converged))
    what = "barycentre" if len(rows) == 1 else "barycentres"
    typer.echo(f"{out}: {len(rows)} {what} of {n:,} histograms, {fine} converged")


def cluster(
    x: Histograms,
    count: Annotated[int, typer.Option("-k", "--clusters", metavar="N", help="How many.", min=1)],
    out: Annotated[
        str,
        typer.Option(
            "--out", metavar="FILE", help=f"Where the cluster of each row goes: {_WRITTEN}."
        ),
    ],
    ground: options.Costs,
    centers: Annotated[
        str | None,
        typer.Option("--centers", metavar="FILE", help=f"Where the centres go: {_WRITTEN}."),
    ] = None,
    around: Annotated[
        Around,
        typer.Option(
            "--around",
            help="Barycentres, which need --lam or --reg, or medoids, which are rows of X and take "
            "any distance.",
        ),
    ] = Around.BARYCENTERS,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", help="Of the first centres.", min=0)
    ] = 0,
    runs: Annotated[
        int,
        typer.Option(
            "--runs", metavar="N", help="From other first centres; the best is kept.", min=1
        ),
    ] = 1,
    scaled: options.Scaled = False,
    overwrite: options.Overwrite = False,
    lam: options.Lam = None,
    reg: options.Reg = None,
    alpha: options.Alpha = None,
    emd: options.Emd = False,
    tol: options.Tol = None,
    max_iter: options.MaxIter = None,
    dtype: options.DType = None,
    normalize: options.Normalize = False,
    label_column: options.LabelColumn = None,
    workers: options.Workers = None,
) -> None:
    """Clusters of a family of histograms: the number of its cluster for each row, in a file."""
    import numpy as np

    from sinkdist.files import WRITTEN, Labels, check_target, read_ground, write
    from sinkdist.learn import TransportKMeans, TransportKMedoids

    asked, reg, alpha = options.strength(lam, reg, alpha, emd)
    for target in (out, centers):
        if target is not None:
            check_target(target, WRITTEN, overwrite=overwrite)
    more: dict[str, Any] = {
        "tol": tol, "normalize": normalize, "workers": workers, "random_state": seed,
        "n_init": runs, "dtype": None if dtype is None else dtype.value,
    }  # fmt: skip
    with stoppable(f"'{out}' was not written."), rename_arguments(X=x):
        costs = read_ground(ground)
        family, names = _family(x, costs, label_column)
        costs = costs.scaled() if scaled else costs
        model: Any
        if around is Around.MEDOIDS:
            model = TransportKMedoids(
                count, costs, lam=asked, reg=reg, alpha=alpha, max_iter=max_iter, **more
            )
        elif alpha is not None or emd:
            raise InputError(
                "Barycentres need entropy, --lam or --reg: pass --around medoids for other "
                "distances."
            )
        else:
            model = TransportKMeans(count, costs, lam=asked, reg=reg, max_iter=max_iter, **more)
        model.fit(family)
        called = Labels(names, ["cluster"] if names else None)
        write(out, model.labels_[:, None], labels=called)
        if centers is not None:
            write(centers, model.cluster_centers_)
    sizes = ", ".join(map(str, np.bincount(model.labels_, minlength=count)))
    typer.echo(f"{out}: {len(model.labels_):,} rows in {count} clusters of {sizes}")


def _family(path: str, ground: Any, label_column: str | None) -> tuple[Any, list[str] | None]:
    """Histograms, one per row, with their labels; a file with one histogram is a family of one."""
    from sinkdist.files import as_rows, read_labelled

    family, labels = read_labelled(path, label_column)
    family = as_rows(family, ground)
    return (family[None] if family.ndim == 1 else family), labels
