"""Pictures of digits: what moves between two, the mean of many, and a path from one to another.

For means and paths the images of scikit-learn are enlarged by interpolation and placed anywhere on
a larger field: where digits lie on top of each other, transport has nothing to move.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray
from scipy.ndimage import zoom

import sinkdist as sd
from sinkdist_paper.demo.digits import SIDE, Digits
from sinkdist_paper.palette import COLOURS, FAINT, INK

FLOW, MEANS, PATH = "flow.png", "means.png", "path.png"
LARGE, FIELD = 2 * SIDE, 3 * SIDE  # pixels along a side: of a digit, and of the field
LAM = "100/median"  # strong enough for sharp means; debiased ones have no other blur
SHOWN = (0, 1, 3)  # digits whose means are drawn
MANY = 20  # images of each
STEPS = 7  # of the path
ENDS = (0, 6)  # of the path
PAIR = (4, 9)  # the digits that mass moves between
Image: TypeAlias = NDArray[np.float64]


def draw(out: Path, digits: Digits, workers: int | None) -> None:
    """Draw all three pictures into a folder."""
    flow(digits).savefig(out / FLOW, dpi=150)
    means(digits, workers).savefig(out / MEANS, dpi=150)
    path(digits, workers).savefig(out / PATH, dpi=150)


def compile_what_is_needed(workers: int | None) -> None:
    """Small problems of the kinds that pictures pose."""
    rows = np.eye(4)[:2]
    ground = sd.Ground.grid(2, 2, metric="sqeuclidean")
    sd.barycenter(rows, ground=ground, lam=LAM, workers=workers)


def flow(digits: Digits) -> Figure:
    """Two digits, and the largest moves of ink from one to the other."""
    one, other = (digits.histograms[np.flatnonzero(digits.labels == digit)[0]] for digit in PAIR)
    solution = sd.solve(one, other, sd.Ground.grid(SIDE, SIDE), lam=np.inf)
    figure = Figure(figsize=(10, 4), facecolor="white", layout="constrained")
    _title(figure, f"What moves: the ink of a {PAIR[0]} becomes that of a {PAIR[1]}")
    left, middle, right = figure.subplots(1, 3)
    for axes, image in ((left, one), (middle, one), (right, other)):
        axes.imshow(image.reshape(SIDE, SIDE), cmap="Greys", vmin=0, vmax=float(one.max()))
        _bare(axes)
    middle.images[0].set_alpha(0.25)
    for move in solution.moves(top=None):
        (y, x), (v, u) = divmod(int(move.source), SIDE), divmod(int(move.target), SIDE)
        arrow = {"arrowstyle": "-|>", "color": COLOURS[0], "lw": 0.6 + 60 * move.mass}
        middle.annotate("", (u, v), (x, y), arrowprops=arrow)
    left.set_xlabel(f"a {PAIR[0]}", color=FAINT)
    middle.set_xlabel(f"every move of ink; the distance is {solution.value:.2f} pixels",
                      color=FAINT)  # fmt: skip
    right.set_xlabel(f"a {PAIR[1]}", color=FAINT)
    return figure


def means(digits: Digits, workers: int | None) -> Figure:
    """Means of some digits under transport, beside means pixel by pixel."""
    figure = Figure(figsize=(9, 5.4), facecolor="white", layout="constrained")
    _title(figure, f"The mean of {MANY} digits, placed anywhere: of pixels, and under transport")
    panels = figure.subplots(2, len(SHOWN))
    drawn = np.random.default_rng(0)
    for column, digit in enumerate(SHOWN):
        corners = drawn.integers(0, FIELD - LARGE + 1, (MANY, 2))
        rows = _placed(digits.histograms[digits.labels == digit][:MANY], corners)
        mean = sd.barycenter(rows, ground=_ground(), lam=LAM, tol=1e-3, workers=workers)
        for axes, image in zip(panels[:, column], (rows.mean(axis=0), mean), strict=True):
            _show(axes, image)
    panels[0, 0].set_ylabel("pixel mean", color=INK, fontsize=12)
    panels[1, 0].set_ylabel("barycentre", color=INK, fontsize=12)
    return figure


def path(digits: Digits, workers: int | None) -> Figure:
    """From one digit to another: weighted means under transport, beside a cross-fade."""
    ends = [digits.histograms[np.flatnonzero(digits.labels == digit)[0]] for digit in ENDS]
    rows = _placed(np.stack(ends), np.array([[0, 0], [FIELD - LARGE, FIELD - LARGE]]))
    shares = np.linspace(0, 1, STEPS)
    weights = np.stack([1 - shares, shares], axis=1)
    moved = sd.barycenter(
        rows, ground=_ground(), weights=weights, lam=LAM, tol=1e-3, workers=workers
    )
    figure = Figure(figsize=(11, 3.9), facecolor="white", layout="constrained")
    _title(figure, f"From a {ENDS[0]} to a {ENDS[1]}: a cross-fade, and a path under transport")
    panels = figure.subplots(2, STEPS)
    for column in range(STEPS):
        _show(panels[0, column], weights[column] @ rows)
        _show(panels[1, column], moved[column])
    panels[0, 0].set_ylabel("cross-fade", color=INK, fontsize=12)
    panels[1, 0].set_ylabel("transport", color=INK, fontsize=12)
    return figure


def _ground() -> sd.Ground:
    return sd.Ground.grid(FIELD, FIELD, metric="sqeuclidean")


def _placed(rows: Image, corners: NDArray[np.int64]) -> Image:
    """Enlarged images, each with its upper left corner somewhere on the field; rows of sum 1."""
    factor = LARGE / SIDE
    larger = np.maximum(zoom(rows.reshape(-1, SIDE, SIDE), (1, factor, factor), order=1), 0.0)
    field = np.zeros((len(rows), FIELD, FIELD))
    for image, part, (y, x) in zip(field, larger, corners, strict=True):
        image[y : y + LARGE, x : x + LARGE] = part
    flat = field.reshape(len(rows), -1)
    return np.asarray(flat / flat.sum(axis=1, keepdims=True))


def _title(figure: Figure, words: str) -> None:
    figure.suptitle(words, x=0.01, ha="left", fontsize=14, fontweight="bold", color=INK)


def _show(axes: Any, image: Image) -> None:
    """An image with a scale of its own."""
    axes.imshow(image.reshape(FIELD, FIELD), cmap="Greys", vmin=0)
    _bare(axes)


def _bare(axes: Any) -> None:
    axes.set_xticks([])
    axes.set_yticks([])
    for edge in axes.spines.values():
        edge.set_color("#cccccc")
