"""`flow`: what moves where.

Arrows between the pixels of a grid or between points; lines between two rows of bars for bins on a
line; bands between two lists of names for all other bins.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch, PathPatch
from matplotlib.path import Path

from sinkdist.errors import InputError
from sinkdist.plot.canvas import FAINT, SOURCE, TARGET, axes, bare, one_pair, sides_of
from sinkdist.plot.histogram import read_positions
from sinkdist.solution.moves import MoveTable, names_of_bins

__all__ = ["flow"]

_WIDEST = 4.0  #: line of the largest move, in points
_GAP = 0.012  #: between the names of a list, of its height
_LINE = 0.035  #: the least height of a name
_TOP = 100


def flow(
    solution: Any,
    positions: Any = None,
    *,
    names: Any = None,
    top: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw the largest movements of mass of one pair, wider where more mass goes.

    What leaves is orange and what arrives is blue. A line below the picture says how many of the
    moves are drawn, and how much of the mass that moves they have.

    Parameters
    ----------
    solution : Solution
        Of one pair.
    positions : array_like, shape (d, 2), or a pair of them, optional
        Where bins are in the plane, as x and y; on a grid of two dimensions those of its pixels by
        default.
    names : sequence, optional
        What bins are called, or a pair of such sequences: mass goes from a list of names to
        another.
    top : int, optional
        How many moves; 100 by default, 20 between names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import sinkdist as sd
    >>> ground = sd.Ground.grid(2, 2)
    >>> s = sd.solve([0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], ground, lam=float("inf"))
    >>> len(sd.plot.flow(s).patches)  # half of the mass moves down, the other half stays
    1
    """
    one_pair(solution, "flow")
    shape = int(solution.ground.shape[0]), int(solution.ground.shape[1])
    called = names_of_bins(names, shape)
    sides = sides_of(solution.ground) if shape[0] == shape[1] else None
    on_list = positions is None and (names is not None or sides is None or len(sides) > 2)
    most = (20 if on_list else _TOP) if top is None else top
    moves = solution.moves(top=most)
    if on_list:
        ax = _between_names(axes(ax, 5.0, 5.0), moves, called)
    elif positions is None and sides is not None and len(sides) == 1:
        ax = _along_a_line(axes(ax, 6.0, 4.0), moves, solution)
    else:
        ax = _in_the_plane(axes(ax, 5.0, 5.0), moves, solution, positions, sides)
    ax.set_xlabel(_said(moves), color=FAINT)
    return ax


def _said(moves: MoveTable) -> str:
    """How much of what moves is drawn."""
    if not moves.n_moves:
        return "nothing moves"
    share = sum(move.mass for move in moves) / moves.moved_mass
    drawn = f"{len(moves)} of {moves.n_moves:,} moves"
    return f"{drawn}, {share:.0%} of the mass that moves"


def _widths(moves: MoveTable) -> list[float]:
    """The width of each line, in points."""
    most = max((move.mass for move in moves), default=1.0)
    return [max(0.3, _WIDEST * (move.mass / most)) for move in moves]


def _in_the_plane(
    ax: Axes, moves: MoveTable, solution: Any, positions: Any, sides: tuple[int, ...] | None
) -> Axes:
    """Arrows between places, over both histograms."""
    leaving, arriving = (_sums(solution, axis) for axis in (1, 0))
    if positions is None:
        assert sides is not None
        y, x = np.divmod(np.arange(leaving.size), sides[1])
        start = end = np.stack([x, y], axis=1).astype(float)
        ax.imshow(_both(leaving.reshape(sides), arriving.reshape(sides)), interpolation="nearest")
    else:
        start, end = _places(positions, (leaving.size, arriving.size))
        for places, mass, colour in ((start, leaving, SOURCE), (end, arriving, TARGET)):
            some = np.flatnonzero(mass)
            ax.scatter(
                places[some, 0],
                places[some, 1],
                s=600 * mass[some] / mass.max(),
                color=colour,
                alpha=0.35,
                linewidths=0,
            )
        ax.set_aspect("equal", "datalim")
    for move, width in zip(moves, _widths(moves), strict=True):
        arrow = FancyArrowPatch(
            tuple(start[move.source]), tuple(end[move.target]), arrowstyle="-|>", color="#222222",
            linewidth=width, mutation_scale=6 + 2 * width, shrinkA=0, shrinkB=0, alpha=0.75,
        )  # fmt: skip
        ax.add_patch(arrow)
    bare(ax)
    return ax


