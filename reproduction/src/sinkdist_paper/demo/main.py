"""The demo from start to end: compile, compare definitions, draw digits, report."""

from __future__ import annotations

import os
from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console

import sinkdist as sd
from sinkdist import InputError
from sinkdist_paper.demo import definitions as source
from sinkdist_paper.demo import digit_pictures, digits, examples, report, word_picture
from sinkdist_paper.demo.rivals import VOTES, judge, rivals

WARM_UP = 80  # definitions: enough to be searched as in the full run


def run(
    out: Path, *, n: int | None = None, workers: int | None = None, console: Console | None = None
) -> report.Summary:
    """Compare definitions with each other, draw what moves, and show the results.

    Parameters
    ----------
    out : Path
        Folder for the pictures and the summary; created if necessary.
    n : int, optional
        How many of the 1,600 definitions to use; all of them by default.
    workers : int, optional
        Threads; all cores by default.
    console : rich.console.Console, optional
        Where to print; stdout by default.

    Returns
    -------
    Summary
        The numbers, as in ``summary.json``.
    """
    console = Console() if console is None else console
    table = source.load(n)
    _make_folder(out)
    report.introduce(console, table)
    ground = sd.Ground.points(table.vectors)

    report.step(console, "1 of 4", "Compiling, once for this environment (up to half a minute)")
    compiled = _compile(table, ground, workers)
    report.done(console, f"{compiled:.1f} s")

    report.step(console, "2 of 4", f"The {VOTES} nearest of {len(table):,} definitions, proven")
    start = perf_counter()
    found = sd.neighbors(
        table.histograms, ground=ground, k=VOTES, lam=np.inf, workers=workers, progress=True
    )
    searched = perf_counter() - start
    transport = judge(
        "Transport", "how far words have to move", searched, found.indices, table.kinds
    )
    shown = examples.choose(table, found, ground)
    report.done(console, f"{searched:.1f} s")

    report.step(console, "3 of 4", "The same by four distances that move nothing")
    others = rivals(table)
    report.done(console, f"{sum(x.seconds for x in others):.1f} s")

    report.step(console, "4 of 4", "Pictures")
    start = perf_counter()
    word_picture.draw(out / report.WORDS, table, shown)
    digit_pictures.draw(out, digits.load(), workers)
    drawn = perf_counter() - start
    report.done(console, f"{drawn:.1f} s")

    solved = float(found.solved.mean()) / max(1, len(table) - 1)
    times = report.Times(compiled, searched, drawn)
    summary = report.summarise(table, [transport, *others], solved, times)
    report.save(summary, out)
    report.conclude(console, summary, [transport, *others], table, shown, out)
    return summary


def _make_folder(out: Path) -> None:
    """Create the folder; raise before any work if it cannot be written to."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"The folder '{out}' cannot be created: {error.strerror}.") from error
    if not os.access(out, os.W_OK):
        raise InputError(f"The folder '{out}' cannot be written to: name another one.")


def _compile(table: source.Definitions, ground: sd.Ground, workers: int | None) -> float:
    """Ask small questions of every kind that follows, so that compiling is a step of its own."""
    start = perf_counter()
    some = table.histograms[:WARM_UP]
    sd.neighbors(some, ground=ground, k=VOTES, lam=np.inf, workers=workers)
    examples.example(table, 0, 1, ground)
    digit_pictures.compile_what_is_needed(workers)
    return perf_counter() - start
