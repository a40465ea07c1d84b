"""Products over a block of pairs, on arrays of the standard, against matrices written out."""

import array_api_strict as xp
import numpy as np
import pytest

from sinkdist.solution import reductions
from sinkdist.solvers.arrays import products

RNG = np.random.default_rng(0)
K = RNG.random((4, 5))
EACH = RNG.random((3, 4, 5))
U, V = RNG.random((3, 4)), RNG.random((3, 5))


def strict(*arrays):
    return [xp.asarray(a) for a in arrays]


@pytest.mark.parametrize("shared", [True, False])
def test_products_with_the_kernel_of_every_pair(shared):
    kernels = np.stack([K] * 3) if shared else EACH
    kind = products.SharedKernel if shared else products.BatchedKernel
    block = kind(xp, xp.asarray(K if shared else EACH))
    u, v = strict(U, V)
    for found, wanted in (
        (block.rows(v), [P @ y for P, y in zip(kernels, V, strict=True)]),
        (block.columns(u), [P.T @ x for P, x in zip(kernels, U, strict=True)]),
        (
            block.outer(u, v),
            sum(np.diag(x) @ P @ np.diag(y) for x, P, y in zip(U, kernels, V, strict=True)),
        ),
    ):
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=1e-14)


def test_sums_are_kept_above_a_floor():
    block = products.BatchedKernel(xp, xp.zeros((2, 3, 3)), floor=1e-9)
    ones = xp.ones((2, 3))
    assert (np.asarray(block.rows(ones)) == 1e-9).all()
    assert (np.asarray(block.columns(ones)) == 1e-9).all()


def test_numbers_of_bins_without_mass():
    x = xp.asarray([[0.0, 2.0]])
    np.testing.assert_allclose(np.asarray(reductions.log(xp, x)), [[-np.inf, np.log(2)]])
    np.testing.assert_allclose(np.asarray(reductions.inverse(xp, x)), [[0.0, 0.5]])
    infinite = xp.asarray([[-np.inf, 3.0]])
    assert float(reductions.weighted(xp, x, infinite)[0]) == 6.0
