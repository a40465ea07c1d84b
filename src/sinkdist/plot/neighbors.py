"""`neighbors`: queries, each with its nearest histograms."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from sinkdist.errors import InputError
from sinkdist.plot.canvas import (
    FAINT,
    SOURCE,
    axes,
    bare,
    dense_row,
    draw_small,
    names_or_none,
    sides_of,
)

__all__ = ["neighbors"]

_CELL, _WIDTH = 1.35, 1.15  #: height and width of a cell whose picture has side 1


def neighbors(
    found: Any,
    X: Any,
    Y: Any = None,
    *,
    ground: Any = None,
    queries: Any = None,
    names: Any = None,
    bins: Any = None,
    k: int | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Draw some queries, each followed by its nearest histograms with their distances.

    A star marks a distance that is not proven to be among the nearest (`Neighbors.proven`).

    Parameters
    ----------
    found : Neighbors
        What `neighbors` or `Index.query` returned.
    X : array_like, shape (n, d)
        The queries.
    Y : array_like, shape (m, d), optional
        What was searched; `X` by default.
    ground : Ground, optional
        That of a grid of two dimensions says how pixels lie: histograms are images then.
    queries : sequence of int, optional
        Which queries; the first five by default.
    names : sequence, optional
        What the rows of `Y` are called; written below each.
    bins : sequence, optional
        What the bins are called: histograms are the names of their largest bins then.
    k : int, optional
        How many neighbours of each; all that were found by default, at most 10.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import sinkdist as sd
    >>> X, ground = [[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 1]], sd.Ground.grid(2, 2)
    >>> found = sd.neighbors(X, ground=ground, k=2, lam=float("inf"))
    >>> len(sd.plot.neighbors(found, X, ground=ground).images)  # 3 queries with 2 neighbours each
    9
    """
    sides, own = sides_of(ground), Y is None
    first, second = _rows(X), _rows(X if own else Y)
    some = _chosen(queries, len(found.indices))
    _check_shapes(found, first, second)
    width = min(10, found.indices.shape[1]) if k is None else min(k, found.indices.shape[1])
    called = names_or_none(names, second.shape[0], "row of Y")
    words = names_or_none(bins, first.shape[1])
    ax = axes(ax, 1.0 + 0.85 * (width + 1), 0.4 + 1.0 * len(some))
    for line, query in enumerate(some):
        bottom = -_CELL * line
        draw_small(ax, dense_row(first[query]), sides, words, (0, 1, bottom, bottom + 1))
        ax.add_patch(Rectangle((0, bottom), 1, 1, fill=False, edgecolor=SOURCE, linewidth=1.5))
        title = called[query] if own and called is not None else f"query {query}"
        _below(ax, 0.5, bottom, title)
        for rank in range(width):
            row = int(found.indices[query, rank])
            if row < 0:
                break
            left = 0.25 + _WIDTH * (rank + 1)
            draw_small(
                ax, dense_row(second[row]), sides, words, (left, left + 1, bottom, bottom + 1)
            )
            mark = "" if found.proven[query, rank] else " *"
            text = f"{float(found.distances[query, rank]):.3g}{mark}"
            _below(ax, left + 0.5, bottom, text if called is None else f"{called[row]} {text}")
    ax.set_xlim(-0.05, 0.3 + _WIDTH * (width + 1))
    ax.set_ylim(-_CELL * (len(some) - 1) - 0.4, 1.05)
    ax.set_aspect("equal")
    bare(ax)
    if not found.proven[some, :width][found.indices[some, :width] >= 0].all():
        ax.set_xlabel("* not proven to be among the nearest", color=FAINT)
    return ax


def _below(ax: Axes, x: float, y: float, text: str) -> None:
    """A line below a picture."""
    ax.text(x, y - 0.05, text, ha="center", va="top", fontsize=7, color="#333333")


def _rows(X: Any) -> Any:
    """A family whose rows can be taken."""
    if hasattr(X, "tocsr"):
        return X.tocsr()
    return np.asarray(X, dtype=float)


def _chosen(queries: Any, n: int) -> list[int]:
    """Numbers of the queries that are drawn."""
    some = list(range(min(5, n))) if queries is None else [int(q) for q in np.atleast_1d(queries)]
    outside = [q for q in some if not 0 <= q < n]
    if outside or not some:
        raise InputError(
            f"The 'queries' option must be numbers from 0 to {n - 1}. "
            f"Got {outside[0] if outside else 'none'} instead."
        )
    return some


def _check_shapes(found: Any, first: Any, second: Any) -> None:
    """Raise if these are not the families that were searched."""
    if (first.shape[0], second.shape[0]) != (len(found.indices), found.searched):
        raise InputError(
            f"'found' is of {len(found.indices)} queries among {found.searched} rows, but 'X' has "
            f"{first.shape[0]} rows and 'Y' {second.shape[0]}: pass what was searched."
        )
