"""The figure: the polytope with its balls, and the distance against their radius."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist_paper.fig1.measuring import BASIS, COSTS
from sinkdist_paper.fig1.points import column, of, places
from sinkdist_paper.figure import Records
from sinkdist_paper.palette import COLOURS, FAINT, INK

__all__ = ["draw"]

Array = npt.NDArray[np.float64]


def draw(records: Records, figure: Any) -> None:
    """The polytope with its balls and the path on the left, the distance on the right."""
    if figure.get_figwidth() < 7.0:
        figure.set_figheight(1.5 * figure.get_figwidth())
        left, right = figure.subplots(2, 1, height_ratios=(1.45, 1.0))
    else:
        left, right = figure.subplots(1, 2, width_ratios=(1.45, 1.0))
    _draw_polytope(records, left)
    _draw_distance(records, right)


def _draw_polytope(records: Records, axes: Any) -> None:
    """All that lies in the plane."""
    axes.fill(*places(of(records, "vertex")), facecolor="#f3f3f3", edgecolor=INK, lw=1.6)
    balls = sorted({float(record["radius"]) for record in of(records, "surface")})
    for k, alpha in enumerate(balls):
        edge = places(of(records, "surface", alpha))
        axes.fill(*edge, facecolor=COLOURS[0], alpha=0.13, lw=0)
        axes.plot(*np.c_[edge, edge[:, :1]], color=COLOURS[0], lw=1.3)
        top = edge[:, np.argmax(edge[1])]
        axes.annotate(
            f"α = {alpha:g}", top, xytext=(0, 3), textcoords="offset points", ha="center",
            color=COLOURS[0], fontsize=9,
        )  # fmt: skip
        best = places(of(records, "best", alpha))
        label = "best in each ball" if k == 0 else None
        axes.plot(*best, "o", color=COLOURS[0], ms=7, mec="white", zorder=4, label=label)
    axes.plot(*places(of(records, "step")), color=COLOURS[1], lw=2.2, label="path of P$^λ$")
    _point(axes, places(of(records, "independence"))[:, 0], "r c$^T$", (5, -15))
    _point(axes, places(of(records, "optimum"))[:, 0], "P*", (-10, -17))
    corners = places(of(records, "vertex"))
    _arrow(axes, corners.min(axis=1)[0], corners.max(axis=1)[1])
    lowest = corners[:, np.argmax(corners[0] - corners[1])]
    axes.annotate(
        "U(r, c)", lowest, xytext=(8, 2), textcoords="offset points", fontsize=12,
    )  # fmt: skip
    axes.set_aspect("equal")
    axes.set_axis_off()
    axes.margins(0.06)
    axes.legend(loc="upper center", bbox_to_anchor=(0.5, 0.02), ncols=2, handlelength=1.6)


def _point(axes: Any, place: Array, name: str, offset: tuple[float, float]) -> None:
    """A black point and its name."""
    axes.plot(*place, "o", color=INK, ms=7, mec="white", zorder=5)
    axes.annotate(name, place, xytext=offset, textcoords="offset points", color=INK, fontsize=12)


def _arrow(axes: Any, x: float, y: float) -> None:
    """The direction in which the cost falls fastest, in the corner at (x, y)."""
    down = -BASIS @ (COSTS[0] - COSTS[1])
    step = 0.11 * down / np.linalg.norm(down)
    start = np.array([x + 0.08, y])
    arrow = {"arrowstyle": "-|>", "color": FAINT, "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", start + step, xytext=start, arrowprops=arrow, annotation_clip=False)
    axes.annotate(
        "lower cost\n⟨P, M⟩", start + step, xytext=(0, -5), textcoords="offset points",
        color=FAINT, va="top",
    )  # fmt: skip


def _draw_distance(records: Records, axes: Any) -> None:
    """The distance against the radius of the ball."""
    curve = of(records, "distance")
    alphas = column(curve, "alpha")
    axes.plot(alphas, column(curve, "value"), color=COLOURS[0], lw=2.2)
    for alpha in sorted({float(record["radius"]) for record in of(records, "best")}):
        axes.plot(alpha, of(records, "best", alpha)[0]["value"], "o", color=COLOURS[0], mec="w")
    ends = (
        ("independence", "r$^T$M c: the table r c$^T$", 4),
        ("optimum", "EMD: the table P*", -4),
    )
    for what, name, above in ends:
        value = float(of(records, what)[0]["value"])
        axes.axhline(value, color=FAINT, lw=1, ls=":")
        axes.annotate(
            name, (alphas.max(), value), xytext=(0, above), textcoords="offset points",
            color=FAINT, ha="right", va="bottom" if above > 0 else "top",
        )  # fmt: skip
    axes.margins(y=0.12)
    axes.set_xlabel("radius α of the ball")
    axes.set_ylabel("distance d$_{M,α}$(r, c)")
    axes.spines[["top", "right"]].set_visible(False)
