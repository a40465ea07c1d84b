"""The picture: images with their nearest neighbours under each distance, drawn with Matplotlib.

The only file of the demo that imports Matplotlib. It uses figure objects, never pyplot, so no
display is needed and figures of the caller are not touched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from numpy.typing import NDArray

from sinkdist_paper.demo.digits import SIDE, Digits
from sinkdist_paper.demo.neighbours import SHOWN, Queries, Ranking

# Vermilion of Okabe and Ito's palette, which colour-blind readers can distinguish from grey; wrong
# neighbours also have a thick frame and a label.
WRONG = "#D55E00"
INK = "#1a1a1a"
FAINT = "#666666"

# Inches: a thumbnail, the space between two, the gap between groups, room for the query's label;
# then the margins, and the heights of the headings and the caption.
CELL, SPACE, GAP, LABEL = 0.62, 0.09, 0.45, 0.25
MARGIN, HEAD, FOOT = 0.4, 1.85, 0.95
GROUP = SHOWN * CELL + (SHOWN - 1) * SPACE


def draw(path: Path, digits: Digits, rankings: Sequence[Ranking], queries: Queries) -> None:
    """Draw the picture into a PNG file."""
    compose(digits, rankings, queries).savefig(path, dpi=150)


def compose(digits: Digits, rankings: Sequence[Ranking], queries: Queries) -> Figure:
    """The queries, one per row, with their neighbours under each distance."""
    rows = queries.disputed + queries.ordinary
    split = 0.3 if queries.disputed and queries.ordinary else 0.0
    width = MARGIN + LABEL + CELL + len(rankings) * (GAP + GROUP) + MARGIN
    height = HEAD + len(rows) * (CELL + SPACE) + split + FOOT
    sheet = _Sheet(Figure(figsize=(width, height), facecolor="white"), width, height)

    _headings(sheet, digits, rankings, len(rows))
    y = height - HEAD
    for number, query in enumerate(rows):
        if number == len(queries.disputed):
            y -= split
        y -= CELL + SPACE
        _row(sheet, y, query, digits, rankings)
    _caption(sheet, queries)
    return sheet.figure


@dataclass(frozen=True)
class _Sheet:
    """A figure addressed in inches from its lower left corner."""

    figure: Figure
    width: float
    height: float

    def write(
        self, x: float, y: float, words: str, size: float, *, colour: str = INK, bold: bool = False
    ) -> None:
        """Write text with the baseline of its last line at (x, y)."""
        self.figure.text(
            x / self.width,
            y / self.height,
            words,
            fontsize=size,
            color=colour,
            fontweight="bold" if bold else "normal",
            linespacing=1.4,
        )

    def image(self, x: float, y: float, histogram: NDArray[np.float64], wrong: str = "") -> None:
        """Draw an image with its corner at (x, y); `wrong` is the label of a wrong neighbour."""
        axes = self.figure.add_axes(
            (x / self.width, y / self.height, CELL / self.width, CELL / self.height)
        )
        axes.imshow(histogram.reshape(SIDE, SIDE), cmap="gray_r", interpolation="nearest", vmin=0)
        axes.set_axis_off()
        frame = Rectangle(
            (0, 0),
            1,
            1,
            transform=axes.transAxes,
            fill=False,
            edgecolor=WRONG if wrong else "#d0d0d0",
            linewidth=3.5 if wrong else 0.8,
            clip_on=False,
        )
        axes.add_patch(frame)
        if wrong:
            axes.text(
                0.98,
                0.97,
                wrong,
                transform=axes.transAxes,
                fontsize=8,
                fontweight="bold",
                color="white",
                horizontalalignment="right",
                verticalalignment="top",
                bbox={"facecolor": WRONG, "edgecolor": "none", "pad": 1.6},
            )


def _headings(sheet: _Sheet, digits: Digits, rankings: Sequence[Ranking], rows: int) -> None:
    """Write the title, and over each group of columns the distance and its error."""
    top = sheet.height - 0.5
    title = "Which handwritten digits are alike? It depends on the distance"
    sheet.write(MARGIN, top, title, 17, bold=True)
    lead = (
        f"{rows} images, and the {SHOWN} nearest to each among the other {len(digits) - 1:,}, "
        "nearest first, under three distances."
    )
    sheet.write(MARGIN, top - 0.32, lead, 11.5, colour=FAINT)
    base = sheet.height - HEAD
    sheet.write(MARGIN + LABEL, base + 0.55, "Image", 12.5, bold=True)
    for column, ranking in enumerate(rankings):
        x = _group_left(column)
        sheet.write(x, base + 0.55, ranking.name, 12.5, bold=True)
        sheet.write(x, base + 0.31, ranking.meaning, 10.5)
        verdict = f"{ranking.mistakes} of {len(digits):,} wrong ({ranking.error:.2%})"
        sheet.write(x, base + 0.09, verdict, 10.5, colour=FAINT)


def _row(sheet: _Sheet, y: float, query: int, digits: Digits, rankings: Sequence[Ranking]) -> None:
    """Draw one query and, in each group of columns, its neighbours."""
    sheet.write(MARGIN, y + 0.4 * CELL, str(digits.labels[query]), 12.5, bold=True)
    sheet.image(MARGIN + LABEL, y, digits.histograms[query])
    for column, ranking in enumerate(rankings):
        for place, neighbour in enumerate(ranking.nearest[query].tolist()):
            label = digits.labels[neighbour]
            wrong = "" if label == digits.labels[query] else str(label)
            x = _group_left(column) + place * (CELL + SPACE)
            sheet.image(x, y, digits.histograms[neighbour], wrong)


def _caption(sheet: _Sheet, queries: Queries) -> None:
    """Explain the frames, and that the images were not chosen at random."""
    words = (
        "A framed neighbour shows another digit than the image on the left; the small number is "
        "that digit. An image counts as wrong if its first neighbour shows another digit."
    )
    if queries.disputed:
        words += (
            f"\nThe first {len(queries.disputed)} images were chosen because the distances "
            "disagree about them, so they are much harder than most."
        )
        if queries.ordinary:
            words += f" The last {len(queries.ordinary)} are ordinary."
    sheet.write(MARGIN, 0.35, words, 10.5, colour=FAINT)


def _group_left(column: int) -> float:
    """Where the group of columns of a distance starts."""
    return MARGIN + LABEL + CELL + GAP + column * (GROUP + GAP)
