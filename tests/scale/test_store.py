"""Matrices on disk: what is stored is what was computed, reads like an array, and is never lost."""

import contextlib
import os
import pickle
import tempfile
import threading
import uuid
import warnings
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sparse
import zarr
from hypothesis import given, settings
from hypothesis import strategies as st

import sinkdist as sd
from sinkdist.scale import system
from sinkdist.solution.status import Status
from sinkdist.solvers.table import SOLVERS
from tests.problems import grid_costs, random_metric, simplex, sparse_histograms

INF = float("inf")
#: Every member of the family, and every way of solving one.
MEMBERS = {
    "lam": {"lam": 5},
    "large lam": {"lam": 3000},
    "reg": {"reg": 0.2},
    "iterations": {"lam": 5, "iterations": 20},
    "alpha": {"alpha": 0.1},
    "exact": {"lam": INF},
    "independence": {"lam": 0},
} | {f"solver {name}": {"lam": 5, "solver": name} for name in SOLVERS if name != "auto"}
ARRAYS = ("distance", "status", "marginal_error")
COSTS = random_metric(6, 0)
X = simplex(40, 6, 1)  #: three tiles of 16 across
Y = simplex(21, 6, 2)
PAIRS = 40 * 41 // 2


class Enough(Exception):
    """Raised by callbacks to stop a run, as a crash would."""


def stop_after(tiles):
    """A callback that stops the run after some tiles."""
    seen = []

    def listen(record):
        seen.append(record)
        if len(seen) == tiles:
            raise Enough

    return listen


def begin(out, tiles=2, **options):
    """A store that was left after some tiles."""
    with pytest.raises(Enough):
        sd.pairwise(
            X, ground=COSTS, lam=5, out=out, workers=1, progress=stop_after(tiles), **options
        )
    return sd.open_matrix(out)


def contents(folder):
    """Everything in a folder: bytes, and when and where each file was written."""
    return {
        str(path.relative_to(folder)): (
            path.read_bytes(),
            path.stat().st_mtime_ns,
            path.stat().st_ino,
        )
        for path in sorted(Path(folder).rglob("*"))
        if path.is_file()
    }


def tolerance(dtype):
    return {"rtol": 1e-12 if dtype == "float64" else 2e-6, "atol": 0}


# ------------------------------------------------------------------- stored equals in memory


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("second", [None, Y], ids=["one family", "two families"])
@pytest.mark.parametrize("member", MEMBERS)
def test_stored_is_what_is_computed_in_memory(tmp_path, member, second, dtype):
    options = {"ground": COSTS, "dtype": dtype, **MEMBERS[member]}
    D = sd.pairwise(X, second, out=tmp_path / "D.zarr", **options)
    truth = sd.pairwise(X, second, **options)
    assert isinstance(D, sd.StoredMatrix) and D.is_complete
    assert D.dtype == truth.dtype == dtype and D.shape == truth.shape
    np.testing.assert_allclose(D.to_numpy(), truth, **tolerance(dtype))
    fixed = member == "iterations"
    assert (D.status.to_numpy() == (Status.FIXED if fixed else Status.CONVERGED)).all()
    error = D.marginal_error.to_numpy()
    assert np.isfinite(error).all() and (error >= 0).all()
    if not fixed:
        assert error.max() <= (1e-6 if dtype == "float64" else 1e-4)


@pytest.mark.parametrize("member", MEMBERS)
def test_asymmetric_ground_fills_both_halves(tmp_path, member):
    costs = np.random.default_rng(3).random((6, 6)) + 0.1
    D = sd.pairwise(X, ground=costs, out=tmp_path / "D.zarr", **MEMBERS[member])
    truth = sd.pairwise(X, ground=costs, **MEMBERS[member])
    np.testing.assert_allclose(D.to_numpy(), truth, rtol=1e-12)
    assert not D.summary().symmetric and abs(truth - truth.T).max() > 1e-3
    assert D.summary().pairs == 1600


@pytest.mark.parametrize("member", MEMBERS)
def test_empty_rows_are_nan_and_say_so(tmp_path, member):
    holes = X.copy()
    holes[[0, 17, 39]] = 0.0
    options = {"ground": COSTS, "on_empty": "nan", **MEMBERS[member]}
    D = sd.pairwise(holes, out=tmp_path / "D.zarr", **options)
    np.testing.assert_allclose(D.to_numpy(), sd.pairwise(holes, **options), rtol=1e-12)
    empty = ~holes.any(axis=1)
    without = empty[:, None] | empty
    np.testing.assert_array_equal(D.status.to_numpy() == Status.EMPTY, without)
    np.testing.assert_array_equal(np.isnan(D.marginal_error.to_numpy()), without)
    assert D.summary().endings["empty"][0] == PAIRS - 37 * 38 // 2


def test_all_rows_empty(tmp_path):
    D = sd.pairwise(np.zeros((5, 6)), ground=COSTS, lam=5, on_empty="nan", out=tmp_path / "D.zarr")
    assert np.isnan(D.to_numpy()).all() and D.is_complete
    assert np.isnan(D.summary().mean) and "15 empty" in str(D.summary())


def test_sparse_families(tmp_path):
    A, B = sparse_histograms(35, 25, 1), sparse_histograms(20, 25, 2)
    costs = grid_costs(5, 5)
    truth = sd.pairwise(A, B, ground=costs, lam=3)
    out = tmp_path / "D.zarr"
    D = sd.pairwise(sparse.csr_array(A), sparse.csr_array(B), ground=costs, lam=3, out=out)
    np.testing.assert_allclose(D.to_numpy(), truth, rtol=1e-12)
    before = contents(out / "distance")
    wide = sparse.csr_array(A)  # the same, with the indices that SciPy takes for large matrices
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    sd.pairwise(wide, sparse.csr_array(B), ground=costs, lam=3, out=out)
    assert contents(out / "distance") == before


