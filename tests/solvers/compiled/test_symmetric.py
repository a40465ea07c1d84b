"""A histogram against itself: one scaling, the same plan as that of an ordinary pair."""

import numpy as np
import pytest

from sinkdist.solvers.compiled.symmetric import MOST_SWEEPS, symmetric_block
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
