"""`interpolation`: barycentres between two histograms, from one to the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from sinkdist.api.barycenter import barycenter
from sinkdist.errors import InputError
from sinkdist.plot.canvas import axes, bare, dense_row, draw_small, sides_of

__all__ = ["interpolation"]

_STEP = 1.15  #: from picture to picture of side 1


def interpolation(
    r: Any,
    c: Any,
    ground: Any,
    *,
    lam: float,
    steps: int = 7,
    normalize: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw the way from one histogram to another: debiased barycentres with changing weights.

    On a grid of two dimensions they are images from left to right, on other grounds curves over the
    bins, from dark to light. The weight of `c` is written with each.

    Parameters
    ----------
    r, c : array_like, shape (d,)
        Histograms.
    ground : Ground or array_like
        Costs. Squared distances move mass at an even pace; under distances themselves a barycentre
        with unequal weights is near the end with the larger weight, and there is little between.
    lam : float
        As for `barycenter`.
    steps : int
        How many, both ends included.
    normalize : bool
        Divide both by their sums first.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import sinkdist as sd
    >>> ground = sd.Ground.grid(3, 3)
    >>> ax = sd.plot.interpolation([1] + [0] * 8, [0] * 8 + [1], ground, lam=9, steps=5)
    >>> len(ax.images)
    5
    """
    if steps < 2:
        raise InputError(f"The 'steps' option must be an integer of at least 2. Got {steps!r}.")
    both = np.stack([dense_row(r, "'r'"), dense_row(c, "'c'")])
    t = np.linspace(0.0, 1.0, int(steps))
    weights = np.stack([1.0 - t, t], axis=1)
    rows = barycenter(both, ground=ground, lam=lam, weights=weights, normalize=normalize)
    rows = np.maximum(np.asarray(rows, dtype=float), 0.0)
    sides = sides_of(ground)
    if sides is not None and len(sides) == 2:
        ax = axes(ax, 1.2 * len(t), 1.6)
        for k, (row, weight) in enumerate(zip(rows, t, strict=True)):
            draw_small(ax, row, sides, None, (_STEP * k, _STEP * k + 1, 0.0, 1.0))
            ax.text(_STEP * k + 0.5, -0.06, f"{weight:.2g}", ha="center", va="top", fontsize=8)
        ax.set_xlim(-0.05, _STEP * len(t))
        ax.set_ylim(-0.3, 1.05)
        ax.set_aspect("equal")
        bare(ax)
        return ax
    ax = axes(ax, 6.0, 3.5)
    for row, weight in zip(rows, t, strict=True):
        colour = colormaps["viridis"](0.9 * weight)
        ax.plot(np.arange(row.size), row, color=colour, label=f"{weight:.2g}")
    ax.set_xlabel("bin")
    ax.set_ylabel("mass")
    ax.legend(title="weight of c", frameon=False)
    return ax
