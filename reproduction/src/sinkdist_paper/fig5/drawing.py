"""The figure: counts against the dimension, a line for each lambda."""

from __future__ import annotations

from typing import Any

import numpy as np

from sinkdist_paper.fig5.counts import column, dimensions, of, share_stopped, strengths
from sinkdist_paper.figure import Records
from sinkdist_paper.palette import COLOURS, FAINT

__all__ = ["draw"]

_MARKS = "osD^vP"


def draw(records: Records, figure: Any) -> None:
    """Medians, the middle 90 % of the pairs shaded, and the number that is advised."""
    axes = figure.add_subplot()
    counted = of(records)
    sizes = dimensions(counted)
    for k, lam in enumerate(strengths(counted)):
        colour, mark = COLOURS[k % len(COLOURS)], _MARKS[k % len(_MARKS)]
        mine = of(counted, lam=lam)
        shown = [d for d in sizes if of(mine, d=d)]
        low, middle, high = np.array(
            [np.percentile(column(of(mine, d=d), "iterations"), (5, 50, 95)) for d in shown]
        ).T
        axes.fill_between(shown, low, high, color=colour, alpha=0.15, lw=0)
        axes.plot(shown, middle, color=colour, marker=mark, ms=6, label=f"λ = {lam:g}")
        if column(mine, "advised_error").size:
            advised = column(mine, "advised")[:1].repeat(len(shown))
            axes.plot(shown, advised, color=colour, lw=1.1, ls=":")
        axes.annotate(
            f"λ = {lam:g}", (shown[-1], middle[-1]), xytext=(9, 0), textcoords="offset points",
            color=colour, va="center", annotation_clip=False,
        )  # fmt: skip
    _given_up(axes, counted, sizes)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    axes.set_xticks(sizes, [f"{d:,}" for d in sizes])
    axes.yaxis.set_major_formatter(lambda value, place: f"{value:,.0f}")
    axes.minorticks_off()
    axes.set_xlabel("dimension d")
    axes.set_ylabel("iterations until ‖x − x′‖ ≤ 0.01")
    axes.grid(axis="y")
    axes.set_title("Medians; shaded: nine pairs in ten; dotted: advised", loc="left", color=FAINT)


def _given_up(axes: Any, counted: Records, sizes: list[int]) -> None:
    """A line at the number of iterations after which pairs were given up, if any were."""
    if share_stopped(counted) == 1.0:
        return
    most = column(counted, "iterations").max()
    axes.plot([sizes[0], sizes[-1]], [most, most], color=FAINT, lw=1, ls="--", zorder=0)
    axes.annotate(
        f"given up after {most:,.0f}", (sizes[0], most), xytext=(0, 4),
        textcoords="offset points", color=FAINT, fontsize=9,
    )  # fmt: skip
