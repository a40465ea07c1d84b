"""Sums over bins that are right where there is no mass: written once, for arrays of any library.

Pairs lie on axis 0 and bins on axis 1; ``xp`` is the library, as the array API standard spells it.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["Array", "entropy", "inverse", "log", "weighted"]

Array: TypeAlias = Any  #: an array of the standard


def log(xp: Any, x: Array, none: float = float("-inf")) -> Array:
    """``log(x)``, and ``none`` where x is 0, without a warning there."""
    positive = x > 0
    found = xp.log(xp.where(positive, x, 1.0))
    return found if none == 0.0 else xp.where(positive, found, none)


def inverse(xp: Any, x: Array) -> Array:
    """``1 / x``, 0 where x is 0."""
    positive = x > 0
    return xp.where(positive, 1.0 / xp.where(positive, x, 1.0), 0.0)


def weighted(xp: Any, weights: Array, numbers: Array) -> Array:
    """The sum of ``weights * numbers`` over bins; numbers may be infinite where weights are 0."""
    return xp.sum(weights * xp.where(weights > 0, numbers, 0.0), axis=-1)


def entropy(xp: Any, weights: Array) -> Array:
    """``h`` of every histogram."""
    return -weighted(xp, weights, log(xp, weights))
