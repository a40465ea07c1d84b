"""Products with the kernel of a grid against sums over all pixels."""

import numpy as np
import pytest
from scipy.special import logsumexp

import sinkdist as sd
from sinkdist.ground.grid import GridCosts
from sinkdist.kernels.log_sums import NONE
from sinkdist.means.grid_smoothing import ByAxes, ByGridSums, grid_smoothing, worth_axes


@pytest.mark.parametrize("metric", ["sqeuclidean", "cityblock", "euclidean"])
@pytest.mark.parametrize("exponent", [50.0, 500.0, 2000.0, 5000.0])
@pytest.mark.parametrize("shape", [(9, 12), (5, 6, 4), (1, 30)])
def test_products(metric, exponent, shape):
    grid = GridCosts(shape, metric, (1.0,) * len(shape))
    lam, rng = exponent / grid.max, np.random.default_rng(3)
    L = rng.normal(size=(4, grid.bins)) * 30.0
    L[1, 1:] = NONE  # one bin alone: its sums span the whole kernel
    L[2, rng.random(grid.bins) < 0.5] = NONE
    found = grid_smoothing(grid, lam, np.dtype(np.float64))
    wanted = logsumexp(L[:, None, :] - lam * grid.block(), axis=2)
    for logs in (found.forward(L), found.backward(L, L > NONE), found.own(L)):
        np.testing.assert_allclose(logs, wanted, rtol=1e-12, atol=1e-11)
    by_axes = grid.kind != "euclidean" and exponent <= 2000.0
    assert isinstance(found, ByAxes if by_axes else ByGridSums)
    single = grid_smoothing(grid, 50.0 / grid.max, np.dtype(np.float32))
    if grid.kind != "euclidean":
        assert single.dtype == np.float32


def test_small_grids_have_products_along_axes_too():
    assert worth_axes(sd.Ground.grid(28, 28, metric="sqeuclidean").pixels, 0.4)
    assert not worth_axes(sd.Ground.grid(28, 28).pixels, 0.4)
    assert not worth_axes(sd.Ground.grid(28, metric="sqeuclidean").pixels, 0.4)
    assert not worth_axes(sd.Ground(np.ones((3, 3))).pixels, 0.4)
