"""Distance transforms, against the least over all sources."""

import numpy as np
import pytest

from sinkdist.kernels.grid.transforms import least_squares


@pytest.mark.parametrize("n", [1, 2, 17, 60])
@pytest.mark.parametrize("unit", [1e-3, 1.0, 40.0])
@pytest.mark.parametrize("bend", [-2.0, -1.0, 0.0, 1.0])
def test_least_costs(n, unit, bend):
    rng = np.random.default_rng(n)
    x = np.arange(n)
    a = rng.normal(size=(11, n)) * 3 + bend * unit * (x - n / 3) ** 2
    a[rng.random(a.shape) < 0.3] = np.inf
    a[5] = np.inf
    out = np.empty((n, 11))
    least_squares(a, unit, 0, 11, out)
    wanted = (a[:, None, :] + unit * (x[:, None] - x) ** 2.0).min(axis=2).T
    sizes = unit * n * n * (1 + abs(bend)) + 10
    np.testing.assert_allclose(out, wanted, rtol=1e-14, atol=1e-15 * sizes)
