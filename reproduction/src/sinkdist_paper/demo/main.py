"""The demo from start to end: load, compare, rank, draw, report."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from rich.console import Console

import sinkdist as sd
from sinkdist import InputError
from sinkdist.classic import euclidean, hellinger
from sinkdist_paper.demo import digits as source
from sinkdist_paper.demo import picture, report
from sinkdist_paper.demo.neighbours import Ranking, choose_queries, rank

LAM = 9.0
WARM_UP = 100  # images: enough to be solved in blocks, as in the full run
Matrix: TypeAlias = NDArray[np.float64]


def run(
    out: Path, *, n: int | None = None, workers: int | None = None, console: Console | None = None
) -> report.Summary:
    """Compare the first `n` digits with each other and show the results.

    Parameters
    ----------
    out : Path
        Folder for the picture and the summary; created if necessary.
    n : int, optional
        How many of the 1,797 digits to use; all of them by default.
    workers : int, optional
        Threads for the Sinkhorn distances; all cores by default.
    console : rich.console.Console, optional
        Where to print; stdout by default.

    Returns
    -------
    Summary
        The numbers, as in ``summary.json``.
    """
    console = Console() if console is None else console
    digits = source.load(n)
    _make_folder(out)
    report.introduce(console, digits, LAM)

    with console.status("Getting ready: the first run compiles, which takes some seconds"):
        ready = _prepare(digits, workers)
    rankings = _rankings(digits, workers)
    queries = choose_queries(rankings[0], rankings[1:], digits.labels)

    summary = report.summarise(digits, rankings, lam=LAM, preparation=ready)
    picture.draw(out / report.PICTURE, digits, rankings, queries)
    report.save(summary, out)
    report.conclude(console, summary, rankings, out)
    return summary


def _make_folder(out: Path) -> None:
    """Create the folder; raise before any work if it cannot be written to."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder '{out}' cannot be created: {error.strerror}.") from error
    if not os.access(out, os.W_OK):
        raise InputError(f"The folder '{out}' cannot be written to: name another one.")


def _prepare(digits: source.Digits, workers: int | None) -> float:
    """Compile on a few images, so that compiling is not timed."""
    start = perf_counter()
    sinkhorn(digits.histograms[:WARM_UP], workers=workers)
    return perf_counter() - start


def _rankings(digits: source.Digits, workers: int | None) -> tuple[Ranking, ...]:
    """Rank the neighbours of all images under the three distances, Sinkhorn first."""

    def sinkhorn_with_bar(rows: Matrix) -> Matrix:
        return sinkhorn(rows, workers=workers, progress=True)

    distances: tuple[tuple[str, str, Callable[[Matrix], Matrix]], ...] = (
        ("Sinkhorn", "how far the ink has to move", sinkhorn_with_bar),
        ("Hellinger", "square roots, pixel by pixel", hellinger),
        ("Euclidean", "values, pixel by pixel", euclidean),
    )
    rankings = []
    for name, meaning, distance in distances:
        start = perf_counter()
        matrix = distance(digits.histograms)
        seconds = perf_counter() - start
        rankings.append(rank(name, meaning, matrix, digits.labels, seconds=seconds))
    return tuple(rankings)


def sinkhorn(
    rows: Matrix,
    *,
    workers: int | None,
    progress: bool = False,
) -> Matrix:
    """All Sinkhorn distances between the rows; the report prints the same lines."""
    ground = sd.Ground.grid(source.SIDE, source.SIDE).scaled()
    matrix: Matrix = sd.pairwise(rows, ground=ground, lam=LAM, workers=workers, progress=progress)
    return matrix
