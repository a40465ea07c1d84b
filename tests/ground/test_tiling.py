"""Sums by tiles against sums over all pixels; how large tiles may be."""

import numpy as np
import pytest
from scipy.special import logsumexp

from sinkdist.ground.grid_plan import in_turn
from sinkdist.ground.tiling import Tiling, tile_of, tiling_of

GRIDS = {
    "one tile": ((20, 17), (0.05, 0.05)),
    "some tiles": ((20, 17), (0.5, 0.3)),
    "small tiles": ((20, 17), (3.0, 2.0)),
    "pixels": ((20, 17), (50.0, 40.0)),
    "cube": ((7, 9, 8), (0.7, 0.4, 1.2)),
    "strip": ((1, 70), (1.0, 0.8)),
}


def exponents(shape, sharpness):
    places = np.stack(np.unravel_index(np.arange(np.prod(shape)), shape), -1) * sharpness
    return np.sqrt(((places[:, None] - places) ** 2).sum(-1))


@pytest.mark.parametrize("steep", [1.0, 60.0, 2000.0])
@pytest.mark.parametrize("error", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("name", GRIDS)
def test_sums_are_as_accurate_as_promised(name, error, steep):
    shape, sharpness = GRIDS[name]
    rng, far = np.random.default_rng(1), exponents(shape, sharpness)
    phi = rng.normal(size=shape) * steep
    phi[rng.random(shape) < 0.4] = -np.inf
    tiling = Tiling(shape, sharpness, error)
    found, wanted = tiling.log_sums(phi, in_turn), logsumexp(phi.ravel() - far, axis=1)
    rounding = 4e-16 * np.abs(wanted).max()
    np.testing.assert_allclose(found.ravel(), wanted, rtol=0, atol=error + rounding)
    v = rng.normal(size=shape)
    for costs, kernel in ((False, np.ones_like(far)), (True, far)):
        parts = np.exp(phi.ravel() - far - wanted[:, None]) * kernel
        scale = (parts @ np.abs(v).ravel()) + (parts.sum(1) + far.max() * rounding + 1.0)
        got = tiling.weighted(phi, v, found, in_turn, costs=costs).ravel()
        assert np.all(np.abs(got - parts @ v.ravel()) <= (error + rounding) * scale * far.max())


def test_a_single_pixel_with_mass_reaches_all_others():
    shape, sharpness = (40, 30), (2.0, 2.0)
    phi = np.full(shape, -np.inf)
    phi[3, 5] = 700.0
    found = Tiling(shape, sharpness, 1e-12).log_sums(phi, in_turn)
    wanted = 700.0 - exponents(shape, sharpness)[3 * 30 + 5]
    np.testing.assert_allclose(found.ravel(), wanted, rtol=1e-12, atol=1e-11)
    nothing = Tiling(shape, sharpness, 1e-12).log_sums(np.full(shape, -np.inf), in_turn)
    assert np.all(nothing == -np.inf)


def test_tiles_are_smaller_where_more_is_asked_of_them():
    sizes = [np.prod(Tiling((64, 64), (0.5, 0.5), error).tile) for error in (1e-4, 1e-8, 1e-12)]
    assert sizes[0] > sizes[1] > sizes[2] > 1
    assert tile_of((64, 48), (1e-6, 1e-6), 10.0) == (64, 48)


def test_tilings_are_shared_while_there_is_room(monkeypatch):
    first = tiling_of((12, 12), (0.1, 0.1), 1e-8)
    assert tiling_of((12, 12), (0.1, 0.1), 1e-8) is first
    monkeypatch.setattr("sinkdist.ground.tiling._KEPT", 1)
    tiling_of((12, 12), (0.2, 0.1), 1e-8)
    assert tiling_of((12, 12), (0.1, 0.1), 1e-8) is not first
