"""Answering Ctrl-C: long work runs beside the main thread, the only one that hears of signals.

Python handles a signal between two of its own instructions, never inside a compiled loop. So the
main thread waits, and threads of its own compute. When the wait is interrupted, a `Stop` is set,
which loops look at, and the exception goes on after a short grace. Work inside a library that
looks at nothing is left to end by itself: nobody reads what it writes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

__all__ = ["Abandoned", "Stop", "beside_main", "is_main_thread", "run_beside"]

T = TypeVar("T")

GRACE = 0.5  #: seconds that threads have to end by themselves
LOOK = 0.3  #: seconds after which the main thread looks for signals again

_MAKING = threading.Lock()  #: held while the flag of a `Stop` is made


class Abandoned(Exception):
    """Raised inside work that nobody waits for any more; never seen by callers."""


class Stop:
    """Set when nobody waits for the work any more; loops look at it, and nobody waits for it.

    No `threading.Event`, which takes a lock and a condition to make: every pair has a `Stop`.
    """

    __slots__ = ("_flag", "_is_set")

    def __init__(self) -> None:
        self._is_set = False
        self._flag: npt.NDArray[np.int64] | None = None

    @property
    def flag(self) -> npt.NDArray[np.int64]:
        """The same for compiled loops: 1 where it is set."""
        if self._flag is None:
            import numpy as np  # not with `import sinkdist`, which needs this module and no more

            with _MAKING:  # one flag, whoever asks first
                if self._flag is None:
                    self._flag = np.zeros(1, np.int64)
            if self._is_set:  # in the meantime
                self._flag[0] = 1
        return self._flag

    def is_set(self) -> bool:
        """Whether loops are asked to end."""
        return self._is_set

    def set(self) -> None:
        """Ask all loops that look at it to end."""
        self._is_set = True  # first: who makes the flag after this finds it
        if self._flag is not None:
            self._flag[0] = 1

    def check(self) -> None:
        """Raise if it is set."""
        if self._is_set:
            raise Abandoned


def is_main_thread() -> bool:
    """Whether the caller is the thread that hears of signals."""
    return threading.current_thread() is threading.main_thread()


def beside_main(work: Callable[[], T], stop: Stop) -> T:
    """The result of ``work``, on a thread of its own where the caller is the main one."""
    if not is_main_thread():
        return work()
    results: list[T] = []
    run_beside([lambda: results.append(work())], stop)
    return results[0]


def run_beside(works: Sequence[Callable[[], object]], stop: Stop) -> None:
    """Call each function on a thread of its own, and wait; the first exception stops the others."""
    left, lock, ended = len(works), threading.Lock(), threading.Event()
    failures: list[BaseException] = []

    def run(work: Callable[[], object]) -> None:
        nonlocal left
        try:
            work()
        except Abandoned:
            pass
        except BaseException as error:
            failures.append(error)
            stop.set()
        finally:
            with lock:
                left -= 1
                if left == 0:
                    ended.set()

    try:
        for work in works:
            threading.Thread(target=run, args=(work,), name="sinkdist", daemon=True).start()
        if works:
            # With a limit: a signal that arrives just before the wait would not end it.
            while not ended.wait(LOOK):
                pass
    except BaseException:
        stop.set()
        ended.wait(GRACE)
        raise
    if failures:
        raise failures[0]
