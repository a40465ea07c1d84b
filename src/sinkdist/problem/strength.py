"""The strength of the entropy: exactly one of `lam`, `reg` and `alpha`, checked.

What a number means, and what its limits mean, is decided by the family (`solvers.members`).
``lam="9/median"`` is lam relative to the costs, whatever their unit; it becomes a number here.
"""

from __future__ import annotations

import math
import numbers
import re
import reprlib
from collections.abc import Callable
from typing import Any, Literal, NamedTuple

from sinkdist.errors import InputError, InputTypeError
from sinkdist.wording import option

__all__ = ["Strength", "is_relative", "read", "relative_lam"]

_RELATIVE = re.compile(r"\s*(?P<number>[^/\s]+)\s*/\s*median\s*")


class Strength(NamedTuple):
    """A number from 0 to inf, and what it is: the paper's lambda, or the radius of the ball."""

    name: Literal["lam", "alpha"]
    value: float


def read(
    *,
    lam: Any = None,
    reg: Any = None,
    alpha: Any = None,
    median: Callable[[], float] = lambda: 1.0,
) -> Strength:
    """Check that exactly one strength was given; `reg` becomes `lam`.

    ``median`` gives the median cost, for a `lam` that is relative to it; 1 for scaled costs.

    Examples
    --------
    >>> read(reg=0.25), read(lam="9/median", median=lambda: 2.0)
    (Strength(name='lam', value=4.0), Strength(name='lam', value=4.5))
    """
    if lam is not None and reg is None and alpha is None:
        lam = relative_lam(lam, median)
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


def is_relative(lam: Any) -> bool:
    """Whether `lam` is given as a number over the median cost.

    Examples
    --------
    >>> is_relative("9/median"), is_relative("9"), is_relative(9)
    (True, False, False)
    """
    return isinstance(lam, str) and _RELATIVE.fullmatch(lam) is not None


def relative_lam(lam: Any, median: Callable[[], float]) -> Any:
    """``"9/median"`` as a number, for costs with this median; anything else as it is."""
    if not isinstance(lam, str):
        return lam
    match = _RELATIVE.fullmatch(lam)
    try:
        number = float(match["number"]) if match else math.nan
    except ValueError:
        number = math.nan
    if not number >= 0.0:
        raise InputTypeError(
            "{} must be one real number. Got {} (of type str) instead: a text may be a number over "
            "the median cost, such as '9/median'.",
            option("lam"), reprlib.repr(lam),
        )  # fmt: skip
    if number == 0.0 or number == math.inf:
        return number
    unit = median()
    if unit == 0.0:
        raise InputError(
            "The median of the costs is 0, which is no unit for {}={!r}: give a number.",
            option("lam"), lam,
        )  # fmt: skip
    return number / unit


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
