"""Weights: read, normalised on request, refused with the place and the repair."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sinkdist.errors import InputError, InputTypeError
from sinkdist.inputs.weights import read

pytestmark = pytest.mark.nojit


def test_equal_by_default():
    weights, is_one = read(None, 4, normalize=False)
    assert is_one and weights.tolist() == [[0.25] * 4]


def test_many_rows():
    weights, is_one = read([[0.5, 0.5], [1, 0]], 2, normalize=False)
    assert not is_one and weights.tolist() == [[0.5, 0.5], [1.0, 0.0]]
    sparse, _ = read(csr_array([[0.5, 0.5], [1, 0]]), 2, normalize=False)
    assert sparse.tolist() == weights.tolist()


def test_normalised_on_request_whatever_the_scale():
    for scale in (1, 1e300, 1e-300):
        weights, _ = read(np.array([1.0, 3.0]) * scale, 2, normalize=True)
        np.testing.assert_allclose(weights, [[0.25, 0.75]])


def test_rounding_is_no_error():
    weights, _ = read(np.full(3, np.float32(1 / 3)), 3, normalize=False)
    assert weights.sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([0.5, 0.6], r"'weights' sums to 1.1, but .* pass normalize=True to divide by the sum"),
        ([[1, 0], [0.5, 0.6]], "Row 1 of 'weights' sums to 1.1"),
        ([1.5, -0.5], "Entry 1 of 'weights' is -0.5, but weights must be non-negative"),
        ([[1, 0], [np.nan, 1]], r"Entry \(1, 0\) of 'weights' is nan, but weights must be finite"),
        ([0, 0], "'weights' has no positive weight"),
        ([[1, 0], [0, 0]], "Row 1 of 'weights' has no positive weight"),
        ([1.0], r"one weight for each of the 2 histograms in 'X': shape \(2,\), or \(m, 2\)"),
        (1.0, r"Got shape \(\) instead"),
        ([[[0.5, 0.5]]], r"Got shape \(1, 1, 2\) instead"),
    ],
    ids=str,
)
def test_what_is_refused(weights, message):
    with pytest.raises(InputError, match=message) as caught:
        read(weights, 2, normalize=False)
    assert caught.value.option == "weights"


@pytest.mark.parametrize("weights", ["equal", [1j, 0], [None, 1]], ids=str)
def test_what_is_never_read(weights):
    with pytest.raises(InputTypeError, match="weights"):
        read(weights, 2, normalize=False)
