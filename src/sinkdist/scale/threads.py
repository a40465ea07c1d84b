"""Running tiles on threads: ours outside, one BLAS thread inside each.

BLAS threads under our threads would fight for the same cores. The limit is process-wide, so calls
from several threads share it: the first one in sets it, the last one out restores it.
"""

from __future__ import annotations

import numbers
import os
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager
from itertools import islice
from typing import Any, TypeVar

from sinkdist.errors import InputError, InputTypeError

__all__ = ["count", "run", "single_blas_thread"]

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
            f"The 'workers' option must be a whole number. Got {workers!r} instead."
        )
    if workers < 1:
        raise InputError(f"The 'workers' option must be at least 1. Got {workers} instead.")
    return int(workers)


def run(
    tiles: Iterable[T],
    work: Callable[[T], object],
    workers: int,
    stop: threading.Event | None = None,
) -> None:
    """Call ``work`` on every tile, on ``workers`` threads; the first exception stops the rest.

    Tiles are taken from the iterable as threads become free, so a plan may be long and lazy. On
    Ctrl-C, or any other exception, ``stop`` is set for the tiles under way and no other is begun.
    """
    with single_blas_thread():
        if workers == 1:
            for tile in tiles:
                work(tile)
            return
        queue = iter(tiles)
        with ThreadPoolExecutor(workers, thread_name_prefix="sinkdist") as pool:
            running = {pool.submit(work, tile) for tile in islice(queue, 2 * workers)}
            try:
                while running:
                    done, running = wait(running, return_when=FIRST_COMPLETED)
                    for future in done:
                        future.result()
                    running |= {pool.submit(work, tile) for tile in islice(queue, len(done))}
            except BaseException:
                if stop is not None:
                    stop.set()
                for future in running:
                    future.cancel()
                raise


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
