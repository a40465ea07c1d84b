import numpy as np
import pytest

from sinkdist.kernels.compiled import compiled
from sinkdist.kernels.minimum import lesser, place_in, placed


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


@compiled
def least_and_place(x, mask):
    least = placed(x[0], 0, mask)
    for k in range(x.size):
        least = lesser(least, placed(x[k], k, mask))
    return least, place_in(least, mask)


@pytest.mark.nojit
@pytest.mark.parametrize("size", [1, 7, 64, 1001])
def test_a_minimum_brings_its_place_along(size):
    x = np.random.default_rng(size).normal(size=size)
    least, place = least_and_place(x, 1023)
    assert place == x.argmin() and least == pytest.approx(x.min(), rel=1e-12)


@pytest.mark.nojit
def test_infinities():
    assert least_of(np.array([np.inf, 3.0, -np.inf])) == -np.inf
    assert least_of(np.array([np.inf, 3.0, np.inf])) == 3.0
