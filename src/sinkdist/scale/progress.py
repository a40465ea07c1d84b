"""How far a run is: the record that callbacks receive, and the counter that makes it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from sinkdist.errors import InputTypeError

__all__ = ["Counter", "Progress", "counting"]


@dataclass(frozen=True, slots=True)
class Progress:
    """Pairs done so far.

    Attributes
    ----------
    done, total : int
        Pairs.
    seconds : float
        Since the run began.
    unconverged : int
        Pairs among those done that stopped short of the tolerance.
    """

    done: int
    total: int
    seconds: float
    unconverged: int


class Counter:
    """Counts pairs from any thread and tells a listener, if there is one."""

    def __init__(self, total: int, listener: Callable[[Progress], object] | None) -> None:
        self._total = total
        self._listener = listener
        self._lock = threading.Lock()
        self._start = time.perf_counter()
        self._done = 0
        self._unconverged = 0

    def add(self, pairs: int, unconverged: int) -> None:
        """Count a finished tile."""
        with self._lock:
            self._done += pairs
            self._unconverged += unconverged
            if self._listener is not None:
                seconds = time.perf_counter() - self._start
                self._listener(Progress(self._done, self._total, seconds, self._unconverged))


@contextmanager
def counting(progress: Any, total: int) -> Iterator[Counter]:
    """A counter for the ``progress`` option: a bar (True), nothing (False) or a callable."""
    if progress is True:
        from sinkdist.scale.bar import Bar  # Rich is imported only for those who look

        with Bar() as bar:
            yield Counter(total, bar)
    elif progress is False:
        yield Counter(total, None)
    elif callable(progress):
        yield Counter(total, progress)
    else:
        raise InputTypeError(
            "The 'progress' option must be True, False or a function of one Progress record. "
            f"Got {progress!r} instead."
        )