def _sums(solution: Any, axis: int) -> Any:
    """What leaves (axis 1) or reaches (axis 0) every bin, without a dense plan."""
    return np.asarray(solution.sparse_plan.sum(axis=axis), dtype=float).ravel()


def _both(leaving: Any, arriving: Any) -> Any:
    """An image of two histograms: one takes its colour from white, the other its own."""
    image = np.ones((*leaving.shape, 3))
    for mass, colour in ((leaving, SOURCE), (arriving, TARGET)):
        share = (mass / max(float(mass.max()), 1e-300))[..., None]
        image = image * (1.0 - 0.75 * share * (1.0 - np.array(to_rgb(colour))))
    return image


def _places(positions: Any, shape: tuple[int, int]) -> tuple[Any, Any]:
    """Places of the bins on both sides."""
    if isinstance(positions, (tuple, list)) and len(positions) == 2 and np.ndim(positions[0]) == 2:
        return read_positions(positions[0], shape[0]), read_positions(positions[1], shape[1])
    if shape[0] != shape[1]:
        raise InputError(
            "The 'positions' option must be a pair of arrays for a ground that is not square."
        )
    return (read_positions(positions, shape[0]),) * 2


def _along_a_line(ax: Axes, moves: MoveTable, solution: Any) -> Axes:
    """Lines from bars above to bars below."""
    leaving, arriving = (_sums(solution, axis) for axis in (1, 0))
    high = max(float(leaving.max()), float(arriving.max()))
    bins = np.arange(leaving.size)
    ax.bar(bins, leaving / high, width=1.0, bottom=1.0, color=SOURCE)
    ax.bar(bins, -arriving / high, width=1.0, bottom=0.0, color=TARGET)
    for move, width in zip(moves, _widths(moves), strict=True):
        ax.plot([move.source, move.target], [1.0, 0.0], color="#222222", alpha=0.6, linewidth=width)
    ax.set_yticks([])
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    return ax


def _between_names(ax: Axes, moves: MoveTable, names: Any) -> Axes:
    """Bands from a list of names to another."""
    total = math.fsum(move.mass for move in moves) or 1.0
    ends = [[move.source for move in moves], [move.target for move in moves]]
    scale = min(_unit(side, moves, total) for side in ends)
    tops, lowest = [], -0.1
    for side, x, called, align in zip(ends, (0.0, 1.0), names, ("right", "left"), strict=True):
        y, top = 0.0, dict[int, float]()
        for k, mass in _by_mass(side, moves):
            height = max(scale * mass, _LINE)
            top[k] = y - (height - scale * mass) / 2
            text = str(k) if called is None else str(called[k])
            ax.text(x + (-0.03 if x == 0.0 else 0.03), y - height / 2, text, ha=align, va="center")
            y -= height + _GAP
        tops.append(top)
        lowest = min(lowest, y)
    for move in moves:
        ax.add_patch(_band(tops, scale * move.mass, move))
    ax.set_xlim(-0.6, 1.6)
    ax.set_ylim(lowest - 0.02, 0.03)
    bare(ax)
    return ax


def _by_mass(side: list[int], moves: MoveTable) -> list[tuple[int, float]]:
    """The bins of one side with what leaves or reaches them, the largest first."""
    mass: dict[int, float] = {}
    for k, move in zip(side, moves, strict=True):
        mass[k] = mass.get(k, 0.0) + move.mass
    return sorted(mass.items(), key=lambda item: (-item[1], item[0]))


def _unit(side: list[int], moves: MoveTable, total: float) -> float:
    """The height of a unit of mass at which a list is at most 1 high, no name below a line."""
    bins = _by_mass(side, moves)
    free = max(1.0 - _GAP * (len(bins) - 1) - _LINE * len(bins), 0.2)
    return free / total


def _band(tops: list[dict[int, float]], height: float, move: Any) -> PathPatch:
    """A band for one move; the places on both sides go down by its height."""
    a, b = tops[0][move.source], tops[1][move.target]
    lower_a, lower_b = a - height, b - height
    tops[0][move.source], tops[1][move.target] = lower_a, lower_b
    points = [(0, a), (0.5, a), (0.5, b), (1, b), (1, lower_b), (0.5, lower_b), (0.5, lower_a),
              (0, lower_a), (0, a)]  # fmt: skip
    codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3, Path.CLOSEPOLY]
    return PathPatch(Path(points, codes), facecolor=TARGET, alpha=0.45, edgecolor="white", lw=0.5)