@pytest.mark.parametrize("member", ["lam", "iterations", "alpha", "exact", "independence"])
def test_coincidence(tmp_path, member):
    twice = np.vstack([X[:20], X[:20]])
    options = {"ground": COSTS, "coincidence": True, **MEMBERS[member]}
    D = sd.pairwise(twice, out=tmp_path / "D.zarr", **options).to_numpy()
    np.testing.assert_allclose(D, sd.pairwise(twice, **options), rtol=1e-12)
    same = np.arange(40)[:, None] % 20 == np.arange(40) % 20
    np.testing.assert_array_equal(D == 0.0, same)


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("shape", [(0, None), (1, None), (0, 3), (3, 0), (1, 1), (1, 20), (20, 1)])
def test_small_families(tmp_path, shape, member):
    A, B = (n if n is None else simplex(n, 6, n).reshape(n, 6) for n in shape)
    D = sd.pairwise(A, B, ground=COSTS, out=tmp_path / "D.zarr", **MEMBERS[member])
    truth = sd.pairwise(A, B, ground=COSTS, **MEMBERS[member])
    assert D.to_numpy().shape == truth.shape and D.is_complete and D.missing == []
    np.testing.assert_allclose(D.to_numpy(), truth, rtol=1e-12)
    assert np.isfinite(D.marginal_error.to_numpy()).all()
    assert f"{D.summary().pairs:,} computed, 0 missing" in str(D.summary())


def test_one_bin(tmp_path):
    D = sd.pairwise(np.ones((20, 1)), ground=[[0.7]], lam=3, out=tmp_path / "D.zarr")
    np.testing.assert_array_equal(D.to_numpy(), np.full((20, 20), 0.7))


@pytest.mark.parametrize("options", [{"lam": 9}, {"lam": 9, "iterations": 20}], ids=str)
def test_many_bins_where_pairs_are_matrix_products(tmp_path, options):
    """Narrow tiles are solved pair by pair and wide ones as products: the value is the same."""
    wide = simplex(37, 200, 3)
    costs = random_metric(200, 1)
    D = sd.pairwise(wide, ground=costs, out=tmp_path / "D.zarr", **options)
    np.testing.assert_allclose(D, sd.pairwise(wide, ground=costs, **options), rtol=1e-12)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("costs", [COSTS, random_metric(6, 0) * 300], ids=["mild", "underflow"])
def test_marginal_error_of_fixed_iterations_is_the_true_one(tmp_path, costs, dtype):
    options = {"lam": 5, "iterations": 20, "dtype": dtype}
    D = sd.pairwise(X, Y, ground=costs, out=tmp_path / "D.zarr", **options)
    error = D.marginal_error.to_numpy()
    for i in range(0, 40, 3):
        s = sd.solve(X[i], Y, costs, **options)
        np.testing.assert_allclose(error[i], s.marginal_error, rtol=1e-5, atol=1e-6)
        plans = np.asarray(s.plan, float)
        true = abs(plans.sum(2) - X[i]).sum(1) + abs(plans.sum(1) - Y).sum(1)
        np.testing.assert_allclose(error[i], true, rtol=1e-5, atol=1e-6)
    assert error.max() > 1e-3


# ------------------------------------------------------------------------ one plan or another


def test_values_do_not_depend_on_the_tiles(tmp_path):
    """A tight budget makes small tiles; so many workers only make it easy to be tight."""
    A = simplex(370, 6, 4)
    options = {"ground": COSTS, "lam": 5, "workers": 64}
    wide = sd.pairwise(A, out=tmp_path / "wide.zarr", memory="100GB", **options)
    held, narrow = system.held(), None
    for more in range(0, 400, 2):
        with contextlib.suppress(sd.InputError):
            narrow = sd.pairwise(
                A, out=tmp_path / "narrow.zarr", memory=held + more * 10**6, **options
            )
            break
    assert narrow is not None and narrow.summary().tile < wide.summary().tile
    np.testing.assert_allclose(narrow, wide, rtol=1e-12)
    np.testing.assert_allclose(wide, sd.pairwise(A, ground=COSTS, lam=5), rtol=1e-12)


def test_bits_do_not_depend_on_workers(tmp_path):
    stores = []
    for workers in (1, 2, 5):
        out = tmp_path / f"{workers}.zarr"
        sd.pairwise(X, ground=COSTS, lam=5, workers=workers, out=out)
        stores.append({name: content[0] for name, content in contents(out).items()})
    assert stores[0] == stores[1] == stores[2]


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_bad_workers_create_nothing(tmp_path, workers):
    with pytest.raises((sd.InputError, sd.InputTypeError), match="'workers' option must be"):
        sd.pairwise(X, ground=COSTS, lam=5, workers=workers, out=tmp_path / "D.zarr")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "memory",
    [
        "20GB", "9000 MB", "10.5GiB", "1e11", ".9tb", " 1 TiB ", "20000000kB", 10**11, 1e11,
        np.int64(10**11), 10**400,
    ],
    ids=lambda memory: repr(memory)[:20],
)  # fmt: skip
def test_memory_is_read(tmp_path, memory):
    D = sd.pairwise(X, ground=COSTS, lam=5, memory=memory, out=tmp_path / "D.zarr")
    assert D.is_complete
    assert sd.pairwise(X[:2], ground=COSTS, lam=5, memory=memory).shape == (2, 2)


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        (text, "must be a size such as '2GB'")
        for text in ("", "lots", "-1GB", "1,5GB", "2 PB", "1 G B", "1GB/s", True, [1], b"1GB")
    ]
    + [(size, "must be positive and finite") for size in (0, "0", -5, float("nan"), INF)],
)
def test_bad_memory_creates_nothing(tmp_path, memory, message):
    for out in (tmp_path / "D.zarr", None):
        with pytest.raises((sd.InputError, sd.InputTypeError), match=message):
            sd.pairwise(X, ground=COSTS, lam=5, memory=memory, out=out)
    assert list(tmp_path.iterdir()) == []


