"""Exponentials in the middle of loops, against NumPy's."""

import numpy as np
import pytest

from sinkdist.kernels.cloud.exponentials import LARGEST, exponential
from sinkdist.kernels.compiled import compiled


@compiled
def all_of(x, out):
    for k in range(x.size):
        out[k] = exponential(x[k])


@pytest.mark.parametrize(
    ("dtype", "least", "off"), [(np.float32, -86, 4e-7), (np.float64, -690, 2e-14)]
)
def test_exponentials(dtype, least, off):
    x = np.concatenate([np.linspace(least, LARGEST, 9999), [0.0, -0.5 * np.log(2)]]).astype(dtype)
    out = np.empty_like(x)
    all_of(x, out)
    wanted = np.exp(x.astype(np.float64))
    # What rounding the argument's reduction may do is a part of the argument's own size.
    bound = off * (1.0 + 0.02 * np.abs(x))
    assert np.all(np.abs(out / wanted - 1.0) <= bound)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exponents_beyond_all_are_cut_off(dtype):
    x = np.array([-np.inf, -1e30, -1e4, 1e4, np.inf], dtype=dtype)
    out = np.empty_like(x)
    all_of(x, out)
    assert np.all((out[:3] > 0.0) & (out[:3] < 1e-36))
    np.testing.assert_allclose(out[3:], np.exp(LARGEST), rtol=1e-5)
