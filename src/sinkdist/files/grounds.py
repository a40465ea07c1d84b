"""A `Ground` from a description in one word, as it is given on a command line."""

from __future__ import annotations

import re
from typing import Any

from sinkdist.errors import InputError
from sinkdist.files.reading import is_readable, read
from sinkdist.ground import Ground
from sinkdist.inputs.arrays import is_sparse

__all__ = ["FORMS", "read_ground", "read_points"]

FORMS = (
    "a file with a matrix of costs (.npy, .npz, .csv or .parquet), grid:HxW[:metric] such as "
    "grid:20x20, points:FILE[:metric] such as points:colours.csv, or graph:FILE such as "
    "graph:edges.npz"
)

_DESCRIPTION = re.compile(r"(?P<kind>[a-z]+):(?P<rest>.*)", re.DOTALL)
_GRID = re.compile(r"(?P<sides>\d+(?:x\d+)*)(?::(?P<metric>[a-z]+))?", re.IGNORECASE)
# A file ends where its ending does; what follows may be an array's key, a metric or both.
_POINTS = re.compile(
    r"(?P<file>.+?\.(?:npy|csv|parquet|npz))(?P<rest>(?::[^:/\\]+){0,2})", re.IGNORECASE
)
# Metrics of SciPy's cdist that need no more than points. Only behind an archive do they matter,
# where any other word is the key of an array.
_METRICS = (
    "braycurtis", "canberra", "chebyshev", "cityblock", "correlation", "cosine", "dice",
    "euclidean", "hamming", "jaccard", "jensenshannon", "mahalanobis", "minkowski",
    "rogerstanimoto", "russellrao", "seuclidean", "sokalsneath", "sqeuclidean", "yule",
)  # fmt: skip


def read_ground(description: str) -> Ground:
    """The ground that a description names.

    Parameters
    ----------
    description : str
        A file with a matrix of costs, ``grid:HxW[:metric]`` with any number of sides,
        ``points:FILE[:metric]`` with one point per row and any metric of SciPy's cdist, or
        ``graph:FILE`` with lengths of edges, best as a sparse matrix.

    Returns
    -------
    Ground

    Examples
    --------
    >>> read_ground("grid:20x20")
    Ground(400 x 400, euclidean grid 20 x 20, median 10.2)
    >>> read_ground("grid:5:cityblock")
    Ground(5 x 5, cityblock grid 5, median 1)
    """
    match = _DESCRIPTION.fullmatch(description)
    kind, rest = (match["kind"], match["rest"]) if match else ("", "")
    if kind == "grid":
        return _grid(description, rest)
    if kind == "points":
        points, metric = _points(description, rest)
        return Ground.points(points, metric=metric)
    if kind == "graph" and rest:
        return Ground.graph(read(rest))
    if len(kind) > 1 or not is_readable(description):  # one letter is a drive of Windows
        raise _unknown(description)
    return _costs(description)


def _grid(description: str, rest: str) -> Ground:
    """Pixels: the sides, and perhaps a metric."""
    match = _GRID.fullmatch(rest)
    if match is None:
        raise _unknown(description)
    sides = map(int, match["sides"].lower().split("x"))
    return Ground.grid(*sides, metric=match["metric"] or "euclidean")


def read_points(description: str) -> tuple[Any, str] | None:
    """The points and the metric of ``points:FILE[:metric]``; None for other descriptions."""
    kind, _, rest = description.partition(":")
    return _points(description, rest) if kind == "points" else None


def _points(description: str, rest: str) -> tuple[Any, str]:
    """Points and their metric: a file, perhaps with the key of an array in it."""
    if not rest:
        raise _unknown(description)
    match = _POINTS.fullmatch(rest)
    file, words = (match["file"], match["rest"].split(":")[1:]) if match else (rest, [])
    archive = file.lower().endswith(".npz")
    if len(words) == 2 and not archive:
        raise _unknown(description)
    if archive and words and (len(words) == 2 or words[0] not in _METRICS):
        file = f"{file}:{words.pop(0)}"
    points = read(file)
    if is_sparse(points):
        raise InputError(f"'{file}' is sparse, but points must be a dense array.")
    return points, words[0] if words else "euclidean"


def _costs(path: str) -> Ground:
    """A matrix of costs."""
    costs = read(path)
    if is_sparse(costs):
        raise InputError(
            f"'{path}' is sparse, but costs must be a dense matrix: "
            f"write graph:{path} if it holds the lengths of edges."
        )
    if costs.ndim != 2:
        raise InputError(
            f"'{path}' must hold a matrix of costs. Got an array of shape {costs.shape} instead: "
            f"write points:{path} if it holds the places of bins."
        )
    return Ground(costs)


def _unknown(description: str) -> InputError:
    """The error for what is no description, which shows the forms."""
    return InputError(f"'{description}' describes no ground: give {FORMS}.")
