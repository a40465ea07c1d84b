"""Sums and minima over rows of tables against NumPy."""

import numpy as np
import pytest

from sinkdist.kernels.transforms import transform_all
from sinkdist.kernels.vectors import HUGE, LANES


@pytest.mark.nojit
@pytest.mark.parametrize("count", [1, 4, 7])
@pytest.mark.parametrize("vectors", [1, 2])
def test_least_sums_of_every_row(count, vectors):
    rng = np.random.default_rng(count)
    T, F = rng.random((count, LANES)).astype(np.float32), rng.normal(size=(16 * vectors - 3, 5))
    r = rng.dirichlet(np.ones(5))
    T[0, 0] = HUGE
    G = np.full((count + 5, vectors * LANES), np.nan, np.float32)
    largest, sums = np.empty((2, len(F)))
    transform_all(T, r, F, G, largest, sums)
    F = np.vstack([F - (F @ r)[:, None], np.zeros((3, 5))])
    np.testing.assert_allclose(G[count:], -F.T, rtol=0.0, atol=1e-6)
    wanted = (T[:, :5, None] + G[count:]).min(axis=1)
    np.testing.assert_array_equal(G[:count], wanted)
    np.testing.assert_allclose(largest, np.abs(F[:-3]).max(axis=1), rtol=1e-12)
    np.testing.assert_allclose(sums, r @ G[count:, :-3], rtol=0.0, atol=1e-12)
