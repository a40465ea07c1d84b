"""The lines of a grid on threads, for one large pair that nobody else computes beside.

The caller works too, so two threads are one more. BLAS is held to one thread meanwhile: its threads
spin between calls, on the cores that ours need.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import count

from sinkdist.ground.grid_plan import Run, in_turn
from sinkdist.scale.threads import single_blas_thread

__all__ = ["on_threads"]

_LARGE = 1 << 17  #: bins from which threads pay
_FEWEST = 32  #: lines that are worth a thread
_PIECES = 4  #: per thread, since windows differ from line to line


@contextmanager
def on_threads(workers: int, bins: int) -> Iterator[Run]:
    """How to get through lines: on threads where the grid is large."""
    if bins < _LARGE:
        yield in_turn
        return
    if workers == 1:
        with single_blas_thread():  # so that sums are the same on any number of threads
            yield in_turn
        return
    with single_blas_thread(), ThreadPoolExecutor(workers - 1, "sinkdist") as pool:

        def run(lines: int, work: Callable[[int, int], None]) -> None:
            step = max(_FEWEST, -(-lines // (_PIECES * workers * 8)) * 8)
            if lines <= step:
                work(0, lines)
                return
            starts = count(0, step)  # whoever is free takes the next piece

            def take() -> None:
                while (start := next(starts)) < lines:
                    work(start, min(start + step, lines))

            others = [pool.submit(take) for _ in range(workers - 1)]
            try:
                take()
            finally:
                for other in others:
                    other.result()

        yield run
