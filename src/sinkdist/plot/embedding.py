"""`embedding`: a family as points in the plane, near where distances are small."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from sinkdist.plot.canvas import TARGET, axes, bare, colour_of, names_or_none
from sinkdist.plot.matrix import read_labels, read_square
from sinkdist.similarity.plane import plane

__all__ = ["embedding"]

_MARKERS = "os^DvPX*"


def embedding(
    D: Any,
    labels: Any = None,
    *,
    method: str = "mds",
    names: Any = None,
    seed: int = 0,
    ax: Axes | None = None,
) -> Axes:
    """Draw a family of histograms as points, by the distances between them.

    Parameters
    ----------
    D : array_like or StoredMatrix, shape (n, n)
        Symmetric distances.
    labels : array_like, shape (n,), optional
        Of the rows; each has its colour and, beyond eight, its marker.
    method : {"mds", "tsne"}
        "mds" keeps distances as well as a plane can (stress majorisation from classical scaling);
        "tsne" keeps neighbours, by scikit-learn (the extra ``learn``).
    names : sequence, optional
        What rows are called; written beside the points.
    seed : int
        Of t-SNE.
    ax : matplotlib.axes.Axes, optional
        Where to draw; new axes by default.

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> import sinkdist as sd
    >>> ax = sd.plot.embedding([[0, 3, 4], [3, 0, 5], [4, 5, 0]], labels=["a", "a", "b"])
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['a', 'b']
    """
    distances = read_square(D)
    groups = read_labels(labels, len(distances))
    called = names_or_none(names, len(distances), "row")
    places = plane(distances, method, seed=seed)
    ax = axes(ax, 5.5, 4.6)
    size = float(np.clip(20_000 / len(places), 6, 40))
    if groups is None:
        ax.scatter(places[:, 0], places[:, 1], s=size, color=TARGET, linewidths=0, alpha=0.8)
    else:
        for k, name in enumerate(np.unique(groups)):
            marker = _MARKERS[k // 8 % len(_MARKERS)]
            ax.scatter(
                places[groups == name, 0],
                places[groups == name, 1],
                s=size,
                color=[colour_of(k)],
                marker=marker,
                linewidths=0,
                alpha=0.8,
                label=str(name),
            )
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    for (x, y), text in zip(places, called or [], strict=False):
        ax.annotate(text, (x, y), (3, 3), textcoords="offset points", fontsize=8)
    ax.set_aspect("equal", "datalim")
    bare(ax)
    return ax
