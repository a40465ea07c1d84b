"""Exponentials of rows, against many digits."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinkdist.kernels import exponential
from tests.small_pairs import shapes, small_pair


def exp_of(values):
    x = np.array(values, float)
    exponential.exp_in_place(x)
    return x


@given(st.lists(st.floats(-690.0, 690.0), min_size=1, max_size=9))
def test_the_relative_error_is_below_4e_16(values):
    for x, y in zip(values, exp_of(values), strict=True):
        right = mpmath.exp(mpmath.mpf(x))
        assert abs(mpmath.mpf(float(y)) - right) <= 4e-16 * right


def test_arguments_beyond_the_range_are_held_at_its_ends():
    low, high = math.exp(-690.0), math.exp(690.0)
    found = exp_of([-1e300, -np.inf, -691.0, 691.0, 1e300, 0.0])
    np.testing.assert_allclose(found, [low, low, low, high, high, 1.0], rtol=1e-13)
    assert found[0] > np.finfo(float).smallest_normal


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_kernel_in_both_precisions(dtype):
    p = small_pair(7, 5, 0, lam=30.0)
    K = np.empty((7, 5), dtype)
    exponential.gibbs_kernel(p.M, p.lam, K)
    np.testing.assert_allclose(K, p.K, rtol=5e-16 if dtype is np.float64 else 6e-8)


@given(shapes)
def test_the_stabilised_kernel_of_the_potentials_is_the_plan(shape):
    p = small_pair(*shape)
    P, _, f, g = p.truth
    K = np.empty(p.M.shape)
    exponential.stabilised_kernel(p.M, p.lam, f, g, K)
    np.testing.assert_allclose(K, P, rtol=1e-13)


def digits_of(M, lam, f, masses):
    """``(log c_j - log sum_i exp(lam (f_i - M_ij))) / lam`` in 50 digits."""
    with mpmath.workdps(50):
        return [
            float((mpmath.log(x) - mpmath.log(mpmath.fsum(
                mpmath.exp(mpmath.mpf(lam) * (mpmath.mpf(a) - mpmath.mpf(b)))
                for a, b in zip(f.tolist(), column, strict=True)
            ))) / lam)
            for x, column in zip(masses.tolist(), M.T.tolist(), strict=True)
        ]  # fmt: skip


@pytest.mark.parametrize("lam", [1e-3, 5.0, 1e4, 1e12])
def test_updates_in_the_log_domain_are_exact_at_any_lam(lam):
    p = small_pair(6, 4, 3)
    f, g = np.random.default_rng(0).uniform(-1, 1, 6), np.zeros(4)
    row = np.empty(4)
    exponential.log_column_update(p.M, lam, p.c, f, g, row, -1.0)
    np.testing.assert_allclose(g, digits_of(p.M, lam, f, p.c), rtol=1e-13, atol=1e-15)
    new = np.empty(6)
    exponential.log_row_update(p.M, lam, p.r, new, g, row)
    np.testing.assert_allclose(new, digits_of(p.M.T, lam, g, p.r), rtol=1e-13, atol=1e-15)


def test_columns_that_are_good_enough_are_left_alone():
    p = small_pair(5, 5, 4)
    _, _, f, g = p.truth
    moved = g + 1e-4
    row = np.empty(5)
    error = exponential.log_column_update(p.M, p.lam, p.c, f, moved, row, 1e-2)
    P = np.exp(p.lam * (f[:, None] + g + 1e-4 - p.M))
    assert error == pytest.approx(abs(P.sum(axis=0) - p.c).sum(), rel=1e-6)
    np.testing.assert_array_equal(moved, g + 1e-4)
    exponential.log_column_update(p.M, p.lam, p.c, f, moved, row, 1e-5)
    np.testing.assert_allclose(moved, g, atol=1e-11)
