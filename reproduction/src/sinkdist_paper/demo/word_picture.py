"""The picture of definitions: words on both sides, and lines where they move."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from sinkdist_paper.demo.definitions import Definitions
from sinkdist_paper.demo.examples import Example
from sinkdist_paper.palette import COLOURS, FAINT, INK

LINE = 9.0  # points of width for all of the mass


def draw(path: Path, definitions: Definitions, examples: Sequence[Example]) -> None:
    """Draw the examples into a PNG file."""
    compose(definitions, examples).savefig(path, dpi=150)


def compose(definitions: Definitions, examples: Sequence[Example]) -> Figure:
    """One panel for each pair of definitions."""
    rows = max(1, -(-len(examples) // 2))
    figure = Figure(figsize=(12, 0.9 + 3.4 * rows), facecolor="white", layout="constrained")
    figure.suptitle(
        "Definitions that mean alike and share no word: what moves where",
        x=0.01, ha="left", fontsize=15, fontweight="bold", color=INK,
    )  # fmt: skip
    panels = figure.subplots(rows, 2, squeeze=False)
    for place, axes in enumerate(panels.flat):
        axes.set_axis_off()
        if place < len(examples):
            _panel(axes, definitions, examples[place], COLOURS[place % 4])
    return figure


def _panel(axes: Any, definitions: Definitions, example: Example, colour: str) -> None:
    """Words of one definition on the left, those of the other on the right."""
    left = list(dict.fromkeys(move[0] for move in example.moves))
    right = list(dict.fromkeys(move[1] for move in example.moves))
    axes.set_xlim(-0.75, 1.75)
    axes.set_ylim(-max(len(left), len(right)) + 0.4, 1.15)
    heads = [str(definitions.heads[row]) for row in (example.one, example.other)]
    kind = str(definitions.kinds[example.one])
    for x, words, head, side in ((0, left, heads[0], "right"), (1, right, heads[1], "left")):
        shift = -0.03 if side == "right" else 0.03
        axes.text(x + shift, 0.8, head, ha=side, fontsize=13, fontweight="bold", color=colour)
        for place, word in enumerate(words):
            axes.text(x + shift, -place, word, ha=side, va="center", fontsize=11.5, color=INK)
    for source, target, mass, _ in example.moves:
        ends = [-left.index(source), -right.index(target)]
        axes.plot([0, 1], ends, color=colour, lw=max(0.8, LINE * mass), alpha=0.55,
                  solid_capstyle="round")  # fmt: skip
    axes.text(0.5, 0.83, f"{kind}, {example.distance:.2f}", ha="center", fontsize=9.5, color=FAINT)
