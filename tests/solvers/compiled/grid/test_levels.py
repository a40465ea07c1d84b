"""Coarser grids keep all mass, and quadratic potentials survive the way back."""

import itertools

import numpy as np
import pytest

from sinkdist.solvers.compiled.grid.levels import Level, levels_of, refined

SHAPES = [(64, 64), (17, 100), (33,), (5, 90), (20, 18, 40), (16, 16)]


@pytest.mark.parametrize("shape", SHAPES)
def test_masses_are_kept(shape):
    rng = np.random.default_rng(0)
    r, c = rng.random(shape), rng.random(shape)
    levels = levels_of(Level(r, c, "sqeuclidean", (1.0,) * len(shape)))
    assert levels[0].r is r and max(levels[-1].r.shape) <= 16
    for fine, coarse in itertools.pairwise(levels):
        np.testing.assert_allclose(coarse.r.sum(), r.sum(), rtol=1e-13)
        np.testing.assert_allclose(coarse.c.sum(), c.sum(), rtol=1e-13)
        for n, m, half in zip(fine.r.shape, coarse.r.shape, fine.halved, strict=True):
            assert m == (-(-n // 2) if half else n)


def test_axes_with_cheap_steps_are_halved_first():
    levels = levels_of(Level(np.ones((64, 64)), np.ones((64, 64)), "sqeuclidean", (1.0, 16.0)))
    assert [level.r.shape for level in levels] == [(64, 64), (32, 64), (16, 64), (16, 32), (16, 16)]
    assert levels[2].steps == (16.0, 16.0)


@pytest.mark.parametrize("shape", SHAPES)
def test_quadratic_potentials_are_exact_on_the_finer_grid(shape):
    def potential(places):
        return sum((0.3 + a) * x * x - 2 * x for a, x in enumerate(places)) + 1.0

    halved = tuple(n > 16 for n in shape)
    coarse = [
        2.0 * np.arange(-(-n // 2)) + 0.5 if half else np.arange(float(n))
        for n, half in zip(shape, halved, strict=True)
    ]
    values = potential(np.ix_(*coarse)) + np.zeros([x.size for x in coarse])
    fine = potential(np.ix_(*[np.arange(float(n)) for n in shape])) + np.zeros(shape)
    np.testing.assert_allclose(refined(values, shape, halved), fine, rtol=1e-10, atol=1e-9)


def test_steps_of_cityblock_distances_double():
    levels = levels_of(Level(np.ones((64, 40)), np.ones((64, 40)), "cityblock", (1.0, 1.0)))
    assert [level.steps for level in levels] == [(1, 1), (2, 2), (4, 4)]
