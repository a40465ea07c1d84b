"""The exponential of one number, inside a loop of a kernel that may reorder its sums."""

import math

import mpmath
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sinkdist.kernels.compiled import compiled
from sinkdist.kernels.exp import CEILING, FLOOR, SINGLE_LIMIT, exp_of, exp_single


@compiled
def each(x, double, single):
    for j in range(x.size):
        double[j] = exp_of(x[j])
        single[j] = exp_single(x[j])


def both(values):
    x = np.array(values, np.float64)
    double, single = np.empty(x.size), np.empty(x.size, np.float32)
    each(x, double, single)
    return double, single


@given(st.lists(st.floats(FLOOR, CEILING), min_size=1, max_size=20))
def test_double_precision(values):
    for x, y in zip(values, both(values)[0], strict=True):
        with mpmath.workdps(30):
            right = mpmath.exp(mpmath.mpf(x))
            assert abs(mpmath.mpf(float(y)) - right) <= 4e-16 * right


@given(st.lists(st.floats(-SINGLE_LIMIT, SINGLE_LIMIT), min_size=1, max_size=20))
def test_single_precision(values):
    expected = [math.exp(x) for x in values]
    np.testing.assert_allclose(both(values)[1], expected, rtol=1.5e-7)


def test_ends_of_both_ranges():
    x = [-np.inf, -1e300, -86.0, 86.0, 1e300, np.inf]
    double, single = both(x)
    low, high = math.exp(FLOOR), math.exp(CEILING)
    np.testing.assert_allclose(double[[0, 1, 4, 5]], [low, low, high, high], rtol=1e-15)
    top = np.float32(math.exp(SINGLE_LIMIT))
    assert single[:3].tolist() == [0.0] * 3
    np.testing.assert_allclose(single[3:], [top] * 3, rtol=1e-6)


def test_nan_stays_and_no_result_is_subnormal():
    double, single = both([np.nan, FLOOR, -SINGLE_LIMIT])
    assert np.isnan(double[0]) and np.isnan(single[0])
    assert double[1] > np.finfo(np.float64).tiny and single[2] > np.finfo(np.float32).tiny
