"""Threads over tiles: each tile once, exceptions at once, and BLAS as it was."""

import threading

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from sinkdist.errors import InputError, InputTypeError
from sinkdist.interrupts import Stop
from sinkdist.scale import threads
from tests.waiting import LONG


@pytest.mark.parametrize("workers", [1, 2, 5])
@pytest.mark.parametrize("main", [True, False])
def test_every_tile_is_worked_on_once(workers, main):
    done, lock = [], threading.Lock()

    def work(tile):
        with lock:
            done.append(tile)

    call = threading.Thread(target=threads.run, args=(range(50), work, workers))
    if main:
        threads.run(iter(range(50)), work, workers)
    else:
        call.start()
        call.join(LONG)
    assert sorted(done) == list(range(50))


def test_so_many_tiles_are_worked_on_at_a_time():
    """Three workers meet at a barrier that two could not pass."""
    barrier = threading.Barrier(3, timeout=LONG)
    threads.run(range(6), lambda tile: barrier.wait(), 3)


def test_tiles_are_taken_as_they_are_needed():
    taken, most = [], 0

    def tiles():
        for k in range(20):
            taken.append(k)
            yield k

    done = []

    def work(tile):
        nonlocal most
        most = max(most, len(taken) - len(done))
        done.append(tile)

    threads.run(tiles(), work, 1)
    assert most <= 2 and len(done) == 20


def test_the_first_exception_stops_the_rest():
    begun, stop = [], Stop()

    def work(tile):
        begun.append(tile)
        if tile == 3:
            raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        threads.run(range(1000), work, 1, stop)
    assert stop.is_set() and begun == [0, 1, 2, 3]


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blas_has_one_thread_inside_and_its_own_afterwards():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        seen = []
        threads.run(range(2), lambda tile: seen.append(blas_threads()), 2)
        assert seen == [{1}, {1}] and blas_threads() == before == {2}
        with threads.single_blas_thread():
            with threads.single_blas_thread():
                pass
            assert blas_threads() == {1}  # somebody is still inside
        assert blas_threads() == before


@pytest.mark.parametrize("workers", [1, 7])
def test_workers_are_counted(workers):
    assert threads.count(workers) == workers
    assert threads.count(None) >= 1


@pytest.mark.parametrize("workers", [0, -1])
def test_too_few_workers(workers):
    with pytest.raises(InputError, match="must be at least 1"):
        threads.count(workers)


@pytest.mark.parametrize("workers", [True, 1.0, "2"])
def test_what_is_no_number_of_workers(workers):
    with pytest.raises(InputTypeError, match="must be a whole number"):
        threads.count(workers)
