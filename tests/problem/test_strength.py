"""Exactly one of lam, reg and alpha; what their limits mean; each refusal has its own sentence."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinkdist.errors import InputError, InputTypeError
from sinkdist.problem.strength import is_relative, read
from sinkdist.solvers.members import Constrained, Exact, Independent, Penalised, member_of

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
    found = member_of(read(**given_))
    assert found == Penalised(lam) and type(found.lam) is float


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
    ("given_", "lam", "kind"),
    [
        ({"lam": 0}, 0.0, Independent),
        ({"lam": 0.0}, 0.0, Independent),
        ({"lam": -0.0}, 0.0, Independent),
        ({"lam": 1e-310}, 0.0, Independent),
        ({"lam": Fraction(1, 10**400)}, 0.0, Independent),
        ({"reg": math.inf}, 0.0, Independent),
        ({"reg": 10**400}, 0.0, Independent),
        ({"alpha": 0}, 0.0, Independent),
        ({"alpha": 0.0}, 0.0, Independent),
        ({"lam": math.inf}, math.inf, Exact),
        ({"lam": 10**400}, math.inf, Exact),
        ({"reg": 0}, math.inf, Exact),
        ({"reg": 1e-310}, math.inf, Exact),
        ({"alpha": math.inf}, math.inf, Exact),
        ({"alpha": np.float32(np.inf)}, math.inf, Exact),
        ({"alpha": 10**400}, math.inf, Exact),
    ],
)
def test_limits_are_members_of_the_family(given_, lam, kind):
    found = member_of(read(**given_))
    assert found == kind() and found.lam == lam


@pytest.mark.parametrize("alpha", [5e-324, 1e-8, 0.5, np.float32(0.5), Fraction(1, 2), 1e300])
def test_a_radius_between_the_limits_leaves_lam_to_be_found(alpha):
    found = member_of(read(alpha=alpha))
    assert isinstance(found, Constrained)
    assert found.alpha == float(alpha) and type(found.alpha) is float
    assert math.isnan(found.lam)


def test_lam_over_the_median_is_a_number_for_the_costs_at_hand():
    assert read(lam="9/median", median=lambda: 3.0).value == 3.0
    assert read(lam=" 1e2 / median ", median=lambda: 4.0).value == 25.0
    assert read(lam="inf/median", median=lambda: 0.0).value == math.inf
    assert not is_relative("9/max") and is_relative("9/median")
