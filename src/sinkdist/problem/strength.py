"""The strength of the entropy: exactly one of `lam`, `reg` and `alpha`, and what its limits mean.

All three name a member of one family of distances, so their limits are decided here and nowhere
else; the rest of the package only asks a `Strength` for its `kind` and its `lam`.
"""

from __future__ import annotations

import enum
import math
import numbers
import reprlib
from dataclasses import dataclass
from typing import Any

from sinkdist.errors import InputError, InputTypeError

__all__ = ["Kind", "Strength", "read"]

# Below this, log(mass) / lam is no longer a finite number and the entropy is all that is left.
_SMALLEST_LAM = 1e-305


class Kind(enum.Enum):
    """The members of the family; the value is the word messages and results use."""

    PENALISED = "penalised"
    CONSTRAINED = "constrained"
    INDEPENDENCE = "independence"
    EXACT = "exact"


@dataclass(frozen=True, slots=True)
class Strength:
    """One checked member of the family.

    Attributes
    ----------
    lam : float
        The paper's lambda, the inverse of `reg`; NaN where it has to be found for an `alpha`.
    kind : Kind
        Which member of the family.
    alpha : float
        The radius that was asked for; NaN where it was not.
    """

    lam: float
    kind: Kind = Kind.PENALISED
    alpha: float = math.nan


def read(*, lam: Any = None, reg: Any = None, alpha: Any = None) -> Strength:
    """Check that exactly one strength was given and say which member of the family it asks for.

    Parameters
    ----------
    lam : float, optional
        The paper's lambda, in units of one over cost.
    reg : float, optional
        ``1 / lam``, in units of cost.
    alpha : float, optional
        Radius of the Kullback-Leibler ball around the independence table.

    Returns
    -------
    Strength

    Examples
    --------
    >>> read(reg=0.25).lam
    4.0
    """
    given = {
        name: value
        for name, value in (("lam", lam), ("reg", reg), ("alpha", alpha))
        if value is not None
    }
    if len(given) != 1:
        got = " and ".join(f"{name}={reprlib.repr(value)}" for name, value in given.items())
        raise InputError(
            "The strength of the entropy must be given by exactly one of 'lam', 'reg' and 'alpha'. "
            f"Got {got or 'none of them'} instead."
        )
    ((name, value),) = given.items()
    return _member(name, _non_negative(name, value))


def _member(name: str, number: float) -> Strength:
    """The member of the family that this number names; the only place that knows the limits."""
    if name == "alpha":
        if 0.0 < number < math.inf:
            return Strength(math.nan, Kind.CONSTRAINED, number)
        lam = number
    elif name == "reg":
        lam = 1.0 / number if number > 0.0 else math.inf
    else:
        lam = number
    if lam < _SMALLEST_LAM:
        return Strength(0.0, Kind.INDEPENDENCE)
    if lam == math.inf:
        return Strength(math.inf, Kind.EXACT)
    return Strength(lam)


def _non_negative(name: str, value: Any) -> float:
    """`value` as a float, or an error that names the argument and the value."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputTypeError(
            f"'{name}' must be one real number. "
            f"Got {reprlib.repr(value)} (of type {type(value).__name__}) instead."
        )
    try:
        number = float(value)
    except OverflowError:  # a Python integer or fraction beyond every float
        number = math.inf if value > 0.0 else -math.inf  # type: ignore[operator]
    if not number >= 0.0:
        raise InputError(f"'{name}' must be non-negative. Got {value} instead.")
    return number
