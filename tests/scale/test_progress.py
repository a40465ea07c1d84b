"""The counter: what listeners are told, in which order, and what is taken back."""

import threading

import pytest

from sinkdist.errors import InputTypeError
from sinkdist.scale.progress import Counter, Progress, counting
from sinkdist.scale.tally import Tally

SHORT = (1, 2)


def tally(count, status=0):
    return Tally({status: count}, {status: 0.5})


def test_records_add_up():
    records = []
    counter = Counter(10, SHORT, 4, records.append)
    counter.add(3, tally(3))
    counter.add(2, tally(2, status=1))
    counter.finish()
    told = [(record.done, record.total, record.unconverged, record.before) for record in records]
    assert told == [(7, 10, 0, 4), (9, 10, 2, 4)]
    assert records[0].seconds <= records[1].seconds
    assert counter.tally.counts == {0: 3, 1: 2}


def test_tiles_of_an_earlier_run_are_told_at_the_end():
    records = []
    counter = Counter(10, SHORT, 10, records.append)
    counter.add(0, tally(10, status=1))
    assert records == []
    counter.finish()
    counter.finish()
    assert [(record.done, record.unconverged) for record in records] == [(10, 10)]


def test_what_was_damaged_is_taken_back():
    records = []
    counter = Counter(10, SHORT, 6, records.append)
    counter.retract(2)
    assert (records[0].done, records[0].before) == (4, 4)


def test_speed_is_that_of_this_run():
    assert Progress(30, 100, 2.0, 0, before=10).pairs_per_second == 10.0
    assert Progress(10, 100, 0.0, 0, before=10).pairs_per_second == 0.0


def test_counting_from_many_threads_loses_nothing():
    seen = []
    counter = Counter(800, SHORT, 0, lambda record: seen.append(record.done))
    crew = [
        threading.Thread(target=lambda: [counter.add(1, tally(1)) for _ in range(100)])
        for _ in range(8)
    ]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()
    assert seen == list(range(1, 801)) and counter.tally.counts == {0: 800}


def test_the_progress_option():
    records = []
    with counting(records.append, 2, SHORT) as counter:
        counter.add(2, tally(2))
    assert records[-1].done == 2
    with counting(False, 2, SHORT) as counter:
        counter.add(2, tally(2))
    with pytest.raises(InputTypeError), counting("yes", 2, SHORT):
        pass
