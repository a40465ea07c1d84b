"""The stopwatch: contestants of one cell take turns, and each keeps the best of its turns.

Turns are taken in rotation so that a slow minute of the machine hurts everyone alike. A quick
call is repeated within a turn until the turn is long enough to be measured; a slow one gets fewer
turns, but never none. What a call needs afresh each time (``fresh``) is made before the clock
starts.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

CORES = os.cpu_count() or 1
# OpenMP and BLAS threads spin for a while after their work: let them sleep before the next turn.
# Some spin for a fifth of a second, which matters to whoever comes next and uses all cores.
SETTLE, SETTLE_WELL = 0.01, 0.3


def nothing() -> None:
    """The ``fresh`` of a call that needs nothing new."""


@dataclass(frozen=True)
class Contestant:
    """A named call, what it needs afresh, and its BLAS threads (None: as it comes)."""

    name: str
    call: Callable[[Any], Any]
    fresh: Callable[[], Any] = nothing
    threads: int | None = None


@dataclass(frozen=True)
class Time:
    """The best time of one call in seconds, how many turns were taken, and the last result."""

    seconds: float
    turns: int
    result: Any


def with_threads(contestant: Contestant) -> tuple[Contestant, ...]:
    """Give a BLAS-bound contestant both chances, one thread and all of them, under one name."""
    counts = sorted({1, CORES})
    return tuple(Contestant(contestant.name, contestant.call, contestant.fresh, n) for n in counts)


def race(
    contestants: Sequence[Contestant],
    turns: int = 5,
    least: float = 0.02,
    budget: float = 10.0,
    settle: float = SETTLE,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, Time]:
    """Time the contestants in rotation; those that share a name share the better time.

    Parameters
    ----------
    contestants
        Who takes part.
    turns
        How many turns each takes at most.
    least
        How long a turn lasts at least; quick calls are repeated to fill it.
    budget
        Seconds after which a contestant takes no further turn.
    settle
        Seconds of rest before a turn.
    clock
        What tells the time. Where everyone computes on one thread, processor time
        (`time.process_time`) is disturbed less by what else the machine does.
    """
    best: list[Time | None] = [None] * len(contestants)
    spent = [0.0] * len(contestants)
    for turn in range(turns):
        for index, contestant in enumerate(contestants):
            if turn and spent[index] > budget:
                continue
            known = best[index]
            count = max(1, round(least / known.seconds)) if known else 1
            start = time.perf_counter()
            taken = _turn(contestant, count, settle, clock)
            spent[index] += time.perf_counter() - start
            seconds = min(taken.seconds, known.seconds) if known else taken.seconds
            best[index] = Time(seconds, turn + 1, taken.result)
    return _merged(contestants, [time_ for time_ in best if time_ is not None])


def _turn(contestant: Contestant, count: int, settle: float, clock: Callable[[], float]) -> Time:
    """Call ``count`` times under the contestant's threads; seconds per call."""
    limits: AbstractContextManager[Any] = nullcontext()
    if contestant.threads is not None:
        limits = threadpool_limits(contestant.threads, user_api="blas")
    with limits:
        needed = [contestant.fresh() for _ in range(count)]
        result = None
        time.sleep(settle)
        collecting = gc.isenabled()
        gc.disable()
        try:
            start = clock()
            for item in needed:
                result = contestant.call(item)
            seconds = (clock() - start) / count
        finally:
            if collecting:
                gc.enable()
    return Time(seconds, 1, result)


def _merged(contestants: Sequence[Contestant], times: Sequence[Time]) -> dict[str, Time]:
    """One time per name, the better where several share it."""
    merged: dict[str, Time] = {}
    for contestant, taken in zip(contestants, times, strict=True):
        known = merged.get(contestant.name)
        if known is None or taken.seconds < known.seconds:
            merged[contestant.name] = taken
    return merged
