"""Optimal-transport distances between families of histograms that share one ground metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sinkdist.interrupts import Stop, beside_main
from sinkdist.version import __version__ as __version__

if TYPE_CHECKING:
    from sinkdist import plot as plot
    from sinkdist import similarity
    from sinkdist.api.advice import iterations_for
    from sinkdist.api.barycenter import barycenter, solve_barycenter
    from sinkdist.api.divergence import divergence
    from sinkdist.api.gluing import glue
    from sinkdist.api.neighbors import neighbors
    from sinkdist.api.pairs import distance, pairwise, solve
    from sinkdist.api.path import path
    from sinkdist.errors import (
        ClusterWarning,
        ConvergenceWarning,
        IncompleteError,
        InputError,
        InputTypeError,
        MissingExtraError,
        StoreError,
    )
    from sinkdist.ground import Ground
    from sinkdist.means.result import Barycenter
    from sinkdist.scale.progress import Progress
    from sinkdist.scale.stored import StoredMatrix, open_matrix
    from sinkdist.search.index import Index
    from sinkdist.search.neighbors import Neighbors
    from sinkdist.search.stored import open_index
    from sinkdist.solution.solution import Solution
from sinkdist.solution.status import Status

__all__ = [
    "Barycenter",
    "ClusterWarning",
    "ConvergenceWarning",
    "Ground",
    "IncompleteError",
    "Index",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "Neighbors",
    "Progress",
    "Solution",
    "Status",
    "StoreError",
    "StoredMatrix",
    "barycenter",
    "distance",
    "divergence",
    "glue",
    "iterations_for",
    "neighbors",
    "open_index",
    "open_matrix",
    "pairwise",
    "path",
    "similarity",
    "solve",
    "solve_barycenter",
]

# Public names are imported when first used: `import sinkdist` stays quick, Numba waits for a solve.
_HOME = {
    "Barycenter": "means.result",
    "ClusterWarning": "errors",
    "ConvergenceWarning": "errors",
    "Ground": "ground",
    "IncompleteError": "errors",
    "Index": "search.index",
    "InputError": "errors",
    "InputTypeError": "errors",
    "MissingExtraError": "errors",
    "Neighbors": "search.neighbors",
    "Progress": "scale.progress",
    "Solution": "solution.solution",
    "Status": "solution.status",
    "StoreError": "errors",
    "StoredMatrix": "scale.stored",
    "barycenter": "api.barycenter",
    "distance": "api.pairs",
    "divergence": "api.divergence",
    "glue": "api.gluing",
    "iterations_for": "api.advice",
    "neighbors": "api.neighbors",
    "open_index": "search.stored",
    "open_matrix": "scale.stored",
    "pairwise": "api.pairs",
    "path": "api.path",
    "solve": "api.pairs",
    "solve_barycenter": "api.barycenter",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    from importlib import import_module

    if name in ("plot", "similarity"):  # plot is not in __all__: it needs Matplotlib
        return import_module(f"sinkdist.{name}")
    if name not in _HOME:
        raise AttributeError(f"module 'sinkdist' has no attribute {name!r}")
    # Beside the main thread: an interrupt in the middle would leave half-imported modules behind.
    value = getattr(beside_main(lambda: import_module(f"sinkdist.{_HOME[name]}"), Stop()), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, imported or not."""
    return sorted([*globals(), *__all__])