def test_too_small_a_budget_says_so_before_any_work(tmp_path):
    out = tmp_path / "deep" / "D.zarr"
    with pytest.raises(sd.InputError, match=r"memory budget of 1 MB is too small: .* Raise"):
        sd.pairwise(X, ground=COSTS, lam=5, out=out, memory="1MB", progress=stop_after(1))
    assert list(tmp_path.iterdir()) == []


def test_too_large_a_matrix_names_the_way_out():
    many = np.full((300_000, 2), 0.5)
    with pytest.raises(sd.InputError, match=r"300,000 x 300,000 .* takes 720 GB.*out='D.zarr'"):
        sd.pairwise(many, ground=[[0, 1], [1, 0]], lam=5, memory="2GB")
    with pytest.raises(sd.InputError, match=r"out='D\.zarr'"):
        sd.pairwise(X, ground=COSTS, lam=5, memory="1MB")


# ----------------------------------------------------------------------------- like an array


@pytest.fixture(scope="module")
def square(tmp_path_factory):
    out = tmp_path_factory.mktemp("square") / "D.zarr"
    D = sd.pairwise(X, ground=COSTS, lam=5, out=out)
    return D, D.to_numpy()


@pytest.fixture(scope="module")
def oblong(tmp_path_factory):
    out = tmp_path_factory.mktemp("oblong") / "D.zarr"
    D = sd.pairwise(X, Y, ground=COSTS, lam=5, out=out)
    return D, D.to_numpy()


def check_key(D, dense, key):
    """A key picks what NumPy picks, of the same shape and dtype."""
    for stored, array in ((D, dense), (D.status, D.status.to_numpy())):
        got, expected = stored[key], array[key]
        assert np.shape(got) == np.shape(expected) and got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)


PLAIN_KEYS = [
    np.s_[3], np.s_[-1], np.s_[np.int8(7)], np.s_[np.array(7)], np.s_[3, 5], np.s_[17, 2],
    np.s_[-1, -20], np.s_[:], np.s_[()], np.s_[...], np.s_[..., 3], np.s_[3, ...],
    np.s_[..., 3, 4], np.s_[3, ..., 4], np.s_[3, 4, ...], np.s_[5:9], np.s_[::-1], np.s_[::7, ::-3],
    np.s_[30:2:-5, 20:1:-2], np.s_[5:5], np.s_[50:], np.s_[:, 0], np.s_[2, :], np.s_[:, -1:],
    np.s_[[4, 2, 2, -1]], np.s_[:, [0, 20, 17]], np.s_[[1, 2], 3], np.s_[3, [1, 2]],
    np.s_[[0, 39, 17], [20, 0, 3]], np.s_[[]], np.s_[[], []], np.s_[:, []], np.s_[range(3, 9)],
    np.s_[(0, 1),], np.s_[(0, 1), (2, 3)], np.s_[0:5, (1, 2)], np.s_[[1, 2], [5]],
    np.s_[[k % 3 == 0 for k in range(40)]], np.s_[np.arange(40) > 30, 4:],
    np.s_[np.arange(40) < 21, np.arange(21) >= 0], np.s_[np.zeros(40, bool)],
    np.s_[np.array([3, 4], np.uint8), 1],
]  # fmt: skip


@pytest.mark.parametrize("key", PLAIN_KEYS, ids=repr)
def test_reads_like_numpy(oblong, key):
    check_key(*oblong, key)


@pytest.mark.parametrize(
    "key",
    [
        np.s_[40], np.s_[-41], np.s_[0, 21], np.s_[0, -22], np.s_[[0, 40]], np.s_[:, [21]],
        np.s_[[0], [99]], np.s_[1, 2, 3], np.s_[..., ...], np.s_[1.0], np.s_["a"], np.s_[None],
        np.s_[True], np.s_[False], np.s_[np.True_], np.s_[[True] * 39], np.s_[:, [True] * 40],
        np.s_[[0, 1], [0, 1, 2]], np.s_[[0.0, 1.0]], np.s_[{}], np.s_[[[0, 1], [1, 2]]],
    ],
    ids=repr,
)  # fmt: skip
def test_bad_keys_are_index_errors(oblong, key):
    with pytest.raises(IndexError):
        oblong[0][key]


def axis(n):
    """Keys for an axis of n entries."""
    integers = st.integers(-n, n - 1)
    return st.one_of(
        integers,
        st.slices(n),
        st.lists(integers, max_size=9),
        st.lists(st.booleans(), min_size=n, max_size=n).map(np.array),
    )


def is_list(key):
    return isinstance(key, (list, np.ndarray))


@settings(max_examples=60)
@given(st.booleans(), st.data())
def test_any_key_reads_like_numpy(square, oblong, symmetric, data):
    D, dense = square if symmetric else oblong
    n, m = D.shape
    keys = st.one_of(
        axis(n),
        st.tuples(axis(n), axis(m)).filter(lambda key: not all(map(is_list, key))),
        st.tuples(axis(n), st.just(...)),
        st.tuples(st.just(...), axis(m)),
    )
    check_key(D, dense, data.draw(keys))


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(-40, 39), st.integers(-21, 20)), max_size=30))
def test_pairs_of_lists_pick_entries(oblong, entries):
    rows, columns = ([entry[k] for entry in entries] for k in (0, 1))
    check_key(*oblong, (rows, columns))


