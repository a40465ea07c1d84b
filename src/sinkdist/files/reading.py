"""Reading an array from a file: .npy, .npz (dense or sparse), .csv, .parquet, .png, .tif.

The ending of the name says what a file should be, and its content has to agree. Nothing is ever
unpickled: a file is data and cannot bring code along. Only files are judged here; whether the
numbers are histograms, costs or points is said by those who use them.
"""

from __future__ import annotations

import os
import re
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.files.claims import MAGIC, check_members, check_rows, claimed_dtype
from sinkdist.files.labels import ask_about
from sinkdist.files.table import Table, read_csv, read_table

__all__ = ["is_readable", "read", "read_labelled"]

Array: TypeAlias = npt.NDArray[Any]

_NAMED_ARRAY = re.compile(r"(?P<file>.+\.npz):(?P<key>[^:/\\]+)", re.IGNORECASE | re.DOTALL)
# What scipy.sparse.save_npz always writes, and what others keep of a CSR matrix.
_ANY_FORMAT = {"format", "shape", "data"}
_COMPRESSED_ROWS = {"data", "indices", "indptr", "shape"}
# What zipfile and NumPy raise on bytes that are no array, or not the whole of one.
_DAMAGE = (
    ValueError, TypeError, LookupError, OverflowError, EOFError, OSError, RuntimeError, SyntaxError,
    tokenize.TokenError, struct.error, zipfile.BadZipFile, zlib.error,
)  # fmt: skip


def read(name: str) -> Any:
    r"""The array in a file.

    Parameters
    ----------
    name : str
        A .npy file (memory-mapped, so that it need not fit in memory), .npz, .csv, .parquet, .png
        or .tif; an array of an .npz file that holds several is named after a colon:
        ``file.npz:key``.

    Returns
    -------
    ndarray or scipy.sparse array
        As it is in the file: of any dimension and dtype, but never empty.

    Examples
    --------
    >>> import numpy as np, pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "X.csv")
    ...     _ = path.write_text("red,green\n0.5,0.5\n0.2,0.8\n")
    ...     read(str(path))
    array([[0.5, 0.5],
           [0.2, 0.8]])
    """
    path, key = _split(name)
    reader = _READERS.get(_ending(path))
    if reader is None:
        raise InputError(
            f"'{path}' cannot be read: its name must end in .npy, .npz, .csv, .parquet, .png or "
            ".tif."
        )
    _require_content(path)
    array = _from_npz(path, key) if key is not None else reader(path)
    if 0 in array.shape:
        raise InputError(f"'{name}' holds no numbers: its shape is {tuple(array.shape)}.")
    return array


def read_labelled(name: str, label_columns: str | None = None) -> tuple[Any, list[str] | None]:
    """Histograms in a file, and the labels of their rows where it has any.

    Parameters
    ----------
    name : str
        As for `read`.
    label_columns : str, optional
        Columns of a .csv or .parquet file that hold labels, by heading or by number from 1, with
        commas between them; ``"none"`` if there are none. Without it, columns that seem to hold
        labels are an error that says so.
    """
    if _ending(name) not in (".csv", ".parquet"):
        if label_columns is not None:
            raise InputError(f"--label-column is for .csv and .parquet files, not for '{name}'.")
        return read(name), None
    _require_content(name)
    table: Table
    if _ending(name) == ".csv":
        table = read_table(name, label_columns)
    else:
        from sinkdist.files.parquet import read_parquet_table

        table = read_parquet_table(name, label_columns)
    if 0 in table.values.shape:
        raise InputError(f"'{name}' holds no numbers: its shape is {table.values.shape}.")
    if label_columns is None and table.labels is None:
        ask_about(name, table.values, table.heading)
    return table.values, table.labels


def is_readable(name: str) -> bool:
    """Whether the name, not yet the file, is one that `read` knows.

    Examples
    --------
    >>> is_readable("X.npz:train"), is_readable("X.txt")
    (True, False)
    """
    return _ending(_split(name)[0]) in _READERS


def _split(name: str) -> tuple[str, str | None]:
    """The path and the key of ``file.npz:key``; any other name is a path alone."""
    match = _NAMED_ARRAY.fullmatch(name)
    return (match["file"], match["key"]) if match else (name, None)


def _ending(path: str) -> str:
    """The ending of a name, in lower case."""
    return os.path.splitext(path)[1].lower()


def _require_content(path: str) -> None:
    """Raise unless `path` is a file that can be opened and has something in it."""
    try:
        with open(path, "rb") as file:
            if not file.read(1):
                raise InputError(f"'{path}' is an empty file.")
    except OSError as error:
        raise InputError(f"'{path}' cannot be read: {error.strerror}.") from error


