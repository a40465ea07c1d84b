"""Reading a matrix of costs and the unit they are divided by: what is refused, and how."""

import numpy as np
import pytest
from scipy import sparse

from sinkdist.errors import InputError, InputTypeError
from sinkdist.ground.reading import bad_cost, read_matrix, unit_of


def test_a_matrix_is_copied_in_float64():
    given = np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3))
    read = read_matrix(given)
    given[0, 0] = 9
    assert (read.dtype, read.flags.c_contiguous, read[0, 0]) == (np.float64, True, 0.0)


@pytest.mark.parametrize(
    ("given", "error", "sentence"),
    [
        ([1.0, 2.0], InputError, r"must be 2-dimensional\. Got shape \(2,\)"),
        (np.empty((0, 3)), InputError, r"is empty: its shape is \(0, 3\)"),
        (sparse.csr_array(np.eye(2)), InputTypeError, r"must be dense.*Ground\.graph"),
    ],
)
def test_what_is_no_matrix_is_refused(given, error, sentence):
    with pytest.raises(error, match=sentence):
        read_matrix(given)


@pytest.mark.parametrize(
    ("cost", "sentence"),
    [
        (-1.0, r"Cost \(0, 1\) .* is -1; costs must be non-negative"),
        (np.nan, r"Cost \(0, 1\) .* is nan; costs must be finite"),
        (np.inf, r"such as 3e\+06 \(a million times the largest finite cost\)"),
    ],
)
def test_the_first_bad_cost_is_named(cost, sentence):
    matrix = np.array([[0.0, cost], [3.0, cost]])
    with pytest.raises(InputError, match=sentence):
        raise InputError(bad_cost(matrix))


def test_units():
    assert unit_of("median", 2.0, 5.0) == (2.0, "median")
    assert unit_of("max", 2.0, 5.0) == (5.0, "max")
    assert unit_of(np.float32(0.5), 2.0, 5.0) == (0.5, "0.5")


@pytest.mark.parametrize(
    ("by", "error", "sentence"),
    [
        ("median", InputError, r"median .* is 0, .*scale by a number or by='max'"),
        ("mean", InputError, "'median', 'max' or a number. Got 'mean'"),
        (True, InputTypeError, "Got an object of type bool"),
        (-1, InputError, "must be positive and finite. Got -1"),
    ],
)
def test_what_is_no_unit_is_refused(by, error, sentence):
    with pytest.raises(error, match=sentence):
        unit_of(by, 0.0, 5.0)
