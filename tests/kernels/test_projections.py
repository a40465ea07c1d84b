"""Projected histograms against cumulative sums, and their distances against plain loops."""

import numpy as np
import pytest

from sinkdist.kernels.projections import cumulate, projected

RNG = np.random.default_rng(1)


@pytest.mark.nojit
def test_cumulative_masses():
    rows = RNG.dirichlet(np.ones(4), 3)
    places = np.array([[0, 0, 1, 1], [2, 1, 1, 0]])
    out = np.zeros((3, 8), np.float32)
    cumulate(rows, places, np.array([0, 4]), np.array([1, 2]), np.empty(3), out)
    wanted = np.zeros((3, 8))
    wanted[:, 0] = rows[:, :2].sum(axis=1)
    wanted[:, 4], wanted[:, 5] = rows[:, 3], rows[:, 1:].sum(axis=1)
    np.testing.assert_allclose(out, wanted, atol=1e-7)


@pytest.mark.nojit
def test_the_largest_weighted_sum():
    blocks = RNG.random((2, 12, 5)).astype(np.float32)
    Q, W = RNG.random((3, 12)).astype(np.float32), RNG.random((6, 4)).astype(np.float32)
    first = np.array([0, 4, 12, 12, 12])
    out = np.empty((3, 2, 5), np.float32)
    projected(Q, blocks, first, W, np.empty((4, 5), np.float32), np.empty(5, np.float32), out)
    apart = np.abs(Q[:, None, :, None] - blocks)
    b = np.stack([apart[:, :, :4].sum(2), apart[:, :, 4:].sum(2)], axis=-1)
    np.testing.assert_allclose(out, (b @ W[:, :2].T).max(axis=-1), rtol=1e-5)
