"""The logarithm of one number, inside a loop of a kernel that may reorder its sums."""

import math
import sys

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sinkdist.kernels.compiled import compiled
from sinkdist.kernels.logarithm import log_of


@compiled
def each(x, out):
    for j in range(x.size):
        out[j] = log_of(x[j])


@given(st.lists(st.floats(sys.float_info.min, sys.float_info.max), min_size=1, max_size=20))
def test_all_normal_numbers(values):
    out = np.empty(len(values))
    each(np.array(values), out)
    np.testing.assert_allclose(out, [math.log(x) for x in values], rtol=4e-16, atol=3e-16)


@given(st.lists(st.floats(0.5, 2.0), min_size=1, max_size=20))
def test_numbers_near_one(values):
    out = np.empty(len(values))
    each(np.array(values), out)
    np.testing.assert_allclose(out, [math.log(x) for x in values], rtol=4e-16, atol=1e-300)
