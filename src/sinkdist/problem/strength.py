"""The strength of the entropy: exactly one of `lam`, `reg` and `alpha`, checked.

What a number means, and what its limits mean, is decided by the family (`solvers.members`).
"""

from __future__ import annotations

import math
import numbers
import reprlib
from typing import Any, Literal, NamedTuple

from sinkdist.errors import InputError, InputTypeError
from sinkdist.wording import option

__all__ = ["Strength", "read"]


class Strength(NamedTuple):
    """A number from 0 to inf, and what it is: the paper's lambda, or the radius of the ball."""

    name: Literal["lam", "alpha"]
    value: float


def read(*, lam: Any = None, reg: Any = None, alpha: Any = None) -> Strength:
    """Check that exactly one strength was given; `reg` becomes `lam`.

    Examples
    --------
    >>> read(reg=0.25)
    Strength(name='lam', value=4.0)
    """
    given = {
        name: value
        for name, value in (("lam", lam), ("reg", reg), ("alpha", alpha))
        if value is not None
    }
    if len(given) != 1:
        got = " and ".join(f"{name}={reprlib.repr(value)}" for name, value in given.items())
        raise InputError(
            "The strength of the entropy must be given by exactly one of {}, {} and {}. "
            "Got {} instead.",
            option("lam"), option("reg"), option("alpha"), got or "none of them",
        )  # fmt: skip
    ((name, value),) = given.items()
    number = _non_negative(name, value)
    if name == "alpha":
        return Strength("alpha", number)
    if name == "reg":
        number = 1.0 / number if number > 0.0 else math.inf
    return Strength("lam", number)


def _non_negative(name: str, value: Any) -> float:
    """`value` as a float, or an error that names the argument and the value."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputTypeError(
            "{} must be one real number. Got {} (of type {}) instead.",
            option(name), reprlib.repr(value), type(value).__name__,
        )  # fmt: skip
    try:
        number = float(value)
    except OverflowError:  # a Python integer or fraction beyond every float
        number = math.inf if value > 0.0 else -math.inf  # type: ignore[operator]
    if not number >= 0.0:
        raise InputError("{} must be non-negative. Got {} instead.", option(name), value)
    return number
