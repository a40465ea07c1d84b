"""The stopwatch: contestants take turns, and each keeps the best of its turns.

Turns are taken in rotation, so that a slow moment of the machine hurts everyone alike. A quick call
is repeated until its turn is long enough to be timed; a slow one gets fewer turns, but never none.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Call", "Patience", "race"]

LEAST = 0.01  # seconds that a turn lasts at least


def _nothing() -> None:
    """What a call needs beforehand that needs nothing."""


@dataclass(frozen=True, slots=True)
class Call:
    """What is timed.

    Attributes
    ----------
    run : function
        Called without arguments.
    before : function
        Called before each run, while the clock stands still.
    distances : int
        How many distances a run computes; times are per distance.
    """

    run: Callable[[], Any]
    before: Callable[[], Any] = _nothing
    distances: int = 1


def race(calls: Mapping[str, Call], turns: int, budget: float) -> dict[str, float]:
    """Seconds per distance of each call.

    Parameters
    ----------
    calls : mapping
        Who takes part, by name.
    turns : int
        How many turns each has at most.
    budget : float
        Seconds after which a contestant has no further turn.

    Examples
    --------
    >>> seconds = race({"sleep": Call(lambda: time.sleep(0.02), distances=2)}, turns=1, budget=1)
    >>> 0.01 <= seconds["sleep"] < 1
    True
    """
    best: dict[str, float] = {}
    spent = dict.fromkeys(calls, 0.0)
    for _ in range(turns):
        for name, call in calls.items():
            if name in best and spent[name] > budget:
                continue
            once = best.get(name, LEAST)
            count = max(1, round(LEAST / once))
            taken = min(_timed(call) for _ in range(count))
            spent[name] += count * taken
            best[name] = min(taken, best.get(name, taken))
    return {name: seconds / calls[name].distances for name, seconds in best.items()}


def _timed(call: Call) -> float:
    """Seconds of one run."""
    call.before()
    collecting = gc.isenabled()
    gc.disable()
    try:
        start = time.perf_counter()
        call.run()
        return time.perf_counter() - start
    finally:
        if collecting:
            gc.enable()


@dataclass
class Patience:
    """Who is too slow to be run: whoever took longer than the limit at a smaller dimension.

    What has been timed in this process is remembered. After an interruption the smaller dimensions
    may be in the file already and not be timed again; then one run tells.

    Attributes
    ----------
    limit : float
        Seconds.
    dimensions : tuple of int
        Those that are measured, rising.
    probe : function
        From a name and a dimension to the seconds of one run.
    """

    limit: float
    dimensions: tuple[int, ...]
    probe: Callable[[str, int], float]
    _seen: dict[tuple[str, int], float] = field(default_factory=dict)

    def note(self, name: str, d: int, seconds: float) -> None:
        """Remember a time."""
        self._seen[name, d] = seconds

    def allows(self, name: str, d: int) -> bool:
        """Whether to run a contestant at this dimension."""
        smaller = [size for size in self.dimensions if size < d]
        if not smaller:
            return True
        if not self.allows(name, smaller[-1]):
            return False
        if (name, smaller[-1]) not in self._seen:
            self.note(name, smaller[-1], self.probe(name, smaller[-1]))
        return self._seen[name, smaller[-1]] <= self.limit
