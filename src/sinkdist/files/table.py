"""Numbers in text: .csv files, with or without a line of headings.

NumPy reads the numbers; only where it cannot is the file walked cell by cell, to say which line and
column is wrong.

What is assumed: cells are separated by commas. The first line is a heading if none of its cells is
a number. There is no column of row names, except below a heading whose first cell is empty, which
is how pandas writes one, and those that the caller names. A first line that could be either is
refused: no row is dropped on a guess.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.files.labels import chosen_columns, hint_for, joined

__all__ = ["Table", "read_csv", "read_table"]

Array = npt.NDArray[np.float64]

_COUNTED = 4  # headings 0, 1, 2, 3, ... of at least so many cells are not taken for histograms


class Table(NamedTuple):
    """Numbers of a file, the labels of their rows if it has any, and the heading of the first."""

    values: npt.NDArray[Any]
    labels: list[str] | None
    heading: str


def read_csv(path: str) -> Array:
    """The table in a .csv file as (n, d) float64 numbers."""
    return read_table(path).values


def read_table(path: str, label_columns: str | None = None) -> Table:
    """The same with labels; ``label_columns`` names the columns that hold them."""
    try:
        return _read(path, label_columns)
    except UnicodeDecodeError as error:
        raise InputError(f"'{path}' is not text in UTF-8, though its name ends in .csv.") from error
    except csv.Error as error:
        raise InputError(f"'{path}' cannot be read as text: {error}.") from error


def _read(path: str, label_columns: str | None) -> Table:
    """Numbers and labels, where the file is text."""
    lines = _lines(path)
    _, cells = next(lines, (0, []))
    chosen = chosen_columns(path, label_columns, cells)
    others = [k for k in range(len(cells)) if k not in chosen]
    heading, names = _heading(path, [cells[k] for k in others])
    first = next(lines, None) if heading else (1, cells)
    if first is None:
        raise InputError(
            f"'{path}' holds no numbers, only a line that is taken for a heading: "
            "cells must be separated by commas."
        )
    if len(first[1]) != len(cells):
        raise InputError(_ragged(path, *first, len(cells)))
    if names:
        chosen, others = sorted([*chosen, others[0]]), others[1:]
    values = _numbers(path, first[0] - 1, others if chosen else None)
    if values is None:
        raise InputError(_what_is_wrong(path, heading, chosen))
    labels = joined(_texts(path, heading, chosen)) if chosen else None
    return Table(values, labels, cells[others[0]] if heading else "")


def _texts(path: str, heading: bool, columns: list[int]) -> list[list[str]]:
    """The cells of some columns."""
    lines = [*_lines(path)]
    width = len(lines[0][1])
    for number, cells in lines:
        if len(cells) != width:  # which NumPy passes over where it reads some columns only
            raise InputError(_ragged(path, number, cells, width))
    return [[cells[k] for _, cells in lines[heading:]] for k in columns]


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
        found += "" if blank[column] else _label_hint(path, column + 1, False)
        raise InputError(f"Column {column + 1} in the first line of '{path}' is {found}.")
    return True, names


def _numbers(path: str, skipped: int, columns: list[int] | None) -> Array | None:
    """The numbers below the first `skipped` lines, of some columns or all; None if it fails."""
    with open(path, encoding="utf-8-sig", newline="") as file:
        for _ in range(skipped):
            file.readline()
        try:
            return np.loadtxt(
                file, delimiter=",", comments=None, quotechar='"', ndmin=2, usecols=columns
            )
        except UnicodeDecodeError:
            raise
        except ValueError:
            return None


def _what_is_wrong(path: str, heading: bool, labels: list[int]) -> str:
    """The sentence on the first cell or line that is out of place."""
    lines, named = _lines(path), heading
    width = 0
    for number, cells in lines:
        width = width or len(cells)
        if len(cells) != width:
            return _ragged(path, number, cells, width)
        if heading:
            heading = False
            continue
        for column, cell in enumerate(cells, start=1):
            if column - 1 in labels:
                continue
            if not cell.strip():
                return f"Column {column} in line {number} of '{path}' is empty."
            if not _is_number(cell):
                hint = ": cells must be separated by commas" if width == 1 else ""
                hint = hint or _label_hint(path, column, named)
                return (
                    f"Column {column} in line {number} of '{path}' is {_short(cell)}, "
                    f"which is no number{hint}."
                )
    return f"'{path}' cannot be read as a table of numbers."


def _label_hint(path: str, column: int, heading: bool) -> str:
    """What to do about a column that holds texts, if none of them is a number."""
    cells = [line[column - 1] for _, line in _lines(path) if len(line) >= column]
    return "" if any(map(_is_number, cells[heading:])) else hint_for(column)


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
