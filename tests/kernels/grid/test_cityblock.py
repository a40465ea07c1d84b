"""Recursions along lines, against sums over all sources."""

import numpy as np
import pytest
from scipy.special import logsumexp

from sinkdist.ground.grid_plan import Kernel, log_sum
from sinkdist.kernels.grid.cityblock import least_distances


@pytest.mark.parametrize("sharp", [1e-6, 0.05, 1.0, 40.0, 2000.0])
@pytest.mark.parametrize("steep", [1.0, 100.0, 5000.0])
@pytest.mark.parametrize("n", [1, 2, 19, 64])
def test_log_sums(n, steep, sharp):
    rng = np.random.default_rng([n, int(steep)])
    phi = rng.normal(size=(10, n)) * steep
    phi[rng.random(phi.shape) < 0.3] = -np.inf
    phi[3] = -np.inf
    x = np.arange(n)
    costs = sharp * np.abs(x[:, None] - x)
    for line in phi:
        found = log_sum(line, Kernel("cityblock", (sharp,)))
        if np.all(line == -np.inf):
            assert np.all(found == -np.inf)
        else:
            wanted = logsumexp(line - costs, axis=1)
            sizes = steep * 5 + costs.max()
            np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13 + 1e-15 * sizes)


def test_least_distances():
    rng = np.random.default_rng(0)
    a, out = rng.normal(size=(11, 25)) * 4, np.empty((25, 11))
    a[rng.random(a.shape) < 0.4] = np.inf
    a[2] = np.inf
    least_distances(a, 0.7, 0, 11, out)
    x = np.arange(25)
    wanted = (a[:, None, :] + 0.7 * np.abs(x[:, None] - x)).min(axis=2).T
    np.testing.assert_allclose(out, wanted, rtol=1e-14, atol=1e-14)
