"""What surrounds the first compilation in an environment: a lock, and one line on stderr.

Processes that start together in a new environment would all compile the same kernels, and mix what
they write to disk. So one compiles while the others wait, and then find its kernels there. The lock
is a file beside Numba's cache, held while kernels are compiled and not while they are loaded.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
import threading
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import IO

from numba.core.compiler_lock import global_compiler_lock

try:
    import fcntl
except ImportError:  # Windows: processes do not wait for each other
    fcntl = None  # type: ignore[assignment]

__all__ = ["Compiling", "compiling", "source_stamp"]

QUIET = "SINKDIST_QUIET"  #: the environment variable that keeps stderr as it is
SHORT = 1.0  #: seconds of compilation that are not worth a line
USUAL = 5  #: seconds that the line speaks of: a first pairwise, or the hard constraint
LOCK = "sinkdist.lock"


class Compiling:
    """The compilations of this process, nested and on any thread.

    Numba's own lock lets one thread compile at a time, and is held here from the outermost kernel
    on, so what is kept needs no other.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._file: IO[bytes] | None = None
        self._began: float | None = None
        self._timer: threading.Timer | None = None
        self._said = False
        self._collecting = True
        self.seconds = 0.0  #: spent so far

    @contextlib.contextmanager
    def scope(self) -> Iterator[None]:
        """Around everything that may compile; the outermost one ends what `begin` began."""
        with global_compiler_lock:
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                if self._depth == 0:
                    self._end()

    def begin(self, folder: Path) -> bool:
        """A kernel has to be compiled; whether it may be on disk now, after a wait."""
        if self._file is not None or self._depth == 0 or fcntl is None:
            return False
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._file = (folder / LOCK).open("ab")
            fcntl.flock(self._file, fcntl.LOCK_EX)
        except OSError:  # a file system without locks, or not ours to write to
            return False
        return True

    def announce(self) -> None:
        """Say that kernels are being compiled, once, as soon as it has taken a while."""
        if self._began is not None or self._depth == 0:
            return
        self._began, self._collecting = time.monotonic(), gc.isenabled()
        gc.disable()  # it would walk through Numba's graphs, over and over, an eighth of the time
        if not self._said and not os.environ.get(QUIET):
            self._timer = threading.Timer(max(SHORT - self.seconds, 0.0), self._say)
            self._timer.daemon = True
            self._timer.start()

    def _say(self) -> None:
        """The line."""
        self._said = True
        if sys.stderr is not None:
            line = f"sinkdist: compiling, once for this environment (about {USUAL} s)"
            with contextlib.suppress(OSError, ValueError):  # closed, or nobody reads it
                sys.stderr.write(line + "\n")

    def _end(self) -> None:
        """Let other processes go on."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._began is not None:
            self.seconds += time.monotonic() - self._began
            self._began = None
            if self._collecting:
                gc.enable()
        if self._file is not None:
            self._file.close()  # which unlocks it
            self._file = None


compiling = Compiling()


@cache
def source_stamp(package: Path) -> tuple[float, int]:
    """The last change and the size of everything that is compiled.

    Kernels are on disk one by one, but call each other: all are compiled anew when one changes.
    """
    stats = [
        path.stat()
        for folder in ("kernels", "solvers/compiled")
        for path in (package / folder).rglob("*.py")
    ]
    return max((s.st_mtime for s in stats), default=0.0), sum(s.st_size for s in stats)
