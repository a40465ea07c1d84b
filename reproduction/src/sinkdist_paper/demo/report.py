"""The text of the demo: an introduction, a table, what the numbers mean, and what to do next.

Sentences are made from the measured numbers: none of them assumes which distance is best.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

import sinkdist as sd
from sinkdist_paper.demo.digits import SIDE, Digits
from sinkdist_paper.demo.neighbours import Ranking, chance_gap

PICTURE = "neighbours.png"
SUMMARY = "summary.json"


@dataclass(frozen=True)
class Score:
    """The result of one distance: leave-one-out errors of the nearest neighbour, and its time."""

    distance: str
    compares: str
    mistakes: int
    error: float
    seconds: float


@dataclass(frozen=True)
class Summary:
    """The numbers of one run; `scores` has Sinkhorn first."""

    version: str
    images: int
    pairs: int
    lam: float
    preparation_seconds: float
    seconds: float
    pairs_per_second: float
    scores: tuple[Score, ...]


def summarise(
    digits: Digits, rankings: Sequence[Ranking], *, lam: float, preparation: float
) -> Summary:
    """The numbers of a run, in one record."""
    seconds = rankings[0].seconds
    return Summary(
        version=sd.__version__,
        images=len(digits),
        pairs=digits.pairs,
        lam=lam,
        preparation_seconds=round(preparation, 3),
        seconds=round(seconds, 3),
        pairs_per_second=round(digits.pairs / seconds, 1),
        scores=tuple(
            Score(
                distance=each.name,
                compares=each.meaning,
                mistakes=each.mistakes,
                error=round(each.error, 6),
                seconds=round(each.seconds, 3),
            )
            for each in rankings
        ),
    )


def save(summary: Summary, out: Path) -> None:
    """Write the numbers as JSON."""
    text = json.dumps(asdict(summary), indent=2)
    (out / SUMMARY).write_text(text + "\n", encoding="utf-8")


def introduce(console: Console, digits: Digits, lam: float) -> None:
    """Print what will be computed."""
    console.print("[bold]Sinkhorn distances between handwritten digits[/bold]\n")
    _say(
        console,
        f"Each of {len(digits):,} images of {SIDE} x {SIDE} pixels is read as a histogram: its "
        "ink, as shares that sum to 1. The distance between two images is the lowest cost of "
        "moving the ink of one to where the other has it; a longer way costs more. The Sinkhorn "
        f"distance approximates that cost (lam = {lam:g}; a larger lam is closer), and is much "
        "faster to compute.",
    )
    _say(
        console,
        f"Now all {digits.pairs:,} pairs of images are compared, and each image with itself.",
    )


def conclude(console: Console, summary: Summary, rankings: Sequence[Ranking], out: Path) -> None:
    """Print the results, what they mean, where they are, and what to do next."""
    _say(
        console,
        f"That took {summary.seconds:.1f} seconds, {summary.pairs_per_second:,.0f} pairs a second."
        + _compiling(summary.preparation_seconds),
    )
    console.print(_table(summary))
    _say(
        console,
        "\nA mistake is an image whose nearest neighbour, without itself, shows another digit. "
        + " ".join(_compare(rankings[0], other) for other in rankings[1:]),
    )
    _point(
        console, "The picture: ", out / PICTURE, "images with their neighbours, wrong ones framed"
    )
    _point(console, "The numbers: ", out / SUMMARY, "what is printed above, for programs")
    console.print()
    console.print("[bold]Next: the same for histograms of your own, the rows of X[/bold]\n")
    for line in _example(summary.lam):
        console.print("    " + line, highlight=False, markup=False, soft_wrap=True)
    console.print()


def _table(summary: Summary) -> Table:
    """The scores, one distance per row."""
    table = Table()
    table.add_column("Distance")
    table.add_column("Compares")
    table.add_column("Mistakes", justify="right")
    table.add_column("Error", justify="right")
    table.add_column("Time", justify="right")
    for score in summary.scores:
        mistakes = f"{score.mistakes:,} of {summary.images:,}"
        error, time = f"{score.error:.2%}", f"{score.seconds:.2f} s"
        table.add_row(score.distance, score.compares, mistakes, error, time)
    return table


def _compare(first: Ranking, other: Ranking) -> str:
    """A comparison of two distances: their mistakes, and whether chance explains the gap."""
    gap = first.mistakes - other.mistakes
    limit = chance_gap(first, other)
    if gap == 0:
        return f"{first.name} and {other.name} make equally many."
    ahead, behind = (first, other) if gap < 0 else (other, first)
    verdict = "more than" if abs(gap) > limit else "no more than"
    return (
        f"{ahead.name} makes {abs(gap)} fewer than {behind.name}, "
        f"{verdict} chance alone would explain (up to {limit})."
    )


def _example(lam: float) -> tuple[str, ...]:
    """The three lines that compute what the demo computed."""
    return (
        "import sinkdist as sd",
        f"ground = sd.Ground.grid({SIDE}, {SIDE}).scaled()    # the cost of moving between pixels",
        f"D = sd.pairwise(X, ground=ground, lam={lam:g})  # X has shape (n, {SIDE * SIDE})",
    )


def _compiling(seconds: float) -> str:
    """A sentence on the time spent compiling, if it was a second or more."""
    if seconds < 1:
        return ""
    return (
        f" (Before that, compiling took {seconds:.1f} seconds; the result is kept for later runs.)"
    )


def _point(console: Console, title: str, path: Path, remark: str) -> None:
    """Print a file and its content; the path is never wrapped, so that it can be copied."""
    console.print(f"{title}{path}  ({remark})", highlight=False, markup=False, soft_wrap=True)


def _say(console: Console, words: str) -> None:
    """Print a paragraph in lines of at most 88 characters."""
    console.print(words + "\n", width=min(console.width, 88), highlight=False, markup=False)
