"""Interleaved timing: contestants take turns, and the best turn of each counts.

Turns are interleaved so that a slow moment of the machine affects all contestants. A fast call is
repeated within its turn until it is long enough to be timed; a slow one gets fewer turns, at least
one.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = ["Call", "Patience", "race"]

LEAST = 0.01  # the shortest turn, in seconds


def _nothing() -> None:
    """The default of `Call.before`."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function to time.

    Attributes
    ----------
    run : function
        Called without arguments.
    before : function
        Called before each run; not timed.
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
        The functions to time, by name.
    turns : int
        The largest number of turns of each.
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
    """Decides which solvers are too slow: those above the limit at a smaller dimension.

    Times of this process are remembered. After an interruption, smaller dimensions may be in the
    file already and are not timed again; then one run is timed to decide.

    Attributes
    ----------
    limit : float
        Seconds.
    dimensions : tuple of int
        The dimensions that are measured, in increasing order.
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
