"""Rows by their content: equal rows are one, dense or sparse, and different ones are not."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sinkdist.inputs.histograms import Histograms
from sinkdist.learn import hashed_rows as module
from sinkdist.learn.hashed_rows import hashed_rows


def family(n, kinds, seed):
    rng = np.random.default_rng([n, kinds, seed])
    return rng.dirichlet(np.ones(4), kinds)[rng.integers(0, kinds, n)]


families = st.builds(family, st.integers(1, 12), st.integers(1, 5), st.integers(0, 10**6))


@given(families)
def test_kinds_are_those_of_unique_rows(X):
    roll = hashed_rows(Histograms(X))
    unique = roll.without_repeats
    np.testing.assert_array_equal(unique.rows[roll.kinds], X)
    assert len(unique) == len(np.unique(X, axis=0)) == len(set(roll.digests))
    np.testing.assert_array_equal(roll.distinct, sorted(roll.distinct))
    same = (X[:, None] == X).all(axis=2)
    np.testing.assert_array_equal(roll.same(roll), same)
    np.testing.assert_array_equal(roll.same(unique), same[:, roll.distinct])


@given(families)
def test_sparse_rows_have_the_digests_of_dense_ones(X):
    X = np.where(X > 0.2, X, 0.0)
    sparse, dense = hashed_rows(Histograms(csr_array(X))), hashed_rows(Histograms(X))
    assert sparse.digests == dense.digests
    np.testing.assert_array_equal(sparse.take(np.array([0])).rows.toarray(), X[:1])


def test_a_zero_is_a_zero_and_the_last_bit_counts(monkeypatch):
    monkeypatch.setattr(module, "_AT_ONCE", 2)  # rows are looked at in blocks
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [np.nextafter(0.0, 1.0), 1.0]])
    first, second, third = hashed_rows(Histograms(X)).digests
    assert first == second != third


def test_rows_that_are_not_there_are_like_none():
    X, Y = np.eye(3), np.eye(3)[[2, 0]]
    found = hashed_rows(Histograms(X)).same(hashed_rows(Histograms(Y)))
    np.testing.assert_array_equal(found, [[False, True], [False, False], [True, False]])
