"""Tiles and row batches: every pair once, whatever the sizes."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sinkdist.scale.tiles import Tiling, row_batches, support_order
from tests.problems import sparse_histograms

sides = st.integers(1, 9)


@given(st.integers(0, 20), st.integers(0, 20), sides)
def test_every_entry_of_a_matrix_lies_in_one_tile(n, m, side):
    tiling, covered = Tiling((n, m), side, upper=False), np.zeros((n, m), int)
    for tile in tiling:
        covered[tile.rows, tile.columns] += 1
        assert covered[tile.rows, tile.columns].shape == tile.shape
        assert max(tile.shape) <= side and tiling.tile(*tile.place) == tile
    assert (covered == 1).all()
    assert len(list(tiling)) == len(tiling)
    assert sum(map(tiling.pairs, tiling)) == tiling.total_pairs == n * m


@given(st.integers(0, 20), sides)
def test_a_symmetric_matrix_is_covered_once_up_to_reflection(n, side):
    tiling, covered = Tiling((n, n), side, upper=True), np.zeros((n, n), int)
    for tile in tiling:
        covered[tile.rows, tile.columns] += 1
        assert tile.is_diagonal == (tile.rows == tile.columns)
    upper = np.triu(np.ones((n, n), bool))
    assert (covered[upper] == 1).all()
    assert len(list(tiling)) == len(tiling)
    assert sum(map(tiling.pairs, tiling)) == tiling.total_pairs == n * (n + 1) // 2


@given(st.integers(1, 15), sides, st.booleans(), st.integers(0, 10**6))
def test_row_batches_hold_every_pair_once(n, size, upper, seed):
    order = np.random.default_rng(seed).permutation(n)
    pairs = Counter()
    for batch in row_batches(range(n), order, size, upper=upper):
        assert 1 <= batch.j.size <= size
        pairs.update((batch.i, j) for j in batch.j.tolist())
    wanted = {(i, j) for i in range(n) for j in range(i if upper else 0, n)}
    assert set(pairs) == wanted and set(pairs.values()) == {1}


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("n", [1, 2, 70, 300])
def test_an_order_of_supports_is_an_order(n, sparse):
    X = sparse_histograms(n, 20, 3)
    order = support_order(csr_array(X) if sparse else X)
    assert sorted(order.tolist()) == list(range(n))
    np.testing.assert_array_equal(order, support_order(csr_array(X)))  # always the same


def test_rows_of_full_support_keep_their_order():
    np.testing.assert_array_equal(support_order(np.full((200, 4), 0.25)), np.arange(200))


def test_neighbours_share_their_bins():
    """Two kinds of rows, shuffled: all batches of 64 but one are of one kind."""
    kinds = np.random.default_rng(0).integers(0, 2, 512)
    X = np.zeros((512, 8))
    X[kinds == 0, :4], X[kinds == 1, 4:] = 0.25, 0.25
    pieces = np.split(kinds[support_order(X)], 8)
    assert sum(len(set(piece.tolist())) > 1 for piece in pieces) <= 1
