"""Threads that stay for many short pieces of work: starting some for each takes as long as it.

Apart from `threads`, which starts threads for long tiles and waits for them on the main one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import TypeVar

__all__ = ["Crew"]

T = TypeVar("T")


class Crew:
    """The calling thread and ``workers - 1`` others, for the time of a ``with`` block.

    The caller is not the main thread (`sinkdist.interrupts`), and holds BLAS to one thread.
    """

    def __init__(self, workers: int) -> None:
        self.size = workers
        self._others = ThreadPoolExecutor(workers - 1, "sinkdist") if workers > 1 else None

    def __enter__(self) -> Crew:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:  # fmt: skip
        if self._others is not None:
            self._others.shutdown(wait=error is None)

    def run(self, work: Callable[[T], object], pieces: Sequence[T]) -> None:
        """Call ``work`` on every piece, in equal shares; all have ended when it returns or raises.

        Examples
        --------
        >>> found = []
        >>> with Crew(2) as crew:
        ...     crew.run(found.append, [1, 2, 3])
        >>> sorted(found)
        [1, 2, 3]
        """

        def share(first: int) -> None:
            for piece in pieces[first :: self.size]:
                work(piece)

        if self._others is None:
            share(0)
            return
        others = [self._others.submit(share, k) for k in range(1, min(self.size, len(pieces)))]
        try:
            share(0)
        finally:
            for other in others:
                other.exception()
        for other in others:
            other.result()
