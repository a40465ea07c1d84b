"""How strongly marginals are held: ``mass_penalty``, one number or one for each side, checked.

What it means is decided by the family (`solvers.members`).
"""

from __future__ import annotations

import math
import numbers
import reprlib
from typing import Any

from sinkdist.errors import InputError, InputTypeError
from sinkdist.wording import option

__all__ = ["MassPenalty", "read"]

#: For the rows and for the columns; inf holds a side exactly.
MassPenalty = tuple[float, float]


def read(value: Any) -> MassPenalty | None:
    """Penalties of both sides; None where both marginals are held exactly.

    Examples
    --------
    >>> read(2), read((1, float("inf"))), read(float("inf"))
    ((2.0, 2.0), (1.0, inf), None)
    """
    if value is None:
        return None
    sides = (value, value) if isinstance(value, numbers.Real) else value
    if not isinstance(sides, (tuple, list)) or len(sides) != 2:
        raise InputTypeError(
            "{} must be a number, or a pair of numbers for the rows and the columns. "
            "Got {} instead.",
            option("mass_penalty"), reprlib.repr(value),
        )  # fmt: skip
    rows, columns = (_positive(side, value) for side in sides)
    return None if rows == columns == math.inf else (rows, columns)


def _positive(side: Any, value: Any) -> float:
    """One number above 0; inf too."""
    if isinstance(side, bool) or not isinstance(side, numbers.Real):
        raise InputTypeError(
            "{} must be a number, or a pair of numbers for the rows and the columns. "
            "Got {} instead.",
            option("mass_penalty"), reprlib.repr(value),
        )  # fmt: skip
    number = float(side)
    if not number > 0.0:
        raise InputError(
            "{} must be positive; inf holds the masses exactly. Got {} instead.",
            option("mass_penalty"), reprlib.repr(value),
        )  # fmt: skip
    return number
