"""Atomic operations, alone and between threads."""

import threading

import numpy as np
import pytest

from sinkdist.kernels.atomics import CAN_YIELD, fetch_add, load, replace, store, yield_core
from sinkdist.kernels.compiled import INTERPRETED, compiled


@compiled
def each_once(x, out):
    out[0] = fetch_add(x, 1, 5)
    out[1] = load(x, 1)
    store(x, 2, 9)
    out[2] = replace(x, 2, 8, 1)
    out[3] = replace(x, 2, 9, 4)


@compiled
def count_up(x, times):
    for _ in range(times):
        fetch_add(x, 0, 1)


@compiled
def take_turns(x, mine, theirs, turns):
    for _ in range(turns):
        while load(x, 0) != mine:
            yield_core()
        x[1] += 1  # guarded by the turn
        store(x, 0, theirs)


def test_what_each_does():
    x, out = np.array([1, 2, 3]), np.zeros(4, np.int64)
    each_once(x, out)
    assert out.tolist() == [2, 7, 0, 1] and x.tolist() == [1, 7, 4]


@pytest.mark.skipif(INTERPRETED, reason="interpreted, nothing is atomic")
def test_no_addition_is_lost():
    x, times = np.zeros(1, np.int64), 200_000
    count_up(x, 1)
    threads = [threading.Thread(target=count_up, args=(x, times)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert x[0] == 4 * times + 1


@pytest.mark.skipif(not CAN_YIELD, reason="threads cannot wait for one another here")
def test_what_was_written_before_is_seen_after():
    x, turns = np.zeros(2, np.int64), 2000
    take_turns(x, 0, 0, 1)
    other = threading.Thread(target=take_turns, args=(x, 1, 0, turns))
    other.start()
    take_turns(x, 0, 1, turns)
    other.join()
    assert x.tolist() == [0, 2 * turns + 1]