def test_both_halves_of_a_symmetric_matrix(square):
    D, dense = square
    np.testing.assert_array_equal(dense, dense.T)
    for i in range(40):
        np.testing.assert_array_equal(D[i], D[:, i])
        assert D[39, i] == D[i, 39] == dense[i, 39]
    np.testing.assert_array_equal(D.marginal_error[:, :], D.marginal_error[:, :].T)


def test_is_an_array_to_numpy(oblong):
    D, dense = oblong
    assert (len(D), D.shape, D.ndim, D.size, D.dtype) == (40, (40, 21), 2, 840, np.float64)
    np.testing.assert_array_equal(np.asarray(D), dense)
    assert np.asarray(D, dtype=np.float32).dtype == np.float32
    np.testing.assert_array_equal(np.array(D), dense)
    np.testing.assert_array_equal(np.add(D, 1.0), dense + 1.0)
    np.testing.assert_array_equal([row[3] for row in D], dense[:, 3])
    with pytest.raises(ValueError, match="copy"):
        np.asarray(D, copy=False)
    assert np.asarray(D.status).dtype == np.int8
    taken = D[2:4]
    taken[:] = 0.0  # the reader's own
    np.testing.assert_array_equal(D.to_numpy(), dense)


def test_pickles(square):
    D, dense = square
    again = pickle.loads(pickle.dumps(D))
    np.testing.assert_array_equal(again.to_numpy(), dense)
    assert again.parameters == D.parameters


def test_parameters_and_repr(square):
    D, _ = square
    assert repr(D) == f"StoredMatrix({D.path!r}, 40 x 40, float64, complete)"
    assert D.parameters["lam"] == 5.0 and D.parameters["tol"] == 1e-6
    assert D.parameters["alpha"] is None and D.parameters["dtype"] == "float64"


def test_summary_counts_each_pair_once(tmp_path):
    holes = X.copy()
    holes[3] = 0.0
    with pytest.warns(sd.ConvergenceWarning):
        D = sd.pairwise(
            holes, ground=COSTS, lam=80, solver="plain", max_iter=30, on_empty="nan",
            out=tmp_path / "D.zarr",
        )  # fmt: skip
    s, half = D.summary(), np.triu_indices(40)
    values, status, error = (np.asarray(a)[half] for a in (D, D.status, D.marginal_error))
    assert s.pairs == PAIRS and s.missing_pairs == 0 and s.symmetric and s.shape == (40, 40)
    assert s.unconverged_pairs == (status == Status.MAX_ITER).sum() > 0
    assert {name: count for name, (count, _) in s.endings.items()} == {
        "converged": (status == Status.CONVERGED).sum(),
        "max iter": (status == Status.MAX_ITER).sum(),
        "empty": 40,
    }
    assert s.endings["max iter"][1] == error[status == Status.MAX_ITER].max()
    assert (s.smallest, s.largest) == (np.nanmin(values), np.nanmax(values))
    assert s.mean == pytest.approx(np.nanmean(values), rel=1e-12)
    assert s.versions == (sd.__version__,) and s.dtype == np.float64
    lines = str(s).splitlines()
    assert lines[0] == f"{D.path}: 40 x 40 distances, float64, symmetric"
    assert any("lam=80" in line and "max_iter=30" in line for line in lines)
    assert any(f"{PAIRS} computed, 0 missing" in line for line in lines)
    assert any(f"{s.unconverged_pairs} max iter, worst marginal error" in line for line in lines)
    assert f"{s.smallest:.6g} to {s.largest:.6g}, mean {s.mean:.6g}" in lines[-1]
    assert all("marginal error" not in line for line in lines if "empty" in line)


# --------------------------------------------------------------------------- what is missing


def test_an_incomplete_matrix_says_what_is_missing(tmp_path):
    D = begin(tmp_path / "D.zarr", tiles=2)
    truth = sd.pairwise(X, ground=COSTS, lam=5)
    assert not D.is_complete and len(D.missing) == 4
    assert repr(D).endswith("40 x 40, float64, 4 of 6 blocks missing)")
    np.testing.assert_allclose(D[:16, :32], truth[:16, :32], rtol=1e-12)
    np.testing.assert_allclose(D[20, 3], truth[20, 3], rtol=1e-12)  # mirrored
    message = (
        "is incomplete: rows 0 to 15 against columns 32 to 39; rows 16 to 31 against columns 16 to "
        "31; rows 16 to 31 against columns 32 to 39 and 1 blocks? more have not been computed yet. "
        "Run what began it once more"
    )
    with pytest.raises(sd.IncompleteError, match=message):
        D.to_numpy()
    for read in (
        lambda: np.asarray(D),
        lambda: D[35, 3],
        lambda: D[[0, 39], [0, 39]],
        lambda: D.status[35],
        lambda: D.marginal_error.to_numpy(),
    ):
        with pytest.raises(sd.IncompleteError, match="incomplete"):
            read()
    filled = D.to_numpy(missing=-1.0)
    there = np.zeros((40, 40), bool)
    there[:16, :32] = there[:32, :16] = True
    np.testing.assert_array_equal(filled == -1.0, ~there)
    assert np.isnan(D.to_numpy(missing=np.nan)).sum() == (~there).sum()
    for tile in D.missing:
        assert (filled[tile.rows, tile.columns] == -1.0).all()
    s = D.summary()
    assert s.missing_pairs == PAIRS - 136 - 256 and s.pairs == 136 + 256
    assert f"{s.pairs} computed, {s.missing_pairs} missing" in str(s)


