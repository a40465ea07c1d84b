"""Whether the structure of a sparse matrix can be trusted, looked at before anything reads it.

SciPy checks indices when a matrix is made, if then, and its compiled loops trust them: an index
that was assigned later and points outside reads or writes foreign memory. Unsorted and doubled
entries are no mistake; they are read as SciPy means them. Each check is one pass over the indices.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError

__all__ = ["check_structure"]

Array: TypeAlias = npt.NDArray[Any]


def check_structure(matrix: Any, name: str) -> None:
    """Raise unless every stored entry of a scipy.sparse array lies inside of it.

    `name` is what messages call it, in the middle of a sentence.
    """
    _CHECKS[matrix.format](matrix, name)


def _compressed(matrix: Any, name: str) -> None:
    """CSR and CSC, and BSR, whose rows and columns are blocks."""
    height, width = matrix.shape if matrix.ndim == 2 else (1, *matrix.shape)
    line, entry = ("column", "row") if matrix.format == "csc" else ("row", "column")
    lines, places = (width, height) if matrix.format == "csc" else (height, width)
    if matrix.format == "bsr":
        tall, wide = matrix.data.shape[1:] if matrix.data.ndim == 3 else (0, 0)
        if not tall or not wide or height % tall or width % wide:
            raise InputError(f"The blocks of {name} do not fit its shape {matrix.shape}.")
        line, entry = f"block {line}", f"block {entry}"
        lines, places = height // tall, width // wide
    elif matrix.data.ndim != 1:
        raise InputError(_not_flat("data", name, matrix.data))
    indptr, indices = (_whole(matrix, part, name) for part in ("indptr", "indices"))
    if indptr.size != lines + 1:
        raise InputError(
            f"The indptr of {name} has {indptr.size} entries, but {lines} {line}s need {lines + 1}."
        )
    _check_lengths(len(matrix.data), indices.size, name)
    if indptr[0] != 0:
        raise InputError(f"The indptr of {name} begins with {indptr[0]}, but must begin with 0.")
    falls = indptr[1:] < indptr[:-1]
    if falls.any():
        k = int(falls.argmax())
        raise InputError(
            f"The indptr of {name} runs backwards at {line} {k}, from {indptr[k]} to "
            f"{indptr[k + 1]}."
        )
    if indptr[-1] > indices.size:
        k = int(np.searchsorted(indptr, indices.size, side="right")) - 1
        raise InputError(
            f"The indptr of {name} ends {line} {k} at entry {indptr[k + 1]}, but there are only "
            f"{indices.size} entries."
        )
    wrong = _outside(indices[: indptr[-1]], places)
    if wrong is not None:
        k = int(np.searchsorted(indptr, wrong, side="right")) - 1
        raise InputError(_misplaced(f"{line} {k}", entry, indices[wrong], places, name))


def _coordinates(matrix: Any, name: str) -> None:
    """COO: an index for every entry and axis."""
    if matrix.data.ndim != 1:
        raise InputError(_not_flat("data", name, matrix.data))
    for index in matrix.coords:
        _require_whole(index, "coordinates", name)
        _check_lengths(matrix.data.size, index.size, name)
    for index, size in zip(matrix.coords, matrix.shape, strict=True):
        k = _outside(index, size)
        if k is not None:
            raise InputError(_off(tuple(int(index[k]) for index in matrix.coords), matrix, name))


def _diagonals(matrix: Any, name: str) -> None:
    """DIA: what its diagonals hold outside of the matrix is no part of it."""
    offsets = _whole(matrix, "offsets", name)
    if matrix.data.ndim != 2 or len(matrix.data) != offsets.size:
        raise InputError(
            f"{offsets.size} diagonals of {name} have an offset, but its data is of shape "
            f"{matrix.data.shape}."
        )


def _lists(matrix: Any, name: str) -> None:
    """LIL: two lists for every row."""
    if len(matrix.rows) != matrix.shape[0] or len(matrix.data) != matrix.shape[0]:
        raise InputError(
            f"{name} has {matrix.shape[0]} rows, but lists for {len(matrix.rows)} rows of indices "
            f"and {len(matrix.data)} rows of entries."
        )
    for row, (index, entries) in enumerate(zip(matrix.rows, matrix.data, strict=True)):
        if len(index) != len(entries):
            raise InputError(
                f"Row {row} of {name} has {len(entries)} entries, but {len(index)} indices."
            )
        for column in index:
            if not 0 <= column < matrix.shape[1]:
                raise InputError(_misplaced(f"row {row}", "column", column, matrix.shape[1], name))


def _keys(matrix: Any, name: str) -> None:
    """DOK: a key for every entry."""
    for key in matrix.keys():  # noqa: SIM118 - iteration is over rows
        place = key if isinstance(key, tuple) else (key,)
        if not all(0 <= index < size for index, size in zip(place, matrix.shape, strict=True)):
            raise InputError(_off(place, matrix, name))


_CHECKS: dict[str, Callable[[Any, str], None]] = {
    "csr": _compressed,
    "csc": _compressed,
    "bsr": _compressed,
    "coo": _coordinates,
    "dia": _diagonals,
    "lil": _lists,
    "dok": _keys,
}


def _whole(matrix: Any, part: str, name: str) -> Array:
    """A part of the structure: one row of whole numbers."""
    index: Array = getattr(matrix, part)
    _require_whole(index, part, name)
    return index


def _require_whole(index: Array, part: str, name: str) -> None:
    """Raise for what is no row of whole numbers."""
    if index.ndim != 1:
        raise InputError(_not_flat(part, name, index))
    if index.dtype.kind not in "iu":
        raise InputError(f"The {part} of {name} must be integers. Got dtype {index.dtype} instead.")


def _check_lengths(entries: int, indices: int, name: str) -> None:
    """Raise unless there is an index for every entry."""
    if entries != indices:
        raise InputError(f"Stored in {name} are {entries} entries, but {indices} indices.")


def _outside(index: Array, size: int) -> int | None:
    """The first place of an index that is not below `size`, or negative; None if there is none."""
    if index.size == 0 or (index.min() >= 0 and index.max() < size):
        return None
    return int(((index < 0) | (index >= size)).argmax())


def _off(place: tuple[int, ...], matrix: Any, name: str) -> str:
    """The sentence about an entry at some `place` outside."""
    *above, column = place
    width = matrix.shape[-1]
    if above and 0 <= column < width:
        return _misplaced(f"column {column}", "row", above[0], matrix.shape[0], name)
    return _misplaced(f"row {above[0] if above else 0}", "column", column, width, name)


def _misplaced(line: str, what: str, index: Any, size: int, name: str) -> str:
    """The sentence about an entry of a row or column that lies outside."""
    return (
        f"{line.capitalize()} of {name} has an entry in {what} {index}, but there are {size} "
        f"{what}s, numbered from 0."
    )


def _not_flat(part: str, name: str, array: Array) -> str:
    """The sentence about a part that is not one-dimensional."""
    return f"The {part} of {name} must be 1-dimensional. Got shape {array.shape} instead."
