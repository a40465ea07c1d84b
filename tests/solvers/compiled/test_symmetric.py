"""A histogram against itself: one scaling, the same plan as that of an ordinary pair."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.interrupts import Stop
from sinkdist.solvers.compiled.symmetric import MOST_SWEEPS, symmetric_block, symmetric_pair
from tests import naive
from tests.problems import grid_costs, sparse_histograms


@pytest.mark.parametrize("lam", [0.1, 2.0, 30.0])
def test_the_plan_of_a_histogram_and_itself(lam):
    M, R = grid_costs(3, 3), sparse_histograms(6, 9, 1, density=0.6)
    K = np.exp(-lam * M)
    found = symmetric_block(K, R, 1e-11)
    assert (found.error <= 1e-11).all()
    for k, r in enumerate(R):
        P = found.U[k][:, None] * K * found.U[k]
        np.testing.assert_allclose(P, P.T, rtol=1e-15)
        assert 2 * abs(P.sum(axis=1) - r).sum() == pytest.approx(found.error[k], abs=1e-14)
        assert found.mass[k] == pytest.approx(P.sum(), rel=1e-13)
        assert not found.U[k][r == 0].any()
        right = naive.log_sinkhorn(M.tolist(), lam, r.tolist(), r.tolist(), tol=1e-12)
        np.testing.assert_allclose(P, right.P, atol=1e-9)


def test_few_sweeps_do_at_any_lam():
    """Halved with every sweep in the end, where the kernel is positive semi-definite."""
    x = np.arange(12.0)
    R = sparse_histograms(5, 12, 3)
    for lam in (0.01, 1.0, 100.0):
        found = symmetric_block(np.exp(-lam * (x[:, None] - x) ** 2), R, 1e-8, sweeps=40)
        assert (found.error <= 1e-8).all()


def test_a_kernel_that_is_lost_leaves_an_error_and_no_warning():
    R = sparse_histograms(3, 4, 0)
    found = symmetric_block(np.zeros((4, 4)), R, 1e-9)
    assert not (found.error <= 1e-9).any()
    assert MOST_SWEEPS == 100


@pytest.mark.parametrize("lam", [0.1, 2.0, 30.0, 3000.0])
def test_one_histogram_as_in_a_block(lam):
    M, r = grid_costs(3, 3), np.random.default_rng(2).dirichlet(np.ones(9))
    K = np.exp(-lam * M)
    u, v, error, made = symmetric_pair(K, r, 1e-12, MOST_SWEEPS, Stop())
    P = u[:, None] * K * v
    np.testing.assert_allclose(P.sum(axis=1), r, rtol=1e-14)  # rows are exact
    assert abs(P.sum(axis=0) - r).sum() == pytest.approx(error, abs=1e-15)
    assert error <= 1e-12 and made < 50
    U = symmetric_block(K, r[None], 1e-13).U[0]
    np.testing.assert_allclose(P, U[:, None] * K * U, atol=1e-12)


def test_sweeps_that_do_not_suffice_are_no_answer():
    r = np.random.default_rng(2).dirichlet(np.ones(9))
    K = np.exp(-2.0 * grid_costs(3, 3))
    _, _, error, made = symmetric_pair(K, r, 1e-12, 3, Stop())
    assert error > 1e-12 and made == 3
    assert symmetric_pair(np.zeros((9, 9)), r, 1e-12, 3, Stop())[2] == np.inf


@pytest.mark.parametrize("lam", [25.0, 60.0, 5000.0])
def test_the_diagonal_of_one_family_is_answered_so_alone_and_in_company(lam):
    """Where sweeps are too slow: for every verb, with the same bits."""
    rng = np.random.default_rng(0)
    ground = sd.Ground.points(rng.uniform(size=(32, 2))).scaled()
    X = rng.dirichlet(np.ones(32), 5)
    X[:, :7] = 0.0  # bins without mass
    X /= X.sum(axis=1, keepdims=True)
    matrix = sd.pairwise(X, ground=ground, lam=lam)
    for k, x in enumerate(X):
        alone = sd.solve(x, x, ground, lam=lam)
        assert alone.solver == "symmetric" and alone.converged
        assert matrix[k, k] == alone.value == sd.distance(x, x, ground, lam=lam)
        assert alone.marginal_error == pytest.approx(
            abs(alone.plan.sum(axis=0) - x).sum() + abs(alone.plan.sum(axis=1) - x).sum(), abs=1e-13
        )
        newton = sd.solve(x, x, ground, lam=lam, solver="newton")
        assert newton.solver == "newton"
        assert alone.value == pytest.approx(newton.value, rel=1e-4, abs=1e-6)


def test_equal_masses_on_other_bins_are_an_ordinary_pair():
    rng = np.random.default_rng(0)
    ground = sd.Ground.points(rng.uniform(size=(16, 2))).scaled()
    r, c = np.zeros(16), np.zeros(16)
    r[:8] = c[8:] = rng.dirichlet(np.ones(8))
    assert sd.solve(r, c, ground, lam=200.0).solver == "newton"
    skewed = np.array(ground.matrix)
    skewed[0, 1] *= 1.5  # not symmetric
    assert sd.solve(r, r, skewed, lam=200.0).solver != "symmetric"


def test_a_bin_that_is_dearer_to_keep_is_an_ordinary_pair():
    """Where staying has a price, scalings may leave the range of floats."""
    rng = np.random.default_rng(1)
    costs = np.array(sd.Ground.points(rng.uniform(size=(12, 2))).scaled().matrix)
    r = rng.dirichlet(np.ones(12))
    np.fill_diagonal(costs, 3.0)
    s = sd.solve(r, r, costs, lam=300.0)
    assert s.solver == "newton" and s.converged