def test_a_matrix_that_was_only_begun(tmp_path):
    out = tmp_path / "D.zarr"
    begin(out, tiles=1)
    for name in ARRAYS:
        for chunk in (out / name / "c").rglob("*"):
            if chunk.is_file():
                chunk.unlink()
    D = sd.open_matrix(out)
    assert len(D.missing) == 6 and D.summary().pairs == 0 and np.isnan(D.summary().largest)
    assert "0 computed, 820 missing" in str(D.summary())


# ---------------------------------------------------------------------- what lies on the disk


def test_plain_zarr_reads_it(square):
    D, dense = square
    group = zarr.open_group(D.path, mode="r")
    assert sorted(group.array_keys()) == sorted(ARRAYS)
    plain = np.asarray(group["distance"][:])
    upper = np.arange(40)[:, None] // 16 <= np.arange(40) // 16
    np.testing.assert_array_equal(plain[upper], dense[upper])
    assert np.isnan(plain[~upper]).all()
    np.testing.assert_array_equal(group["status"][:][upper], D.status.to_numpy()[upper])
    assert (group["status"][:][~upper] == -1).all()
    assert group["distance"].chunks == (16, 16)


def test_attributes_hold_the_facts(square):
    about = zarr.open_group(square[0].path, mode="r").attrs["sinkdist"]
    assert about["versions"] == [sd.__version__]
    assert about["facts"]["parameters"] == square[0].parameters
    assert about["facts"]["fingerprints"]["Y"] is None
    assert {len(about["facts"]["fingerprints"][name]) for name in ("X", "ground")} == {64}
    assert about["statuses"][str(int(Status.MAX_ITER))] == "max iter"
    assert about["shape"] == [40, 40] and about["symmetric"] is True


@pytest.mark.parametrize(
    "call",
    [
        {"ground": COSTS.tolist(), "reg": 1 / 5},
        {"ground": sd.Ground(np.asfortranarray(COSTS)), "lam": 5.0, "tol": 1e-6},
        {
            "ground": COSTS,
            "lam": 5,
            "workers": 3,
            "memory": "16GB",
            "progress": lambda record: None,
        },
        {"ground": COSTS, "lam": 5, "overwrite": True},
        {"ground": COSTS, "lam": 5, "normalize": True, "on_empty": "nan", "max_iter": 10_000},
    ],
    ids=range(5),
)
def test_the_same_call_in_other_words_computes_nothing(tmp_path, call):
    out = tmp_path / "D.zarr"
    sd.pairwise(X, ground=COSTS, lam=5, out=out)
    before = contents(out)
    for family in (X, X.tolist(), np.asfortranarray(X), np.repeat(X, 2, axis=0)[::2]):
        D = sd.pairwise(family, out=out, **call)
        assert D.is_complete
    assert contents(out) == before


OTHER = {
    "lam is 5.0 there and 6.0 here": {"lam": 6},
    "lam is 5.0 there and 2.0 here": {"reg": 0.5},
    "alpha is None there and 0.1 here": {"alpha": 0.1},
    "distance is penalised there and exact here": {"lam": INF},
    "distance is penalised there and independence here": {"lam": 0},
    "tol is 1e-06 there and 1e-07 here": {"lam": 5, "tol": 1e-7},
    "max_iter is 10000 there and 99 here": {"lam": 5, "max_iter": 99},
    "iterations is None there and 20 here": {"lam": 5, "iterations": 20},
    "solver is auto there and newton here": {"lam": 5, "solver": "newton"},
    "dtype is float64 there and float32 here": {"lam": 5, "dtype": "float32"},
    "coincidence is False there and True here": {"lam": 5, "coincidence": True},
    "X is not the one that was stored": {"lam": 5, "X": X[::-1]},
    "Y is not the one that was stored": {"lam": 5, "Y": X},
    "ground is not the one that was stored": {"lam": 5, "ground": COSTS * (1 + 1e-15)},
}


@pytest.mark.parametrize("phrase", OTHER)
def test_another_call_is_told_what_differs_and_changes_nothing(tmp_path, phrase):
    out, call = tmp_path / "D.zarr", {"X": X, "Y": None, "ground": COSTS, **OTHER[phrase]}
    begin(out)
    before = contents(tmp_path)
    with pytest.raises(sd.InputError) as caught:
        sd.pairwise(call.pop("X"), call.pop("Y"), out=out, **call)
    assert phrase in str(caught.value) and "overwrite=True" in str(caught.value)
    assert contents(tmp_path) == before


def test_all_that_differs_is_named(tmp_path):
    out = tmp_path / "D.zarr"
    sd.pairwise(X, ground=COSTS, lam=5, out=out)
    with pytest.raises(sd.InputError) as caught:
        sd.pairwise(X[1:], Y, ground=2 * COSTS, lam=6, tol=1e-3, out=out)
    for name in ("lam", "tol", "X", "Y", "ground"):
        assert f" {name} is " in str(caught.value)
    assert "max_iter" not in str(caught.value) and "dtype" not in str(caught.value)


def test_overwrite_replaces(tmp_path):
    out = tmp_path / "D.zarr"
    sd.pairwise(X, ground=COSTS, lam=5, out=out)
    D = sd.pairwise(Y, ground=COSTS, lam=6, out=out, overwrite=True)
    np.testing.assert_allclose(D, sd.pairwise(Y, ground=COSTS, lam=6), rtol=1e-12)
    assert sd.open_matrix(out).shape == (21, 21)
    assert not (out / "distance" / "c" / "2").exists()  # no chunk of the larger one


def test_overwrite_continues_the_same_call(tmp_path):
    out = tmp_path / "D.zarr"
    begin(out)
    before = contents(out)
    assert sd.pairwise(X, ground=COSTS, lam=5, out=out, overwrite=True).is_complete
    after = contents(out)
    assert {name: after[name] for name in before} == before


