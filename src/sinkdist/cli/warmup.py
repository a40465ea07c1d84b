"""The command that compiles everything beforehand: for images, clusters and lecture halls.

Kernels are compiled on first use and kept on disk by Numba. `CALLS` is a table of calls that
together use every kernel, in every type that it is compiled for.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from sinkdist.cli.mistakes import stoppable
from sinkdist.cli.options import examples

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["CALLS", "EXAMPLES", "cache_folder", "warm_up", "warmup"]

EXAMPLES = examples("sinkdist warmup", "NUMBA_CACHE_DIR=/opt/numba sinkdist warmup")

#: Histograms of one dtype, and costs.
Call = Callable[["npt.NDArray[Any]", "npt.NDArray[Any]"], object]


def _pairs_at(lam: float) -> Call:
    """One pair, with its certificate, and some pairs."""

    def call(X: npt.NDArray[Any], M: npt.NDArray[Any]) -> None:
        import sinkdist as sd

        _ = sd.solve(X[0], X[1], M, lam=lam).emd_bounds
        sd.pairwise(X[:4], ground=M, lam=lam, workers=1)

    return call


def _verbs(X: npt.NDArray[Any], M: npt.NDArray[Any]) -> None:
    """What else there is to ask of a penalised distance."""
    import sinkdist as sd

    sd.pairwise(X, ground=M, lam=1.0, workers=1)  # as a block of matrix products
    sd.solve(X[0], X[1], M, lam=30.0, solver="log")
    for lam in (9.0, 1e4):
        sd.distance(X[0], X[1], M, lam=lam, iterations=3)
        sd.pairwise(X, ground=M, lam=lam, iterations=3, workers=1)
    sd.divergence(X[0], X[1], M, lam=9.0)


def _constrained(X: npt.NDArray[Any], M: npt.NDArray[Any]) -> None:
    """The hard constraint."""
    import sinkdist as sd

    sd.solve(X[0], X[1], M, alpha=0.1)
    sd.pairwise(X[:4], ground=M, alpha=0.1, workers=1)


def _masses(X: npt.NDArray[Any], M: npt.NDArray[Any]) -> None:
    """Marginals held by a penalty: one pair, pairs one by one, and a block."""
    import sinkdist as sd

    sd.solve(X[0], X[1], M, lam=9.0, mass_penalty=1.0)
    sd.pairwise(X, ground=M, lam=9.0, mass_penalty=1.0, workers=1)
    few = X[:3, :9] / X[:3, :9].sum(axis=1, keepdims=True)
    sd.pairwise(few, ground=M[:9, :9], lam=9.0, mass_penalty=1.0, workers=1)


def _grounds(X: npt.NDArray[Any], M: npt.NDArray[Any]) -> None:
    """Checks of costs, the exact distance, and the classic distances."""
    import sinkdist as sd
    from sinkdist.classic.summed import chi2_of_many, total_variation_of_many

    ground = sd.Ground(M)
    _ = ground.is_metric
    ground.closest_metric()
    sd.distance(X[0], X[1], ground, lam=float("inf"))
    sd.distance(X[0], X[1], sd.Ground.grid(X.shape[1]), lam=float("inf"))
    chi2_of_many(X, X)
    total_variation_of_many(X, X)


def _means(X: npt.NDArray[Any], M: npt.NDArray[Any]) -> None:
    """Barycentres, by products and in the log domain."""
    import sinkdist as sd

    for lam in (9.0, 2000.0):
        sd.barycenter(X[:3], ground=M, lam=lam, max_iter=8, debiased=False, workers=1)


def _search(X: npt.NDArray[Any], M: npt.NDArray[Any]) -> None:
    """Nearest neighbours: all bounds, dense and sparse."""
    import numpy as np
    from scipy.sparse import csr_array

    import sinkdist as sd

    many = np.random.default_rng(0).dirichlet(np.ones(X.shape[1]), 200).astype(X.dtype)
    few = many * (np.partition(many, -9, axis=1)[:, -9:-8] <= many)
    few /= few.sum(axis=1, keepdims=True)
    # Of many enough that some are left over when planes are known, under a metric and without one;
    # for eight queries costs are copied in single precision.
    for queries, costs in ((1, M), (8, M), (1, M * M)):
        some, rows = csr_array(few[:queries]), csr_array(few)
        sd.neighbors(some, rows, ground=costs, lam=float("inf"), workers=1)
    sd.neighbors(X[:2], X, ground=M, k=2, lam=float("inf"), workers=1)
    sd.neighbors(many[:1], many[:40], ground=M, k=1, alpha=0.1, workers=1)
    pixels = np.random.default_rng(0).dirichlet(np.ones(16), 1000).astype(X.dtype)
    pixels /= pixels.sum(axis=1, keepdims=True)
    sd.neighbors(pixels[:1], pixels, ground=sd.Ground.grid(4, 4), k=1, lam=float("inf"), workers=1)


def _large_pair(X: npt.NDArray[Any], M: npt.NDArray[Any]) -> None:
    """One pair that two threads share."""
    import numpy as np

    import sinkdist as sd

    bins = np.random.default_rng(0).uniform(size=(720, 2))
    r, c = (np.resize(x.astype(float) + 1e-3, len(bins)) for x in X[:2])
    sd.distance(r / r.sum(), c / c.sum(), sd.Ground.points(bins), lam=9.0, workers=2)


def _large_grids(X: npt.NDArray[Any], M: npt.NDArray[Any]) -> None:
    """Pairs on grids without a matrix, with their bounds; what threads wait by on larger ones."""
    import numpy as np

    import sinkdist as sd
    from sinkdist.solvers.compiled.grid.lines import on_threads

    r, c = (np.tile(x, 8) / 8 for x in X[:2].astype(float) + 1e-3 / X.shape[1])
    r, c = r / r.sum(), c / c.sum()
    for metric, lams in (
        ("sqeuclidean", (0.05, 1.0, 5.0, 100.0)), ("cityblock", (0.1, 30.0)), ("euclidean", (0.1,)),
    ):  # fmt: skip
        ground = sd.Ground.grid(40, 48, metric=metric)
        for lam in lams:
            _ = sd.solve(r, c, ground, lam=lam, tol=1e-3, max_iter=20).emd_bounds
    with on_threads(2, 1 << 20) as run:
        run(64, lambda start, stop: None)


CALLS: dict[str, Call] = {
    "pairs at a small lam": _pairs_at(9.0),
    "pairs at a large lam": _pairs_at(2000.0),
    "other verbs": _verbs,
    "the hard constraint": _constrained,
    "unequal masses": _masses,
    "grounds and classic distances": _grounds,
    "barycentres": _means,
    "nearest neighbours": _search,
    "a large pair": _large_pair,
    "large grids": _large_grids,
}


def warm_up() -> Iterator[str]:
    """Make the calls of the table in both types of floats; yields the name of each before it."""
    import numpy as np

    rng = np.random.default_rng(0)
    bins = rng.uniform(size=(240, 2))  # enough for blocks of matrix products
    M = np.hypot(*(bins[:, None] - bins).transpose(2, 0, 1))
    X = rng.dirichlet(np.ones(len(M)), 10)
    X[1::2, ::3] = 0.0
    for name, call in CALLS.items():
        for dtype in (np.float64, np.float32):
            yield f"{name}, {np.dtype(dtype).name}"
            H = X.astype(dtype)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # what converges is of no interest here
                call(H / H.sum(axis=1, keepdims=True), M / np.median(M))


def cache_folder() -> Path:
    """The folder that holds everything Numba has compiled of this package."""
    from sinkdist.kernels.pair import row_pass
    from sinkdist.solvers.compiled.scaling import scale_pair

    kernels: list[Any] = [row_pass, scale_pair]
    return Path(os.path.commonpath([kernel.stats.cache_path for kernel in kernels]))


def warmup() -> None:
    """Compile everything beforehand, so that no later call has to wait for it."""
    from rich.console import Console
    from rich.progress import track

    from sinkdist.kernels.compiling import compiling

    os.environ["SINKDIST_QUIET"] = "1"
    console, start = Console(stderr=True), time.perf_counter()
    with stoppable("What has been compiled so far is kept."):
        for _ in track(
            warm_up(), "compiling", total=2 * len(CALLS), console=console, transient=True,
            disable=not console.is_terminal,
        ):  # fmt: skip
            pass
    took = time.perf_counter() - start
    typer.echo(
        f"Ready in {took:.1f} s, of which {compiling.seconds:.1f} s went into compiling. "
        f"Compiled code is in {cache_folder()}"
    )
