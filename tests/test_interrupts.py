"""Work beside the main thread: its results, its exceptions, and how it is told to stop."""

import threading

import pytest

from sinkdist.interrupts import Abandoned, Stop, beside_main, is_main_thread, run_beside
from tests.waiting import LONG, until


def test_results_come_from_another_thread():
    assert beside_main(lambda: (is_main_thread(), 42), Stop()) == (False, 42)
    assert is_main_thread()


def test_off_the_main_thread_work_stays_where_it_is():
    seen = []

    def call():
        seen.append(beside_main(threading.get_ident, Stop()) == threading.get_ident())

    thread = threading.Thread(target=call)
    thread.start()
    thread.join(LONG)
    assert seen == [True]


def test_exceptions_arrive_as_they_were_raised():
    mine = KeyError("mine")

    def work():
        raise mine

    with pytest.raises(KeyError) as caught:
        beside_main(work, Stop())
    assert caught.value is mine


def test_all_works_run_at_the_same_time():
    barrier = threading.Barrier(3, timeout=LONG)
    run_beside([barrier.wait] * 3, Stop())
    run_beside([], Stop())


def test_the_first_exception_stops_the_others():
    stop, ended = Stop(), []

    def fails():
        raise ValueError("first")

    def waits():
        until(stop.is_set)
        ended.append(True)
        stop.check()

    with pytest.raises(ValueError, match="first"):
        run_beside([fails, waits, waits], stop)
    assert ended == [True, True]


def test_a_stop_is_seen_by_python_and_by_compiled_loops():
    stop = Stop()
    stop.check()
    assert stop.flag[0] == 0 and not stop.is_set()
    stop.set()
    assert stop.flag[0] == 1 and stop.is_set()
    with pytest.raises(Abandoned):
        stop.check()
    late = Stop()
    late.set()
    assert late.flag[0] == 1 and late.flag is late.flag  # made when it was asked for


def test_an_interrupted_wait_stops_the_work_and_goes_on(monkeypatch):
    """As Ctrl-C does: the wait of the main thread ends with an exception."""
    stop, ended, waits = Stop(), threading.Event(), []
    wait = threading.Event.wait

    def interrupted(self, timeout=None):
        if is_main_thread() and not waits:
            waits.append(timeout)
            raise KeyboardInterrupt
        return wait(self, timeout)

    def work():
        until(stop.is_set)
        ended.set()

    monkeypatch.setattr(threading.Event, "wait", interrupted)
    begun = threading.Thread.start

    def start(self):
        """Without waiting for the thread, which would be the wait that is interrupted."""
        waits.append("start")
        begun(self)
        waits.clear()

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt):
        run_beside([work], stop)
    assert stop.is_set() and ended.wait(LONG)
