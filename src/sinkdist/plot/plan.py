"""`plan`: a coupling as an image, with its sums at the sides."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from sinkdist.errors import InputError
from sinkdist.plot.canvas import INK, SOURCE, TARGET, axes, one_pair
from sinkdist.solution.moves import names_of_bins

__all__ = ["plan"]

_MOST = 4_000_000  #: entries of an image
_NAMED = 30  #: bins up to which each has its name on an axis


def plan(solution: Any, *, names: Any = None, ax: Axes | None = None) -> Axes:
    """Draw the coupling of one pair: a row for each bin that mass leaves, a column where it goes.

    Bins without mass are left out. What leaves and what arrives in all is drawn at the sides.

    Parameters
    ----------
    solution : Solution
        Of one pair.
    names : sequence, optional
        What bins are called, or a pair of such sequences; indices otherwise.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import sinkdist as sd
    >>> s = sd.solve([0.5, 0.5, 0], [0, 0.25, 0.75], sd.Ground.grid(3), lam=9)
    >>> ax = sd.plot.plan(s, names=["red", "green", "blue"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['red', 'green']
    """
    one_pair(solution, "plan")
    rows, columns = (np.flatnonzero(np.asarray(f) > -np.inf) for f in solution.potentials)
    if rows.size * columns.size > _MOST:
        raise InputError(
            f"plot.plan would draw {rows.size:,} x {columns.size:,} entries: more than a picture "
            "can show. plot.flow draws the largest moves."
        )
    called = names_of_bins(names, (int(solution.ground.shape[0]), int(solution.ground.shape[1])))
    P = solution.sparse_plan[rows][:, columns].toarray()
    ax = axes(ax, 5.0, 5.0)
    ax.imshow(P, cmap=INK, vmin=0.0, aspect="auto", interpolation="nearest")
    ax.set_ylabel("from")
    ax.set_xlabel("to")
    ax.yaxis.set_ticks(*_ticks(rows, called[0]))
    ax.xaxis.set_ticks(*_ticks(columns, called[1]), rotation=90 if called[1] else 0)
    above = ax.inset_axes((0.0, 1.02, 1.0, 0.15), sharex=ax)
    above.bar(np.arange(columns.size), P.sum(axis=0), width=1.0, color=TARGET)
    side = ax.inset_axes((1.02, 0.0, 0.15, 1.0), sharey=ax)
    side.barh(np.arange(rows.size), P.sum(axis=1), height=1.0, color=SOURCE)
    for inset in (above, side):
        inset.axis("off")
    return ax


def _ticks(bins: Any, names: Any) -> tuple[list[int], list[str]]:
    """Where an axis has ticks, and what they say: all names of a few bins, else some indices."""
    if names is not None and bins.size <= _NAMED:
        return list(range(bins.size)), [str(names[k]) for k in bins]
    some = np.unique(np.linspace(0, bins.size - 1, min(bins.size, 6)).round().astype(int))
    return some.tolist(), [str(bins[k]) if names is None else str(names[bins[k]]) for k in some]
