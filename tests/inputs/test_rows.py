"""Row-wise operations: CSR rows answer what the same rows answer when they are dense."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import coo_array, csr_array

from sinkdist.inputs import rows

families = st.builds(
    lambda n, d, seed: (
        np.random.default_rng([n, d, seed]).random((n, d))
        * (np.random.default_rng([seed, n, d]).random((n, d)) < 0.5)
    ),
    st.integers(1, 6),
    st.integers(1, 7),
    st.integers(0, 10**6),
)
FLOAT = np.dtype(float)


@given(families)
def test_sparse_and_dense_rows_answer_the_same(X):
    sparse = rows.promoted(csr_array(X), FLOAT)
    np.testing.assert_array_equal(sparse.toarray(), X)
    np.testing.assert_array_equal(rows.sums(sparse), rows.sums(X))
    np.testing.assert_array_equal(rows.per_row(np.maximum, sparse), X.max(axis=1))
    np.testing.assert_allclose(rows.per_row(np.add, sparse), X.sum(axis=1), rtol=1e-15)
    numbers = np.arange(1.0, len(X) + 1)
    scaled = rows.with_masses(sparse, rows.masses(sparse) * rows.spread(numbers, sparse))
    np.testing.assert_array_equal(scaled.toarray(), X * rows.spread(numbers, X))
    flushed = rows.flushed(sparse, FLOAT, 0.5)
    np.testing.assert_array_equal(flushed.toarray(), rows.flushed(X, FLOAT, 0.5))
    np.testing.assert_array_equal(flushed.toarray(), np.where(X < 0.5, 0.0, X))
    large, marked = X > 0.5, rows.masses(sparse) > 0.5
    if large.any():
        i, j, value = rows.position(X, large)
        assert (i, j) == tuple(np.argwhere(large)[0]) and value == X[i, j]
        assert rows.position(sparse, marked) == (i, j, value)


@given(families)
def test_sums_do_not_depend_on_company_or_on_empty_bins(X):
    wide = np.zeros((len(X), 3 * X.shape[1]))
    wide[:, ::3] = X
    np.testing.assert_array_equal(rows.sums(wide), rows.sums(X))
    np.testing.assert_array_equal(rows.sums(X), [rows.sums(x[None])[0] for x in X])


def test_promotion_copies_only_what_it_must():
    X = np.random.default_rng(0).random((3, 4))
    assert np.shares_memory(rows.promoted(X, FLOAT), X)
    assert rows.promoted(X[0], FLOAT).shape == (1, 4)
    strided = rows.promoted(np.asfortranarray(X), FLOAT)
    assert strided.flags.c_contiguous
    assert rows.promoted(X.astype(np.int8), np.dtype(np.float32)).dtype == np.float32


def test_doubled_entries_are_summed_in_the_new_dtype_and_zeros_are_not_kept():
    doubled = coo_array((np.array([100, 100, 0], np.int8), ([0, 0, 1], [1, 1, 0])), (2, 2))
    found = rows.promoted(doubled, FLOAT)
    np.testing.assert_array_equal(found.toarray(), [[0, 200], [0, 0]])
    assert found.nnz == 1 and found.has_canonical_format
    assert doubled.nnz == 3  # the caller's is as it was


def test_room_behind_the_entries_is_no_part_of_them():
    matrix = csr_array(np.eye(2))
    matrix.data, matrix.indices = np.append(matrix.data, 7.0), np.append(matrix.indices, 0)
    found = rows.promoted(matrix, FLOAT)
    np.testing.assert_array_equal(rows.masses(found), [1, 1])


def test_masses_that_become_0_are_dropped_from_sparse_rows():
    found = rows.with_masses(csr_array(np.eye(3)), np.array([1.0, 0.0, 2.0]))
    assert found.nnz == 2 and found.toarray()[2, 2] == 2.0


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_that_need_no_flushing_are_returned_as_they_are(sparse):
    X = csr_array(np.eye(2)) if sparse else np.eye(2)
    assert rows.flushed(X, FLOAT, 1e-3) is X
