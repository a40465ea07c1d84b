"""`iterations_for`: what it takes, what it refuses, and how it depends on its arguments."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist import InputError, InputTypeError, iterations_for

TWO = [[0.0, 2.0], [2.0, 0.0]]  # its median is 1


def test_a_larger_lam_takes_more():
    numbers = [iterations_for(lam, TWO) for lam in (1e-9, 0.1, 1, 3, 5, 9, 11, 15, 25, 50, 100)]
    assert numbers == sorted(numbers) and numbers[0] >= 1
    assert all(type(number) is int for number in numbers)


def test_the_unit_of_cost_does_not_matter():
    ground = sd.Ground.grid(20, 20)
    assert iterations_for(9 / ground.median, ground) == iterations_for(9, ground.scaled())
    assert (
        iterations_for(3, TWO)
        == iterations_for(3.0, np.array(TWO))
        == iterations_for(3, sd.Ground(TWO))
    )
    assert iterations_for(np.float32(3), TWO) == iterations_for(3, TWO)


@pytest.mark.parametrize("lam", [0, -1.0, np.inf, np.nan])
def test_there_must_be_something_to_iterate(lam):
    with pytest.raises(InputError, match="'lam' must be positive and finite"):
        iterations_for(lam, TWO)


@pytest.mark.parametrize("lam", ["9", None, [9.0], True, 1j])
def test_lam_is_one_number(lam):
    with pytest.raises(InputTypeError, match="'lam' must be one real number"):
        iterations_for(lam, TWO)


def test_there_is_an_end_to_counting():
    for lam in (1e200, 1e308):
        with pytest.raises(InputError, match="more iterations than can be counted"):
            iterations_for(lam, np.multiply(TWO, 10.0))


def test_a_ground_without_unit():
    with pytest.raises(InputError, match="median of the ground matrix is 0"):
        iterations_for(9, np.eye(4))
    with pytest.raises(InputError, match="must be 2-dimensional"):
        iterations_for(9, [1.0, 2.0])
