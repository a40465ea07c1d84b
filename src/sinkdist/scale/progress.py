"""How far a run is: the record that callbacks receive, and the counter that makes it."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

from sinkdist.inputs.flags import listener as option
from sinkdist.scale.lines import Display, Lines
from sinkdist.scale.tally import Tally

__all__ = ["Counter", "Progress", "counting"]

_SECONDS_BETWEEN_GLIMPSES = 1.0  #: of tiles that are not finished yet


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
        Pairs among those done that stopped short of the tolerance; those of an earlier run are
        counted when its tiles are checked, at the end.
    before : int
        Pairs among those done that an earlier run had stored.
    compiling : float
        Seconds among these that went into compiling, which happens once for an environment.
    """

    done: int
    total: int
    seconds: float
    unconverged: int
    before: int = 0
    compiling: float = 0.0

    @property
    def pairs_per_second(self) -> float:
        """The speed of this run, compiling left out; 0 before its first pairs."""
        solving = self.seconds - self.compiling
        return (self.done - self.before) / solving if solving > 0 else 0.0


class Counter:
    """Counts pairs and how they ended, from any thread, and calls a listener, if there is one.

    Pairs of tiles under way are counted as well while nothing else is there to report: the first
    figure comes within seconds, however large tiles are.

    Attributes
    ----------
    tally : Tally
        How the pairs ended that were counted so far.
    """

    def __init__(
        self,
        total: int,
        short: tuple[int, ...],
        before: int,
        listener: Callable[[Progress], object] | None,
    ) -> None:
        self._total = total
        self._short = short
        self._before = before
        self._listener = listener
        self._lock = threading.Lock()
        self._start = time.perf_counter()
        self._done = before
        self._told = True
        self._told_at = self._start
        self._under_way: dict[int, int] = {}  # pairs of unfinished tiles, by thread
        self._glimpsed = False  # whether those have been reported: counts never fall again
        self._compiled = _compiling_seconds()
        self.tally = Tally({}, {})

    def begin(self) -> None:
        """Report what an earlier run has left, if there is something to do."""
        with self._lock:
            if 0 < self._before < self._total:
                self._tell()

    def glimpse(self, pairs: int) -> None:
        """Count pairs of the tile that this thread is working on."""
        with self._lock:
            me = threading.get_ident()
            self._under_way[me] = self._under_way.get(me, 0) + pairs
            if time.perf_counter() - self._told_at >= _SECONDS_BETWEEN_GLIMPSES:
                self._glimpsed = True
                self._tell()

    def add(self, pairs: int, tally: Tally) -> None:
        """Count a finished tile."""
        with self._lock:
            self._done += pairs
            self._under_way.pop(threading.get_ident(), None)
            self.tally += tally
            self._told = False
            if pairs:  # else a tile of an earlier run: reported with the next one, or at the end
                self._tell()

    def retract(self, pairs: int) -> None:
        """Take back pairs of an earlier run that turned out to be damaged."""
        with self._lock:
            self._before -= pairs
            self._done -= pairs
            self._tell()

    def finish(self) -> None:
        """Report what has not been reported."""
        with self._lock:
            if not self._told:
                self._tell()

    def _tell(self) -> None:
        """Hand a record to the listener."""
        if self._listener is not None:
            self._told_at = time.perf_counter()
            seconds, compiled = self._told_at - self._start, _compiling_seconds() - self._compiled
            short = self.tally.count(self._short)
            done = self._done
            if self._glimpsed:
                done = min(done + sum(self._under_way.values()), self._total)
            self._listener(Progress(done, self._total, seconds, short, self._before, compiled))
        self._told = True


@contextmanager
def counting(
    progress: Any, total: int, short: tuple[int, ...], before: int = 0
) -> Iterator[Counter]:
    """A counter for the ``progress`` option: a display (True), nothing (False) or a callable."""
    progress = option(progress)
    if progress is True:
        shown: Any = _display()
    elif progress is False:
        shown = nullcontext()
    else:
        shown = nullcontext(progress)
    with shown as listener:
        counter = Counter(total, short, before, listener)
        yield counter
        counter.finish()


def _compiling_seconds() -> float:
    """What this process has spent compiling; nothing if it has not loaded the compiler."""
    module = sys.modules.get("sinkdist.kernels.compiling")
    return 0.0 if module is None else float(module.compiling.seconds)


def _display() -> Display:
    """The progress bar; plain lines where Rich, which draws it, is not installed."""
    try:
        from sinkdist.scale.bar import Bar  # Rich is imported only for those who look
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] != "rich":
            raise
        return Lines()
    return Bar()
