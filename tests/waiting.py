"""Waiting in tests: for a condition and not for a time, with limits that only a hang exceeds."""

import time

#: Seconds after which nothing will come any more, however busy the machine.
LONG = 180.0


def until(condition, seconds=LONG):
    """Return the first true answer of a function."""
    deadline = time.monotonic() + seconds
    while not (answer := condition()):
        assert time.monotonic() < deadline, f"waited {seconds:.0f} seconds in vain"
        time.sleep(0.02)
    return answer


def least(measure, limit, tries=4):
    """The least of several measured times, at most as many as it takes to come below a limit.

    Other work on the machine only ever adds to a time, so one short one proves that the code is
    quick, and a code that is slow is slow every time.
    """
    best = float("inf")
    for _ in range(tries):
        best = min(best, measure())
        if best < limit:
            break
    return best
