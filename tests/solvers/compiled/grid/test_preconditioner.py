"""The approximate inverse is exact for a heat kernel, symmetric and positive for any masses."""

import numpy as np
from scipy.fft import dctn, idctn

from sinkdist.solvers.compiled.grid.preconditioner import Cosines, Preconditioner


def test_the_inverse_for_uniform_masses():
    shape, sharpness = (24, 30), (0.1, 0.2)
    cosines = Cosines.of(shape, sharpness)
    c = np.full(shape, 1 / 720)
    k = [np.pi * np.arange(n) / n for n in shape]
    heat = np.exp(-np.add.outer(k[0] ** 2 / 0.2, k[1] ** 2 / 0.4))
    x = np.random.default_rng(0).normal(size=shape)
    x -= x.mean()
    image = c * (x - idctn(heat * dctn(x, norm="ortho"), norm="ortho"))
    np.testing.assert_allclose(Preconditioner.of(cosines, c, c)(image), x, rtol=1e-3, atol=1e-3)


def test_symmetry_and_sign_with_bins_without_mass():
    rng = np.random.default_rng(1)
    c = rng.random((20, 17)) ** 8
    c[:, :4] = 0.0
    apply = Preconditioner.of(Cosines.of(c.shape, (0.3, 0.3)), c, c)
    x, y = (np.where(c > 0, rng.normal(size=c.shape), 0.0) for _ in range(2))
    np.testing.assert_allclose(np.vdot(apply(x), y), np.vdot(x, apply(y)), rtol=1e-4)
    assert np.vdot(apply(x), x) > 0.0 and not apply(x)[:, :4].any()
    assert not apply(np.zeros_like(c)).any()
