"""Optimal-transport distances between families of histograms that share one ground metric."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sinkdist import similarity
    from sinkdist.api import distance, pairwise, solve
    from sinkdist.divergences import divergence
    from sinkdist.errors import ConvergenceWarning, InputError, InputTypeError, MissingExtraError
    from sinkdist.gluing import glue
    from sinkdist.ground import Ground
    from sinkdist.paths import path
    from sinkdist.scale.progress import Progress
    from sinkdist.solution import Solution, Status

__version__ = "0.1.0"

__all__ = [
    "ConvergenceWarning",
    "Ground",
    "InputError",
    "InputTypeError",
    "MissingExtraError",
    "Progress",
    "Solution",
    "Status",
    "distance",
    "divergence",
    "glue",
    "pairwise",
    "path",
    "similarity",
    "solve",
]

# Public names are imported when first used: `import sinkdist` stays quick, Numba waits for a solve.
_HOME = {
    "ConvergenceWarning": "errors",
    "Ground": "ground",
    "InputError": "errors",
    "InputTypeError": "errors",
    "MissingExtraError": "errors",
    "Progress": "scale.progress",
    "Solution": "solution",
    "Status": "solution",
    "distance": "api",
    "divergence": "divergences",
    "glue": "gluing",
    "pairwise": "api",
    "path": "paths",
    "solve": "api",
}


def __getattr__(name: str) -> Any:
    """Import a public name from its home on first use."""
    from importlib import import_module

    if name == "similarity":
        return import_module("sinkdist.similarity")
    if name not in _HOME:
        raise AttributeError(f"module 'sinkdist' has no attribute {name!r}")
    value = getattr(import_module(f"sinkdist.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, imported or not."""
    return sorted([*globals(), *__all__])
