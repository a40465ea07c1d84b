"""The text of the demo: steps as they are taken, a table, what it means, and what to do next.

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
from sinkdist_paper.demo import digit_pictures
from sinkdist_paper.demo.definitions import Definitions
from sinkdist_paper.demo.examples import Example
from sinkdist_paper.demo.rivals import VOTES, Ranking, chance_gap

WORDS = "words.png"
SUMMARY = "summary.json"
_EXAMPLE = (
    "import sinkdist as sd",
    "ground = sd.Ground.points(vectors)    # a vector for each word; pixels: Ground.grid(28, 28)",
    'D = sd.pairwise(X, ground=ground, lam="9/median")              # all Sinkhorn distances',
    'near = sd.neighbors(X, ground=ground, k=5, lam=float("inf"))   # the nearest, exactly',
)


@dataclass(frozen=True)
class Score:
    """The result of one distance: mistakes of the vote of nearest definitions, and its time."""

    distance: str
    compares: str
    mistakes: int
    error: float
    seconds: float


@dataclass(frozen=True)
class Times:
    """Seconds of the steps."""

    compiling: float
    search: float
    pictures: float


@dataclass(frozen=True)
class Summary:
    """The numbers of one run; `scores` has transport first."""

    version: str
    definitions: int
    words: int
    pairs: int
    share_solved: float
    times: Times
    scores: tuple[Score, ...]


def summarise(
    table: Definitions, rankings: Sequence[Ranking], share_solved: float, times: Times
) -> Summary:
    """The numbers of a run, in one record."""
    scores = tuple(
        Score(x.name, x.meaning, x.mistakes, round(x.error, 6), round(x.seconds, 3))
        for x in rankings
    )
    return Summary(
        sd.__version__, len(table), len(table.words), table.pairs, round(share_solved, 6),
        times, scores,
    )  # fmt: skip


def save(summary: Summary, out: Path) -> None:
    """Write the numbers as JSON."""
    text = json.dumps(asdict(summary), indent=2)
    (out / SUMMARY).write_text(text + "\n", encoding="utf-8")


def introduce(console: Console, table: Definitions) -> None:
    """Print what will be computed."""
    console.print("[bold]Which definitions mean alike?[/bold]\n")
    kinds = ", ".join(dict.fromkeys(table.kinds.tolist()))
    _say(
        console,
        f"{len(table):,} dictionary definitions of nouns ({kinds}), as bags of about "
        f"{table.histograms.nnz / len(table):.0f} words out of {len(table.words):,}. The distance "
        "between two of them is the lowest cost of moving the words of one to those of the other: "
        "hound to dog is a short way, hound to bridge a long one. (Definitions: WordNet 3.0, "
        "Princeton University.)",
    )


def step(console: Console, number: str, words: str) -> None:
    """Say what is being done."""
    console.print(f"[bold]{number}[/bold]  {words}", highlight=False)


def done(console: Console, words: str) -> None:
    """Say how long it took."""
    console.print(f"        {words}", highlight=False, style="dim")


def conclude(
    console: Console, summary: Summary, rankings: Sequence[Ranking], table: Definitions,
    shown: Sequence[Example], out: Path,
) -> None:  # fmt: skip
    """Print the results, what they mean, where they are, and what to do next."""
    console.print()
    for example in shown:
        _show(console, table, example)
    console.print(_table(summary))
    best = min(rankings[1:], key=lambda ranking: ranking.mistakes)
    _say(
        console,
        f"\nA mistake is a definition whose {VOTES} nearest are mostly of another kind. "
        + _compare(rankings[0], best)
        + f" That the {VOTES} nearest are the nearest is proven, after solving "
        f"{summary.share_solved:.1%} of the {summary.pairs:,} pairs.",
    )
    _say(
        console,
        "Where transport does not help: images that are aligned and alike, such as the 8 x 8 "
        "digits of scikit-learn: there distances pixel by pixel are as good, and much faster.",
    )
    pictures = (
        (WORDS, "the words that move"),
        (digit_pictures.FLOW, "what moves between two digits"),
        (digit_pictures.MEANS, "mean digits, of pixels and under transport"),
        (digit_pictures.PATH, "a path between two digits beside a cross-fade"),
        (SUMMARY, "the numbers, for programs"),
    )
    for name, remark in pictures:
        _point(console, out / name, remark)
    console.print("\n[bold]Next: the same for histograms of your own, the rows of X[/bold]\n")
    for line in _EXAMPLE:
        console.print("    " + line, highlight=False, markup=False, soft_wrap=True)
    console.print()


def _show(console: Console, table: Definitions, example: Example) -> None:
    """Two definitions, and the words that move."""
    heads = [str(table.heads[row]) for row in (example.one, example.other)]
    moves = ", ".join(f"{source} -> {target}" for source, target, _, _ in example.moves)
    _say(console, f"{heads[0]} is near {heads[1]}, without a word in common: {moves}")


def _table(summary: Summary) -> Table:
    """The scores, one distance per row."""
    table = Table()
    table.add_column("Distance")
    table.add_column("Compares")
    table.add_column("Mistakes", justify="right")
    table.add_column("Error", justify="right")
    table.add_column("Time", justify="right")
    for score in summary.scores:
        mistakes = f"{score.mistakes:,} of {summary.definitions:,}"
        error, time = f"{score.error:.1%}", f"{score.seconds:.2f} s"
        table.add_row(score.distance, score.compares, mistakes, error, time)
    return table


def _compare(first: Ranking, other: Ranking) -> str:
    """A comparison of two distances: their mistakes, and whether chance explains the gap."""
    gap = first.mistakes - other.mistakes
    limit = chance_gap(first, other)
    if gap == 0:
        return f"{first.name} and the best of the others, {other.name}, make equally many."
    ahead, behind = (first, other) if gap < 0 else (other, first)
    verdict = "more than" if abs(gap) > limit else "no more than"
    return (
        f"{ahead.name} makes {abs(gap)} fewer than {behind.name}, the best of the others: "
        f"{verdict} chance alone would explain (up to {limit})."
        if ahead is first
        else f"{ahead.name} makes {abs(gap)} fewer than {behind.name}: {verdict} chance alone "
        f"would explain (up to {limit})."
    )


def _point(console: Console, path: Path, remark: str) -> None:
    """Print a file and its content; the path is never wrapped, so that it can be copied."""
    console.print(f"{path}  ({remark})", highlight=False, markup=False, soft_wrap=True)


def _say(console: Console, words: str) -> None:
    """Print a paragraph in lines of at most 88 characters."""
    console.print(words + "\n", width=min(console.width, 88), highlight=False, markup=False)
