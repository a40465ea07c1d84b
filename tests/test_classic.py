"""Euclidean and Hellinger distances, held against their definitions written as loops."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from sinkdist import classic
from sinkdist.errors import InputError

DISTANCES = [classic.euclidean, classic.hellinger]


def by_definition(distance, X, Y):
    """All distances, one pair and one bin after the other, in exact sums of float64."""

    def one(x, y):
        if distance is classic.euclidean:
            return math.sqrt(math.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True)))
        roots = ((math.sqrt(a) - math.sqrt(b)) ** 2 for a, b in zip(x, y, strict=True))
        return math.sqrt(math.fsum(roots) / 2)

    return np.array([[one(x, y) for y in Y.tolist()] for x in X.tolist()])


def histograms(n, d, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(d), n)


@pytest.mark.parametrize("distance", DISTANCES)
def test_matches_definition(distance):
    X, Y = histograms(12, 30), histograms(7, 30, seed=1)
    np.testing.assert_allclose(distance(X, Y), by_definition(distance, X, Y), rtol=1e-13)
    off_diagonal = ~np.eye(12, dtype=bool)
    expected = by_definition(distance, X, X)
    np.testing.assert_allclose(distance(X)[off_diagonal], expected[off_diagonal], rtol=1e-13)


@pytest.mark.parametrize("distance", DISTANCES)
def test_diagonal_is_zero_and_matrix_symmetric(distance):
    D = distance(histograms(50, 64))
    assert (np.diag(D) == 0).all()
    np.testing.assert_array_equal(D, D.T)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_rows_have_distance_zero_anywhere(distance, dtype):
    X = histograms(6, 40).astype(dtype)
    assert (np.diag(distance(X, X.copy())) == 0).all()
    assert (distance(np.repeat(X[:1], 4, axis=0)) == 0).all()


@pytest.mark.parametrize("distance", DISTANCES)
def test_tiny_distances_keep_their_digits(distance):
    X = histograms(1, 40).repeat(2, axis=0)
    X[1, 0] += 1e-9
    X[1, 1] -= 1e-9
    expected = by_definition(distance, X, X)[0, 1]
    # By |x|^2 + |y|^2 - 2 x.y this would be 0 or 1e-8: all digits lost.
    assert distance(X)[0, 1] == pytest.approx(expected, rel=1e-6)


def test_many_tiny_distances_need_little_memory(monkeypatch):
    monkeypatch.setattr(classic, "_ENTRIES_AT_ONCE", 100)
    X = histograms(1, 16) + np.linspace(0, 1e-10, 30)[:, None] * ([1, -1] * 8)
    expected = by_definition(classic.euclidean, X, X)
    np.testing.assert_allclose(classic.euclidean(X), expected, rtol=1e-5, atol=1e-16)


@pytest.mark.parametrize("distance", DISTANCES)
def test_float32_stays_float32(distance):
    X = histograms(9, 30)
    D = distance(X.astype(np.float32))
    assert D.dtype == np.float32
    np.testing.assert_allclose(D, by_definition(distance, X, X), atol=2e-6)
    assert distance(X.astype(np.float32), X).dtype == np.float64


def test_hellinger_is_one_without_common_bins():
    X = np.zeros((3, 30))
    for i in range(3):
        X[i, 10 * i : 10 * i + 10] = histograms(1, 10, seed=i)
    D = classic.hellinger(X)
    assert D.max() <= 1
    np.testing.assert_allclose(D, 1 - np.eye(3), atol=1e-15)


@pytest.mark.parametrize("distance", DISTANCES)
@given(
    X=arrays(
        float,
        st.tuples(st.integers(3, 3), st.integers(1, 12)),
        elements=st.floats(0, 1).map(lambda x: x + 1e-3),
    )
)
def test_is_a_metric(distance, X):
    D = distance(X, normalize=True)
    assert np.isfinite(D).all()
    assert (D >= 0).all()
    assert D.max() <= (math.sqrt(2) if distance is classic.euclidean else 1)
    # Squares are kept to half of their digits, so near-ties are decided to 1e-8.
    assert D[0, 2] <= (D[0, 1] + D[1, 2]) * (1 + 1e-8)


@pytest.mark.parametrize("distance", DISTANCES)
def test_reads_what_people_hold(distance):
    X = histograms(5, 8)
    expected = distance(X)
    read_only = X.copy()
    read_only.flags.writeable = False
    for form in (X.tolist(), pd.DataFrame(X), sparse.csr_array(X), read_only, X[::-1][::-1]):
        np.testing.assert_allclose(distance(form), expected, rtol=1e-15)
    np.testing.assert_array_equal(X, histograms(5, 8))


def test_counts_are_normalised_on_request():
    counts = np.array([[1, 3], [2, 2]], dtype=np.uint8)
    D = classic.euclidean(counts, normalize=True)
    assert D[0, 1] == pytest.approx(math.sqrt(0.125))
    with pytest.raises(InputError, match=r"Row 0 of 'X' sums to 4.*normalize=True"):
        classic.euclidean(counts)


@pytest.mark.parametrize("distance", DISTANCES)
def test_rows_without_mass(distance):
    X = histograms(4, 6)
    X[2] = 0
    with pytest.raises(InputError, match="Row 2 of 'X' has no mass"):
        distance(X)
    D = distance(X, on_empty="nan")
    assert np.isnan(D[2]).all()
    assert np.isnan(D[:, 2]).all()
    assert np.isfinite(np.delete(np.delete(D, 2, 0), 2, 1)).all()
    between = distance(X, X[:2], on_empty="nan")
    np.testing.assert_array_equal(np.isnan(between).any(axis=1), [False, False, True, False])


def test_messages_name_the_argument():
    X = histograms(3, 6)
    with pytest.raises(InputError, match="'Y' has 5 bins per row, but 'X' has 6"):
        classic.euclidean(X, histograms(3, 5))
    with pytest.raises(InputError, match=r"'X' must be a family .* Got shape \(6,\)"):
        classic.hellinger(X[0])
    with pytest.raises(InputError, match=r"'Y' must be a family .* Got shape \(6,\)"):
        classic.hellinger(X, X[0])
