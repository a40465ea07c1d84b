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
    T, V = rng.random((count, LANES)), rng.normal(size=(5, vectors * LANES))
    T, V = T.astype(np.float32), V.astype(np.float32)
    T[0, 0] = HUGE
    G = np.full((count + 2, vectors * LANES), 7.0, np.float32)  # what is behind stays
    transform_all(T, V, G)
    np.testing.assert_array_equal(G[:count], (T[:, :5, None] + V).min(axis=1))
    assert (G[count:] == 7.0).all()
