"""Passes over the kernel of one pair, against formulas on whole arrays."""

import math

import numpy as np
import pytest
from hypothesis import given

from sinkdist.kernels import pair
from tests.small_pairs import shapes, small_pair


def scalings(p, seed):
    rng = np.random.default_rng(seed)
    return rng.lognormal(size=p.r.size), rng.lognormal(size=p.c.size)


def close(actual, expected):
    np.testing.assert_allclose(actual, expected, rtol=1e-13)


@given(shapes)
def test_a_row_pass_makes_rows_exact_and_tells_the_column_sums(shape):
    p = small_pair(*shape)
    _, v = scalings(p, shape[2])
    u, acc = np.empty(p.r.size), np.empty(p.c.size)
    assert pair.row_pass(p.K, p.r, v, u, acc)
    P = u[:, None] * p.K * v
    close(P.sum(axis=1), p.r)
    close(acc * v, P.sum(axis=0))


@pytest.mark.parametrize("row", range(6))
@pytest.mark.parametrize("scale", [1e-300, 1e300, 0.0, np.nan])
def test_a_row_sum_that_is_not_representable_is_told(row, scale):
    """In the rows that are taken four at a time, and in those that are left."""
    p = small_pair(6, 5, 0)
    K = p.K
    K[row] *= scale
    u, v, acc = np.ones(6), np.ones(5), np.empty(5)
    with np.errstate(all="ignore"):
        assert not pair.row_pass(K, p.r, v, u, acc)
        assert pair.relaxed_row_pass(K, p.r, v, np.ones(6), acc, 1.5) == np.inf


@given(shapes)
def test_a_relaxed_row_pass_is_a_power_of_the_plain_one_near_the_solution(shape):
    p = small_pair(*shape)
    _, v = scalings(p, shape[2])
    w = 1.0 + np.random.default_rng(shape[2]).uniform(0.0, 0.95)
    exact = p.r / (p.K @ v)
    u = exact * (1.0 + 1e-4 * np.random.default_rng(1).uniform(-1, 1, p.r.size))
    wanted = u * (exact / u) ** w
    rows, acc = u * (p.K @ v), np.empty(p.c.size)
    error = pair.relaxed_row_pass(p.K, p.r, v, u, acc, w)
    assert error == pytest.approx(abs(rows - p.r).sum(), rel=1e-9)
    np.testing.assert_allclose(u, wanted, rtol=1e-11)  # to second order of 1e-4
    close(acc, p.K.T @ u)


def test_far_from_the_solution_a_relaxed_step_is_a_plain_one():
    assert pair.power(0.4, 1.9) == 0.4 and pair.power(3.0, 1.9) == 3.0
    assert pair.power(1.0, 1.7) == 1.0
    assert pair.power(1.01, 1.5) == pytest.approx(1.01**1.5, abs=1e-6)


@given(shapes)
def test_a_relaxed_column_step_and_its_error(shape):
    p = small_pair(*shape)
    v, acc = scalings(p, shape[2])[1], np.empty(p.c.size)
    acc = p.c / v * (1.0 + 1e-4 * np.random.default_rng(2).uniform(-1, 1, v.size))
    error, wanted = abs(v * acc - p.c).sum(), v * (p.c / (v * acc)) ** 1.6
    assert pair.relaxed_column_step(p.c, v, acc, 1.6) == pytest.approx(error, rel=1e-9)
    np.testing.assert_allclose(v, wanted, rtol=1e-11)


@pytest.mark.parametrize("have", [0.0, np.nan, 1e290])
def test_a_column_sum_that_is_not_representable_is_told(have):
    assert pair.relaxed_column_step(np.ones(2), np.ones(2), np.array([1.0, have]), 1.5) == np.inf


@given(shapes)
def test_sums_and_costs(shape):
    p = small_pair(*shape)
    u, v = scalings(p, shape[2])
    acc = np.empty(p.c.size)
    pair.column_sums(p.K, u, acc)
    close(acc, p.K.T @ u)
    P = u[:, None] * p.K * v
    assert pair.plan_cost(p.K, p.M, u, v) == pytest.approx(math.fsum((P * p.M).flat), rel=1e-13)
    mean = math.fsum((np.outer(p.r, p.c) * p.M).flat)
    assert pair.mean_cost(p.M, p.r, p.c) == pytest.approx(mean, rel=1e-13)


def test_a_block_is_gathered_from_its_bins():
    K = np.arange(30.0).reshape(5, 6)
    rows, columns = np.array([4, 0, 2]), np.array([5, 1])
    out = np.empty((3, 2))
    pair.gather(K, rows, columns, out)
    np.testing.assert_array_equal(out, K[[4, 0, 2]][:, [5, 1]])
