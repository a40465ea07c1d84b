"""Exactly one of lam, reg and alpha; each refusal has its own sentence."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinkdist.errors import InputError, InputTypeError, UnavailableError
from sinkdist.strength import Kind, Strength, read

pytestmark = pytest.mark.filterwarnings("error")


@pytest.mark.parametrize(
    ("given_", "lam"),
    [
        ({"lam": 9}, 9.0),
        ({"lam": np.float32(0.5)}, 0.5),
        ({"lam": np.int64(3)}, 3.0),
        ({"lam": Fraction(1, 4)}, 0.25),
        ({"reg": 0.25}, 4.0),
        ({"lam": 1e300}, 1e300),
        ({"lam": 1e-300}, 1e-300),
    ],
)
def test_one_positive_number_is_a_penalised_distance(given_, lam):
    assert read(**given_) == Strength(lam, Kind.PENALISED)
    assert type(read(**given_).lam) is float


@given(st.floats(min_value=1e-300, max_value=1e300))
def test_reg_is_the_inverse_of_lam(reg):
    assert read(reg=reg) == read(lam=1 / reg)


@pytest.mark.parametrize(
    ("given_", "message"),
    [
        ({}, "exactly one of 'lam', 'reg' and 'alpha'. Got none of them instead."),
        ({"lam": 9, "reg": 0.1}, "Got lam=9 and reg=0.1 instead."),
        ({"lam": 9, "reg": 0.1, "alpha": 1}, "Got lam=9 and reg=0.1 and alpha=1 instead."),
        ({"lam": -1.5}, "'lam' must be non-negative. Got -1.5 instead."),
        ({"reg": np.float64(-1.5)}, "'reg' must be non-negative. Got -1.5 instead."),
        ({"alpha": math.nan}, "'alpha' must be non-negative. Got nan instead."),
        ({"lam": -(10**400)}, "'lam' must be non-negative. Got -1000"),
    ],
)
def test_bad_values(given_, message):
    with pytest.raises(InputError) as caught:
        read(**given_)
    assert message in str(caught.value)


@pytest.mark.parametrize("name", ["lam", "reg", "alpha"])
@pytest.mark.parametrize(
    "value", [True, "9", 1j, [9], np.array(9.0), np.ones(3), np.True_, Decimal(1), print]
)
def test_only_real_numbers_are_strengths(name, value):
    with pytest.raises(InputTypeError, match=f"'{name}' must be one real number. Got "):
        read(**{name: value})


@pytest.mark.parametrize(
    ("given_", "asks_for"),
    [
        ({"lam": 0}, "independence limit"),
        ({"lam": 1e-310}, "independence limit"),
        ({"reg": math.inf}, "independence limit"),
        ({"alpha": 0.0}, "independence limit"),
        ({"lam": math.inf}, "exact transport"),
        ({"lam": 10**400}, "exact transport"),
        ({"reg": 0}, "exact transport"),
        ({"reg": 1e-310}, "exact transport"),
        ({"alpha": math.inf}, "exact transport"),
        ({"alpha": 0.5}, "hard entropy constraint"),
    ],
)
def test_limits_and_alpha_say_that_they_are_not_available_yet(given_, asks_for):
    with pytest.raises(UnavailableError) as caught:
        read(**given_)
    (name,) = given_
    assert str(caught.value).startswith(f"{name}=")
    assert asks_for in str(caught.value)
    assert "does not compute yet" in str(caught.value)
