"""Memory as a store: bands of rows fill the matrix, both halves of it where it is symmetric."""

import numpy as np
import pytest

from sinkdist.errors import InputError
from sinkdist.interrupts import Stop
from sinkdist.problem.options import Options
from sinkdist.scale.in_memory import InMemory
from sinkdist.scale.job import Job, TileResult, plan
from sinkdist.scale.run import run
from sinkdist.scale.tiles import RowTiling


class Sums:
    """Entries are i + 10 j, or the same from the smaller index where that is symmetric."""

    def __init__(self, upper):
        self.upper, self.stop, self.seen = upper, Stop(), []

    def __call__(self, tile):
        i = np.arange(tile.rows.start, tile.rows.stop)[:, None]
        j = np.arange(tile.columns.start, tile.columns.stop)
        low, high = (np.minimum(i, j), np.maximum(i, j)) if self.upper else (i, j)
        self.seen.append(tile)
        return TileResult(low + 10.0 * high, np.zeros(tile.shape, np.int8), np.zeros(tile.shape))


def job_of(n, m, *, upper, by_rows):
    compute = Sums(upper)
    return Job((n, m), np.dtype(float), upper, compute, {}, {0: "fine"}, (), 1e-6, 0, 0, by_rows)


@pytest.mark.parametrize("by_rows", [0, 1, 8, 512])
@pytest.mark.parametrize(
    ("n", "m", "upper"), [(7, 7, True), (7, 7, False), (5, 3, False), (1, 1, True)]
)
@pytest.mark.parametrize("workers", [1, 3])
def test_every_entry_is_there(n, m, upper, by_rows, workers):
    job = job_of(n, m, upper=upper, by_rows=by_rows)
    values, tally = run(job, Options(), workers)
    i, j = np.indices((n, m))
    low, high = (np.minimum(i, j), np.maximum(i, j)) if upper else (i, j)
    np.testing.assert_array_equal(values, low + 10.0 * high)
    assert tally.counts == {0: n * (n + 1) // 2 if upper else n * m}


def test_bands_share_the_work():
    tiling = InMemory(job_of(40, 40, upper=True, by_rows=512), None,
                      plan(job_of(40, 40, upper=True, by_rows=512), None, 2), 2).tiling  # fmt: skip
    assert isinstance(tiling, RowTiling) and len(list(tiling)) >= 8
    assert sum(map(tiling.pairs, tiling)) == tiling.total_pairs == 820


def test_a_matrix_that_does_not_fit_is_refused():
    job = job_of(10**6, 10**6, upper=False, by_rows=512)
    with pytest.raises(InputError, match="memory budget") as caught:
        run(job, Options(memory="1GB"), 1)
    assert caught.value.option == "out" and not job.compute.seen
