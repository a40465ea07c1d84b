"""Optimal-transport distances between families of histograms that share one ground metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sinkdist.interrupts import Stop, beside_main
from sinkdist.version import __version__ as __version__

if TYPE_CHECKING:
    from sinkdist import classic as classic
    from sinkdist import jax as jax
    from sinkdist import learn as learn
    from sinkdist import plot as plot
    from sinkdist import similarity
    from sinkdist import torch as torch
    from sinkdist.api.advice import iterations_for
    from sinkdist.api.barycenter import barycenter, solve_barycenter
    from sinkdist.api.divergence import divergence
    from sinkdist.api.estimate import estimate
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
        ScaleWarning,
        StoreError,
    )
    from sinkdist.ground import Ground
    from sinkdist.means.result import Barycenter
    from sinkdist.scale.estimate import Estimate
    from sinkdist.scale.progress import Progress
    from sinkdist.scale.stored import StoredMatrix, open_matrix
    from sinkdist.search.index import Index
    from sinkdist.search.neighbors import Neighbors
    from sinkdist.search.opening import open_neighbors
    from sinkdist.search.stored import open_index
    from sinkdist.solution.solution import Solution
from sinkdist.solution.status import Status

__all__ = [
    "Barycenter",
    "ClusterWarning",
    "ConvergenceWarning",
    "Estimate",
    "Ground",
    "IncompleteError",
    "Index",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "Neighbors",
    "Progress",
    "ScaleWarning",
    "Solution",
    "Status",
    "StoreError",
    "StoredMatrix",
    "barycenter",
    "distance",
    "divergence",
    "estimate",
    "glue",
    "iterations_for",
    "neighbors",
    "open_index",
    "open_matrix",
    "open_neighbors",
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
    "Estimate": "scale.estimate",
    "Ground": "ground",
    "IncompleteError": "errors",
    "Index": "search.index",
    "InputError": "errors",
    "InputTypeError": "errors",
    "MissingExtraError": "errors",
    "Neighbors": "search.neighbors",
    "Progress": "scale.progress",
    "ScaleWarning": "errors",
    "Solution": "solution.solution",
    "Status": "solution.status",
    "StoreError": "errors",
    "StoredMatrix": "scale.stored",
    "barycenter": "api.barycenter",
    "distance": "api.pairs",
    "divergence": "api.divergence",
    "estimate": "api.estimate",
    "glue": "api.gluing",
    "iterations_for": "api.advice",
    "neighbors": "api.neighbors",
    "open_index": "search.stored",
    "open_matrix": "scale.stored",
    "open_neighbors": "search.opening",
    "pairwise": "api.pairs",
    "path": "api.path",
    "solve": "api.pairs",
    "solve_barycenter": "api.barycenter",
}

#: Subpackages that are names as well; each says which extra it needs, if any is missing.
_MODULES = ("classic", "jax", "learn", "plot", "similarity", "torch")


def __getattr__(name: str) -> Any:
    """Import a public name from its module on first use."""
    from importlib import import_module

    if name in _MODULES:
        module = f"sinkdist.{name}"
        try:
            return beside_main(lambda: import_module(module), Stop())
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
    if name not in _HOME:
        raise AttributeError(f"module 'sinkdist' has no attribute {name!r}")
    # Beside the main thread: an interrupt in the middle would leave half-imported modules behind.
    value = getattr(beside_main(lambda: import_module(f"sinkdist.{_HOME[name]}"), Stop()), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, imported or not, and no others."""
    from importlib.util import find_spec

    there = [name for name in _MODULES if find_spec(f"sinkdist.{name}") is not None]
    return sorted({*__all__, *there, "__version__"})
