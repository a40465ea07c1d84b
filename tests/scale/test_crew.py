"""Threads that stay: every piece once, in equal shares, and errors come out."""

import threading

import pytest

from sinkdist.scale.crew import Crew


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("pieces", [0, 1, 2, 7])
def test_every_piece_once_and_again(workers, pieces):
    with Crew(workers) as crew:
        for _ in range(3):
            found = []
            crew.run(found.append, range(pieces))
            assert sorted(found) == list(range(pieces))


def test_the_same_threads_work_on_and_the_caller_is_one_of_them():
    met = threading.Barrier(2)

    def work(_):
        met.wait(timeout=60)
        names.add(threading.get_ident())

    with Crew(2) as crew:
        names = set()
        for _ in range(5):
            crew.run(work, [0, 1])
    assert len(names) == 2 and threading.get_ident() in names


@pytest.mark.parametrize("bad", [0, 1, 3])
def test_errors_come_out_when_all_have_ended(bad):
    ended = []

    def work(piece):
        if piece == bad:
            raise ValueError(f"piece {piece}")
        ended.append(piece)

    with Crew(2) as crew:
        with pytest.raises(ValueError, match=f"piece {bad}"):
            crew.run(work, range(4))
        seen = len(ended)
        crew.run(ended.append, [9])  # of use after it
    assert len(ended) == seen + 1
