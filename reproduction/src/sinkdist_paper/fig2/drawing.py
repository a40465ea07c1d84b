"""The figure: mean errors and their spread, against N, or side by side where N is one number.

The spread is a bar with caps, moved a little for each distance: bands would lie on each other.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sinkdist_paper.fig2.results import LABELS, Errors, complete, errors_of
from sinkdist_paper.figure import Records
from sinkdist_paper.palette import COLOURS, FAINT, INK

__all__ = ["draw"]

# In the order of colours. The Mahalanobis distances are drawn for a single N only: against N, there
# would be too many lines.
_DRAWN = (
    "sinkhorn", "emd", "alpha", "independence", "hellinger", "chi2", "total-variation",
    "sqeuclidean",
)  # fmt: skip
_MARKS = "osD^vPX*"
_GRID = "#dddddd"
_WIDE = 7.0  # inches


def draw(records: Records, figure: Any) -> None:
    """Draw the mean error of each distance."""
    errors = complete(errors_of(records))
    axes = figure.add_subplot()
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(colors=INK)
    experiments = max(len(values) for values in errors.values())
    sizes = sorted({n for _, n in errors})
    if len(sizes) == 1:
        _side_by_side(axes, {name: values for (name, _), values in errors.items()})
        title = (
            f"N = {sizes[0]:,}: means of {experiments} experiments; bars: one standard deviation"
        )
    else:
        _against_sizes(axes, errors, sizes)
        title = f"Means of {experiments} experiments; bars: one standard deviation"
    axes.set_title(title, loc="left", fontsize=10, color=FAINT)


def _against_sizes(axes: Any, errors: Errors, sizes: list[int]) -> None:
    """Lines, with bars; those of different distances stand beside each other."""
    step = 0.012 * (sizes[-1] - sizes[0])
    for k, (colour, mark, name) in enumerate(zip(COLOURS, _MARKS, _DRAWN, strict=True)):
        shown = [n for n in sizes if (name, n) in errors]
        if not shown:
            continue
        means, spread = (
            100 * np.array([statistic(errors[name, n]) for n in shown])
            for statistic in (np.mean, np.std)
        )
        width = 2.6 if name == "sinkhorn" else 1.5
        places = np.array(shown) + step * (k - (len(_DRAWN) - 1) / 2)
        axes.errorbar(
            places, means, yerr=spread, color=colour, marker=mark, lw=width, ms=6, elinewidth=1.4,
            capsize=3, label=LABELS[name],
        )  # fmt: skip
    axes.set_xlabel("images N, a quarter of them to train on")
    axes.set_ylabel("test error, %")
    axes.set_xticks(sizes, [f"{n:,}" for n in sizes])
    axes.set_ylim(bottom=0)
    axes.grid(axis="y", color=_GRID, lw=0.8)
    if axes.figure.get_figwidth() < _WIDE:  # a phone: below, not beside
        axes.legend(
            loc="upper left", bbox_to_anchor=(-0.12, -0.16), ncols=2, frameon=False, labelcolor=INK
        )
    else:
        axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1), frameon=False, labelcolor=INK)


def _side_by_side(axes: Any, errors: dict[str, list[float]]) -> None:
    """One row for each distance, the best on top."""
    ranked = sorted(errors, key=lambda name: float(np.mean(errors[name])), reverse=True)
    for place, name in enumerate(ranked):
        colour = COLOURS[_DRAWN.index(name)] if name in _DRAWN else FAINT
        mean, spread = 100 * np.mean(errors[name]), 100 * np.std(errors[name])
        axes.errorbar(mean, place, xerr=spread, fmt="o", color=colour, ms=8, lw=2, capsize=3)
    axes.set_yticks(range(len(ranked)), [LABELS[name] for name in ranked])
    axes.set_xlabel("test error, %")
    axes.set_xlim(left=0)
    axes.grid(axis="x", color=_GRID, lw=0.8)
