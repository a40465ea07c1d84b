"""Atomic writes, and a lock that lets one process at a time write to a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sinkdist import InputError

__all__ = ["held", "write"]

_LOCK = ".lock"


def write(path: Path, content: bytes | str) -> None:
    """Write a file atomically: readers see the old content or the new one, never a part of it.

    Parameters
    ----------
    path : Path
        The file; its folder is created if necessary.
    content : bytes or str
        Text is written as UTF-8, with the line breaks that it has.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write(Path(folder, "new", "a.txt"), "all of it")
    ...     Path(folder, "new", "a.txt").read_text(), os.listdir(Path(folder, "new"))
    ('all of it', ['a.txt'])
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            file.write(content.encode("utf-8") if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


@contextmanager
def held(folder: Path) -> Iterator[None]:
    """Create a folder if necessary, and hold its lock against other processes.

    Parameters
    ----------
    folder : Path
        The folder to lock.
    """
    import filelock

    lock = filelock.FileLock(folder / _LOCK)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except filelock.Timeout:
        raise InputError(
            f"'{folder}' is being written by another process. Wait for it, or choose another --out."
        ) from None
    except OSError as error:
        raise InputError(f"'{folder}' cannot be written to: {error.strerror}.") from error
    try:
        yield
    finally:
        lock.release()
