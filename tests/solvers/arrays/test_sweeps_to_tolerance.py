"""Scaling to a tolerance on one kernel, on arrays of the standard."""

import array_api_strict as xp
import numpy as np
import pytest

from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.products import SharedKernel
from sinkdist.solvers.arrays.sweeps import to_tolerance
from tests import naive
from tests.problems import sparse_histograms
from tests.small_pairs import small_pair

P = small_pair(7, 6, 3, lam=12.0)
R, C = sparse_histograms(9, 7, 1, density=0.6), sparse_histograms(9, 6, 2, density=0.6)


def run(first, second, tol=1e-11, max_iter=10_000, relax=True):
    products = SharedKernel(xp, xp.asarray(P.K))
    arrays = xp.asarray(first), xp.asarray(second)
    s, convergence = to_tolerance(Control(), products, *arrays, tol, max_iter, relax)
    U, V = np.asarray(s.U), np.asarray(s.V)
    return U[:, :, None] * P.K * V[:, None, :], convergence


@pytest.mark.parametrize("relax", [True, False])
@pytest.mark.parametrize("shared", [True, False])
def test_every_pair_is_the_plan(shared, relax):
    first = R[:1] if shared else R
    plans, convergence = run(first, C, relax=relax)
    assert not np.asarray(convergence.going).any()
    for k in range(9):
        r = first[0 if shared else k]
        right = naive.log_sinkhorn(P.M.tolist(), P.lam, r.tolist(), C[k].tolist(), tol=1e-12)
        np.testing.assert_allclose(plans[k], right.P, atol=1e-9)
        error = abs(plans[k].sum(axis=0) - C[k]).sum()
        assert (
            float(convergence.error[k]) == pytest.approx(error, abs=1e-14)
            and error <= 1e-11 + 1e-14
        )


def test_a_pair_does_not_depend_on_its_company():
    together, convergence = run(R, C, tol=1e-8)
    for k in range(9):
        alone, its = run(R[[k]], C[[k]], tol=1e-8)
        np.testing.assert_allclose(together[k], alone[0], atol=1e-14)
        assert int(its.n_iter[0]) == int(convergence.n_iter[k])


def test_relaxation_saves_sweeps_and_a_limit_is_kept():
    counts = [int(xp.sum(run(R, C, relax=relax)[1].n_iter)) for relax in (True, False)]
    assert counts[0] < counts[1]
    plans, convergence = run(R, C, tol=1e-300, max_iter=13)
    assert (np.asarray(convergence.n_iter) <= 13).all() and np.asarray(convergence.going).any()
    np.testing.assert_allclose(plans.sum(axis=2), R, atol=1e-14)
