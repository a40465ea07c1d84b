"""Least costs on a grid against the matrix of costs."""

import numpy as np
import pytest

from sinkdist.ground.grid import GridCosts
from sinkdist.solution.grid_transforms import least_costs, stretch


@pytest.mark.parametrize("metric", ["sqeuclidean", "cityblock", "euclidean"])
@pytest.mark.parametrize("shape", [(30,), (13, 21), (1, 40), (6, 5, 7)])
@pytest.mark.parametrize("steep", [0.0, 0.3, 5.0, 100.0])
def test_least_costs_are_within_their_stretch(metric, shape, steep):
    rng = np.random.default_rng(2)
    grid = GridCosts(shape, metric, tuple(rng.uniform(0.5, 2.0, size=len(shape))), 1.7)
    f = steep * rng.normal(size=grid.bins)
    for some in (np.ones(grid.bins, bool), rng.random(grid.bins) < 0.2):
        some[0] = True
        masked = np.where(some, f, -np.inf)
        found = least_costs(grid, masked).ravel()
        M = grid.block(np.flatnonzero(some), None)
        most = (stretch(grid) * M - f[some, None]).min(axis=0)
        least = (M - f[some, None]).min(axis=0)
        slack = 1e-12 * (np.abs(f).max() + grid.max)
        assert np.all(found <= most + slack) and np.all(found >= least - slack)
    assert (stretch(grid) > 1.0) == (metric == "euclidean" and sum(n > 1 for n in shape) > 1)
