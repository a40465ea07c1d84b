"""Reading histograms: every accepted kind gives the same rows, every refusal its own sentence."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from sinkdist.errors import InputError, InputTypeError
from sinkdist.inputs.histograms import check_same_bins, read, working_dtype

pytestmark = pytest.mark.filterwarnings("error")

F32, F64 = np.dtype("float32"), np.dtype("float64")
X = np.array([[0.25, 0.0, 0.75, 0.0], [0.5, 0.125, 0.125, 0.25], [0.0, 0.0, 1.0, 0.0]])
COUNTS = (X * 8).astype(np.int64)

SPARSE_FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


def strided(values):
    """The same numbers in every second place of a larger array, backwards in memory."""
    wide = np.zeros((values.shape[0] * 2, values.shape[1] * 2), values.dtype)
    wide[::-2, ::-2] = values
    return wide[::-2, ::-2]


def unaligned(values):
    """The same numbers one byte off a boundary."""
    raw = np.zeros(values.nbytes + 1, np.uint8)
    raw[1:] = np.frombuffer(values.tobytes(), np.uint8)
    return raw[1:].view(values.dtype).reshape(values.shape)


def read_only(values):
    values = values.copy()
    values.flags.writeable = False
    return values


class Exposes:
    """An array of another package."""

    def __array__(self, dtype=None, copy=None):
        return X.copy()


MASSES = {
    "list": X.tolist(),
    "tuple": tuple(map(tuple, X)),
    "list of arrays": list(X),
    "fortran": np.asfortranarray(X),
    "strided": strided(X),
    "unaligned": unaligned(X),
    "read-only": read_only(X),
    "big-endian": X.astype(">f8"),
    "longdouble": X.astype(np.longdouble),
    "float32": X.astype(F32),
    "float16": X.astype(np.float16),
    "matrix": np.asmatrix(X),
    "frame": pd.DataFrame(X),
    "nullable frame": pd.DataFrame(X, dtype="Float64"),
    "float32 frame": pd.DataFrame(X.astype(F32)),
    "__array__": Exposes(),
    **{name: sparse.csr_array(X).asformat(name) for name in SPARSE_FORMATS},
    "csr_matrix": sparse.csr_matrix(X),
}


def dense(histograms):
    return histograms.dense(slice(None))


@pytest.mark.parametrize("kind", MASSES)
@pytest.mark.parametrize("dtype", [F32, F64])
def test_every_kind_gives_the_same_rows(kind, dtype):
    got = read(MASSES[kind], "X", bins=4, dtype=dtype)
    np.testing.assert_array_equal(dense(got), X)
    assert dense(got).dtype == got.dtype == got.rows.dtype == dtype
    assert (got.n, got.d, got.is_vector, got.empty) == (3, 4, False, None)
    if isinstance(got.rows, np.ndarray):
        assert got.rows.flags.c_contiguous
        assert got.rows.flags.aligned
        assert type(got.rows) is np.ndarray
    else:
        assert got.rows.has_canonical_format
        assert (got.rows.data != 0).all()


DTYPES = [bool, np.uint8, np.int8, np.int64, np.longdouble]
DENSE_ONLY = [np.float16, ">i4", ">f4"]  # scipy.sparse has no such arrays


@pytest.mark.parametrize(
    ("make", "dtype"),
    [(make, dtype) for make in (np.array, pd.DataFrame) for dtype in DTYPES + DENSE_ONLY]
    + [(sparse.coo_array, dtype) for dtype in DTYPES],
)
def test_counts_of_any_type_are_promoted_before_any_sum(make, dtype):
    counts = np.tile(np.array([[1, 0, 1]], dtype=dtype), 200)  # 400, beyond 8 bits
    got = read(make(counts), "X", dtype=F64, normalize=True)
    np.testing.assert_array_equal(dense(got), (counts != 0) / 400)


def test_duplicates_in_sparse_counts_do_not_wrap():
    twice = sparse.coo_array((np.full(4, 200, np.uint8), ([0] * 4, [0, 0, 0, 1])), shape=(1, 2))
    np.testing.assert_array_equal(
        dense(read(twice, "X", dtype=F64, normalize=True)), [[0.75, 0.25]]
    )
    assert twice.nnz == 4


def test_sparse_input_that_is_not_canonical_is_repaired_in_a_copy():
    data, indices, indptr = np.array([0.5, 0.0, 0.5]), np.array([2, 1, 0]), np.array([0, 3])
    given_ = sparse.csr_array((data, indices, indptr), shape=(1, 3))
    got = read(given_, "X", dtype=F64)
    np.testing.assert_array_equal(got.rows.indices, [0, 2])
    np.testing.assert_array_equal(given_.indices, [2, 1, 0])
    np.testing.assert_array_equal(given_.data, [0.5, 0.0, 0.5])


@pytest.mark.parametrize(
    "one",
    [
        X[1],
        X[1].tolist(),
        X[1, ::-1][::-1],
        pd.Series(X[1]),
        pd.Series(X[1], dtype="Float64"),
        sparse.csr_array(X)[1],
        sparse.coo_array(X[1]),
    ],
)
def test_one_histogram_is_a_family_of_one(one):
    got = read(one, "r", bins=4, dtype=F64)
    assert got.is_vector
    np.testing.assert_array_equal(dense(got), X[1:2])


def test_rows_that_fit_are_not_copied(tmp_path):
    assert np.shares_memory(read(X, "X", dtype=F64).rows, X)
    assert np.shares_memory(read(X[0], "r", dtype=F64).rows, X)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    got = read(mapped, "X", dtype=F64).rows
    assert np.shares_memory(got, mapped)
    assert type(got) is np.ndarray


@pytest.mark.parametrize("store", [np.array, sparse.csr_array])
def test_dense_rows_and_supports(store):
    got = read(store(X), "X", dtype=F64)
    np.testing.assert_array_equal(got.dense(slice(1, 3)), X[1:3])
    np.testing.assert_array_equal(got.dense(np.array([2, 0])), X[[2, 0]])
    for i in (0, 1, 2, -1):
        np.testing.assert_array_equal(got.support(i), np.flatnonzero(X[i]))
        assert got.support(i).dtype == np.intp
    twin = pickle.loads(pickle.dumps(got))
    np.testing.assert_array_equal(dense(twin), X)


@pytest.mark.parametrize("kind", MASSES)
@pytest.mark.parametrize("normalize", [False, True])
def test_input_is_never_modified(kind, normalize):
    values = MASSES[kind]
    before = copy.deepcopy(values)
    read(values, "X", dtype=F64, normalize=normalize)
    np.testing.assert_array_equal(_plain(values), _plain(before))


def _plain(values):
    return values.toarray() if sparse.issparse(values) else np.asarray(values)


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        ((X, X), F64),
        ((X.astype(F32), X.astype(F32)), F32),
        ((X.astype(F32), X), F64),
        ((X.astype(np.float16),), F32),
        ((X.astype(">f4"),), F32),
        ((X.astype(np.longdouble),), F64),
        ((COUNTS, COUNTS), F64),
        ((X.astype(F32), COUNTS), F64),
        ((X.astype(bool),), F64),
        ((X.tolist(),), F64),
        ((list(X.astype(F32)),), F32),
        (([],), F64),
        ((pd.DataFrame(X.astype(F32)),), F32),
        ((pd.Series(X[0].astype(F32)), None), F32),
        ((sparse.csr_array(X.astype(F32)),), F32),
        ((None,), F64),
    ],
)
def test_working_dtype_is_float32_only_if_every_input_is(values, dtype):
    assert working_dtype(*values) == dtype
    assert working_dtype(*values, dtype="float32") == F32
    assert working_dtype(*values, dtype=">f8") == F64


@pytest.mark.parametrize("dtype", [int, "float16", complex, "nonsense", object])
def test_bad_dtype_option(dtype):
    with pytest.raises(InputError, match=r"The 'dtype' option must be float32 or float64\. Got "):
        working_dtype(X, dtype=dtype)


ROW_17 = np.full((20, 2), 0.5)
ROW_17[17, 1] = 0.48
SEVERAL = ROW_17.copy()
SEVERAL[[3, 5]] = 0.75
EMPTY = np.full((40, 2), 0.5)
EMPTY[6:] = 0.0


def at(value, shape=(3, 4), index=(2, 1)):
    values = np.full(shape, 1 / shape[-1])
    values[index] = value
    return values


VECTOR_BAD = at(-0.2, (4,), 3)
WRONG = [
    (ROW_17, "Row 17 of 'X' sums to 0.98, but histograms must sum to 1: pass normalize=True to "
     "divide by the row sums."),
    (ROW_17.astype(F32), "Row 17 of 'X' sums to 0.98, but"),
    (ROW_17.astype(np.float16), "Row 17 of 'X' sums to 0.97"),
    (SEVERAL, "Row 3 of 'X' sums to 1.5 (and 2 more rows not to 1), but"),
    ([0.5, 0.48], "'X' sums to 0.98, but histograms must sum to 1: pass normalize=True to divide "
     "by its sum."),
    ([1.0, 1.0], "'X' sums to 2, but"),
    ([0.5, 0.500003], "'X' sums to 1.000003, but"),
    ([1, 3], "'X' sums to 4, but"),
    ([1e308, 1e308], "'X' sums to inf, but"),
    (sparse.csr_array(ROW_17), "Row 17 of 'X' sums to 0.98, but"),
    (at(-0.2), "Entry (2, 1) of 'X' is -0.2, but masses must be non-negative."),
    (VECTOR_BAD, "Entry 3 of 'X' is -0.2, but masses must be non-negative."),
    (sparse.csr_array(at(-0.2)), "Entry (2, 1) of 'X' is -0.2, but masses must be non-negative."),
    ([0.0, -1e-20], "Entry 1 of 'X' is -1e-20, but masses must be non-negative."),
    (at(np.nan), "Entry (2, 1) of 'X' is nan, but masses must be finite."),
    (at(np.inf), "Entry (2, 1) of 'X' is inf, but masses must be finite."),
    ([np.inf, -np.inf], "Entry 0 of 'X' is inf, but masses must be finite."),
    (sparse.csr_array(at(np.nan)), "Entry (2, 1) of 'X' is nan, but masses must be finite."),
    (EMPTY, "Rows 6, 7, 8, 9, 10, ... of 'X' have no mass (34 rows in all): drop what is empty, or "
     "pass on_empty='nan' to get NaN for its distances."),
    (EMPTY[:8], "Rows 6, 7 of 'X' have no mass: drop"),
    (sparse.csr_array(EMPTY[:7]), "Row 6 of 'X' has no mass: drop"),
    ([0, 0], "'X' has no mass: pass on_empty='nan' to get NaN for it."),
    (np.float64(1.0), "one histogram of shape (d,) or a family of shape (n, d). Got shape () inst"),
    (np.ones((2, 2, 2)), "Got shape (2, 2, 2) instead: pass X.reshape(2, 4),"),
    ([], "'X' has no bins: its shape is (0,)."),
    (np.ones((5, 0)), "'X' has no bins: its shape is (5, 0)."),
]  # fmt: skip


@pytest.mark.parametrize(("values", "message"), WRONG)
def test_each_bad_histogram_has_its_sentence(values, message):
    with pytest.raises(InputError) as caught:
        read(values, "X", dtype=working_dtype(values))
    assert message in str(caught.value)


KINDS = [
    (X + 0j, "'X' must hold real numbers. Got dtype complex128 instead: pass its .real part"),
    (sparse.csr_array(X + 0j), "Got dtype complex128 instead"),
    (X.astype(object), "'X' must hold real numbers. Got dtype object instead"),
    ([0.5, None], "Got dtype object instead, with None among its entries."),
    (["0.5", "0.5"], "'X' must hold real numbers. Got dtype <U3 instead."),
    (np.array(["2020"], "datetime64[D]"), "Got dtype datetime64[D] instead."),
    ("0.5 0.5", "'X' must be an array of real numbers. Got an object of type str instead."),
    (None, "'X' must be an array of real numbers. Got None instead."),
    ({0.5}, "Got an object of type set instead."),
    ([[0.5, 0.5], [1.0]], "'X' is a ragged nested list: its rows have different lengths."),
    (np.ma.masked_array([0.5, 0.5, 9.0], [0, 0, 1]), "'X' is a masked array, whose mask would be"),
    ([np.ma.masked_array([0.5, 0.5], [0, 1])], "'X' is a masked array"),
    (
        pd.DataFrame({"a": [0.5], "b": ["x"]}),
        "Got dtype object instead, with an object of type str",
    ),
]


@pytest.mark.parametrize(("values", "message"), KINDS)
@pytest.mark.parametrize("normalize", [False, True])
def test_kinds_that_are_never_read(values, message, normalize):
    with pytest.raises(InputTypeError) as caught:
        read(values, "X", dtype=F64, normalize=normalize)
    assert message in str(caught.value)


def test_an_array_that_cannot_be_converted_says_why():
    class Elsewhere:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("it is on another device")

    with pytest.raises(InputTypeError, match="'X' cannot be read as an array: it is on another"):
        read(Elsewhere(), "X", dtype=working_dtype(Elsewhere()))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.ones((3, 5)), "'X' has 5 bins per row, but the ground metric has 400."),
        (np.ones(5), "'X' has 5 bins, but the ground metric has 400."),
        (np.ones(1), "'X' has 1 bin, but the ground metric has 400."),
        (np.ones((400, 1)), "its shape is (400, 1): pass X.ravel() if it is transposed."),
        (np.ones((400, 20)), "its shape is (400, 20): pass X.T if it is transposed."),
        (sparse.csr_array(np.ones((3, 5))), "'X' has 5 bins per row, but the ground metric has 4"),
    ],
)
def test_wrong_number_of_bins(values, message):
    with pytest.raises(InputError) as caught:
        read(values, "X", bins=400, dtype=F64)
    assert message in str(caught.value)


def test_what_it_is_held_against_can_be_named():
    with pytest.raises(InputError, match=r"'c' has 2 bins, but the ground metric \(2 x 3\) has 3."):
        read([0.5, 0.5], "c", bins=3, dtype=F64, against="the ground metric (2 x 3)")


@pytest.mark.parametrize("option", ["foo", None, "NaN", True])
def test_bad_on_empty(option):
    with pytest.raises(InputError if isinstance(option, str) else InputTypeError) as caught:
        read(X, "X", dtype=F64, on_empty=option)
    words = f"The 'on_empty' option must be 'raise' or 'nan'. Got {option!r} instead."
    assert words in str(caught.value)


@pytest.mark.parametrize("store", [np.array, sparse.csr_array])
@pytest.mark.parametrize("normalize", [False, True])
def test_empty_rows_are_marked_on_request(store, normalize):
    got = read(store(EMPTY), "X", dtype=F64, on_empty="nan", normalize=normalize)
    np.testing.assert_array_equal(got.empty, np.arange(40) >= 6)
    np.testing.assert_array_equal(dense(got), EMPTY)
    assert read(store(EMPTY[:6]), "X", dtype=F64, on_empty="nan").empty is None
    lone = read(EMPTY[-1], "r", dtype=F64, on_empty="nan")
    assert lone.is_vector
    np.testing.assert_array_equal(lone.empty, [True])


@pytest.mark.parametrize("store", [np.array, sparse.csr_array])
def test_a_family_may_have_no_rows(store):
    for normalize in (False, True):
        got = read(store(np.zeros((0, 4))), "X", bins=4, dtype=F64, normalize=normalize)
        assert (got.n, got.d, got.empty) == (0, 4, None)
        assert got.dense(slice(None)).shape == (0, 4)


@pytest.mark.parametrize("d", [1, 5, 400, 5000])
@pytest.mark.parametrize("dtype", [F32, F64])
def test_float32_softmaxes_are_accepted_and_rescaled(d, dtype):
    logits = np.random.default_rng(d).normal(size=(50, d)).astype(F32) * 3
    soft = np.exp(logits)
    soft /= soft.cumsum(axis=1)[:, -1:]  # the least careful sum there is
    got = read(soft.astype(dtype), "X", dtype=dtype)
    np.testing.assert_allclose(
        got.rows.sum(axis=1, dtype=F64), 1.0, atol=3e-7 if dtype == F32 else 1e-15
    )
    np.testing.assert_allclose(got.rows, soft, rtol=1e-4)


@pytest.mark.parametrize(("source", "off"), [(F64, 1.1e-5), (F32, 1.1e-5), (np.float16, 9e-3)])
def test_sums_within_the_slack_pass_and_beyond_it_do_not(source, off):
    near = np.full(100, 0.01 * (1 - off)).astype(source)
    assert read(near, "r", dtype=F64).rows.sum() == pytest.approx(1.0, abs=1e-14)
    with pytest.raises(InputError, match=r"'r' sums to 0\.9"):
        read((near * (1 - 2 * off)).astype(source), "r", dtype=F64)


@pytest.mark.parametrize(
    ("source", "tiny", "too_much"), [(F64, -1e-17, -1e-11), (F32, -1e-8, -1e-5)]
)
@pytest.mark.parametrize("store", [np.array, sparse.csr_array])
def test_negatives_from_rounding_become_zero(source, tiny, too_much, store):
    values = np.array([[0.5, tiny, 0.5]], dtype=source)
    got = read(store(values), "X", dtype=F64)
    np.testing.assert_array_equal(dense(got), [[0.5, 0.0, 0.5]])
    np.testing.assert_array_equal(got.support(0), [0, 2])
    with pytest.raises(InputError, match=r"Entry \(0, 1\) of 'X' is -1e-"):
        read(store(np.where(values < 0, source.type(too_much), values)), "X", dtype=F64)


@pytest.mark.parametrize("total", [1e-310, 1e-300, 1.0, 1e300, 1.5e308])
@pytest.mark.parametrize("store", [np.array, sparse.csr_array])
@pytest.mark.parametrize("dtype", [F32, F64])
def test_totals_of_any_size_normalise(total, store, dtype):
    shares = np.array([[0.5, 0.0, 0.25, 0.25], [1.0, 1.0, 1.0, 1.0]])
    got = read(store(shares * total), "X", dtype=dtype, normalize=True)
    expected = shares / shares.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(dense(got), expected, rtol=1e-6 if dtype == F32 else 1e-12)


def test_normalize_is_plain_division_for_ordinary_counts():
    counts = np.random.default_rng(0).integers(0, 256, (100, 37))
    got = read(counts, "X", dtype=F64, normalize=True)
    np.testing.assert_array_equal(got.rows, counts / counts.sum(axis=1, keepdims=True))


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("store", [np.array, sparse.csr_array])
def test_masses_survive_unless_their_reciprocal_would_not(normalize, store):
    values = np.array([[1.0, 1e-90, 1e-110, 0.0]])
    got = read(store(values), "X", dtype=F64, normalize=normalize)
    np.testing.assert_array_equal(dense(got), [[1.0, 1e-90, 0.0, 0.0]])
    single = read(store(values), "X", dtype=F32, normalize=normalize)
    np.testing.assert_array_equal(single.support(0), [0])
    with np.errstate(all="raise"):
        assert np.isfinite(1 / dense(got)[0, got.support(0)]).all()


def test_the_callers_error_state_does_not_matter():
    with np.errstate(all="raise"):
        read([[1.0, 1e-300]], "X", dtype=F32)
        read([1e308, 1e308], "X", dtype=F64, normalize=True)
        with pytest.raises(InputError):
            read([1e308, 1e308], "X", dtype=F64)


def test_pandas_labels_must_agree():
    a = pd.Series([0.5, 0.5], index=["x", "y"])
    b = pd.DataFrame([[0.5, 0.5]], columns=["y", "x"])
    with pytest.raises(InputError) as caught:
        check_same_bins(a, b, "r", "c")
    assert "bin 0 is 'x' in 'r' and 'y' in 'c'" in str(caught.value)
    assert "Reindex one like the other, or pass .to_numpy()" in str(caught.value)
    for other in (b[["x", "y"]], a.to_numpy(), [0.5, 0.5], a.iloc[:1]):
        check_same_bins(a, other, "r", "c")
        check_same_bins(other, a, "c", "r")


def test_reading_imports_nothing_heavier_than_numpy():
    code = (
        "import sys, numpy as np, sinkdist.problem.strength;"
        "import sinkdist.inputs.histograms as h, sinkdist.ground as g;"
        "h.read([0.5, 0.5], 'r', dtype=np.dtype(float)); g.Ground.grid(3).gibbs(1.0, float);"
        "print([m for m in ('scipy', 'pandas', 'numba', 'numpy.ma') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


families = hnp.arrays(
    np.float64,
    st.tuples(st.integers(1, 6), st.integers(1, 9)),
    elements=st.floats(0, 1e6, allow_subnormal=False),
)


@settings(max_examples=60, deadline=None)
@given(families)
def test_a_row_is_read_the_same_alone_in_a_family_and_sparse(counts):
    counts[:, 0] += 1.0
    family = read(counts, "X", dtype=F64, normalize=True)
    np.testing.assert_allclose(family.rows.sum(axis=1), 1.0, rtol=1e-15)
    for i, row in enumerate(counts):
        alone = read(row, "r", dtype=F64, normalize=True)
        np.testing.assert_array_equal(alone.rows[0], family.rows[i])
    thin = read(sparse.csr_array(counts), "X", dtype=F64, normalize=True)
    np.testing.assert_allclose(dense(thin), family.rows, rtol=1e-14)
    again = read(family.rows, "X", dtype=F64)
    np.testing.assert_allclose(again.rows, family.rows, rtol=1e-15)


@settings(max_examples=60, deadline=None)
@given(families, st.floats(-1e6, 1e6).filter(lambda s: abs(s - 1.0) > 1e-4))
def test_no_family_with_a_wrong_row_is_read(counts, total):
    counts[:, 0] += 1.0
    rows = counts / counts.sum(axis=1, keepdims=True)
    rows[-1] *= total
    with pytest.raises(InputError):
        read(rows, "X", dtype=F64)
