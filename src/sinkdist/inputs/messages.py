"""What is said of a bad histogram: one sentence for each thing that can be wrong with it.

Apart from the checks in `histograms`, so that they read as numerics and these as prose.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError

__all__ = ["Argument", "check_shape", "not_a_family", "unknown_dtype", "unmatched"]


@dataclass(frozen=True, slots=True)
class Argument:
    """The argument under check, and the sentences about what is wrong in it."""

    name: str
    is_vector: bool

    def bad_entry(self, row: int, column: int, value: float, must_be: str) -> str:
        """One mass that is negative, infinite or not a number."""
        index = f"{column}" if self.is_vector else f"({row}, {column})"
        return f"Entry {index} of '{self.name}' is {value:.7g}, but masses must be {must_be}."

    def wrong_sum(self, rows: npt.NDArray[np.intp], total: float) -> str:
        """Rows that are no histograms; seven digits tell every refused sum from 1."""
        must = "but histograms must sum to 1: pass normalize=True to divide by"
        if self.is_vector:
            return f"'{self.name}' sums to {total:.7g}, {must} its sum."
        more = rows.size - 1
        others = f" (and {more} more row{'s' * (more > 1)} not to 1)" if more else ""
        return f"Row {rows[0]} of '{self.name}' sums to {total:.7g}{others}, {must} the row sums."

    def without_mass(self, rows: npt.NDArray[np.intp]) -> str:
        """Rows that are zero everywhere."""
        if self.is_vector:
            return f"'{self.name}' has no mass: pass on_empty='nan' to get NaN for it."
        named = ", ".join(map(str, rows[:5])) + (", ..." if rows.size > 5 else "")
        subject = f"Rows {named}" if rows.size > 1 else f"Row {named}"
        verb = "have" if rows.size > 1 else "has"
        count = f" ({rows.size} rows in all)" if rows.size > 5 else ""
        return (
            f"{subject} of '{self.name}' {verb} no mass{count}: "
            "drop what is empty, or pass on_empty='nan' to get NaN for its distances."
        )


def check_shape(shape: tuple[int, ...], name: str, bins: int | None, against: str) -> None:
    """Raise unless `shape` is (d,) or (n, d) with the right, positive number of bins d."""
    if len(shape) not in (1, 2):
        raise InputError(
            f"'{name}' must be one histogram of shape (d,) or a family of shape (n, d). "
            f"Got shape {shape} instead."
        )
    if shape[-1] == 0:
        raise InputError(f"'{name}' has no bins: its shape is {shape}.")
    if bins is None or shape[-1] == bins:
        return
    hint = ""
    if len(shape) == 2 and shape[0] == bins:
        repair = f"{name}.ravel()" if shape[1] == 1 else f"{name}.T"
        hint = f" Rows are histograms, and its shape is {shape}: pass {repair} if it is transposed."
    per_row = " per row" if len(shape) == 2 else ""
    noun = "bin" if shape[-1] == 1 else "bins"
    raise InputError(f"'{name}' has {shape[-1]} {noun}{per_row}, but {against} has {bins}.{hint}")


def not_a_family(name: str, bins: int) -> str:
    """A single histogram where there must be many."""
    return (
        f"'{name}' must be a family of histograms, one per row. "
        f"Got one histogram of {bins} bins: pass {name}[None], or use distance."
    )


def unmatched(first: int, second: int) -> str:
    """Two families of different sizes that were to be matched."""
    return (
        f"'r' has {first} rows and 'c' has {second}: families are matched row by row. "
        "Use pairwise for all pairs."
    )


def unknown_dtype(dtype: Any) -> str:
    """A dtype that nothing is computed in."""
    return f"The 'dtype' option must be float32 or float64. Got {dtype!r} instead."
