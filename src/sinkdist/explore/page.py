"""The page: markup, style, scripts and data in one file that asks nobody for anything."""

from __future__ import annotations

import json
import re
from html import escape
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from sinkdist.explore.family import COSTS_UP_TO, Family
from sinkdist.explore.packing import check_size, floats, integers, packed_rows
from sinkdist.version import __version__

__all__ = ["page", "write_page"]

#: Where the slider stops: lam times the median cost.
STOPS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0)


def write_page(family: Family, path: Any, *, title: str = "Histograms") -> int:
    """Write the page of a family to a file.

    Parameters
    ----------
    family : Family
        What to show, made by `family_of`.
    path : str or path
        The file.
    title : str
        The heading.

    Returns
    -------
    int
        The size of the file in bytes.

    Examples
    --------
    >>> import tempfile
    >>> from sinkdist.explore import family_of
    >>> family = family_of([[1, 0], [0, 1]], [[0, 2], [2, 0]], method="mds")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_page(family, folder + "/page.html") < 100_000
    True
    """
    text = page(family, title).encode("utf-8")
    check_size(len(text), family.rows.shape[0])
    Path(path).write_bytes(text)
    return len(text)


def page(family: Family, title: str = "Histograms") -> str:
    """The text of the page."""
    text = _asset("page.html")
    scripts = "\n".join(_asset(name) for name in ("solve.js", "map.js", "page.js"))
    # In a script element only its end has to be hidden.
    data = json.dumps(_data(family), separators=(",", ":")).replace("</", "<\\/")
    parts = {
        "title": escape(title), "style": _asset("style.css"), "scripts": scripts,
        "version": escape(__version__), "data": data,
    }  # fmt: skip
    # In one pass: what a part has in it is never taken for a mark.
    return re.sub(r"\{\{(\w+)\}\}", lambda mark: parts[mark[1]], text)


def _asset(name: str) -> str:
    """A file of the page."""
    return (files("sinkdist.explore") / "assets" / name).read_text(encoding="utf-8")


def _data(family: Family) -> dict[str, Any]:
    """All that the scripts read."""
    low, high = family.places.min(axis=0), family.places.max(axis=0)
    span = float((high - low).max()) or 1.0
    return {
        "names": list(family.names),
        "labels": None if family.labels is None else family.labels.tolist(),
        "bins": _bin_names(family),
        "places": floats((family.places - (low + high) / 2) / span),
        "rows": packed_rows(family.rows),
        "near": integers(family.near),
        "distances": floats(family.distances),
        "k": int(family.near.shape[1]),
        "proven": family.proven.astype(int).tolist(),
        "distance": family.distance,
        "method": family.method,
        "ground": _costs(family),
        "stops": list(STOPS),
    }


def _bin_names(family: Family) -> dict[str, str] | None:
    """Names of the bins in use."""
    if family.bins is None:
        return None
    return {str(k): family.bins[k] for k in family.used.tolist()}


def _costs(family: Family) -> dict[str, Any]:
    """The costs: the formula of a grid, or those between the bins in use, or a reason."""
    ground = family.ground
    grid, used = ground.pixels, family.used
    if grid is not None:
        return {
            "kind": "grid", "sides": list(grid.sides), "metric": grid.metric,
            "spacing": list(grid.spacing), "unit": grid.unit, "median": ground.median,
        }  # fmt: skip
    if used.size > COSTS_UP_TO and family.points is not None:
        points = family.points
        return {
            "kind": "points", "used": integers(used), "places": floats(points.places[used]),
            "dimension": int(points.places.shape[1]), "metric": points.metric,
            "unit": points.unit, "median": ground.median,
        }  # fmt: skip
    if family.has_costs:
        costs = np.asarray(ground.block(used, used))
        return {
            "kind": "matrix", "used": integers(used), "costs": floats(costs),
            "median": ground.median,
        }  # fmt: skip
    reason = (
        f"What moves is not shown: {used.size:,} bins are in use, and a page holds the costs "
        f"between at most {COSTS_UP_TO:,}."
    )
    return {"kind": "none", "reason": reason}
