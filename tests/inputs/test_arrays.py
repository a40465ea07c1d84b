"""Kinds of objects that are read as arrays of real numbers, and those that are refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from sinkdist.errors import InputTypeError
from sinkdist.inputs import arrays


@pytest.mark.parametrize(
    "value",
    [
        [[1, 2], [3, 4]], ((1.0, 2.0), (3.0, 4.0)), np.array([[1, 2], [3, 4]], np.uint8),
        np.array([[True, False]]), pd.DataFrame({"a": [1, 2], "b": [3.5, 4]}), memoryview(b"abc"),
        pd.Series([1, None], dtype="Int64"), np.matrix([[1.0]]), range(3),
    ],
    ids=lambda value: type(value).__name__,
)  # fmt: skip
def test_what_is_read(value):
    found = arrays.real_array(value, "It")
    assert type(found) is np.ndarray and found.dtype.kind in "fiub"
    wanted = np.array([1, np.nan]) if isinstance(value, pd.Series) else np.asarray(value)
    np.testing.assert_array_equal(found, wanted)


def test_an_array_is_not_copied():
    X = np.zeros((2, 2))
    assert arrays.real_array(X, "It") is X


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        (None, "It must be an array of real numbers. Got None instead."),
        ("abc", "Got an object of type str instead."),
        (object(), "Got an object of type object instead."),
        ([[1], [2, 3]], "It is a ragged nested list"),
        (np.array([1j]), "It must hold real numbers. Got dtype complex128 instead: pass its .real"),
        (np.array(["a"]), "Got dtype <U1 instead."),
        (np.array([1, None]), "with None among its entries."),
        (np.array([1, 2], object), "Got dtype object instead: pass .astype(float)."),
        (np.array(["2020-01-01"], "M8[D]"), "It must hold real numbers."),
        (np.ma.masked_array([1, 2], [0, 1]), "It is a masked array"),
        ([np.ma.masked_array([1, 2], [0, 1])], "It is a masked array"),
        (sparse.csr_array(np.eye(2)), "Got an object of type csr_array instead."),
        (pd.DataFrame({"a": ["x"]}), "with an object of type str among its entries."),
    ],
)
def test_what_is_refused(value, sentence):
    with pytest.raises(InputTypeError) as caught:
        arrays.real_array(value, "It")
    assert sentence in str(caught.value)


def test_read_only_memory_is_shown_to_kernels_without_a_copy():
    X = np.random.default_rng(0).random((3, 4))
    X.flags.writeable = False
    found = arrays.for_kernels(X)
    assert found.flags.writeable and np.shares_memory(found, X)
    del X
    assert found.sum() > 0  # it keeps what it shows
    for other in (np.asfortranarray(found), found.astype(np.float32), found[:, ::2]):
        same = arrays.for_kernels(other)
        assert same.flags.c_contiguous and same.dtype == np.float64
        np.testing.assert_array_equal(same, other)


def test_labels_and_sparsity():
    frame = pd.DataFrame({"a": [1], "b": [2]})
    assert list(arrays.pandas_labels(frame)) == ["a", "b"]
    assert list(arrays.pandas_labels(pd.Series([1], index=["x"]))) == ["x"]
    assert arrays.pandas_labels(np.eye(2)) is None
    assert arrays.is_sparse(sparse.lil_array((2, 2))) and not arrays.is_sparse(np.eye(2))
