"""Sums over bins for all pairs, against formulas on whole arrays."""

import numpy as np
import pytest

from sinkdist.kernels import binwise


@pytest.fixture(params=range(1, 12))
def families(request):
    """Three histograms and four, with empty bins: every remainder of four bins, and of two."""
    d = request.param
    rng = np.random.default_rng(d)
    X, Y = (rng.dirichlet(np.ones(d), n) * (rng.random((n, d)) > 0.3) for n in (3, 4))
    return X, Y, np.ascontiguousarray(Y.T), np.empty(d, np.int64), np.empty((3, 4))


def test_excess(families):
    X, Y, T, bins, out = families
    binwise.excess(X, T, bins, out)
    np.testing.assert_allclose(out, np.maximum(X[:, None] - Y, 0).sum(axis=2), atol=1e-15)


def test_harmonic_sums(families):
    X, Y, T, bins, out = families
    binwise.harmonic(X, T, 0.0, bins, out)
    both = np.where(X[:, None] + Y > 0, X[:, None] + Y, 1.0)
    np.testing.assert_allclose(out, (X[:, None] * Y / both).sum(axis=2), atol=1e-15)


def test_bins_of_hardly_any_mass_are_left_out():
    X, T = np.array([[1e-200, 0.5]]), np.array([[1e-200], [0.5]])
    out = np.empty((1, 1))
    binwise.harmonic(X, T, 1e-150, np.empty(2, np.int64), out)
    assert out[0, 0] == 0.25
