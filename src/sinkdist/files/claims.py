"""What a file says of its arrays, looked at before any of them is read.

A header of a few bytes can claim an array of terabytes, and an archive of a few megabytes can hold
gigabytes of zeros. What does not fit the file, or the memory there is, is refused by its header.
"""

from __future__ import annotations

import io
import math
import struct
import zipfile
from collections.abc import Iterable
from typing import IO, Any

import numpy as np

from sinkdist.errors import InputError
from sinkdist.scale import memory

__all__ = ["MAGIC", "check_members", "check_memory", "check_rows", "claimed_dtype"]

MAGIC = b"\x93NUMPY"
_LONGEST = 10_000  # bytes of a header, which is also NumPy's limit
_RATIO = 1_032  # bytes that deflate can make of one
_EMPTY_ROWS = 1_000_000  # beside as many as there are entries; no family has so many by intention


def claimed_dtype(file: IO[bytes], size: int) -> np.dtype[Any]:
    """The type of the array in a .npy file of `size` bytes; ValueError if it is not all there.

    Examples
    --------
    >>> file = io.BytesIO()
    >>> np.save(file, np.eye(2))
    >>> claimed_dtype(io.BytesIO(file.getvalue()), len(file.getvalue()))
    dtype('float64')
    """
    start = file.read(len(MAGIC) + 2)
    form = "<H" if start[len(MAGIC)] == 1 else "<I"
    length = file.read(struct.calcsize(form))
    (longest,) = struct.unpack(form, length)
    if longest > _LONGEST:
        raise ValueError("The header of an array is too long.")
    whole = io.BytesIO(length + file.read(longest))
    header = np.lib.format.read_array_header_1_0 if form == "<H" else _header_2_0
    try:
        shape, _, dtype = header(whole)
    except MemoryError as error:  # what Python says of text that is nested too deep
        raise ValueError("The header of an array cannot be read.") from error
    if min(shape, default=0) < 0 or not dtype.itemsize:
        raise ValueError("The header of an array describes none.")
    if not dtype.hasobject:  # of objects, the header does not tell the size
        needed = len(start) + len(whole.getvalue()) + math.prod(shape) * dtype.itemsize
        if needed > size:
            raise ValueError("The array is not all there.")
    return dtype


def check_members(path: str, members: Iterable[zipfile.ZipInfo], bytes_in_file: int) -> None:
    """Raise if members of an archive cannot be what they say, or would not fit in memory."""
    total = 0
    for member in members:
        most = member.compress_size * (1 if member.compress_type == zipfile.ZIP_STORED else _RATIO)
        known = member.compress_type in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
        if member.compress_size > bytes_in_file or (known and member.file_size > most):
            raise ValueError("A member of an archive is not all there.")
        total += member.file_size
    check_memory(path, total, "Save it as .npy, of which only what is needed is read.")


def check_memory(path: str, size: int, advice: str) -> None:
    """Raise if what a file holds does not fit in memory."""
    limit = memory.read(None) - memory.held()
    if size > limit:
        raise InputError(
            f"'{path}' takes {memory.text(size)} in memory, and {memory.text(limit)} are there for "
            f"it. {advice}"
        )


def check_rows(path: str, shape: tuple[int, ...], entries: int) -> None:
    """Raise if a sparse matrix consists of empty rows: each takes memory as soon as it is read."""
    if shape[0] > entries + _EMPTY_ROWS:
        raise InputError(
            f"'{path}' holds a sparse matrix of {' x '.join(f'{side:,}' for side in shape)} with "
            f"{entries:,} entries: nearly all of its rows are empty. Leave those out."
        )


def _header_2_0(file: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """A header of version 2 or 3: the latter has names of fields in other letters, no more."""
    return np.lib.format.read_array_header_2_0(file)
