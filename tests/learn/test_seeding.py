"""First centres: distances decide, and equal rows do not break it."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sinkdist.learn.seeding import draw_centers

x = np.array([0.0, 0.0, 0.0, 100.0, 100.0, 200.0])
D = np.abs(x[:, None] - x)


def test_far_rows_are_drawn():
    for seed in range(20):
        chosen, found = draw_centers(6, 3, lambda k: D[:, k].copy(), np.random.RandomState(seed))
        assert {int(x[k] // 100) for k in chosen} == {0, 1, 2}
        np.testing.assert_array_equal(found, D[:, chosen])


def test_equal_rows_are_drawn_once_each():
    chosen, _ = draw_centers(4, 4, lambda k: np.zeros(4), np.random.RandomState(0))
    assert sorted(chosen) == [0, 1, 2, 3]


def test_a_row_is_at_its_own_distance_0_whatever_entropy_says():
    chosen, found = draw_centers(3, 3, lambda k: np.full(3, 0.5), np.random.RandomState(1))
    assert sorted(chosen) == [0, 1, 2]
    assert (found[chosen, range(3)] == 0).all()
