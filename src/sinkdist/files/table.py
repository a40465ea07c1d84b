"""Numbers in text: .csv files, with or without a line of headings.

NumPy reads the numbers; only where it cannot is the file walked cell by cell, to say which line and
column is wrong.

What is assumed: cells are separated by commas. The first line is a heading if none of its cells is
a number. There is no column of row names, except below a heading whose first cell is empty, which
is how pandas writes one. A first line that could be either is refused: no row is dropped on a
guess.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError

__all__ = ["read_csv"]

Array = npt.NDArray[np.float64]

_COUNTED = 4  # headings 0, 1, 2, 3, ... of at least so many cells are not taken for histograms


def read_csv(path: str) -> Array:
    """The table in a .csv file as (n, d) float64 numbers."""
    try:
        lines = _lines(path)
        _, cells = next(lines, (0, []))
        heading, names = _heading(path, cells)
        first = next(lines, None) if heading else (1, cells)
        if first is None:
            raise InputError(
                f"'{path}' holds no numbers, only a line that is taken for a heading: "
                "cells must be separated by commas."
            )
        if len(first[1]) != len(cells):
            raise InputError(_ragged(path, *first, len(cells)))
        table = _numbers(path, first[0] - 1, names)
        if table is None:
            raise InputError(_what_is_wrong(path, heading, names))
        return table[:, 1:] if names else table
    except UnicodeDecodeError as error:
        raise InputError(f"'{path}' is not text in UTF-8, though its name ends in .csv.") from error
    except csv.Error as error:
        raise InputError(f"'{path}' cannot be read as text: {error}.") from error


def _heading(path: str, cells: list[str]) -> tuple[bool, bool]:
    """Whether the first line is a heading, and whether row names stand below its first cell."""
    if not cells:
        raise InputError(f"'{path}' holds no numbers.")
    numbers = [_is_number(cell) for cell in cells]
    blank = [not cell.strip() for cell in cells]
    names = blank[0] and len(cells) > 1
    counted = [cell.strip() for cell in cells[names:]] == [*map(str, range(len(cells) - names))]
    if names and counted:  # pandas' own names for columns without names
        return True, True
    if all(numbers):
        if counted and len(cells) >= _COUNTED:
            raise InputError(
                f"The first line of '{path}' counts 0, 1, 2, ...: remove it if it is a heading, "
                "or save the file as .npy if it is data."
            )
        return False, False
    if any(numbers) or any(blank[names:]):
        column = next(k for k in range(len(cells)) if not numbers[k])
        found = "empty" if blank[column] else f"{_short(cells[column])}, which is no number"
        raise InputError(f"Column {column + 1} in the first line of '{path}' is {found}.")
    return True, names


def _numbers(path: str, skipped: int, names: bool) -> Array | None:
    """All numbers below the first `skipped` lines, with zeros for names; None if it fails."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        for _ in range(skipped):
            file.readline()
        try:
            return np.loadtxt(
                file, delimiter=",", comments=None, quotechar='"', ndmin=2,
                converters={0: lambda name: 0.0} if names else None,
            )  # fmt: skip
        except UnicodeDecodeError:
            raise
        except ValueError:
            return None


def _what_is_wrong(path: str, heading: bool, names: bool) -> str:
    """The sentence on the first cell or line that is out of place."""
    lines = _lines(path)
    width = 0
    for number, cells in lines:
        width = width or len(cells)
        if len(cells) != width:
            return _ragged(path, number, cells, width)
        if heading:
            heading = False
            continue
        for column, cell in enumerate(cells[names:], start=1 + names):
            if not cell.strip():
                return f"Column {column} in line {number} of '{path}' is empty."
            if not _is_number(cell):
                hint = ": cells must be separated by commas" if width == 1 else ""
                return (
                    f"Column {column} in line {number} of '{path}' is {_short(cell)}, "
                    f"which is no number{hint}."
                )
    return f"'{path}' cannot be read as a table of numbers."


def _ragged(path: str, number: int, cells: list[str], width: int) -> str:
    """The sentence on a line of another length."""
    return (
        f"Line {number} of '{path}' has {len(cells)} cell{'s' * (len(cells) != 1)}, "
        f"but the first has {width}."
    )


def _lines(path: str) -> Iterator[tuple[int, list[str]]]:
    """Numbers of lines (from 1) with their cells; lines with nothing in them are passed over."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        reader = csv.reader(file)
        for cells in reader:
            if cells and (len(cells) > 1 or cells[0].strip()):
                yield reader.line_num, cells


def _is_number(cell: str) -> bool:
    """Whether NumPy reads `cell` as a number; unlike Python, it knows no 1_000."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def _short(cell: str) -> str:
    """The text of a cell, cut where it is long."""
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")
