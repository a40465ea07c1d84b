"""Running tiles on threads: ours outside, one BLAS thread inside each.

The main thread only waits, so that Ctrl-C is answered at once.

BLAS threads under our threads would fight for the same cores. The limit is process-wide, so calls
from several threads share it: the first one in sets it, the last one out restores it.
"""

from __future__ import annotations

import numbers
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from sinkdist.errors import InputError, InputTypeError
from sinkdist.interrupts import Stop, is_main_thread, run_beside
from sinkdist.wording import option

__all__ = ["count", "count_for_one", "run", "single_blas_thread"]

T = TypeVar("T")


def count(workers: Any) -> int:
    """Threads for the ``workers`` option: None is one for each core this process may use."""
    if workers is None:
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    if isinstance(workers, bool) or not isinstance(workers, numbers.Integral):
        raise InputTypeError(
            "The {} option must be a whole number. Got {!r} instead.", option("workers"), workers
        )
    if workers < 1:
        raise InputError(
            "The {} option must be at least 1. Got {} instead.", option("workers"), workers
        )
    return int(workers)


def count_for_one(workers: Any) -> int:
    """The same for work on a single pair: None is one thread where pairs run beside one another.

    That is on a thread that is not the main one, as in thread pools and Dask tasks, and in a
    process that another one has started, as joblib does.
    """
    if workers is not None:
        return count(workers)
    children = sys.modules.get("multiprocessing.process")
    beside = children is not None and children.parent_process() is not None
    return 1 if beside or not is_main_thread() else count(None)


def run(
    tiles: Iterable[T], work: Callable[[T], object], workers: int, stop: Stop | None = None
) -> None:
    """Call ``work`` on every tile, on ``workers`` threads; the first exception stops the rest.

    Tiles are taken from the iterable as threads become free, so a plan may be long and lazy. On
    Ctrl-C, or any other exception, ``stop`` is set for the tiles under way and no other is begun.
    """
    queue, taking, ended = iter(tiles), threading.Lock(), Stop() if stop is None else stop

    def work_through(first: list[T]) -> None:
        while first and not ended.is_set():
            work(first[0])
            with taking:
                first = list(islice(queue, 1))

    with single_blas_thread():
        if workers == 1 and not is_main_thread():
            for tile in queue:
                work(tile)
        else:
            run_beside([partial(work_through, [tile]) for tile in islice(queue, workers)], ended)


class _Limit:
    """The process-wide BLAS limit and how many callers hold it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.holders = 0
        self.controller: Any = None
        self.modules = 0  # imported when the controller looked for libraries
        self.limiter: Any = None


_LIMIT = _Limit()


@contextmanager
def single_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread while any caller is inside."""
    with _LIMIT.lock:
        _LIMIT.holders += 1
        if _LIMIT.holders == 1:
            if _LIMIT.modules != len(sys.modules):  # an import may have brought another BLAS
                from threadpoolctl import ThreadpoolController

                _LIMIT.controller = ThreadpoolController()
                _LIMIT.modules = len(sys.modules)
            _LIMIT.limiter = _LIMIT.controller.limit(limits=1, user_api="blas")
    try:
        yield
    finally:
        with _LIMIT.lock:
            _LIMIT.holders -= 1
            if _LIMIT.holders == 0:
                _LIMIT.limiter.restore_original_limits()
