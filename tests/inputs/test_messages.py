"""Sentences about bad histograms: to the letter, for one histogram and for a family."""

import numpy as np
import pytest

from sinkdist.errors import InputError, NegativeMassError
from sinkdist.inputs.messages import Argument, check_shape

ONE, MANY = Argument("r", True), Argument("X", False)


def test_one_entry():
    negative = ONE.bad_entry(0, 3, -0.5, negative=True)
    assert isinstance(negative, NegativeMassError) and negative.argument == "r"
    assert str(negative) == "Entry 3 of 'r' is -0.5, but masses must be non-negative."
    other = MANY.bad_entry(2, 3, np.nan, negative=False)
    assert str(other) == "Entry (2, 3) of 'X' is nan, but masses must be finite."


@pytest.mark.parametrize(
    ("rows", "middle"),
    [
        ([4], ", but"),
        ([4, 6], " (and 1 more row not to 1), but"),
        ([4, 6, 7], " (and 2 more rows not"),
    ],
)
def test_wrong_sums(rows, middle):
    error = MANY.wrong_sum(np.array(rows), 1.000001)
    said = str(error)
    assert error.hint == ("normalize", True)
    assert said.startswith(f"Row 4 of 'X' sums to 1.000001{middle}")
    assert said.endswith("pass normalize=True to divide by the row sums.")
    assert str(ONE.wrong_sum(np.array([0]), 2.0)) == (
        "'r' sums to 2, but histograms must sum to 1: pass normalize=True to divide by its sum."
    )


@pytest.mark.parametrize(
    ("count", "begin"),
    [
        (1, "Row 0 of 'X' has no mass:"),
        (2, "Rows 0, 1 of 'X' have no mass:"),
        (5, "Rows 0, 1, 2, 3, 4 of 'X' have no mass:"),
        (6, "Rows 0, 1, 2, 3, 4, ... of 'X' have no mass (6 rows in all):"),
    ],
)
def test_rows_without_mass(count, begin):
    assert str(MANY.without_mass(np.arange(count))).startswith(begin)
    assert str(ONE.without_mass(np.array([0]))) == (
        "'r' has no mass: pass on_empty='nan' to get NaN for it."
    )


@pytest.mark.parametrize("shape", [(3,), (1, 3), (9, 3)])
def test_shapes_that_fit(shape):
    check_shape(shape, "X", 3, "the ground")
    check_shape(shape, "X", None, "nothing")


@pytest.mark.parametrize(
    ("shape", "sentence"),
    [
        ((), "'X' must be one histogram of shape (d,) or a family of shape (n, d). Got shape ()"),
        ((1, 2, 3), "Got shape (1, 2, 3) instead: pass X.reshape(1, 6), one row of 6 bins"),
        ((4, 0), "'X' has no bins: its shape is (4, 0)."),
        ((4,), "'X' has 4 bins, but the ground has 3."),
        ((2, 1), "'X' has 1 bin per row, but the ground has 3."),
        ((3, 7), "its shape is (3, 7): pass X.T if it is transposed."),
        ((3, 1), "its shape is (3, 1): pass X.ravel() if it is transposed."),
    ],
)
def test_shapes_that_do_not(shape, sentence):
    with pytest.raises(InputError) as caught:
        check_shape(shape, "X", 3, "the ground")
    assert sentence in str(caught.value)
