"""The linear system of a coupling, against a dense solve by least squares."""

import array_api_strict as xp
import numpy as np
import pytest

from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.linear import Coupling, solve_marginals
from sinkdist.solvers.arrays.products import BatchedKernel, SharedKernel
from tests.small_pairs import small_pair


def block(shared):
    rng = np.random.default_rng(1)
    pairs = [small_pair(5, 4, seed) for seed in range(3)]
    K = np.stack([p.K for p in pairs])
    U, V = rng.random((3, 5)) + 0.1, rng.random((3, 4)) + 0.1
    if shared:
        K = np.stack([K[0]] * 3)
    products = SharedKernel(xp, xp.asarray(K[0])) if shared else BatchedKernel(xp, xp.asarray(K))
    plans = U[:, :, None] * K * V[:, None, :]
    return Coupling(products, xp.asarray(U), xp.asarray(V)), plans, rng


@pytest.mark.parametrize("shared", [True, False])
def test_a_coupling_is_its_plan(shared):
    P, plans, rng = block(shared)
    X, Y = rng.random((3, 5)), rng.random((3, 4))
    x, y = xp.asarray(X), xp.asarray(Y)
    np.testing.assert_allclose(np.asarray(P.rows(y)), np.einsum("kij,kj->ki", plans, Y))
    np.testing.assert_allclose(np.asarray(P.columns(x)), np.einsum("kij,ki->kj", plans, X))
    np.testing.assert_allclose(np.asarray(P.outer(x, y)), np.einsum("ki,kij,kj->ij", X, plans, Y))


@pytest.mark.parametrize("shared", [True, False])
def test_the_system_is_solved(shared):
    P, plans, rng = block(shared)
    m, k = rng.normal(size=(3, 5)), rng.normal(size=(3, 4))
    k += ((m.sum(axis=1) - k.sum(axis=1)) / 4)[:, None]  # equal sums
    x, y, made = solve_marginals(xp, Control(), P, xp.asarray(m), xp.asarray(k), 1e-12)
    x, y = np.asarray(x), np.asarray(y)
    assert 0 < int(made) <= 2000
    for i, plan in enumerate(plans):
        a, b = plan.sum(axis=1), plan.sum(axis=0)
        whole = np.block([[np.diag(a), plan], [plan.T, np.diag(b)]])
        right = np.concatenate([m[i], k[i]])
        np.testing.assert_allclose(whole @ np.concatenate([x[i], y[i]]), right, atol=1e-10)
        assert a @ x[i] == pytest.approx(0.0, abs=1e-12)
        wanted = np.linalg.lstsq(whole, right, rcond=None)[0]
        shift = (wanted[:5] - x[i]).mean()  # the freedom of moving a constant
        np.testing.assert_allclose(x[i], wanted[:5] - shift, atol=1e-9)
        np.testing.assert_allclose(y[i], wanted[5:] + shift, atol=1e-9)


def test_bins_without_mass_have_no_potential():
    U, V = xp.asarray([[1.0, 0.0]]), xp.asarray([[1.0, 1.0]])
    P = Coupling(SharedKernel(xp, xp.ones((2, 2))), U, V)
    x, y, _ = solve_marginals(
        xp, Control(), P, xp.asarray([[1.0, 0.0]]), xp.asarray([[0.5, 0.5]]), 1e-9
    )
    assert np.isfinite(np.asarray(x)).all() and np.isfinite(np.asarray(y)).all()
    assert float(x[0, 1]) == 0.0
