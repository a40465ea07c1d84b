"""What is said of a bad histogram: one sentence for each thing that can be wrong with it.

Apart from the checks in `histograms`, so that they read as numerics and these as prose.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError, NegativeMassError
from sinkdist.wording import argument, either, option, setting

__all__ = ["Argument", "check_shape", "count", "not_a_family", "unknown_dtype", "unmatched"]


@dataclass(frozen=True, slots=True)
class Argument:
    """The argument under check, and the sentences about what is wrong in it."""

    name: str
    is_vector: bool

    def bad_entry(self, row: int, column: int, value: float, *, negative: bool) -> InputError:
        """One mass that is negative, infinite or not a number."""
        index = f"{column}" if self.is_vector else f"({row}, {column})"
        kind, must_be = (NegativeMassError, "non-negative") if negative else (InputError, "finite")
        return kind(
            "Entry {} of {} is {:.7g}, but masses must be {}.",
            index, argument(self.name), value, must_be,
        )  # fmt: skip

    def wrong_sum(self, rows: npt.NDArray[np.intp], total: float) -> InputError:
        """Rows that are no histograms; seven digits tell every refused sum from 1."""
        must = "but histograms must sum to 1: pass {} to divide by"
        name, repair = argument(self.name), setting("normalize", True)
        if self.is_vector:
            return InputError(f"{{}} sums to {{:.7g}}, {must} its sum.", name, total, repair)
        more = rows.size - 1
        others = f" (and {more} more row{'s' * (more > 1)} not to 1)" if more else ""
        return InputError(
            f"Row {rows[0]} of {{}} sums to {{:.7g}}{others}, {must} the row sums.",
            name, total, repair,
        )  # fmt: skip

    def extreme_sum(
        self, rows: npt.NDArray[np.intp], total: float, limits: tuple[float, float]
    ) -> InputError:
        """Rows whose masses are in an unusual unit."""
        subject = "{}" if self.is_vector else f"Row {rows[0]} of {{}}"
        return InputError(
            f"{subject} sums to {{:.7g}}, but total masses must be from {{:g}} to {{:g}}: give "
            "masses in another unit.",
            argument(self.name), total, *limits,
        )  # fmt: skip

    def without_mass(self, rows: npt.NDArray[np.intp]) -> InputError:
        """Rows that are zero everywhere."""
        name, repair = argument(self.name), setting("on_empty", "nan")
        if self.is_vector:
            return InputError("{} has no mass: pass {} to get NaN for it.", name, repair)
        named = ", ".join(map(str, rows[:5])) + (", ..." if rows.size > 5 else "")
        subject = f"Rows {named}" if rows.size > 1 else f"Row {named}"
        verb = "have" if rows.size > 1 else "has"
        count = f" ({rows.size} rows in all)" if rows.size > 5 else ""
        return InputError(
            f"{subject} of {{}} {verb} no mass{count}: "
            "drop what is empty, or pass {} to get NaN for its distances.",
            name, repair,
        )  # fmt: skip


def check_shape(shape: tuple[int, ...], name: str, bins: int | None, against: str) -> None:
    """Raise unless `shape` is (d,) or (n, d) with the right, positive number of bins d."""
    if len(shape) not in (1, 2):
        raise InputError(
            "{} must be one histogram of shape (d,) or a family of shape (n, d). "
            "Got shape {} instead{}.",
            argument(name), shape, _reshaping(shape, name),
        )  # fmt: skip
    if shape[-1] == 0:
        raise InputError("{} has no bins: its shape is {}.", argument(name), shape)
    if bins is None or shape[-1] == bins:
        return
    per_row = " per row" if len(shape) == 2 else ""
    noun = "bin" if shape[-1] == 1 else "bins"
    parts: list[Any] = [argument(name), against]
    hint = ""
    if len(shape) == 2 and shape[0] == bins:
        repair = f"{name}.ravel()" if shape[1] == 1 else f"{name}.T"
        hint = f" Rows are histograms, and its shape is {shape}: {{}}."
        parts.append(
            either(f"pass {repair} if it is transposed", "transpose it if that is not meant")
        )
    elif len(shape) == 2 and shape[0] * shape[1] == bins:
        hint = " {}."
        parts.append(either(f"Pass {name}.ravel() if it is one image", "Is it one image?"))
    raise InputError(f"{{}} has {shape[-1]} {noun}{per_row}, but {{}} has {bins}.{hint}", *parts)


def _reshaping(shape: tuple[int, ...], name: str) -> Any:
    """What to do with a stack of images."""
    if len(shape) < 3 or 0 in shape:
        return ""
    bins = math.prod(shape[1:])
    return either(
        f": pass {name}.reshape({shape[0]}, {bins}), one row of {bins} bins for each image",
        f": save it in the shape ({shape[0]}, {bins}), one row for each image",
    )


def not_a_family(name: str, bins: int) -> InputError:
    """A single histogram where there must be many."""
    return InputError(
        "{} must be a family of histograms, one per row. Got one histogram of {} bins: pass "
        "{}[None], or use distance.",
        argument(name), bins, name,
    )  # fmt: skip


def unmatched(first: int, second: int) -> InputError:
    """Two families of different sizes that were to be matched."""
    one = "r" if first == 1 else "c" if second == 1 else None
    hint = "" if one is None else f"Pass {one}[0] for one histogram against all, or use pairwise"
    return InputError(
        "{} has {} and {} has {}: families are matched row by row. {} for all pairs.",
        argument("r"), count(first, "row"), argument("c"), count(second, "row"),
        either(hint or "Use pairwise", "Use 'sinkdist pairwise'"),
    )  # fmt: skip


def count(number: int, noun: str) -> str:
    """A number of things, in words.

    Examples
    --------
    >>> count(1, "row"), count(2000, "pair")
    ('1 row', '2,000 pairs')
    """
    return f"{number:,} {noun}{'s' * (number != 1)}"


def unknown_dtype(dtype: Any) -> InputError:
    """A dtype that nothing is computed in."""
    return InputError(
        "The {} option must be float32 or float64. Got {!r} instead.", option("dtype"), dtype
    )
