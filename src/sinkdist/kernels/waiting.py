"""Waiting for another thread without going to sleep, for gaps that are shorter than a wake-up."""

from __future__ import annotations

from sinkdist.kernels.atomics import load, yield_core
from sinkdist.kernels.compiled import Array, compiled

__all__ = ["wait_for_change"]

_SPINS = 2000  #: looks before others may have the core between two of them


@compiled
def wait_for_change(flags: Array, place: int, seen: int, looks: int, after: int) -> int:
    """The entry at a place once it is not what was seen, or as it is after so many looks.

    ``after`` is how many more looks are taken then: time for who changed it to let go of what both
    of them need.
    """
    now = load(flags, place)
    for k in range(looks):
        if now != seen:
            for _ in range(after):
                now = load(flags, place)
            break
        if k > _SPINS:
            yield_core()
        now = load(flags, place)
    return int(now)
