"""Two transforms of a potential against the formula, pair by pair."""

import numpy as np
import pytest

from sinkdist.kernels.transforms import two_transforms
from sinkdist.solvers.bins import sparse_rows


@pytest.mark.nojit
def test_two_transforms():
    rng = np.random.default_rng(2)
    Y = rng.dirichlet(np.full(6, 0.5), 8) * (rng.random((8, 6)) < 0.6)
    Y[2] = 0.0
    Y[2, 1] = 1.0
    r, M, g = Y[0], rng.random((6, 6)), rng.normal(size=6)
    rows, index = np.flatnonzero(r), np.array([0, 2, 3, 7])
    bound, there = np.zeros(4), np.zeros(6)
    T = np.zeros((6, 8), np.float32)
    T[:, : rows.size] = M[rows].T
    two_transforms(
        T, rows, r[rows], *sparse_rows(Y), index, g, 0.01, r, there, np.empty(8, np.float32), bound
    )
    assert not there.any()
    for k, c in enumerate(Y[index]):
        a, b = np.maximum(r - c, 0.0), np.maximum(c - r, 0.0)
        on = b > 0.0
        if not on.any():
            assert bound[k] == 0.0
            continue
        wanted = a @ (M[:, on] - g[on]).min(axis=1) + b @ g - 0.01
        assert bound[k] == pytest.approx(max(wanted, 0.0), abs=1e-6)