def test_overwrite_needs_out():
    with pytest.raises(sd.InputError, match="'overwrite' option needs 'out'"):
        sd.pairwise(X, ground=COSTS, lam=5, overwrite=True)


# --------------------------------------------------------------------------- what is not ours


def plain_file(out):
    out.write_text("mine")


def folder_of_files(out):
    (out / "chapter").mkdir(parents=True)
    (out / "chapter" / "one.tex").write_text("mine")


def locked_folder(out):
    """Other programs keep locks too."""
    folder_of_files(out)
    for name in (".lock", ".sinkdist.lock", ".sinkdist-lock"):
        (out / name).touch()


def zarr_array(out):
    zarr.create_array(str(out), shape=(4, 4), dtype="f8")[:] = 1.0


def zarr_group(out, version=3):
    group = zarr.open_group(str(out), mode="w", zarr_format=version)
    group.attrs["mine"] = True
    group.create_array("distance", shape=(4, 4), dtype="f8")[:] = 1.0


def old_zarr_group(out):
    zarr_group(out, version=2)


def newer_store(out):
    sd.pairwise(X, ground=COSTS, lam=5, out=out)
    group = zarr.open_group(str(out), mode="r+")
    group.attrs["sinkdist"] = {**group.attrs["sinkdist"], "format": 99}


def other_attribute(out):
    zarr.open_group(str(out), mode="w").attrs["sinkdist"] = "a city"


def damaged_attribute(out):
    zarr.open_group(str(out), mode="w").attrs["sinkdist"] = {"format": 1}


FOREIGN = [
    plain_file, folder_of_files, locked_folder, zarr_array, zarr_group, old_zarr_group, newer_store,
    other_attribute, damaged_attribute,
]  # fmt: skip


@pytest.mark.parametrize("overwrite", [False, True])
@pytest.mark.parametrize("make", FOREIGN, ids=lambda make: make.__name__)
def test_what_is_not_ours_is_refused_and_untouched(tmp_path, make, overwrite):
    out = tmp_path / "D.zarr"
    make(out)
    before = contents(tmp_path)
    with pytest.raises(sd.InputError, match=r"D\.zarr' "):
        sd.pairwise(X, ground=COSTS, lam=5, out=out, overwrite=overwrite)
    assert contents(tmp_path) == before
    with pytest.raises(sd.InputError, match=r"D\.zarr' "):
        sd.open_matrix(out)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("damage", ["torn", "empty", "gone"])
def test_finished_chunks_survive_a_damaged_description(tmp_path, square, damage):
    """Without its attributes nobody knows what the chunks are: they may be hours of work."""
    out = tmp_path / "D.zarr"
    sd.pairwise(X, ground=COSTS, lam=5, out=out)
    about = out / "zarr.json"
    if damage == "gone":
        about.unlink()
    else:
        about.write_bytes(about.read_bytes()[: 40 * (damage == "torn")])
    before = contents(tmp_path)
    with pytest.raises((sd.InputError, sd.StoreError), match=r"D\.zarr'"):
        sd.pairwise(X, ground=COSTS, lam=5, out=out)
    with pytest.raises((sd.InputError, sd.StoreError), match=r"D\.zarr'"):
        sd.open_matrix(out)
    assert contents(tmp_path) == before
    D = sd.pairwise(X, ground=COSTS, lam=5, out=out, overwrite=True)
    np.testing.assert_array_equal(D.to_numpy(), square[1])


def test_stray_files_are_passed_over(square, tmp_path):
    out = tmp_path / "D.zarr"
    D = sd.pairwise(X, ground=COSTS, lam=5, out=out)
    (out / "distance" / "c" / ".DS_Store").write_bytes(b"x")
    (out / "distance" / "c" / "0" / "99").write_bytes(b"x")
    (out / "status" / "c" / "0" / "Thumbs.db").write_bytes(b"x")
    (out / "status" / "c" / "old").mkdir()
    (out / "status" / "c" / "old" / "0").write_bytes(b"x")
    assert D.is_complete and "complete" in repr(D)
    np.testing.assert_array_equal(sd.open_matrix(out).to_numpy(), square[1])
    assert sd.pairwise(X, ground=COSTS, lam=5, out=out).is_complete


# ------------------------------------------------------------------------------------- places


@pytest.mark.parametrize(
    "out", ["D.zarr", "./D.zarr/", "a/../b/c/D.zarr", "with space/Ä λ.zarr", "D.zip", "plain"]
)
def test_relative_places(tmp_path, monkeypatch, out):
    monkeypatch.chdir(tmp_path)
    D = sd.pairwise(X, ground=COSTS, lam=5, out=out)
    assert (tmp_path / os.path.normpath(out) / "zarr.json").exists()
    np.testing.assert_array_equal(sd.open_matrix(Path(out)).to_numpy(), D.to_numpy())


def test_a_matrix_is_still_found_after_the_working_folder_changed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    D = sd.pairwise(X, ground=COSTS, lam=5, out="D.zarr")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert D.is_complete and D[0, 1] > 0


def test_home(tmp_path, monkeypatch):
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    sd.pairwise(X, ground=COSTS, lam=5, out="~/D.zarr")
    assert (tmp_path / "home" / "D.zarr" / "zarr.json").exists()
    assert sd.open_matrix("~/D.zarr").is_complete and sd.open_matrix(Path("~/D.zarr")).is_complete
    assert not (tmp_path / "~").exists()


@pytest.mark.parametrize("out", ["", 3, b"D.zarr", ["D.zarr"], True])
def test_what_is_no_place(out):
    for call in (
        lambda: sd.pairwise(X, ground=COSTS, lam=5, out=out),
        lambda: sd.open_matrix(out),
    ):
        with pytest.raises(sd.InputTypeError, match=r"must be a path such as 'D.zarr'"):
            call()


