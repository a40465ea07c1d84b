"""The lines of a grid on threads, for one large pair that nobody else computes beside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

from sinkdist.ground.grid_plan import Run, in_turn

__all__ = ["on_threads"]

_LARGE = 1 << 17  #: bins from which threads pay
_FEWEST = 32  #: lines that are worth a thread
_PIECES = 4  #: per thread, since windows differ from line to line


@contextmanager
def on_threads(workers: int, bins: int) -> Iterator[Run]:
    """How to get through lines: on threads where the grid is large."""
    if workers == 1 or bins < _LARGE:
        yield in_turn
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="sinkdist") as pool:

        def run(lines: int, work: Callable[[int, int], None]) -> None:
            step = max(_FEWEST, -(-lines // (_PIECES * workers * 8)) * 8)
            pieces = [(start, min(start + step, lines)) for start in range(0, lines, step)]
            for _ in pool.map(lambda piece: work(*piece), pieces):
                pass

        yield run
