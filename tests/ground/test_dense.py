"""The dense operator: blocks, means and products with its kernel are those of the plain matrix."""

import numpy as np
import pytest

from sinkdist.ground.dense import DenseCosts

RNG = np.random.default_rng(0)
M = RNG.random((5, 7))
COSTS = DenseCosts(M.copy())


@pytest.mark.parametrize("rows", [None, np.array([0, 3]), np.array([4])])
@pytest.mark.parametrize("columns", [None, np.array([6, 1, 2])])
def test_blocks(rows, columns):
    some = np.arange(5) if rows is None else rows
    others = np.arange(7) if columns is None else columns
    np.testing.assert_array_equal(COSTS.block(rows, columns), M[np.ix_(some, others)])
    kernel = COSTS.kernel(2.0, np.dtype(np.float64))
    np.testing.assert_allclose(
        kernel.on(rows, columns), np.exp(-2.0 * M)[np.ix_(some, others)], rtol=1e-14
    )


def test_numbers():
    assert (COSTS.min, COSTS.max, COSTS.median) == (M.min(), M.max(), np.median(M))
    assert COSTS.shape == (5, 7) and not COSTS.is_symmetric
    symmetric = DenseCosts(M[:, :5] + M[:, :5].T)
    assert symmetric.is_symmetric
    np.testing.assert_array_equal(symmetric.diagonal, 2 * M.diagonal())


@pytest.mark.parametrize(("dtype", "rtol"), [(np.float64, 1e-13), (np.float32, 1e-5)])
def test_products(dtype, rtol):
    kernel, K = COSTS.kernel(3.0, np.dtype(dtype)), np.exp(-3.0 * M)
    U, V = RNG.random((4, 5)).astype(dtype), RNG.random((4, 7)).astype(dtype)
    np.testing.assert_allclose(kernel.apply(V), V @ K.T, rtol=rtol)
    np.testing.assert_allclose(kernel.apply_T(U), U @ K, rtol=rtol)
    wanted = [3.0 * (u[:, None] * K * v * M).sum() for u, v in zip(U, V, strict=True)]
    np.testing.assert_allclose(kernel.apply_cost(U, V), wanted, rtol=rtol)
    rows, columns = np.array([0, 2]), np.array([1, 5, 6])
    on_bins = [
        3.0 * (u[:, None] * (K * M)[np.ix_(rows, columns)] * v).sum()
        for u, v in zip(U[:, rows], V[:, columns], strict=True)
    ]
    found = kernel.cost_on(rows, columns, U[:, rows], V[:, columns])
    np.testing.assert_allclose(found, on_bins, rtol=rtol)


def test_means_of_single_precision_are_summed_in_double():
    R = RNG.random((3, 5)).astype(np.float32)
    found = COSTS.mean_costs(R)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, R.astype(float) @ M, rtol=1e-15)


def test_fingerprints_tell_costs_apart():
    other = M.copy()
    other[0, 0] = np.nextafter(other[0, 0], 1.0)
    assert DenseCosts(other).fingerprint != COSTS.fingerprint
    assert DenseCosts(M.copy()).fingerprint == COSTS.fingerprint
    assert DenseCosts(M.reshape(7, 5)).fingerprint != COSTS.fingerprint
