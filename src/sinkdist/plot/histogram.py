"""`histogram`: one histogram as an image, as bars, as circles or as its largest bins by name."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from sinkdist.errors import InputError
from sinkdist.ground import Ground
from sinkdist.plot.canvas import INK, TARGET, axes, bare, dense_row, names_or_none, sides_of

__all__ = ["histogram", "read_positions"]

_CIRCLE = 1500.0  #: area of the largest circle, in points squared


def histogram(
    x: Any,
    ground: Any = None,
    *,
    names: Any = None,
    positions: Any = None,
    top: int = 20,
    ax: Axes | None = None,
) -> Axes:
    """Draw one histogram.

    On a grid of two dimensions it is an image. With `positions` it is a circle for each bin with
    mass. With `names` the largest bins are bars from the top down; otherwise all bins are bars from
    left to right.

    Parameters
    ----------
    x : array_like, shape (d,)
        The histogram; of any mass.
    ground : Ground or array_like, optional
        The costs: those of a grid say how the pixels lie.
    names : sequence, optional
        What bins are called.
    positions : array_like, shape (d, 2), optional
        Where bins are in the plane.
    top : int
        How many bins have a bar, where bins have names.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import sinkdist as sd
    >>> ax = sd.plot.histogram([0.1, 0.6, 0.3], names=["red", "green", "blue"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['green', 'blue', 'red']
    """
    row, sides = dense_row(x), sides_of(ground)
    if ground is not None and row.size not in Ground.of(ground).shape:
        raise InputError(
            f"'x' has {row.size} bins, but the ground is of shape {Ground.of(ground).shape}."
        )
    called = names_or_none(names, row.size)
    if positions is not None:
        return _circles(axes(ax), row, read_positions(positions, row.size))
    if called is not None:
        return _by_name(axes(ax), row, called, top)
    ax = axes(ax)
    if sides is not None and len(sides) == 2:
        ax.imshow(row.reshape(sides), cmap=INK, vmin=0.0, interpolation="nearest")
        bare(ax)
        return ax
    ax.bar(np.arange(row.size), row, width=1.0, color=TARGET)
    ax.set_xlabel("bin")
    ax.set_ylabel("mass")
    return ax


def read_positions(positions: Any, bins: int) -> Any:
    """Places in the plane, one for each bin."""
    places = np.asarray(positions, dtype=float)
    if places.shape != (bins, 2):
        raise InputError(
            f"The 'positions' option must be of shape ({bins}, 2), a place for each bin. "
            f"Got {places.shape} instead."
        )
    return places


def _circles(ax: Axes, row: Any, places: Any) -> Axes:
    """A circle for each bin with mass, its area the mass."""
    some = np.flatnonzero(row)
    area = _CIRCLE * row[some] / max(float(row.max()), 1e-300)
    ax.scatter(places[some, 0], places[some, 1], s=area, color=TARGET, alpha=0.6, linewidths=0)
    ax.set_aspect("equal", "datalim")
    return ax


def _by_name(ax: Axes, row: Any, names: list[str], top: int) -> Axes:
    """The largest bins from the top down."""
    order = [int(k) for k in np.argsort(-row, kind="stable")[:top] if row[k] > 0.0]
    ax.barh(np.arange(len(order)), row[order], color=TARGET)
    ax.set_yticks(np.arange(len(order)), [names[k] for k in order])
    ax.invert_yaxis()
    left = np.count_nonzero(row) - len(order)
    ax.set_xlabel(f"mass (and {left:,} smaller bins)" if left else "mass")
    return ax
