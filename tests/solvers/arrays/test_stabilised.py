"""Sweeps in the log domain on arrays of the standard, at lams that no kernel holds."""

import array_api_strict as xp
import numpy as np
import pytest

from sinkdist.solvers import policy
from sinkdist.solvers.arrays import stabilised
from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.operators import MatrixCosts, plan
from tests import naive
from tests.problems import EXACT, sparse_histograms
from tests.small_pairs import small_pair

P = small_pair(6, 5, 3)
R, C = sparse_histograms(5, 6, 1, density=0.6), sparse_histograms(5, 5, 2, density=0.6)


def run(M, lam, first, second, *, tol=1e-10, max_iter=20_000, relax=True, doublings=0):
    lam = xp.asarray(np.broadcast_to(np.array(lam, float).reshape(-1, 1), (len(second), 1)).copy())
    M, first, second = (xp.asarray(x) for x in (M, first, second))
    potentials, convergence = stabilised.to_tolerance(
        xp, Control(), MatrixCosts(xp, M), lam, first, second, tol, max_iter, relax, None,
        xp.asarray(np.full(second.shape[0], float(doublings))),
    )  # fmt: skip
    return np.asarray(plan(xp, M, lam, potentials)), potentials, convergence


@pytest.mark.parametrize("relax", [True, False])
@pytest.mark.parametrize("doublings", [0, 3])
def test_pairs_with_a_lam_each(doublings, relax):
    lam = np.array([1.0, 3.0, 5.0, 9.0, 20.0])
    plans, potentials, convergence = run(P.M, lam, R, C, relax=relax, doublings=doublings)
    assert (
        not np.asarray(convergence.going).any() and (np.asarray(convergence.error) <= 1e-10).all()
    )
    assert (np.isfinite(np.asarray(potentials.F)) == (R > 0)).all()
    for k in range(5):
        right = naive.log_sinkhorn(P.M.tolist(), lam[k], R[k].tolist(), C[k].tolist(), tol=1e-12)
        np.testing.assert_allclose(plans[k], right.P, atol=1e-8)


@pytest.mark.parametrize("name", ["two bins", "two bins, asymmetric", "circle", "cube"])
@pytest.mark.parametrize("L", [10.0, 800.0, 2e4])
def test_closed_forms_beyond_the_kernels_range(name, L):
    problem = EXACT[name](L)
    doublings = max(0, int(np.ceil(np.log2(L / policy.GENTLE))))
    plans, _, convergence = run(
        problem.M, problem.lam, problem.r[None], problem.c[None], tol=1e-8, doublings=doublings
    )
    assert float(convergence.error[0]) <= 1e-8
    assert (plans[0] * problem.M).sum() == pytest.approx(problem.value, abs=1e-7)


@pytest.mark.parametrize("steps", [1, 4])
def test_a_fixed_number_of_steps_is_algorithm_1(steps):
    lam = xp.asarray(np.full((5, 1), 6.0))
    M, r, c = (xp.asarray(x) for x in (P.M, R, C))
    potentials = stabilised.fixed(xp, Control(), MatrixCosts(xp, M), lam, r, c, steps)
    plans = np.asarray(plan(xp, M, lam, potentials))
    for k in range(5):
        right = naive.algorithm1(P.M.tolist(), 6.0, R[k].tolist(), C[k].tolist(), steps)
        np.testing.assert_allclose(plans[k], right.P, atol=1e-13)


def test_potentials_at_rest():
    F, G = stabilised.rest(xp, xp.asarray(R[:1]), xp.asarray(C))
    assert F.shape == (5, 6) and G.shape == (5, 5)
    np.testing.assert_array_equal(np.asarray(F), np.where(R[[0] * 5] > 0, 0.0, -np.inf))
    np.testing.assert_array_equal(np.asarray(G), np.where(C > 0, 0.0, -np.inf))


def test_newton_helps_where_sweeps_would_be_many():
    p = small_pair(6, 6, 1)
    counts = [
        int(run(p.M, 150.0, p.r[None], p.c[None], tol=1e-9, relax=relax)[2].n_iter[0])
        for relax in (True, False)
    ]
    assert counts[0] < 0.2 * counts[1]
