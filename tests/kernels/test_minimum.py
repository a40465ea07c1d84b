import numpy as np
import pytest

from sinkdist.kernels.compiled import compiled
from sinkdist.kernels.minimum import lesser


@compiled
def least_of(x):
    least = x[0]
    for k in range(x.size):
        least = lesser(least, x[k])
    return least


@pytest.mark.nojit
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 7, 64, 1001])
def test_the_least_of_many(dtype, size):
    x = np.random.default_rng(size).normal(size=size).astype(dtype)
    assert least_of(x) == x.min()


@pytest.mark.nojit
def test_infinities():
    assert least_of(np.array([np.inf, 3.0, -np.inf])) == -np.inf
    assert least_of(np.array([np.inf, 3.0, np.inf])) == 3.0
