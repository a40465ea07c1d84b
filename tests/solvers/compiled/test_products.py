"""Scaling of a block by products: every pair gets what it would get alone."""

import numpy as np
import pytest

from sinkdist.interrupts import Stop
from sinkdist.solvers.compiled.products import scale_block
from sinkdist.solvers.compiled.relaxation import CONVERGED, FOREVER, OVERFLOW, PLAIN, RUNNING
from tests import naive
from tests.problems import sparse_histograms
from tests.small_pairs import off, small_pair

LAM = 8.0
M = small_pair(9, 7, 0).M
K = np.exp(-LAM * M)
R, C = sparse_histograms(12, 9, 1, density=0.6), sparse_histograms(12, 7, 2, density=0.6)


@pytest.mark.parametrize("limit", [PLAIN, FOREVER])
@pytest.mark.parametrize("shared", [False, True])
def test_every_pair_of_a_block_is_solved(shared, limit):
    first = R[:1] if shared else R
    U, V, error, n_iter, act, relaxed = scale_block(K, first, C, 1e-11, limit, 10_000, Stop())
    assert (act == CONVERGED).all() and (n_iter > 0).all()
    assert relaxed.any() == (limit == FOREVER)
    for k in range(12):
        r, P = first[0 if shared else k], U[k][:, None] * K * V[k]
        assert off(P, r, C[k]) == pytest.approx(error[k], abs=1e-14)
        right = naive.log_sinkhorn(M.tolist(), LAM, r.tolist(), C[k].tolist(), tol=1e-12)
        np.testing.assert_allclose(P, right.P, atol=1e-9)


def test_a_pair_does_not_depend_on_its_company():
    U, V, _, n_iter, *_ = scale_block(K, R, C, 1e-9, FOREVER, 10_000, Stop())
    for k in range(12):
        u, v, _, alone, *_ = scale_block(K, R[[k]], C[[k]], 1e-9, FOREVER, 10_000, Stop())
        assert alone[0] == n_iter[k]
        P, Q = U[k][:, None] * K * V[k], u[0][:, None] * K * v[0]
        np.testing.assert_allclose(P, Q, atol=1e-13)


def test_sweeps_that_are_used_up_end_with_exact_rows():
    U, V, error, n_iter, act, _ = scale_block(K, R, C, 1e-300, PLAIN, 4, Stop())
    assert (act == RUNNING).all() and (n_iter == 4).all()
    for k in range(12):
        P = U[k][:, None] * K * V[k]
        np.testing.assert_allclose(P.sum(axis=1), R[k], atol=1e-15)
        assert abs(P.sum(axis=0) - C[k]).sum() == pytest.approx(error[k], rel=1e-10)


def test_a_pair_that_is_lost_is_told_and_leaves_the_others_alone():
    broken = K.copy()
    broken[:, 0] *= 1e-312  # scalings of this column are beyond all numbers
    with np.errstate(all="ignore"):
        act = scale_block(broken, R, C, 1e-9, FOREVER, 1000, Stop())[4]
    np.testing.assert_array_equal(act, np.where(C[:, 0] > 0, OVERFLOW, CONVERGED))
    assert 0 < (act == OVERFLOW).sum() < 12


def test_nothing_is_swept_when_nobody_waits():
    stop = Stop()
    stop.set()
    error, n_iter, act = scale_block(K, R, C, 1e-9, FOREVER, 1000, stop)[2:5]
    assert (error == np.inf).all() and not n_iter.any() and (act == RUNNING).all()
