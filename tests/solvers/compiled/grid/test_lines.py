"""Lines on threads: every line once, failures told, no thread left, nothing for small grids."""

import threading
import time

import numpy as np
import pytest

from sinkdist.ground.grid_plan import in_turn
from sinkdist.solvers.compiled.grid.lines import on_threads

LARGE = 1 << 18


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("lines", [1, 31, 32, 100, 1000])
def test_every_line_is_worked_on_once(workers, lines):
    done = np.zeros(lines, int)
    with on_threads(workers, LARGE) as run:
        for _ in range(50):
            run(lines, lambda a, b: done.__setitem__(slice(a, b), done[a:b] + 1))
    assert (done == 50).all()


def test_threads_share_the_lines():
    seen = set()

    def work(first, last):
        seen.add(threading.get_ident())
        time.sleep(0.01)

    with on_threads(2, LARGE) as run:
        run(400, work)
    assert len(seen) == 2


@pytest.mark.parametrize("where", ["everywhere", "elsewhere"])
def test_a_failure_is_told_to_the_caller(where):
    own = threading.get_ident()

    def work(first, last):
        time.sleep(0.005)
        if where == "everywhere" or threading.get_ident() != own:
            raise ValueError("of a line")

    with on_threads(2, LARGE) as run:
        with pytest.raises(ValueError, match="of a line"):
            run(400, work)
        run(400, lambda a, b: None)  # and all goes on


def test_threads_end_with_the_block():
    import _thread

    before = _thread._count()
    with on_threads(3, LARGE) as run:
        run(400, lambda a, b: time.sleep(0.001))
    end = time.monotonic() + 30.0
    while _thread._count() > before and time.monotonic() < end:
        time.sleep(0.01)
    assert _thread._count() <= before


def test_small_grids_need_no_threads():
    with on_threads(4, 1000) as run:
        assert run is in_turn
