"""NumPy as the ``xp`` of one small pair: reductions without the functions around them.

`numpy.sum` and the like take longer to reach their loop than the loop takes on some dozen bins, and
certificates call them fifty times. Results are the same to the bit: these are the same loops.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy import (
    abs,
    clip,
    finfo,
    inf,
    isfinite,
    log,
    log1p,
    maximum,
    minimum,
    sqrt,
    vecdot,
    where,
    zeros_like,
)

__all__ = [
    "abs", "all", "argsort", "clip", "cumulative_sum", "finfo", "inf", "isfinite", "log",
    "log1p", "max", "maximum", "min", "minimum", "sqrt", "sum", "take_along_axis", "vecdot",
    "where", "zeros_like",
]  # fmt: skip

Array = Any
Axis = int | tuple[int, ...] | None

# Their stubs tell apart what is kept and what is not by literals.
_add: Any = np.add
_minimum: Any = np.minimum
_maximum: Any = np.maximum
_and: Any = np.logical_and


def sum(x: Array, *, axis: Axis = None) -> Array:
    """The sum over some axes."""
    return _add.reduce(x, axis=axis)


def min(x: Array, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The least over some axes."""
    return _minimum.reduce(x, axis=axis, keepdims=keepdims)


def max(x: Array, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """The largest over some axes."""
    return _maximum.reduce(x, axis=axis, keepdims=keepdims)


def all(x: Array, *, axis: Axis = None, keepdims: bool = False) -> Array:
    """Whether all are true, over some axes."""
    return _and.reduce(x, axis=axis, keepdims=keepdims)


def argsort(x: Array, *, axis: int) -> Array:
    """The order of the entries along an axis."""
    return x.argsort(axis=axis)


def cumulative_sum(x: Array, *, axis: int) -> Array:
    """Sums of the first entries along an axis."""
    return _add.accumulate(x, axis=axis)


def take_along_axis(x: Array, order: Array, *, axis: int) -> Array:
    """The entries of every row in an order; of matrices, along axis 1, and of one row in many."""
    assert axis == 1
    return x[0][order] if len(x) == 1 else x[np.arange(len(x))[:, None], order]
