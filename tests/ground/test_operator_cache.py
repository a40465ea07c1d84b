"""Operators kept by a ground: made once, a few of them, from many threads."""

import threading

import pytest

from sinkdist.ground.operator_cache import OperatorCache


def test_each_is_made_once():
    cache, made = OperatorCache(8), []
    for key in ("a", "b", "a"):
        assert cache.get(key, lambda key=key: made.append(key) or key.upper()) == key.upper()
    assert made == ["a", "b"] and cache.operators() == ["B", "A"]


@pytest.mark.parametrize(("nbytes", "kept"), [(8, 4), (1 << 27, 1)])
def test_those_used_last_are_kept(nbytes, kept):
    cache = OperatorCache(nbytes)
    for key in range(6):
        cache.get(key, lambda key=key: key)
        cache.get(0, lambda: 0)  # used all the time: never the one to go, if two are kept
    made = []
    for key in (0, *range(6 - kept + 1, 6)):
        cache.get(key, lambda key=key: made.append(key))
    assert made == []
    cache.get(1, lambda: made.append(1))
    assert made == [1]


def test_clear():
    cache, made = OperatorCache(8), []
    for _ in range(2):
        cache.get(0, lambda: made.append(0))
        cache.clear()
    assert made == [0, 0]


def test_threads_wait_for_one_that_is_being_made():
    cache, made, inside, go = OperatorCache(8), [], threading.Event(), threading.Event()

    def make():
        inside.set()
        assert go.wait(30)
        made.append(1)
        return "operator"

    found = []
    workers = [threading.Thread(target=lambda: found.append(cache.get(0, make))) for _ in range(3)]
    for worker in workers:
        worker.start()
    assert inside.wait(30)
    go.set()
    for worker in workers:
        worker.join(30)
    assert (found, made) == (["operator"] * 3, [1])
