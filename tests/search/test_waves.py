"""Tiles and waves: every query once, nothing known before it was solved."""

from itertools import pairwise

import numpy as np
import pytest

from sinkdist.search.waves import KnownPairs, SharedSolves, Waves


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 129, 5000, 60_000, 300_000])
def test_every_query_is_in_one_tile(n):
    waves = list(Waves.of_family(n))
    rows = [tile.rows for wave in waves for tile in wave]
    assert sum(x.stop - x.start for x in rows) == n
    assert all(a.stop == b.start for a, b in pairwise(rows))
    places = [tile.place for wave in waves for tile in wave]
    assert places == [(k, 0) for k in range(len(rows))]
    assert len(waves) <= max(16, -(-n // 128)) and len(rows) <= max(1024, n / 128 + 1)


def test_tiles_of_queries_keep_all_workers_busy():
    (wave,) = Waves.of_queries(10, 1000, 4)
    assert [tile.rows.stop - tile.rows.start for tile in wave] == [3, 3, 3, 1]
    (wave,) = Waves.of_queries(10, 1000, None)
    assert len(wave) == 1 and wave[0].columns == slice(0, 1000)


def test_later_rows_know_what_earlier_ones_solved():
    shared = SharedSolves(6, 2)
    query = np.zeros(0, int)
    shared.put(
        0, KnownPairs(query, np.array([4, 2, 5]), np.array([1.0, 2, 3]), np.array([1.5, 2, 3]))
    )
    shared.put(1, KnownPairs(query, np.array([4]), np.array([0.5]), np.array([0.5])))
    shared.put(4, KnownPairs(query, np.array([5]), np.array([9.0]), np.array([9.0])))
    known = shared.known_to(2, 6)
    assert known.query.tolist() == [2, 4, 4] and known.other.tolist() == [0, 0, 1]
    assert known.value.tolist() == [2.0, 1.0, 0.5] and known.upper.tolist() == [2.0, 1.5, 0.5]
    assert known.between(4, 5).other.tolist() == [0, 1]
    assert known.between(3, 4).other.size == 0
    assert shared.known_to(5, 6).other.tolist() == [4]  # the third of row 0 was not kept
