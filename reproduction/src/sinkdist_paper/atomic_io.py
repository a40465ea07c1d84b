"""Files that are whole or not there, and folders that one process at a time writes to."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sinkdist import InputError

__all__ = ["held", "write"]

_LOCK = ".lock"


def write(path: Path, content: bytes | str) -> None:
    """Write a file, or replace it; whoever looks sees the old one or the new one, never a part.

    Parameters
    ----------
    path : Path
        The file; its folder is made if need be.
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
    """Make a folder if need be, and keep other processes from writing there meanwhile.

    Parameters
    ----------
    folder : Path
        What is written to.
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
