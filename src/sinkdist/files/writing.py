"""Writing a matrix to a file: by blocks of rows, so that it is never in memory twice.

Files are written under a temporary name in the same folder and renamed at the end: a file that
exists is complete.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.files.labels import NONE, Labels
from sinkdist.wording import setting

__all__ = ["WRITTEN", "check_target", "write"]

Array: TypeAlias = npt.NDArray[Any]

_BLOCK = 1 << 27  # bytes of a block of rows


class Matrix(Protocol):
    """What can be written: an array, or what is read by rows like one."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Of the numbers."""

    def __getitem__(self, rows: slice, /) -> Any:
        """Some rows, as an array."""


def check_target(path: str, endings: Iterable[str], *, overwrite: bool) -> str:
    """The ending of a file to be written, or an error; to be asked before any work is done.

    Parameters
    ----------
    path : str
        The file.
    endings : iterable of str
        Those that are known, such as `WRITTEN`.
    overwrite : bool
        Whether the file may be there already.

    Returns
    -------
    str
        In lower case.

    Examples
    --------
    >>> check_target("D.npy", WRITTEN, overwrite=False)
    '.npy'
    """
    ending = os.path.splitext(path)[1].lower()
    if ending not in endings:
        raise InputError(f"'{path}' cannot be written: its name must end in {_either(endings)}.")
    if ending == ".zarr":
        return ending  # whoever writes it knows better: it may be an address
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise InputError(f"'{path}' cannot be written: there is no folder '{folder}'.")
    if not os.access(folder, os.W_OK):
        raise InputError(f"'{path}' cannot be written: the folder '{folder}' is read-only.")
    if os.path.isdir(path):
        raise InputError(f"'{path}' cannot be written: it is a folder.")
    if os.path.exists(path) and not overwrite:
        raise InputError(
            "'{}' exists already: pass {} to replace it.", path, setting("overwrite", True)
        )
    if ending == ".parquet":
        import sinkdist.files.parquet  # noqa: F401 - a missing extra is said before any work
    return ending


def write(path: str, matrix: Matrix, *, rows: int | None = None, labels: Labels = NONE) -> None:
    """Write a matrix as .npy, .csv or .parquet; a file of that name is replaced.

    Parameters
    ----------
    path : str
        The file; checked before by `check_target`.
    matrix : array_like
        Two-dimensional; read by blocks of rows.
    rows : int, optional
        The height of a block; by default up to 128 MB of numbers.
    labels : Labels
        Names of rows and columns, for .csv (as pandas writes them) and .parquet.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "D.npy")
    ...     write(path, np.eye(2))
    ...     np.load(path), os.listdir(folder)
    (array([[1., 0.],
           [0., 1.]]), ['D.npy'])
    """
    put = _WRITERS[os.path.splitext(path)[1].lower()]
    count, width = matrix.shape
    # A power of two, as the sides of stored tiles are: then few tiles are read twice.
    step = rows or 1 << max(1, _BLOCK // (width * matrix.dtype.itemsize)).bit_length() - 1
    blocks = (np.asarray(matrix[k : min(k + step, count)]) for k in range(0, count, step))
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}.part")
    try:
        put(temporary, blocks, (count, width), matrix.dtype, labels)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _npy(
    path: str, blocks: Iterator[Array], shape: tuple[int, int], dtype: np.dtype[Any],
    labels: Labels,
) -> None:  # fmt: skip
    """The header, then one block after another: pages of a memory map would count as memory."""
    header = {
        "descr": np.lib.format.dtype_to_descr(dtype), "fortran_order": False, "shape": shape
    }  # fmt: skip
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            file.write(np.ascontiguousarray(block, dtype).data.cast("B"))
        _settle(file)


def _csv(
    path: str, blocks: Iterator[Array], shape: tuple[int, int], dtype: np.dtype[Any],
    labels: Labels,
) -> None:  # fmt: skip
    """Numbers with as many digits as tell them apart from all others of their dtype."""
    with open(path, "w", encoding="utf-8", newline="\n") as file:
        table = csv.writer(file, lineterminator="\n")
        if labels != NONE:
            names = [str(k) for k in range(shape[1])] if labels.columns is None else labels.columns
            table.writerow(["", *names])
        place = 0
        for block in blocks:
            for row in block:
                numbers = map(str, row)
                if labels != NONE:
                    named = str(place) if labels.rows is None else labels.rows[place]
                    table.writerow([named, *numbers])
                else:
                    file.write(",".join(numbers) + "\n")
                place += 1
        _settle(file)


def _parquet(
    path: str, blocks: Iterator[Array], shape: tuple[int, int], dtype: np.dtype[Any],
    labels: Labels,
) -> None:  # fmt: skip
    """Row groups of a Parquet file; pyarrow is imported for those who want one."""
    from sinkdist.files.parquet import write_parquet

    write_parquet(path, blocks, shape, dtype, labels)


def _either(words: Iterable[str]) -> str:
    """Words with commas and an or."""
    *others, last = words
    return f"{', '.join(others)} or {last}" if others else last


def _settle(file: Any) -> None:
    """Wait until the disk has the bytes: a name must not outlive them."""
    file.flush()
    os.fsync(file.fileno())


_WRITERS: dict[
    str, Callable[[str, Iterator[Array], tuple[int, int], np.dtype[Any], Labels], None]
] = {".npy": _npy, ".csv": _csv, ".parquet": _parquet}  # fmt: skip

WRITTEN = tuple(_WRITERS)  #: endings of files that can be written