def test_there_is_no_matrix(tmp_path):
    for place in (tmp_path / "D.zarr", "memory://nowhere/D.zarr"):
        with pytest.raises(sd.InputError, match="There is no matrix at"):
            sd.open_matrix(place)
    with pytest.raises(sd.InputError, match="File name too long"):
        sd.open_matrix(tmp_path / ("x" * 300))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "out", ["/proc/D.zarr", "/dev/null/D.zarr", "/dev/null", "a\0b", "x" * 300]
)
def test_places_that_cannot_be(out):
    with pytest.raises((sd.InputError, sd.InputTypeError, sd.StoreError)) as caught:
        sd.pairwise(X, ground=COSTS, lam=5, out=out)
    assert repr(out)[1:-1] in str(caught.value)


@contextlib.contextmanager
def nobody():
    """As a user without privileges; folders do not keep root out."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.parametrize("mode", [0o555, 0o000], ids=["read-only", "closed"])
def test_places_that_may_not_be_written(mode):
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        folder = Path(top) / "folder"
        folder.mkdir()
        folder.chmod(mode)
        with nobody(), pytest.raises(sd.InputError, match=r"cannot be (written|read)"):
            sd.pairwise(X, ground=COSTS, lam=5, out=folder / "D.zarr")
        folder.chmod(0o755)
        assert list(folder.iterdir()) == []


def test_a_read_only_store_is_read(square):
    with tempfile.TemporaryDirectory() as top:
        os.chmod(top, 0o755)
        out = Path(top) / "D.zarr"
        sd.pairwise(X, ground=COSTS, lam=5, out=out)
        for path in [*out.rglob("*"), out]:
            path.chmod(0o555 if path.is_dir() else 0o444)
        with nobody():
            np.testing.assert_array_equal(sd.open_matrix(out).to_numpy(), square[1])
            assert sd.open_matrix(out).summary().pairs == PAIRS
            with pytest.raises(sd.InputError, match="cannot be written"):
                sd.pairwise(X, ground=COSTS, lam=6, out=out)
        for path in [out, *out.rglob("*")]:
            path.chmod(0o755)


# --------------------------------------------------------------------------------- two writers


def test_a_second_writer_is_sent_away(tmp_path):
    out, running, finish = tmp_path / "D.zarr", threading.Event(), threading.Event()

    def wait(record):
        running.set()
        finish.wait(30)

    first = threading.Thread(
        target=sd.pairwise,
        args=(X,),
        kwargs={"ground": COSTS, "lam": 5, "out": out, "workers": 1, "progress": wait},
    )
    first.start()
    try:
        assert running.wait(30)
        for lam, overwrite in ((5, False), (6, True)):
            with pytest.raises(sd.StoreError, match="is being written by another process"):
                sd.pairwise(X, ground=COSTS, lam=lam, out=out, overwrite=overwrite)
        assert len(sd.open_matrix(out).missing) == 5  # readers are welcome
    finally:
        finish.set()
        first.join()
    assert sd.open_matrix(out).is_complete
    assert sd.pairwise(X, ground=COSTS, lam=5, out=out).is_complete


# -------------------------------------------------------------------------------- object stores


@pytest.fixture
def address():
    import fsspec

    name = f"memory://{uuid.uuid4().hex}/D.zarr"
    yield name
    fsspec.filesystem("memory").rm(name.rsplit("/", 1)[0], recursive=True)


def objects(address):
    import fsspec

    files = fsspec.filesystem("memory")
    return {name: files.cat(name) for name in files.find(address)}


def test_object_store(address, square):
    D = sd.pairwise(X, ground=COSTS, lam=5, out=address)
    np.testing.assert_array_equal(D.to_numpy(), square[1])
    again = sd.open_matrix(address + "/")
    np.testing.assert_array_equal(again[30:, 3], square[1][30:, 3])
    assert again.summary().pairs == PAIRS and again.path == address
    before = objects(address)
    assert sd.pairwise(X, ground=COSTS, lam=5, out=address).is_complete
    with pytest.raises(sd.InputError, match=r"lam is 5.0 there and 6.0 here"):
        sd.pairwise(X, ground=COSTS, lam=6, out=address)
    assert objects(address) == before
    D = sd.pairwise(Y, ground=COSTS, lam=6, out=address, overwrite=True)
    np.testing.assert_allclose(D, sd.pairwise(Y, ground=COSTS, lam=6), rtol=1e-12)


def test_object_store_resumes(address, square):
    D = begin(address)
    before = objects(address)
    assert len(D.missing) == 4
    with pytest.raises(sd.IncompleteError):
        D.to_numpy()
    D = sd.pairwise(X, ground=COSTS, lam=5, out=address)
    np.testing.assert_array_equal(D.to_numpy(), square[1])
    after = objects(address)
    assert {name: after[name] for name in before} == before


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("damage", ["torn", "flipped", "gone"])
def test_object_store_mends(address, square, name, damage):
    import fsspec

    sd.pairwise(X, ground=COSTS, lam=5, out=address)
    whole, files, chunk = objects(address), fsspec.filesystem("memory"), f"{address}/{name}/c/0/1"
    raw = bytearray(files.cat(chunk))
    if damage == "gone":
        files.rm(chunk)
    elif damage == "torn":
        files.pipe(chunk, bytes(raw[:-7]))
    else:
        raw[9] ^= 4
        files.pipe(chunk, bytes(raw))
        with pytest.raises(sd.StoreError, match="damaged"):
            sd.open_matrix(address).summary()
    sd.pairwise(X, ground=COSTS, lam=5, out=address)
    assert objects(address) == whole


def test_foreign_objects_are_untouched(address):
    import fsspec

    fsspec.filesystem("memory").pipe(f"{address}/mine.txt", b"mine")
    for overwrite in (False, True):
        with pytest.raises(sd.InputError, match="not a matrix stored by sinkdist"):
            sd.pairwise(X, ground=COSTS, lam=5, out=address, overwrite=overwrite)
    assert list(objects(address).values()) == [b"mine"]


def test_file_address(tmp_path, square):
    out = tmp_path / "D.zarr"
    D = sd.pairwise(X, ground=COSTS, lam=5, out=f"file://{out}")
    np.testing.assert_array_equal(D.to_numpy(), square[1])
    np.testing.assert_array_equal(sd.open_matrix(out).to_numpy(), square[1])


def test_unknown_addresses():
    for call in (
        lambda: sd.pairwise(X, ground=COSTS, lam=5, out="nosuch://x/D.zarr"),
        lambda: sd.open_matrix("nosuch://x/D.zarr"),
    ):
        with pytest.raises(sd.InputError, match=r"nosuch://x/D\.zarr"):
            call()


# ------------------------------------------------------------------------ progress, warnings


def test_progress_of_a_fresh_run(tmp_path):
    records = []
    sd.pairwise(X, ground=COSTS, lam=5, out=tmp_path / "D.zarr", progress=records.append)
    done = [record.done for record in records]
    assert len(done) == 6 and done == sorted(set(done)) and done[-1] == PAIRS
    assert all(r.total == PAIRS and r.before == 0 and r.unconverged == 0 for r in records)
    assert all(r.pairs_per_second == r.done / r.seconds > 0 for r in records)


def test_progress_of_a_resumed_and_of_a_complete_run(tmp_path):
    out, options = tmp_path / "D.zarr", {"lam": 80, "solver": "plain", "max_iter": 30}
    with pytest.raises(Enough):
        sd.pairwise(X, ground=COSTS, out=out, workers=1, progress=stop_after(2), **options)
    records = []
    with pytest.warns(sd.ConvergenceWarning) as caught:
        D = sd.pairwise(X, ground=COSTS, out=out, progress=records.append, **options)
    stored, short = 136 + 256, D.summary().unconverged_pairs
    assert 0 < short < PAIRS and f"{short} of {PAIRS} pairs" in str(caught[0].message)
    done = [record.done for record in records]
    assert done[0] == stored and all(d > stored for d in done[1:])  # first, what is kept
    assert done == sorted(done) and done[-1] == PAIRS
    assert all(r.before == stored and r.total == PAIRS for r in records)
    for r in records:
        assert r.pairs_per_second == (r.done - stored) / (r.seconds - r.compiling) >= 0
    assert records[-1].unconverged == short
    records.clear()
    with pytest.warns(sd.ConvergenceWarning) as again:
        sd.pairwise(X, ground=COSTS, out=out, progress=records.append, **options)
    assert [(r.done, r.total, r.before, r.unconverged) for r in records] == [
        (PAIRS, PAIRS, PAIRS, short)
    ]
    assert records[0].pairs_per_second == 0
    assert [str(w.message) for w in again] == [str(w.message) for w in caught]
    assert caught[0].filename == again[0].filename == __file__


def test_progress_of_a_run_that_mends(tmp_path):
    out, records = tmp_path / "D.zarr", []
    sd.pairwise(X, ground=COSTS, lam=5, out=out)
    chunk = out / "distance" / "c" / "0" / "1"
    raw = bytearray(chunk.read_bytes())
    raw[3] ^= 1
    chunk.write_bytes(raw)
    sd.pairwise(X, ground=COSTS, lam=5, out=out, progress=records.append)
    assert records[-1].done == PAIRS and records[-1].before == PAIRS - 256
    assert all(r.before <= r.done <= r.total and r.pairs_per_second >= 0 for r in records)
    assert records[-1].pairs_per_second > 0


def test_silent_where_all_is_well(tmp_path, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for _ in range(2):
            sd.pairwise(X, ground=COSTS, lam=5, out=tmp_path / "D.zarr")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "error", [PermissionError, FileExistsError, NotADirectoryError, TimeoutError, OSError, KeyError]
)
@pytest.mark.parametrize("workers", [1, 2])
def test_what_a_callback_raises_arrives(tmp_path, error, workers):
    mine = error("mine")

    def listen(record):
        raise mine

    with pytest.raises(error) as caught:
        sd.pairwise(
            X, ground=COSTS, lam=5, out=tmp_path / "D.zarr", workers=workers, progress=listen
        )
    assert caught.value is mine
    assert sd.pairwise(X, ground=COSTS, lam=5, out=tmp_path / "D.zarr").is_complete


def test_the_nearest_of_every_row(tmp_path):
    """Read by rows of tiles; what `neighbors` finds without the matrix."""
    rng = np.random.default_rng(0)
    X, Y = rng.dirichlet(np.ones(5), 12), rng.dirichlet(np.ones(5), 7)
    M = rng.random((5, 5))
    for other in (None, Y):
        D = sd.pairwise(X, other, ground=M, lam=np.inf, out=tmp_path / f"{other is None}.zarr")
        found = sd.neighbors(X, other, ground=M, k=3, lam=np.inf)
        indices, distances = D.nearest(3)
        np.testing.assert_array_equal(indices, found.indices)
        np.testing.assert_allclose(distances, found.distances, rtol=1e-12)
    few = D.nearest(9)
    assert (few[0][:, 7:] == -1).all() and np.isnan(few[1][:, 7:]).all()
    with pytest.raises(sd.InputError, match="'k' option must be a whole number of at least 1"):
        D.nearest(0)
