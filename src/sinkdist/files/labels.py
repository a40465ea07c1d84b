"""Columns of a table that hold labels, not masses: named by the user, or asked about.

A column of texts is refused with the option that names it; one of numbers that count, such as ids
and years, would be read as mass, so it is asked about instead of swallowed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError

__all__ = ["NONE", "NOTHING", "Labels", "ask_about", "chosen_columns", "hint_for", "joined"]

Array = npt.NDArray[Any]

NOTHING = "none"  #: the word for a table without labels
_COUNTING = 5  #: rows from which a column that counts 1, 2, 3, ... is taken for ids or years
_WORDS = ("id", "ids", "index", "key", "label", "labels", "class", "name", "year", "date", "row")


class Labels(NamedTuple):
    """What rows and columns of a matrix are called, where they have names."""

    rows: list[str] | None
    columns: list[str] | None


NONE = Labels(None, None)  #: a matrix without names


def chosen_columns(path: str, option: str | None, headings: Sequence[str]) -> list[int]:
    """Places of the columns that ``--label-column`` names: by heading, or by number from 1.

    Examples
    --------
    >>> chosen_columns("X.csv", "city,3", ["city", "0 to 9", "year", "10 to 19"])
    [0, 2]
    """
    if option is None or option == NOTHING:
        return []
    names = [name.strip() for name in headings]
    places = []
    for part in (part.strip() for part in option.split(",")):
        if part in names:
            places.append(names.index(part))
        elif part.isdecimal() and 1 <= int(part) <= len(names):
            places.append(int(part) - 1)
        else:
            raise InputError(
                f"--label-column {option}: '{path}' has no column '{part}', only {len(names)} "
                f"columns: {', '.join(names[:5])}{', ...' if len(names) > 5 else ''}."
            )
    if len(set(places)) == len(names):
        raise InputError(f"--label-column {option} leaves no column of '{path}' with masses.")
    return places


def joined(columns: Sequence[Sequence[str]]) -> list[str]:
    """One label for each row, of one or several columns."""
    return [" ".join(parts) for parts in zip(*columns, strict=True)]


def hint_for(column: int | str) -> str:
    """What to do about a column of texts."""
    return f": pass --label-column {column} if it holds labels"


def ask_about(path: str, table: Array, heading: str) -> None:
    """Raise where the first column looks like ids, years or classes, and nobody said what it is."""
    first = np.asarray(table[:, 0], float)
    if table.shape[1] < 3 or len(first) < 2 or not (first == np.round(first)).all():
        return
    counts = len(first) >= _COUNTING and bool((np.diff(first) == 1.0).all())
    named = heading.strip().lower() in _WORDS
    if counts or named:
        what = f"is headed {heading.strip()!r}" if named else f"counts from {first[0]:g}"
        raise InputError(
            f"The first column of '{path}' {what}: pass --label-column 1 if it holds labels, or "
            f"--label-column {NOTHING} if it is a bin like the others."
        )
