"""Halves of a sweep over a block: what each pair would get alone, and who stays put."""

import numpy as np
import pytest

from sinkdist.kernels import block


@pytest.fixture
def sums():
    """Row sums, weights of three pairs with a bin without mass, and scalings near a solution."""
    rng = np.random.default_rng(0)
    R = rng.dirichlet(np.ones(5), 3)
    R[:, 2] = 0.0
    S = rng.uniform(0.5, 2.0, (3, 5))
    U = R / S * rng.uniform(0.999, 1.001, (3, 5))
    return S, R, U


def test_plain_and_relaxed_row_steps(sums):
    S, R, U = sums
    old, error = U.copy(), np.full(3, np.nan)
    block.row_step(S, R, U, np.array([1.0, 1.5, 1.9]), error)
    np.testing.assert_allclose(U[0], R[0] / S[0], rtol=1e-14)
    for k, w in ((1, 1.5), (2, 1.9)):
        some = R[k] > 0
        wanted = old[k, some] * (R[k, some] / (old[k, some] * S[k, some])) ** w
        np.testing.assert_allclose(U[k, some], wanted, rtol=1e-8)
        assert U[k, 2] == 0.0
        assert error[k] == pytest.approx(abs(old[k] * S[k] - R[k]).sum(), rel=1e-12)
    assert error[0] == 0.0  # nobody has measured it, and rows are exact after it


def test_one_row_of_weights_is_shared(sums):
    S, R, U = sums
    block.row_step(S, R[:1], U, np.ones(3), np.empty(3))
    np.testing.assert_allclose(U, R[0] / S, rtol=1e-14)


def test_column_steps_of_pairs_that_have_ended_change_nothing(sums):
    A, C, V = sums
    old = V.copy()
    block.column_step(A, C, V, np.array([0.0, 1.0, 1.5]))
    np.testing.assert_array_equal(V[0], old[0])
    np.testing.assert_allclose(V[1], C[1] / A[1], rtol=1e-14)
    some = C[2] > 0
    wanted = old[2, some] * (C[2, some] / (old[2, some] * A[2, some])) ** 1.5
    np.testing.assert_allclose(V[2, some], wanted, rtol=1e-8)
    assert V[2, 2] == 0.0


def test_column_errors_add_to_what_is_there_and_are_infinite_where_sums_are_lost(sums):
    A, C, V = sums
    error = np.array([0.25, 0.0, 0.0])
    A[1, 0], A[2, 1] = np.nan, 1e200
    block.column_error(A, C, V, error)
    assert error[0] == pytest.approx(0.25 + abs(A[0] * V[0] - C[0]).sum(), rel=1e-12)
    assert error[1] == error[2] == np.inf
