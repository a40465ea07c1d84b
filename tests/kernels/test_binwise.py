"""Sums over bins for blocks of pairs, against the same sums written out."""

import numpy as np
import pytest

from sinkdist.kernels.binwise import excess, harmonic
from tests.kernels.comparison import twin


def blocks(dtype, d):
    rng = np.random.default_rng(d)
    X, Y = rng.random((5, d)).astype(dtype), rng.random((7, d)).astype(dtype)
    X[rng.random(X.shape) < 0.4] = 0.0
    Y[rng.random(Y.shape) < 0.4] = 0.0
    return X, Y


def run(kernel, X, Y, least):
    out = np.full((len(X), len(Y)), np.nan, X.dtype)  # what is there does not matter
    kernel(X, np.ascontiguousarray(Y.T), least, np.empty(X.shape[1], np.intp), out)
    return out


@pytest.mark.nojit
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("d", [1, 2, 3, 4, 5, 8, 31])
def test_sums_are_those_of_the_formulas(xp, d, dtype):
    X, Y = blocks(dtype, d)
    x, y = X.astype(float), np.ascontiguousarray(Y.T, float)
    close = {"rtol": 40 * np.finfo(dtype).eps, "atol": 40 * np.finfo(dtype).eps}
    for least in (0.0, 0.5):
        expected = twin(xp, "excess", x, y, least)
        np.testing.assert_allclose(run(excess, X, Y, least), expected, **close)
        expected = twin(xp, "harmonic", x, y, least)
        np.testing.assert_allclose(run(harmonic, X, Y, least), expected, **close)


@pytest.mark.nojit
@pytest.mark.parametrize("kernel", [excess, harmonic])
def test_bins_with_less_than_the_least_mass_are_left_out(kernel):
    X, Y = blocks(np.float64, 20)
    seen = np.where(X > 0.5, X, 0.0)
    assert (seen != X).any()
    np.testing.assert_array_equal(run(kernel, X, Y, 0.5), run(kernel, seen, Y, 0.0))