def _from_npy(path: str) -> Array:
    """A memory map of a .npy file."""
    with open(path, "rb") as file:
        if file.read(len(MAGIC)) != MAGIC:
            raise InputError(f"'{path}' is not a NumPy file, though its name ends in .npy.")
    try:
        with open(path, "rb") as file:
            if claimed_dtype(file, os.path.getsize(path)).hasobject:
                raise _needs_pickle(f"'{path}'")
        return np.lib.format.open_memmap(path, mode="r")
    except InputError:
        raise
    except _DAMAGE as error:
        raise _damaged(path) from error


def _from_npz(path: str, key: str | None = None) -> Any:
    """The array called `key`, a sparse matrix, or the only array of an .npz file."""
    if not zipfile.is_zipfile(path):
        raise InputError(
            f"'{path}' is damaged or not a NumPy archive, though its name ends in .npz."
        )
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            keys = list(archive.files)
            if key is None and len(keys) != 1:
                if set(keys) >= _ANY_FORMAT or set(keys) >= _COMPRESSED_ROWS:
                    return _sparse(path, _members(path, archive, keys))
                raise InputError(_which_array(path, keys))
            key = keys[0] if key is None else key
            if key not in keys:
                raise InputError(
                    f"'{path}' has no array called '{key}'; it holds {', '.join(keys)}."
                )
            return _members(path, archive, [key])[key]
    except InputError:
        raise
    except _DAMAGE as error:
        raise _damaged(path) from error


def _members(path: str, archive: Any, keys: list[str]) -> dict[str, Array]:
    """Arrays of an archive, read when the headers of all of them have been looked at."""
    files = set(archive.zip.namelist())
    members = [archive.zip.getinfo(key if key in files else f"{key}.npy") for key in keys]
    check_members(path, members, os.path.getsize(path))
    for key, member in zip(keys, members, strict=True):
        with archive.zip.open(member) as file:
            if file.peek(len(MAGIC))[: len(MAGIC)] != MAGIC:
                raise InputError(f"'{path}' is not a NumPy archive: '{key}' in it is no array.")
            if claimed_dtype(file, member.file_size).hasobject:
                raise _needs_pickle(f"'{path}:{key}'")
    return {key: archive[key] for key in keys}


def _sparse(path: str, parts: dict[str, Array]) -> Any:
    """A matrix as scipy.sparse.save_npz writes it, or of the bare parts of a CSR matrix.

    Indices are checked in full: compiled code would follow wrong ones out of its memory.
    """
    from scipy import sparse

    kind = parts["format"].item() if "format" in parts else "csr"
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
    try:
        shape = tuple(int(side) for side in parts["shape"].reshape(2))
        if kind != "csr":  # which has a number for each row in the file
            check_rows(path, shape, parts["data"].size)
        if kind in ("csr", "csc", "bsr"):
            make = getattr(sparse, f"{kind}_array")
            matrix = make((parts["data"], parts["indices"], parts["indptr"]), shape=shape)
            matrix.check_format(full_check=True)
        elif kind == "coo":
            matrix = sparse.coo_array((parts["data"], (parts["row"], parts["col"])), shape=shape)
        elif kind == "dia":
            matrix = sparse.dia_array((parts["data"], parts["offsets"]), shape=shape)
        else:
            raise InputError(f"'{path}' holds a sparse matrix of the unknown format '{kind}'.")
        return matrix.tocsr()
    except InputError:
        raise
    except (LookupError, ValueError, TypeError, OverflowError) as error:
        raise InputError(f"'{path}' holds no valid sparse matrix: {_first_line(error)}.") from error


def _from_parquet(path: str) -> Array:
    """A table in Parquet; pyarrow is imported for those who have such files."""
    from sinkdist.files.parquet import read_parquet

    return read_parquet(path)


def _from_image(path: str) -> Array:
    """A picture; Pillow is imported for those who have some."""
    from sinkdist.files.images import read_image

    return read_image(path)


_READERS: dict[str, Callable[[str], Any]] = {
    ".npy": _from_npy,
    ".npz": _from_npz,
    ".csv": read_csv,
    ".parquet": _from_parquet,
    ".png": _from_image,
    ".tif": _from_image,
    ".tiff": _from_image,
}


def _which_array(path: str, keys: list[str]) -> str:
    """The sentence on an archive that leaves open what to read."""
    if not keys:
        return f"'{path}' holds no arrays."
    return (
        f"'{path}' holds {len(keys)} arrays: name one of them, as in "
        f"'{path}:{keys[0]}'. There are {', '.join(keys[:10])}{', ...' if len(keys) > 10 else ''}."
    )


def _needs_pickle(subject: str) -> InputError:
    """The error for arrays of Python objects."""
    return InputError(
        f"{subject} holds Python objects, which are never read, since unpickling can run any code: "
        "save it as an array of numbers."
    )


def _damaged(path: str) -> InputError:
    """The error for a file that begins well and then does not go on so."""
    return InputError(f"'{path}' is damaged or cut short.")


def _first_line(error: Exception) -> str:
    """What an error says, without the full stop."""
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
