"""Planning: tiles of some seconds' work that fit the budget."""

import dataclasses

import numpy as np
import pytest

from sinkdist.errors import InputError
from sinkdist.scale import job as jobs
from sinkdist.scale import memory
from sinkdist.scale.job import Job, TileResult
from sinkdist.scale.tiles import Tiling


def job(shape=(1000, 1000), seconds=1e-4, upper=True, worker=2**20):
    return Job(shape, np.dtype(float), upper, None, {}, {}, (1,), seconds, worker, 2**20)


@pytest.mark.parametrize("seconds", [1e-7, 1e-5, 1e-3, 1.0])
@pytest.mark.parametrize("n", [10, 300, 5000])
def test_tiles_are_powers_of_two_that_take_some_seconds(n, seconds):
    tiling = jobs.plan(job((n, n), seconds), None, 2)
    side = tiling.side
    assert side & (side - 1) == 0 and side >= 16
    assert side == 16 or side * side * seconds <= 5.0 or len(tiling) > 2500


def test_a_long_matrix_has_no_more_tiles_than_files_are_good_for():
    assert len(jobs.plan(job((10**6, 10**6), 1.0), None, 2)) <= 4 * 10_000


def test_a_small_budget_makes_smaller_tiles_and_a_smaller_one_is_refused():
    large = jobs.plan(job(), None, 4)
    budget = memory.held() + jobs.bytes_needed(job(), large.side, 4) // 2
    small = jobs.plan(job(), budget, 4)
    assert 16 <= small.side < large.side
    tiny = memory.held() + 1000
    with pytest.raises(
        InputError, match=r"The memory budget of .* is too small: .* 4 workers on tiles"
    ):
        jobs.check_budget(job(), jobs.plan(job(), tiny, 4), tiny, 4)
    jobs.check_budget(job(), large, None, 4)


def test_needs_grow_with_workers_and_tiles():
    needs = [
        jobs.bytes_needed(job(), side, workers) for side, workers in ((16, 1), (16, 2), (64, 2))
    ]
    assert needs == sorted(needs) and len(set(needs)) == 3


def test_what_all_workers_share_is_needed_once():
    lean, rich = job(), dataclasses.replace(job(), bytes_shared=2**20 + 1000)
    for workers in (1, 4):
        assert jobs.bytes_needed(rich, 16, workers) - jobs.bytes_needed(lean, 16, workers) == 1000


def test_a_matrix_in_memory_that_does_not_fit():
    jobs.check_matrix((10, 10), np.dtype(float), None)
    with pytest.raises(
        InputError, match=r"1,000 x 1,000,000 in float64 takes 8 GB.*Pass out='D.zarr'"
    ):
        jobs.check_matrix((1000, 10**6), np.dtype(float), memory.held() + 10**9)


def test_pairs_of_a_tile_on_the_diagonal_are_counted_once():
    tiling = Tiling((5, 5), 3, upper=True)
    for tile, pairs in ((tiling.tile(0, 0), 6), (tiling.tile(0, 1), 6), (tiling.tile(1, 1), 3)):
        block = TileResult(*(np.zeros(tile.shape) for _ in range(3)))
        assert jobs.tally(job((5, 5)), tile, block).counts == {0: pairs}
        assert jobs.tally(job((5, 5), upper=False), tile, block).counts == {0: np.prod(tile.shape)}
