"""Measurements in a CSV file that is appended to cell by cell, and survives interruptions.

A line is a record; the columns of the key identify its cell, and the last column is the number of
lines of the cell. So the file alone says which cells are complete: an incomplete one is measured
again, and a cell without records has a single line with the number 0.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from sinkdist import InputError
from sinkdist_paper import atomic_io
from sinkdist_paper.figure import Record, Scalar

__all__ = ["ResultsFile"]

LINES = "lines_of_cell"

Key: TypeAlias = tuple[Scalar, ...]
_INTEGER = re.compile(r"[+-]?\d+")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*(?:e[+-]?\d+)?|\.\d+(?:e[+-]?\d+)?|inf|nan)", re.IGNORECASE)
_CELL = re.compile(r'(?:^|,)(?:("(?:[^"]|"")*")|([^,"]*))')


class ResultsFile:
    """The records of one figure.

    Parameters
    ----------
    path : Path
        The CSV file; created with the first cell.
    keys : sequence of str
        The columns that identify a cell.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> results = ResultsFile(Path(folder.name) / "fig0.csv", ("d",))
    >>> results.add({"d": 2}, [{"seconds": 0.5}, {"seconds": 0.25}])
    >>> ResultsFile(results.path, ("d",)).records()
    [{'d': 2, 'seconds': 0.5}, {'d': 2, 'seconds': 0.25}]
    >>> results.has({"d": 2}), results.has({"d": 4})
    (True, False)
    >>> folder.cleanup()
    """

    def __init__(self, path: Path, keys: Sequence[str]) -> None:
        self.path = path
        self._keys = tuple(keys)
        self._columns: tuple[str, ...] = ()
        self._cells: dict[Key, list[Record]] = {}
        self._is_clean = True  # whether the file holds complete cells and nothing else
        if path.exists():
            self._read()

    def cells(self) -> list[dict[str, Scalar]]:
        """The keys of all complete cells."""
        return [dict(zip(self._keys, key, strict=True)) for key in self._cells]

    def records(self) -> list[Record]:
        """The records of all cells, in the order in which they were added."""
        return [dict(record) for records in self._cells.values() for record in records]

    def has(self, key: Mapping[str, Scalar]) -> bool:
        """Whether a cell has been measured."""
        return self._key(key) in self._cells

    def add(self, key: Mapping[str, Scalar], records: Iterable[Record]) -> None:
        """Save the records of a cell; they are on disk when this returns.

        Parameters
        ----------
        key : mapping
            The columns that identify the cell.
        records : iterable of dict
            Without the columns of the key; there may be none.
        """
        name = self._key(key)
        own = dict(zip(self._keys, name, strict=True))
        rows = [own | {column: _plain(value) for column, value in r.items()} for r in records]
        known = self._columns or self._keys
        new = dict.fromkeys(c for row in rows for c in row if c not in known)
        if name in self._cells or LINES in new:
            raise ValueError(f"The cell {own} was added before, or has a column {LINES!r}.")
        lines = [row | {LINES: len(rows)} for row in rows] or [own | {LINES: 0}]
        if self._is_clean and self._columns and not new:
            text = _text(self._head, lines)  # raises before anything is written
            with self.path.open("ab") as file:
                file.write(text.encode("utf-8"))
                file.flush()
                os.fsync(file.fileno())
        else:
            self._columns = (*known, *new)
            atomic_io.write(self.path, _text(self._head, [self._titles(), *self._lines(), *lines]))
            self._is_clean = True
        self._cells[name] = rows

    @property
    def _head(self) -> tuple[str, ...]:
        """All columns of the file."""
        return (*self._columns, LINES)

    def _titles(self) -> Record:
        """The first line."""
        return {column: column for column in self._head}

    def _lines(self) -> list[Record]:
        """All complete cells, as lines of the file."""
        return [
            record | {LINES: len(records)}
            for key, records in self._cells.items()
            for record in records or [dict(zip(self._keys, key, strict=True))]
        ]

    def _key(self, key: Mapping[str, Scalar]) -> Key:
        """The key of a cell as a tuple; equal numbers give equal keys."""
        if set(key) != set(self._keys):
            raise ValueError(f"A cell is named by {self._keys}. Got {tuple(key)} instead.")
        return tuple(_plain(key[column]) for column in self._keys)

    def _read(self) -> None:
        """Read the complete cells of the file."""
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1  # after it, there is an incomplete line
        self._is_clean = end == len(content)
        lines = content[:end].decode("utf-8", errors="replace").splitlines()
        if not lines:
            return
        head = tuple(str(cell) for cell in _cells(lines[0]))
        if head[-1:] != (LINES,) or head[: len(self._keys)] != self._keys:
            raise InputError(
                f"'{self.path}' has other columns than this figure writes: another version of "
                "sinkdist, or another program, made it. Remove it, or choose another 'out'."
            )
        self._columns = head[:-1]
        found: dict[Key, list[Record]] = {}
        wanted: dict[Key, int] = {}
        for line in lines[1:]:
            row = dict(zip(head, _cells(line), strict=False))
            values = {column: value for column, value in row.items() if value is not None}
            count = values.pop(LINES, None)
            if len(row) != len(head) or not isinstance(count, int):
                self._is_clean = False  # damaged: its cell will be incomplete
                continue
            key = tuple(values.get(column, "") for column in self._keys)
            wanted[key] = count
            found.setdefault(key, []).extend([values] if count else [])
        self._cells = {key: rows for key, rows in found.items() if len(rows) == wanted[key]}
        self._is_clean = self._is_clean and len(self._cells) == len(found)


def _text(head: Sequence[str], lines: Iterable[Record]) -> str:
    """Lines of CSV."""
    return "".join(",".join(_written(line.get(column)) for column in head) + "\n" for line in lines)


def _cells(line: str) -> list[Scalar | None]:
    """The cells of a line; None for a missing value, which differs from an empty text."""
    return [
        quoted[1:-1].replace('""', '"') if quoted else _value(bare) if bare else None
        for quoted, bare in _CELL.findall(line)
    ]


def _plain(value: Any) -> Scalar:
    """A value as it is read back: text that looks like a number is one, and booleans are 0 or 1."""
    value = value.item() if hasattr(value, "item") else value
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, str):
        if len(value.splitlines()) > 1:
            raise ValueError(f"A text in a record has one line. Got {value!r} instead.")
        return _value(value) if value else ""
    if not isinstance(value, int | float):
        raise TypeError(f"A record holds text and numbers. Got {value!r} instead.")
    return math.nan if value != value else value  # one nan object, so that keys can be compared


def _written(value: Scalar | None) -> str:
    """A value in the file: floats are read back exactly; an empty text is quoted."""
    if isinstance(value, str):
        needs_quotes = value == "" or set(value) & set(',"')
        return '"' + value.replace('"', '""') + '"' if needs_quotes else value
    return "" if value is None else repr(value)


def _value(cell: str) -> Scalar:
    """A number if it is one, else the text itself."""
    if _INTEGER.fullmatch(cell):
        return int(cell)
    return _plain(float(cell)) if _NUMBER.fullmatch(cell) else cell
