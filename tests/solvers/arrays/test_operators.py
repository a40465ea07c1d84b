"""Costs that are a matrix, as loops ask for them, against matrices written out."""

import array_api_strict as xp
import numpy as np

from sinkdist.solvers.arrays.operators import MatrixCosts, Potentials, plan

RNG = np.random.default_rng(0)
M = RNG.random((4, 5))
COSTS = MatrixCosts(xp, xp.asarray(M))
LAM = np.array([[1.0], [3.0]])
F, G = RNG.normal(size=(2, 4)), RNG.normal(size=(2, 5))
PAIR = Potentials(xp.asarray(F), xp.asarray(G))
PLANS = np.exp(LAM[:, :, None] * (F[:, :, None] + G[:, None] - M))


def test_kernels():
    np.testing.assert_allclose(np.asarray(COSTS.kernel(2.0).K), np.exp(-2 * M))
    np.testing.assert_allclose(np.asarray(COSTS.priced(2.0, 4.0).K), np.exp(-2 * M) * M / 4)
    np.testing.assert_allclose(np.asarray(COSTS.turned.M), M.T)
    assert float(COSTS.largest) == M.max()
    square = RNG.random((3, 3))
    kernel, half = MatrixCosts(xp, xp.asarray(square)).unit_kernel(2.0)
    np.testing.assert_allclose(np.asarray(half), square.diagonal() / 2)
    np.testing.assert_allclose(np.asarray(kernel.K).diagonal(), 1.0)


def test_plans():
    np.testing.assert_allclose(np.asarray(plan(xp, COSTS.M, xp.asarray(LAM), PAIR)), PLANS)
    found = COSTS.measured(xp.asarray(LAM), PAIR)
    np.testing.assert_allclose(np.asarray(found.value), (PLANS * M).sum((1, 2)))
    np.testing.assert_allclose(np.asarray(found.rows), PLANS.sum(2))
    np.testing.assert_allclose(np.asarray(found.columns), PLANS.sum(1))
    system = COSTS.system(xp.asarray(LAM), PAIR, 2.0)
    np.testing.assert_allclose(np.asarray(system.rows), (PLANS * M / 2).sum(2))
    np.testing.assert_allclose(np.asarray(system.columns), (PLANS * M / 2).sum(1))
    ones = xp.ones((2, 5))
    np.testing.assert_allclose(np.asarray(system.plans.rows(ones)), PLANS.sum(2))


def test_row_updates_make_rows_exact():
    R = RNG.random((2, 4))
    R[0, 1] = 0.0
    kernel, potential = COSTS.row_update(xp.asarray(LAM), xp.asarray(R), xp.asarray(G))
    np.testing.assert_allclose(np.asarray(kernel.K).sum(2), R)
    assert np.asarray(potential)[0, 1] == -np.inf
    R = xp.asarray(RNG.random((2, 4)))
    np.testing.assert_allclose(np.asarray(COSTS.means(R)), np.asarray(R) @ M)
