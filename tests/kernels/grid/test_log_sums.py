"""Log-sum-exp along lines, against SciPy's over all sources."""

import numpy as np
import pytest
from scipy.special import logsumexp

from sinkdist.ground.grid_plan import Kernel, log_sum, plan_of
from sinkdist.kernels.grid.log_sums import table_of

SHARPNESS = (1e-5, 0.01, 0.3, 1.0, 2.5, 7.0, 30.0, 3e3)


def potentials(n, kind, sharp, rng):
    """Lines of different kinds; some bins, and one whole line, without mass."""
    x = np.arange(n)
    phi = {
        "noise": rng.normal(size=(9, n)) * 5,
        "steep": np.cumsum(rng.normal(size=(9, n)), axis=1) * 40,
        "spread out": 0.98 * sharp * (x - n / 3) ** 2 + rng.normal(size=(9, n)),
        "drawn together": -5 * sharp * (x - n / 3) ** 2 + rng.normal(size=(9, n)),
        "diracs": np.where(rng.random((9, n)) < 2 / n, 0.0, -np.inf),
    }[kind]
    phi = np.array(phi)
    if kind != "diracs":
        phi[:, rng.random(n) < 0.2] = -np.inf
    phi[4] = -np.inf
    return phi


@pytest.mark.parametrize("sharp", SHARPNESS)
@pytest.mark.parametrize("kind", ["noise", "steep", "spread out", "drawn together", "diracs"])
@pytest.mark.parametrize("n", [1, 5, 16, 83])
def test_lines(n, kind, sharp):
    rng = np.random.default_rng([n, int(sharp * 100)])
    x = np.arange(n)
    costs = sharp * (x[:, None] - x) ** 2.0
    for line in potentials(n, kind, sharp, rng):
        found = log_sum(line, Kernel("sqeuclidean", (sharp,)))
        if np.all(line == -np.inf):
            assert np.all(found == -np.inf)
            continue
        wanted = logsumexp(line - costs, axis=1)
        largest = np.abs(line[np.isfinite(line)]).max() + costs.max()
        np.testing.assert_allclose(found, wanted, rtol=1e-14, atol=4e-15 * largest + 1e-13)


@pytest.mark.parametrize("shape", [(6, 5), (1, 17), (20, 33), (4, 3, 5)])
def test_axes_one_after_another(shape):
    rng = np.random.default_rng(1)
    phi = rng.normal(size=shape) * 3
    phi[rng.random(shape) < 0.3] = -np.inf
    sharpness = (0.2, 1.5, 0.7)[: len(shape)]
    places = np.stack(np.unravel_index(np.arange(phi.size), shape), -1)
    costs = (np.array(sharpness) * (places[:, None] - places) ** 2.0).sum(-1)
    wanted = logsumexp(phi.ravel() - costs, axis=1).reshape(shape)
    kernel = Kernel("sqeuclidean", sharpness)
    np.testing.assert_allclose(log_sum(phi, kernel), wanted, rtol=1e-13, atol=1e-13)
    np.testing.assert_array_equal(plan_of(phi, kernel).log_sums, log_sum(phi, kernel))


def test_the_table_is_even_and_without_denormals():
    table = table_of(0.3, 100)
    middle = table.size // 2
    assert table[middle] == 1.0
    np.testing.assert_array_equal(table, table[::-1])
    np.testing.assert_allclose(table[middle + 3], np.exp(-0.3 * 9), rtol=1e-15)
    assert np.all((table == 0.0) | (table > 1e-307))
