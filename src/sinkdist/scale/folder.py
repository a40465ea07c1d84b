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

from sinkdist.errors import InputError, InputTypeError, MissingExtraError, StoreError

__all__ = [
    "chunk_sizes",
    "clear",
    "foreign",
    "holds_something",
    "is_url",
    "locked",
    "name_of",
    "tidy",
]

_LOCK = ".lock"
_PARTIAL = "*.partial"  # what Zarr calls a chunk that is being written


def is_url(name: str) -> bool:
    """Whether a name is an address in an object store."""
    return "://" in name


def name_of(path: Any) -> str:
    """A path or an address as text."""
    if isinstance(path, (str, os.PathLike)):
        name = os.fspath(path)
        if isinstance(name, str) and name:
            return name.rstrip("/") if is_url(name) else os.path.normpath(name)
    raise InputTypeError(f"The 'out' option must be a path such as 'D.zarr'. Got {path!r} instead.")


@contextlib.contextmanager
def locked(name: str) -> Iterator[None]:
    """Make the folder if need be, and hold it for one writer."""
    if is_url(name):
        yield
        return
    import filelock

    try:
        Path(name).mkdir(parents=True, exist_ok=True)
        lock = filelock.FileLock(Path(name) / _LOCK)
        with lock.acquire(timeout=0):
            yield
    except filelock.Timeout:
        raise StoreError(
            f"{name!r} is being written by another process. Wait for it, or choose another 'out'."
        ) from None
    except (FileExistsError, NotADirectoryError, PermissionError) as error:
        raise InputError(f"{name!r} cannot be written to: {error.strerror}.") from error


def holds_something(name: str) -> bool:
    """Whether there is something at a place that no run of ours has begun."""
    if is_url(name):
        files, root = _files(name)
        return bool(files.exists(root) and files.find(root))
    folder = Path(name)
    if not folder.exists():
        return False
    # A run that was killed while it made the store has left its lock.
    return not folder.is_dir() or (any(folder.iterdir()) and not (folder / _LOCK).exists())


def clear(name: str) -> None:
    """Remove everything but the lock."""
    if is_url(name):
        files, root = _files(name)
        if files.exists(root):
            files.rm(root, recursive=True)
        return
    for entry in Path(name).iterdir():
        if entry.is_dir():
            shutil.rmtree(entry)
        elif entry.name != _LOCK:
            entry.unlink()


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
            yield (int(row), int(column)), int(detail["size"])
        return
    folder = os.path.join(name, array, "c")
    for row in _entries(folder):
        for chunk in _entries(row.path):
            if chunk.name.isdigit():
                yield (int(row.name), int(chunk.name)), chunk.stat().st_size


def foreign(name: str) -> InputError:
    """The sentence about something else that is in the way."""
    return InputError(
        f"{name!r} exists and is not a matrix stored by sinkdist: nothing was changed. "
        "Choose another 'out', or remove it yourself."
    )


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    """What is in a folder; nothing if there is none."""
    with contextlib.suppress(FileNotFoundError), os.scandir(folder) as entries:
        yield from entries


def _files(address: str) -> tuple[Any, str]:
    """The file system behind an address, and the path on it."""
    try:
        import fsspec
    except ImportError:
        raise MissingExtraError("fsspec", "cloud") from None
    files, root = fsspec.core.url_to_fs(address)
    return files, root
