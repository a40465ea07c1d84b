"""The lines of a grid on threads, for one large pair that nobody else computes beside.

The caller works too, so two threads are one more. A sweep has many parts of less than a millisecond
each, and waking a thread takes a good deal of that; so threads look for work for a while before
they sleep. Who has not begun when all pieces are taken is not waited for. BLAS is held to one
thread meanwhile: its threads spin between calls, on the cores that ours need.
"""

from __future__ import annotations

import _thread
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np

from sinkdist.ground.grid_plan import Run, in_turn
from sinkdist.scale.threads import single_blas_thread

__all__ = ["on_threads"]

_LARGE = 1 << 17  #: bins from which threads pay
_FEWEST = 16  #: lines that are worth a thread
_PIECES = 3  #: per thread, since windows differ from line to line
_LOOKS = 3000  #: of an idle thread before it naps: about two milliseconds
_NAP = 2e-4  #: seconds
#: Looks between the news of work and the first step in Python, whose lock the caller still has.
_POLITE = 3000
_POSTED, _LEFT = 0, 8  #: places of counters, a cache line apart


@contextmanager
def on_threads(workers: int, bins: int) -> Iterator[Run]:
    """How to get through lines: on threads where the grid is large."""
    if bins < _LARGE:
        yield in_turn
        return
    with single_blas_thread():  # so that sums are the same on any number of threads
        if workers == 1:
            yield in_turn
            return
        team = _Team(workers - 1)
        try:
            yield team.run
        finally:
            team.dismiss()


class _Job:
    """Lines to get through, piece by piece."""

    def __init__(self, lines: int, step: int, work: Callable[[int, int], None]) -> None:
        self.lines, self.step, self.work = lines, step, work
        self.starts = count(0, step)  # whoever is free takes the next piece
        self.inside = 0
        self.failures: list[BaseException] = []

    def take(self) -> None:
        """Pieces, until all are taken."""
        while (start := next(self.starts)) < self.lines:
            self.work(start, min(start + self.step, self.lines))


class _Team:
    """The calling thread and some others."""

    def __init__(self, others: int) -> None:
        from sinkdist.kernels.waiting import wait_for_change

        self._wait: Any = wait_for_change
        self._others, self._dismissed = others, False
        self._lock = threading.Lock()
        self._job: _Job | None = None
        self._flags = np.zeros(16, np.int64)
        self._wait(self._flags, _POSTED, 1, 1, 0)  # compiled here, not while others wait
        for _ in range(others):
            # No `threading.Thread`: its start waits until the thread runs, which may take long.
            _thread.start_new_thread(self._help, ())

    def run(self, lines: int, work: Callable[[int, int], None]) -> None:
        """Get through lines."""
        step = max(_FEWEST, -(-lines // (_PIECES * (self._others + 1) * 8)) * 8)
        if lines <= step:
            work(0, lines)
            return
        job = _Job(lines, step, work)
        self._job = job
        self._flags[_POSTED] += 1
        try:
            job.take()
        finally:
            with self._lock:
                self._job = None
            while job.inside:
                self._wait(self._flags, _LEFT, int(self._flags[_LEFT]), _LOOKS, 0)
        if job.failures:
            raise job.failures[0]

    def dismiss(self) -> None:
        """Have the others end, when they next look."""
        self._dismissed = True
        self._flags[_POSTED] += 1

    def _help(self) -> None:
        """The life of another thread."""
        seen = 0
        while not self._dismissed:
            now = self._wait(self._flags, _POSTED, seen, _LOOKS, _POLITE)
            if now == seen:
                time.sleep(_NAP)
                continue
            seen = now
            with self._lock:
                job = self._job
                if job is not None:
                    job.inside += 1
            if job is not None:
                self._assist(job)

    def _assist(self, job: _Job) -> None:
        """Take pieces of a job, and say that it is left."""
        try:
            job.take()
        except BaseException as error:
            job.failures.append(error)
        with self._lock:
            job.inside -= 1
            self._flags[_LEFT] += 1
