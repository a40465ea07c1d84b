"""Drawing figures with Matplotlib, in one style; the figures themselves do not import it.

Figure objects are used, never pyplot, so no display is needed and figures of the caller are not
touched. Fonts are those that Matplotlib ships, drawn as outlines. The same records give the same
file, byte for byte.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from sinkdist_paper import atomic_io
from sinkdist_paper.figure import Experiment, Records
from sinkdist_paper.palette import COLOURS, FAINT, INK

__all__ = ["NARROW", "save", "svg"]

NARROW = 4.6  # inches: at this width, text is still readable on a phone
_DPI = 200
_STYLE: Any = {
    "font.family": "DejaVu Sans",
    "mathtext.fontset": "dejavusans",
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.labelsize": 10,
    "xtick.labelsize": 9.5,
    "ytick.labelsize": 9.5,
    "legend.fontsize": 9.5,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.titlecolor": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.prop_cycle": f"cycler(color={list(COLOURS)})",
    "axes.axisbelow": True,
    "grid.color": "#dddddd",
    "grid.linewidth": 0.8,
    "legend.frameon": False,
    "lines.linewidth": 1.8,
    "figure.facecolor": "white",
    "figure.constrained_layout.use": True,
    "svg.fonttype": "path",
    "svg.hashsalt": "sinkdist",
}


def svg(experiment: Experiment, records: Records, *, width: float | None = None) -> str:
    """A figure as SVG.

    Parameters
    ----------
    experiment : Experiment
        What draws it.
    records : sequence of dict
        What it draws.
    width : float, optional
        In inches, with text of the same size; `experiment.inches` by default. A narrower figure
        is at most 1.05 times as high as wide, unless it changes its height itself.

    Returns
    -------
    str
    """
    with mpl.rc_context(_STYLE):
        file = io.BytesIO()
        _drawn(experiment, records, width).savefig(
            file, format="svg", metadata={"Date": None, "Creator": None}
        )
    return file.getvalue().decode("utf-8")


def save(experiment: Experiment, records: Records, folder: Path) -> None:
    """Draw a figure into ``folder``, as SVG and as PNG, both under its name.

    Parameters
    ----------
    experiment : Experiment
        What draws it.
    records : sequence of dict
        What it draws.
    folder : Path
        Where the files go.
    """
    atomic_io.write(folder / f"{experiment.name}.svg", svg(experiment, records))
    with mpl.rc_context(_STYLE):
        file = io.BytesIO()
        _drawn(experiment, records, None).savefig(
            file, format="png", dpi=_DPI, metadata={"Software": None}
        )
    atomic_io.write(folder / f"{experiment.name}.png", file.getvalue())


def _drawn(experiment: Experiment, records: Records, width: float | None) -> Figure:
    """The figure."""
    wide, high = experiment.inches
    if width is not None and width < wide:
        wide, high = width, min(high, 1.05 * width)
    figure = Figure(figsize=(wide, high))
    experiment.draw(records, figure)
    return figure
