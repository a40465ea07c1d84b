"""The option `mass_penalty`: what is read, and what is refused with the argument's name."""

import math
from fractions import Fraction

import numpy as np
import pytest

from sinkdist.errors import InputError, InputTypeError
from sinkdist.problem.masses import read


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (None, None), (math.inf, None), ((math.inf, math.inf), None), (2, (2.0, 2.0)),
        ((1, 3), (1.0, 3.0)), ([0.5, math.inf], (0.5, math.inf)), (Fraction(1, 2), (0.5, 0.5)),
        (np.float32(0.25), (0.25, 0.25)),
    ],
)  # fmt: skip
def test_what_is_read(given, wanted):
    assert read(given) == wanted


@pytest.mark.parametrize("given", [0, -1.0, math.nan, (1, 0), (math.nan, math.inf)])
def test_penalties_are_positive(given):
    with pytest.raises(InputError, match="positive") as caught:
        read(given)
    assert caught.value.option == "mass_penalty"


@pytest.mark.parametrize("given", ["1", True, (1,), (1, 2, 3), np.ones(2), (1, "2"), {1: 2}])
def test_penalties_are_numbers(given):
    with pytest.raises(InputTypeError, match="number") as caught:
        read(given)
    assert caught.value.option == "mass_penalty"
