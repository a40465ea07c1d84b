"""`path`: the distance of one pair along lam, between the proven bounds on the exact one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from sinkdist.errors import InputError
from sinkdist.plot.canvas import FAINT, SOURCE, TARGET, axes, one_pair

__all__ = ["path"]


def path(solutions: Sequence[Any], *, ax: Axes | None = None) -> Axes:
    """Draw the distance of one pair against lam, with the proven bounds on the exact distance.

    Parameters
    ----------
    solutions : list of Solution
        What `path` returned; or solutions of one pair at finite, positive values of lam.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import sinkdist as sd
    >>> s = sd.path([0.5, 0.5], [0.2, 0.8], [[0, 1], [1, 0]], [1, 3, 9])
    >>> sd.plot.path(s).lines[0].get_xdata().tolist()
    [1.0, 3.0, 9.0]
    """
    if not solutions:
        raise InputError("'solutions' is empty: there is nothing to draw.")
    for solution in solutions:
        one_pair(solution, "path")
    steps = sorted(solutions, key=lambda s: float(s.lam))
    lams = np.array([float(s.lam) for s in steps])
    if not ((lams > 0.0) & (lams < np.inf)).all():
        raise InputError("plot.path draws solutions at positive, finite values of lam only.")
    bounds = np.array([[float(x) for x in s.emd_bounds] for s in steps])
    fine = np.array([bool(s.converged) for s in steps])
    values = np.array([float(s.value) for s in steps])
    ax = axes(ax)
    ax.plot(lams, values, color=SOURCE, marker="o", label="distance at lam")
    ax.fill_between(lams, bounds[:, 0], bounds[:, 1], color=TARGET, alpha=0.25, linewidth=0,
                    label="proven bounds on the exact distance")  # fmt: skip
    if not fine.all():
        ax.plot(lams[~fine], values[~fine], "x", color="black", markersize=10,
                label="not converged")  # fmt: skip
    ax.set_xscale("log")
    ax.set_xlabel("lam")
    ax.set_ylabel("distance")
    ax.legend(frameon=False, labelcolor="black")
    ax.grid(color=FAINT, alpha=0.2)
    return ax
