"""Where a stored matrix lies: a folder, or an address in an object store.

Apart from `store`, which knows what is in it. One writer holds a folder at a time, by a lock that
the system takes back when a process dies; object stores have no such lock.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sinkdist.errors import InputError, InputTypeError, StoreError, needs_extra
from sinkdist.wording import option

__all__ = [
    "LOCK",
    "chunk_sizes",
    "contents",
    "foreign",
    "is_marked",
    "is_url",
    "locked",
    "mark",
    "name_of",
    "read_file",
    "remove",
    "tidy",
]

#: Inside an array, where no listing of the group sees it.
LOCK = "distance/.sinkdist.lock"
_PARTIAL = "*.partial"  # what Zarr calls a chunk that is being written


def is_url(name: str) -> bool:
    """Whether a name is an address in an object store."""
    return "://" in name


def name_of(path: Any) -> str:
    """A path or an address as text."""
    if isinstance(path, (str, os.PathLike)):
        name = os.fspath(path)
        if isinstance(name, str) and name and "\0" not in name:
            name = name.removeprefix("file://")
            if not is_url(name):
                return os.path.normpath(os.path.expanduser(name))
            if "::" in name:
                raise InputError(
                    f"{name!r} is a chain of addresses, through which nothing can be stored: give "
                    "the address of the store itself, or a folder."
                )
            if is_url(name.rstrip("/")):
                return name.rstrip("/")
    raise InputTypeError(
        "The {} option must be a path such as 'D.zarr'. Got {!r} instead.", option("out"), path
    )


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Make the folder if need be, and hold it for one writer."""
    if is_url(name):
        yield
        return
    with needs_extra("store", "Storing a matrix"):
        import filelock

    path = Path(name) / LOCK
    lock = filelock.FileLock(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise StoreError(
            "{!r} is being written by another process. Wait for it, or choose another {}.",
            name,
            option("out"),
        ) from None
    except OSError as error:
        raise InputError(f"{name!r} cannot be written to: {error.strerror}.") from error
    try:
        yield
    finally:
        lock.release()


def contents(name: str) -> set[str]:
    """What lies at a place, by its first names; a place that is no folder holds itself."""
    if is_url(name):
        files, root = _files(name)
        found = files.find(root) if files.exists(root) else []
        return {path[len(root) :].strip("/").split("/")[0] for path in found}
    try:
        return {entry.name for entry in os.scandir(name)}
    except FileNotFoundError:
        return set()
    except NotADirectoryError:
        return {""}
    except OSError as error:
        raise InputError(f"{name!r} cannot be read: {error.strerror}.") from error


def read_file(name: str, entry: str) -> bytes | None:
    """The bytes of a file that lies at a place; None if there is no such file."""
    try:
        if not is_url(name):
            return Path(name, entry).read_bytes()
        files, root = _files(f"{name}/{entry}")
        return bytes(files.cat_file(root))
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError as error:
        raise InputError(f"{name!r} cannot be read: {error.strerror or error}.") from error


def is_marked(name: str) -> bool:
    """Whether one of our runs has begun something at a place."""
    if is_url(name):
        files, root = _files(f"{name}/{LOCK}")
        return bool(files.exists(root))
    return os.path.exists(os.path.join(name, LOCK))


def mark(name: str) -> None:
    """Leave the mark that a run of ours has begun something; in a folder, the lock is the mark."""
    if is_url(name):
        files, root = _files(f"{name}/{LOCK}")
        try:
            files.pipe_file(root, b"")
        except OSError as error:
            raise InputError(f"{name!r} cannot be written to: {error}.") from error


def remove(name: str, entries: list[str]) -> None:
    """Remove some of what lies at a place, in the given order."""
    for entry in entries:
        if is_url(name):
            files, root = _files(f"{name}/{entry}")
            if files.exists(root):
                files.rm(root, recursive=True)
        elif os.path.isdir(path := os.path.join(name, entry)) and not os.path.islink(path):
            shutil.rmtree(path)
        else:
            Path(path).unlink(missing_ok=True)


def tidy(name: str) -> None:
    """Remove what was being written when an earlier run was killed."""
    if not is_url(name):
        for left in Path(name).rglob(_PARTIAL):
            left.unlink(missing_ok=True)


def chunk_sizes(name: str, array: str) -> Iterator[tuple[tuple[int, int], int]]:
    """Places and sizes of the chunks of an array that are there."""
    if is_url(name):
        files, root = _files(f"{name}/{array}/c")
        for path, detail in files.find(root, detail=True).items():
            row, column = path.rsplit("/", 2)[1:]
            if row.isdigit() and column.isdigit():
                yield (int(row), int(column)), int(detail["size"])
        return
    for row_entry in _entries(os.path.join(name, array, "c")):
        for chunk in _entries(row_entry.path) if row_entry.name.isdigit() else ():
            if chunk.name.isdigit():
                yield (int(row_entry.name), int(chunk.name)), chunk.stat().st_size


def foreign(name: str) -> InputError:
    """The sentence about something else that is in the way."""
    return InputError(
        "{!r} exists and is not a matrix stored by sinkdist: nothing was changed. "
        "Choose another {}, or remove it yourself.",
        name,
        option("out"),
    )


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """What is in a folder; nothing if there is none."""
    with contextlib.suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        yield from entries


def _files(address: str) -> tuple[Any, str]:
    """The file system behind an address, and the path on it."""
    with needs_extra("cloud", "A matrix in an object store"):
        import fsspec
    try:
        files, root = fsspec.core.url_to_fs(address)
    except (ImportError, ValueError) as error:  # a package for this kind of address is missing
        raise InputError(f"{address!r} cannot be reached: {error}.") from error
    return files, root
