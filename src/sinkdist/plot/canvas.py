"""What all pictures share: axes, colours, and small pictures of one histogram within axes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, to_rgb

from sinkdist.errors import InputError
from sinkdist.ground import Ground

__all__ = [
    "COLOURS", "FAINT", "INK", "SOURCE", "TARGET", "axes", "bare", "colour_of", "dense_row",
    "draw_small", "names_or_none", "one_pair", "sides_of",
]  # fmt: skip

Array = npt.NDArray[Any]

#: The palette of Okabe and Ito, safe for colour-blind readers; what leaves, what arrives.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#8C8C8C", "#000000")
SOURCE, TARGET = "#D55E00", "#0072B2"
FAINT = "#767676"
#: Mass as darkness.
INK = LinearSegmentedColormap.from_list("sinkdist_ink", ["#ffffff", "#9ecae1", "#08306b"])


def axes(ax: Axes | None, width: float = 5.0, height: float = 4.0) -> Axes:
    """The axes that were given, or those of a new figure of some size in inches."""
    if ax is not None:
        return ax
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def bare(ax: Axes) -> None:
    """No ticks and no frame."""
    ax.set_xticks([])
    ax.set_yticks([])
    for spine in ax.spines.values():
        spine.set_visible(False)


def colour_of(k: int) -> Any:
    """A colour for the k-th of some groups; beyond the palette, a shade of a colour map."""
    if k < len(COLOURS):
        return to_rgb(COLOURS[k])
    from matplotlib import colormaps

    return colormaps["hsv"]((0.618034 * k) % 1.0)[:3]


def one_pair(solution: Any, what: str) -> None:
    """Raise if a solution is of many pairs."""
    if np.ndim(solution.value):
        raise InputError(
            f"plot.{what} draws one pair. Got a Solution of {len(solution.value)}: solve the pair "
            "that you want to see, as in solve(X[0], Y[0], ground, ...)."
        )


def sides_of(ground: Any) -> tuple[int, ...] | None:
    """The sides of the grid that bins are the pixels of; None for other bins."""
    pixels = None if ground is None else Ground.of(ground).pixels
    return None if pixels is None else pixels.sides


def dense_row(x: Any, what: str = "'x'") -> Array:
    """One histogram as a dense vector of finite, non-negative numbers."""
    row = np.asarray(x.toarray() if hasattr(x, "toarray") else x, dtype=float)
    if row.ndim == 2 and 1 in row.shape:
        row = row.ravel()
    if row.ndim != 1 or row.size == 0:
        raise InputError(f"{what} must be one histogram. Got shape {row.shape} instead.")
    if not (row >= 0.0).all() or not np.isfinite(row).all():
        raise InputError(f"{what} must be finite and non-negative to be drawn.")
    return row


def names_or_none(names: Any, count: int, what: str = "bin") -> list[str] | None:
    """A name for each of `count` things, as text."""
    if names is None:
        return None
    words = [str(name) for name in names]
    if len(words) != count:
        raise InputError(
            f"The 'names' option must hold one name per {what}, {count} in all. "
            f"Got {len(words)} instead."
        )
    return words


def draw_small(
    ax: Axes, row: Array, sides: tuple[int, ...] | None, names: list[str] | None,
    box: tuple[float, float, float, float],
) -> None:  # fmt: skip
    """One histogram within a box (left, right, bottom, top) of the axes.

    An image on a grid of two dimensions, its three largest bins by name, else bars.
    """
    left, right, bottom, top = box
    if sides is not None and len(sides) == 2:
        ax.imshow(row.reshape(sides), cmap=INK, vmin=0.0, vmax=max(float(row.max()), 1e-300),
                  extent=(left, right, bottom, top), interpolation="nearest")  # fmt: skip
    elif names is not None:
        order = [k for k in np.argsort(-row, kind="stable")[:3] if row[k] > 0.0]
        text = "\n".join(names[k] for k in order)
        ax.text((left + right) / 2, (bottom + top) / 2, text, ha="center", va="center", fontsize=8)
    else:
        high = max(float(row.max()), 1e-300)
        edges = np.linspace(left, right, row.size + 1)
        ax.stairs(bottom + (top - bottom) * row / high, edges, baseline=bottom, fill=True,
                  color=TARGET)  # fmt: skip
