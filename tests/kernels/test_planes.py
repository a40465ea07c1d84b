"""Planes over many histograms against plain matrix products."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.special import logsumexp

from sinkdist.kernels.planes import hard_transforms, raise_dense, raise_sparse, soft_transform
from sinkdist.solvers.bins import sparse_rows

RNG = np.random.default_rng(0)
Y = RNG.dirichlet(np.full(7, 0.3), 20) * (RNG.random((20, 7)) < 0.7)
G, CONSTANTS = RNG.normal(size=(4, 7)), RNG.normal(size=4)
INDEX = np.array([3, 4, 9, 17])


@pytest.mark.nojit
@pytest.mark.parametrize("sparse", [False, True])
def test_bounds_are_raised_to_the_largest_plane(sparse):
    bound = np.array([-9.0, 9.0, 0.0, 0.0])
    wanted = np.maximum(bound, (Y[INDEX] @ G.T + CONSTANTS).max(axis=1))
    if sparse:
        rows = sparse_rows(csr_array(Y))
        label = np.roll(np.arange(7), 3)  # bins in another order
        T = np.empty((7, 4))
        T[label] = G.T
        raise_sparse(*rows, label, INDEX, T, CONSTANTS, np.empty(4), bound)
    else:
        raise_dense(Y, INDEX, G, CONSTANTS, bound)
    np.testing.assert_allclose(bound, wanted, rtol=1e-14)


@pytest.mark.nojit
def test_transforms():
    M, f, r = RNG.random((5, 7)), RNG.normal(size=5), RNG.dirichlet(np.ones(5))
    F, found = RNG.normal(size=(3, 5)), np.empty((3, 7))
    hard_transforms(M, F, found)
    np.testing.assert_array_equal(found, (M - F[:, :, None]).min(axis=1))
    g = np.empty(7)
    for mu in (0.1, 3.0, 1e3):
        hard_transforms(M, f[None], g[None])
        soft_transform(M, mu, f, r, g, np.empty(M.shape))
        wanted = -logsumexp(mu * (f[:, None] - M), b=r[:, None], axis=0) / mu
        np.testing.assert_allclose(g, wanted, rtol=1e-13, atol=1e-13)
