"""The verbs as a user meets them: shapes, options, messages, warnings, threads, results."""

import copy
import pickle
import re
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sparse

import sinkdist as sd
from sinkdist.solution.status import Status
from sinkdist.solvers.table import SOLVERS
from tests.problems import digits, grid_costs, random_metric, simplex, sparse_histograms

M = grid_costs(3, 4)
X, Y = sparse_histograms(6, 12, 0), sparse_histograms(6, 12, 1)
HARD = simplex(5, 40, 2)
HARD_M = random_metric(40, 3)
CAPPED = {"lam": 9, "max_iter": 1}


# ------------------------------------------------------------------------- shapes and dtypes

SHAPES = {
    "one and one": (X[0], Y[0], ()),
    "one and many": (X[0], Y, (6,)),
    "many and one": (X, Y[0], (6,)),
    "row by row": (X, Y, (6,)),
    "one row is a family": (X[:1], Y[:1], (1,)),
    "one and a row": (X[0], Y[:1], (1,)),
    "one and none": (X[0], Y[:0], (0,)),
    "none and none": (X[:0], Y[:0], (0,)),
}


@pytest.mark.parametrize("option", [{}, {"iterations": 3}], ids=["tol", "iterations"])
@pytest.mark.parametrize("case", SHAPES)
def test_shapes(case, option):
    r, c, shape = SHAPES[case]
    d = sd.distance(r, c, M, lam=5, **option)
    s = sd.solve(r, c, M, lam=5, **option)
    numbers = (
        d,
        s.value,
        s.marginal_error,
        s.n_iter,
        s.entropy,
        s.alpha,
        s.objective,
        s.gap,
        *s.emd_bounds,
    )
    assert all(np.shape(number) == shape for number in numbers)
    assert np.shape(s.status) == np.shape(s.converged) == np.shape(s.solver) == shape
    assert s.plan.shape == (*shape, 12, 12)
    assert [p.shape for p in s.potentials] == [(*shape, 12)] * 2
    np.testing.assert_allclose(s.value, d, rtol=1e-12)
    if shape == ():
        assert type(d) is type(s.value) is float and type(s.n_iter) is int
        assert isinstance(s.status, Status) and isinstance(s.solver, str)
        assert isinstance(s.converged, bool | np.bool_)


def test_pairwise_shapes():
    assert sd.pairwise(X, ground=M, lam=5).shape == (6, 6)
    assert sd.pairwise(X, Y[:2], ground=M, lam=5).shape == (6, 2)
    assert sd.pairwise(X[:1], ground=M, lam=5).shape == (1, 1)
    assert sd.pairwise(X[:0], ground=M, lam=5).shape == (0, 0)
    assert sd.pairwise(X, Y[:0], ground=M, lam=5).shape == (6, 0)
    assert sd.pairwise(X[:0], Y, ground=M, lam=5).shape == (0, 6)


def test_rows_are_matched_not_crossed():
    D = sd.pairwise(X, Y, ground=M, lam=5, tol=1e-10)
    np.testing.assert_allclose(sd.solve(X, Y, M, lam=5, tol=1e-10).value, D.diagonal(), rtol=1e-9)
    np.testing.assert_allclose(sd.distance(X[2], Y, M, lam=5, tol=1e-10), D[2], rtol=1e-9)
    np.testing.assert_allclose(sd.distance(X, Y[3], M, lam=5, tol=1e-10), D[:, 3], rtol=1e-9)


@pytest.mark.parametrize("option", [{}, {"iterations": 3}], ids=["tol", "iterations"])
@pytest.mark.parametrize(
    ("given", "dtype", "result"),
    [
        ("f4", None, "f4"),
        ("f8", None, "f8"),
        ("f4", "float64", "f8"),
        ("f8", "float32", "f4"),
        ("f8", np.float32, "f4"),
    ],
)
def test_float32_stays_float32_unless_told_otherwise(given, dtype, result, option):
    A = X.astype(given)
    for lam in (5, 500):  # a kernel that does not fit into float32 is an inner matter
        assert sd.pairwise(A, ground=M, lam=lam, dtype=dtype, **option).dtype == result
        assert sd.distance(A[0], A, M, lam=lam, dtype=dtype, **option).dtype == result
        assert sd.solve(A[0], A, M, lam=lam, dtype=dtype, **option).value.dtype == result


def test_one_float32_of_two_is_float64():
    assert sd.pairwise(X.astype("f4"), Y, ground=M, lam=5).dtype == np.float64


def test_reg_is_one_over_lam():
    assert sd.distance(X[0], Y[0], M, reg=0.25) == sd.distance(X[0], Y[0], M, lam=4)


def test_ground_or_matrix():
    ground = sd.Ground(M)
    for g in (M, M.tolist(), pd.DataFrame(M), M.astype(int) * 1.0):
        expected = sd.distance(X[0], Y[0], np.asarray(g, float), lam=4)
        assert sd.distance(X[0], Y[0], g, lam=4) == expected
    assert sd.distance(X[0], Y[0], ground, lam=4) == sd.distance(X[0], Y[0], M, lam=4)


# ----------------------------------------------------------------------------------- messages

OPTIONS = {
    "no strength": ({}, ValueError, "exactly one of 'lam', 'reg' and 'alpha'. Got none of them"),
    "two strengths": ({"lam": 1, "reg": 1}, ValueError, "exactly one .* Got lam=1 and reg=1"),
    "negative lam": ({"lam": -1}, ValueError, "'lam' must be non-negative. Got -1"),
    "nan": ({"lam": float("nan")}, ValueError, "'lam' must be non-negative. Got nan"),
    "a string": ({"lam": "9"}, TypeError, "'lam' must be one real number. Got '9'"),
    "lam and alpha": ({"lam": 1, "alpha": 2}, ValueError, "exactly one .* Got lam=1 and alpha=2"),
    "negative alpha": ({"alpha": -1}, ValueError, "'alpha' must be non-negative. Got -1"),
    "text alpha": ({"alpha": "1"}, TypeError, "'alpha' must be one real number. Got '1'"),
    "iterations for alpha": (
        {"alpha": 0.5, "iterations": 5},
        ValueError,
        "'iterations' counts steps of Algorithm 1, .* asks for the constrained distance",
    ),
    "iterations for the exact distance": (
        {"lam": float("inf"), "iterations": 5},
        ValueError,
        "'iterations' counts steps of Algorithm 1, .* asks for the exact distance",
    ),
    "iterations for independence": (
        {"alpha": 0, "iterations": 5},
        ValueError,
        "'iterations' counts steps of Algorithm 1, .* asks for the independence distance",
    ),
    "solver for alpha": (
        {"alpha": 0.5, "solver": "newton"},
        ValueError,
        "solver='newton' needs a positive, finite 'lam' or 'reg'; the constrained distance",
    ),
    "solver for the exact distance": (
        {"reg": 0, "solver": "plain"},
        ValueError,
        "solver='plain' needs a positive, finite 'lam' or 'reg'; the exact distance",
    ),
    "solver for independence": (
        {"lam": 0, "solver": "log"},
        ValueError,
        "solver='log' needs a positive, finite 'lam' or 'reg'; the independence distance",
    ),
    "solver": (
        {"lam": 9, "solver": "sinkhorn"},
        ValueError,
        "The 'solver' option must be one of 'auto', 'plain', .* Got 'sinkhorn' instead",
    ),
    "solver type": ({"lam": 9, "solver": None}, ValueError, "The 'solver' option .* Got None"),
    "unhashable solver": (
        {"lam": 9, "solver": ["auto"]},
        ValueError,
        r"The 'solver' option .* Got \['auto'\]",
    ),
    "zero tol": (
        {"lam": 9, "tol": 0},
        ValueError,
        "The 'tol' option must be positive and finite. Got 0",
    ),
    "nan tol": (
        {"lam": 9, "tol": float("nan")},
        ValueError,
        "The 'tol' option must be positive and finite. Got nan",
    ),
    "inf tol": (
        {"lam": 9, "tol": float("inf")},
        ValueError,
        "The 'tol' option must be positive and finite",
    ),
    "text tol": (
        {"lam": 9, "tol": "1e-6"},
        TypeError,
        "The 'tol' option must be a number. Got '1e-6'",
    ),
    "true tol": ({"lam": 9, "tol": True}, TypeError, "The 'tol' option must be a number. Got True"),
    "zero max_iter": (
        {"lam": 9, "max_iter": 0},
        ValueError,
        "The 'max_iter' option must be at least 1. Got 0",
    ),
    "float max_iter": (
        {"lam": 9, "max_iter": 10.0},
        TypeError,
        "The 'max_iter' option must be a whole number. Got 10.0",
    ),
    "zero iterations": (
        {"lam": 9, "iterations": 0},
        ValueError,
        "The 'iterations' option must be at least 1. Got 0",
    ),
    "true iterations": (
        {"lam": 9, "iterations": True},
        TypeError,
        "The 'iterations' option must be a whole number",
    ),
    "iterations and tol": (
        {"lam": 9, "iterations": 5, "tol": 1e-3},
        ValueError,
        "'iterations' runs exactly .* leave out 'tol'",
    ),
    "iterations and both": (
        {"lam": 9, "iterations": 5, "tol": 1e-3, "max_iter": 9},
        ValueError,
        "leave out 'tol' and 'max_iter'",
    ),
    "iterations and solver": (
        {"lam": 9, "iterations": 5, "solver": "log"},
        ValueError,
        "'iterations' runs the steps of Algorithm 1.*solver='log'",
    ),
    "dtype": (
        {"lam": 9, "dtype": "float16"},
        ValueError,
        "The 'dtype' option must be float32 or float64. Got 'float16'",
    ),
    "integer dtype": (
        {"lam": 9, "dtype": int},
        ValueError,
        "The 'dtype' option must be float32 or float64",
    ),
    "on_empty": (
        {"lam": 9, "on_empty": "skip"},
        ValueError,
        "The 'on_empty' option must be 'raise' or 'nan'. Got 'skip'",
    ),
    "zero workers": (
        {"lam": 9, "workers": 0},
        ValueError,
        "The 'workers' option must be at least 1. Got 0",
    ),
    "negative workers": (
        {"lam": 9, "workers": -1},
        ValueError,
        "The 'workers' option must be at least 1. Got -1",
    ),
    "float workers": (
        {"lam": 9, "workers": 2.0},
        TypeError,
        "The 'workers' option must be a whole number. Got 2.0",
    ),
    "progress": (
        {"lam": 9, "progress": "yes"},
        TypeError,
        "The 'progress' option must be True, False or a function.* Got 'yes'",
    ),
}

VERBS = {
    "solve": lambda **o: sd.solve(X[0], Y[0], M, **o),
    "solve many": lambda **o: sd.solve(X, Y, M, **o),
    "distance": lambda **o: sd.distance(X[0], Y[0], M, **o),
    "distance many": lambda **o: sd.distance(X[0], Y, M, **o),
    "pairwise": lambda **o: sd.pairwise(X, ground=M, **o),
}


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("case", OPTIONS)
def test_every_mistaken_option_has_its_sentence(case, verb):
    options, error, message = OPTIONS[case]
    with pytest.raises(error, match=message):
        VERBS[verb](**options)


def test_messages_about_shapes():
    with pytest.raises(
        ValueError, match=r"'r' has 6 rows and 'c' has 5 rows: .*Use pairwise for all pairs"
    ):
        sd.solve(X, Y[:5], M, lam=5)
    with pytest.raises(ValueError, match="'r' has 6 rows and 'c' has 1"):
        sd.distance(X, Y[:1], M, lam=5)
    with pytest.raises(
        ValueError, match=r"'X' must be a family .* Got one histogram of 12 bins: pass X\[None\]"
    ):
        sd.pairwise(X[0], ground=M, lam=5)
    with pytest.raises(
        ValueError, match=r"'Y' must be a family .* Got one histogram of 12 bins: pass Y\[None\]"
    ):
        sd.pairwise(X, Y[0], ground=M, lam=5)
    with pytest.raises(ValueError, match="'X' has 12 bins per row, but the ground metric has 9"):
        sd.pairwise(X, ground=grid_costs(3, 3), lam=5)
    with pytest.raises(ValueError, match="'X' has 12 bins per row, but the ground metric has 7"):
        sd.pairwise(X, ground=np.ones((12, 7)), lam=5)
    with pytest.raises(TypeError):
        sd.pairwise(X, Y, M, lam=5)  # the ground is named, since Y may be left out


def test_numpy_scalars_are_numbers():
    """What comes out of an array goes into an option."""
    options = {
        "lam": np.float32(5),
        "tol": np.float64(1e-6),
        "max_iter": np.int64(100),
        "workers": np.int64(2),
    }
    assert sd.distance(X[0], Y, M, **options).shape == (6,)
    assert sd.distance(X[0], Y, M, lam=np.int32(5), iterations=np.int32(4)).shape == (6,)


# ------------------------------------------------------------------------ warnings and silence


def caught(call):
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", sd.ScaleWarning)
        call()
    return record


def test_silent_when_all_is_well(capfd):
    ground = sd.Ground.grid(8, 8).scaled()
    for option in ({}, {"iterations": 20}):
        assert (
            caught(lambda option=option: sd.pairwise(digits(20), ground=ground, lam=9, **option))
            == []
        )
    assert capfd.readouterr() == ("", "")


WARNING = (
    r"^{} of {} pairs? did not reach tol=1e-06: {} stopped at max_iter=1; "
    r"the worst marginal error is [0-9.]+"
)


@pytest.mark.parametrize(
    ("call", "short", "pairs"),
    [
        (lambda: sd.solve(HARD[0], HARD[1], HARD_M, **CAPPED), 1, 1),
        (lambda: sd.distance(HARD[0], HARD, HARD_M, **CAPPED), 5, 5),
        (lambda: sd.solve(HARD, HARD[::-1], HARD_M, **CAPPED), 5, 5),
        (lambda: sd.pairwise(HARD[:2], HARD, ground=HARD_M, **CAPPED), 10, 10),
        # Of one family, what was computed: each pair once, and the diagonal.
        (lambda: sd.pairwise(HARD, ground=HARD_M, **CAPPED), 15, 15),
        (lambda: sd.distance(np.eye(40)[0], [*np.eye(40)[:3]], HARD_M, **CAPPED), 0, 3),
    ],
    ids=["solve", "distance", "matched", "two families", "one family", "diracs"],
)
def test_one_warning_with_counts_and_the_worst_error(call, short, pairs):
    record = caught(call)
    if short == 0:
        assert record == []
        return
    assert [w.category for w in record] == [sd.ConvergenceWarning]
    assert re.match(WARNING.format(short, pairs, short), str(record[0].message)), str(
        record[0].message
    )
    assert record[0].filename == __file__  # it points at the caller


def test_the_warning_counts_only_those_that_fell_short():
    mixed = np.stack([np.eye(40)[0], HARD[1], np.eye(40)[1], HARD[2]])
    record = caught(lambda: sd.distance(HARD[0], mixed, HARD_M, **CAPPED))
    assert str(record[0].message).startswith("2 of 4 pairs")
    worst = max(capped_error(HARD[0], h) for h in (HARD[1], HARD[2]))
    assert f"the worst marginal error is {worst:.2g}" in str(record[0].message)


def capped_error(r, c):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sd.solve(r, c, HARD_M, **CAPPED).marginal_error


# --------------------------------------------------------------------------- input is left alone


@pytest.mark.parametrize(
    "option", [{}, {"iterations": 3}, {"normalize": True}, {"coincidence": True}], ids=str
)
def test_inputs_are_never_modified(option):
    counts = X * 2 if option.get("normalize") else X
    kinds = [counts.copy(), sparse.csr_array(counts), pd.DataFrame(counts), counts.astype("f4")]
    cost = M.copy()
    for kind in kinds:
        before = pickle.dumps(kind)
        sd.pairwise(kind, ground=cost, lam=5, **option)
        sd.pairwise(kind, kind, ground=cost, lam=5, **option)
        sd.solve(kind, kind, cost, lam=5, **option)
        assert pickle.dumps(kind) == before
    np.testing.assert_array_equal(cost, M)


def test_results_do_not_share_memory_with_the_ground_or_each_other():
    ground = sd.Ground(M)
    s = sd.solve(X, Y, ground, lam=5)
    again = s.plan
    s.plan[:] = 0
    np.testing.assert_array_equal(s.plan, again)
    sd.pairwise(X, ground=ground, lam=5)[:] = -1
    np.testing.assert_array_equal(ground.matrix, M)


# ----------------------------------------------------------------------------- options that act


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_rows_without_mass_are_nan_on_request(kind):
    A = X.copy()
    A[[1, 4]] = 0
    full = [0, 2, 3, 5]
    D = sd.pairwise(kind(A), ground=M, lam=5, on_empty="nan", coincidence=True)
    assert np.isnan(D[[1, 4]]).all() and np.isnan(D[:, [1, 4]]).all()
    np.testing.assert_array_equal(
        D[np.ix_(full, full)], sd.pairwise(X[full], ground=M, lam=5, coincidence=True)
    )
    s = sd.solve(X[0], kind(A), M, lam=5, on_empty="nan")
    assert np.isnan(s.value[[1, 4]]).all() and np.isfinite(s.value[full]).all()
    assert (
        (s.status[[1, 4]] == Status.EMPTY).all()
        and s.converged[full].all()
        and not s.converged[[1, 4]].any()
    )
    assert np.isnan(s.emd_bounds[0][[1, 4]]).all() and np.isfinite(s.emd_bounds[0][full]).all()
    assert "nan" not in repr(s)
    one = sd.solve(np.zeros(12), X[0], M, lam=5, on_empty="nan")
    assert np.isnan(one.value) and one.status == Status.EMPTY and not one.converged
    assert np.isnan(sd.distance(np.zeros(12), X[0], M, lam=5, on_empty="nan"))
    assert np.isnan(sd.distance(np.zeros(12), X, M, lam=5, iterations=2, on_empty="nan")).all()


@pytest.mark.parametrize(
    "kind",
    [np.asarray, sparse.csr_array, lambda a: np.asarray(a, "f4")],
    ids=["array", "csr", "float32"],
)
def test_coincidence_makes_equal_histograms_0(kind):
    A = kind(X[[0, 1, 0, 2]])
    plain = sd.pairwise(A, ground=M, lam=5)
    D = sd.pairwise(A, ground=M, lam=5, coincidence=True)
    same = np.eye(4, dtype=bool)
    same[0, 2] = same[2, 0] = True
    assert (plain > 0).all()
    assert (D[same] == 0).all()
    np.testing.assert_array_equal(D[~same], plain[~same])
    dense = X[[0, 1, 0, 2]]
    np.testing.assert_array_equal(
        sd.distance(dense[0], dense, M, lam=5, coincidence=True) == 0, same[0]
    )
    np.testing.assert_array_equal(
        sd.solve(dense, dense[::-1], M, lam=5, coincidence=True).value == 0, [False] * 4
    )
    assert sd.solve(dense[0], dense[2], M, lam=5, coincidence=True).value == 0.0
    assert sd.distance(dense[0], dense[2], M, lam=5, iterations=4, coincidence=True) == 0.0
    assert (
        sd.distance([0.5, 0.5, 0.0], [0.5, 0.5, -0.0], grid_costs(3), lam=5, coincidence=True)
        == 0.0
    )


def test_coincidence_of_many_matched_pairs_needs_no_matrix_of_all():
    """Twenty thousand matched pairs would be 400 million comparisons."""
    import tracemalloc

    A = np.eye(2)[np.arange(20_000) % 2]
    tracemalloc.start()
    d = sd.distance(A, A, [[0, 1], [1, 0]], lam=5, iterations=1, coincidence=True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (d == 0).all() and peak < 1e8


def test_tol_is_honoured():
    for tol in (1e-2, 1e-5, 1e-10):
        s = sd.solve(HARD, HARD[::-1], HARD_M, lam=9, tol=tol)
        assert s.converged.all() and (s.marginal_error <= tol).all()
    assert (
        sd.solve(HARD[0], HARD[1], HARD_M, lam=9, tol=1e-2).n_iter
        < sd.solve(HARD[0], HARD[1], HARD_M, lam=9, tol=1e-10).n_iter
    )


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.filterwarnings("ignore::sinkdist.ConvergenceWarning")
def test_max_iter_is_a_cap(solver):
    """Reads of the kernel; a step under way may be finished."""
    for cap in (1, 10):
        s = sd.solve(HARD[:2], HARD[3:], HARD_M, lam=200, max_iter=cap, solver=solver)
        assert (s.n_iter <= cap + 50).all()
        assert np.isfinite(s.value).all() and (s.status == Status.MAX_ITER).all()


def test_solution_says_what_ran():
    ran = {name: sd.solve(HARD[0], HARD[1], HARD_M, lam=9, solver=name).solver for name in SOLVERS}
    assert ran["plain"] == "plain" and ran["relaxed"] == "relaxed"
    assert ran["newton"] == "newton" and ran["log"] == "log"
    assert ran["auto"] in ("plain", "relaxed", "newton")
    assert sd.solve(HARD[0], HARD[1], HARD_M, lam=1e4).solver == "newton"
    assert sd.solve(HARD[0], HARD[1], HARD_M, lam=0.5).solver in ("plain", "relaxed")
    assert sd.solve(HARD[0], HARD[1], HARD_M, lam=9, iterations=2).solver == "algorithm1"
    family = sd.solve(HARD[0], HARD, HARD_M, lam=9).solver
    assert family[0] == "symmetric" and set(family[1:]) <= {"plain", "relaxed", "newton"}


def test_default_tolerances():
    assert sd.solve(HARD[0], HARD[1], HARD_M, lam=9).marginal_error <= 1e-6
    assert (
        sd.solve(HARD[0].astype("f4"), HARD[1].astype("f4"), HARD_M, lam=9).marginal_error <= 1e-4
    )


# ------------------------------------------------------------------------------------ progress


@pytest.mark.parametrize(
    ("call", "total"),
    [
        (lambda p: sd.solve(X[0], Y[0], M, lam=5, progress=p), 1),
        (lambda p: sd.distance(X[0], Y, M, lam=5, progress=p), 6),
        (lambda p: sd.pairwise(X, ground=M, lam=5, progress=p), 21),
        (lambda p: sd.pairwise(X, Y, ground=M, lam=5, progress=p, workers=3), 36),
        (lambda p: sd.pairwise(X, ground=np.triu(M) + 0.1, lam=5, progress=p), 36),
        (lambda p: sd.pairwise(X, ground=M, lam=5, iterations=2, progress=p), 21),
        (
            lambda p: sd.pairwise(
                X * np.array([1, 0, 1, 1, 0, 1])[:, None],
                ground=M,
                lam=5,
                on_empty="nan",
                progress=p,
            ),
            21,
        ),
    ],
)
def test_progress_records_count_up_to_the_total(call, total):
    records = []
    call(records.append)
    assert all(isinstance(record, sd.Progress) for record in records)
    assert {record.total for record in records} == {total}
    done = [record.done for record in records]
    assert done == sorted(set(done)) and done[-1] == total
    assert [r.seconds for r in records] == sorted(r.seconds for r in records)
    assert records[-1].unconverged == 0


def test_progress_counts_what_fell_short():
    records = []
    with pytest.warns(sd.ConvergenceWarning):
        sd.pairwise(HARD, ground=HARD_M, progress=records.append, **CAPPED)
    assert records[-1].unconverged == records[-1].total == 15


def test_an_error_in_a_progress_function_reaches_the_caller():
    def stop(record):
        raise RuntimeError("enough")

    for workers in (1, 2):
        with pytest.raises(RuntimeError, match="enough"):
            sd.pairwise(X, ground=M, lam=5, progress=stop, workers=workers)


# ------------------------------------------------------------------------------------- threads


def test_verbs_from_many_threads_at_once():
    """Sixteen callers share one ground, and ask for different strengths, dtypes and verbs."""
    ground = sd.Ground.grid(8, 8).scaled()
    A = digits(24)

    def job(k):
        lam, dtype = (3, 9, 40, 200)[k % 4], ("float64", "float32")[k // 4 % 2]
        D = sd.pairwise(A, ground=ground, lam=lam, dtype=dtype, workers=1 + k % 3)
        s = sd.solve(A[:12], A[12:], ground, lam=lam, dtype=dtype)
        return D, s.value, np.array(s.emd_bounds)

    alone = [job(k) for k in range(8)]
    start = threading.Barrier(16)

    def together(k):
        start.wait()
        return job(k % 8)

    with ThreadPoolExecutor(16) as pool:
        for k, results in enumerate(pool.map(together, range(16))):
            for got, expected in zip(results, alone[k % 8], strict=True):
                np.testing.assert_allclose(got, expected, rtol=1e-12 if k // 4 % 2 == 0 else 1e-6)


def test_a_blas_that_came_later_has_one_thread_too():
    """OpenCV brings one of its own."""
    pytest.importorskip("cv2")
    script = (
        "import numpy as np, sinkdist as sd\n"
        "from threadpoolctl import threadpool_info\n"
        "def counts():\n"
        "    return [p['num_threads'] for p in threadpool_info() if p['user_api'] == 'blas']\n"
        "X, M = np.eye(4), np.ones((4, 4)) - np.eye(4)\n"
        "sd.pairwise(X, ground=M, lam=5, workers=2)\n"
        "before = len(counts())\n"
        "import cv2\n"
        "told = []\n"
        "sd.pairwise(X, ground=M, lam=5, workers=2, progress=lambda _: told.append(counts()))\n"
        "assert told and len(told[0]) > before and set(told[0]) == {1}, (before, told)\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True)


def test_blas_has_one_thread_inside_and_what_it_had_afterwards():
    from threadpoolctl import threadpool_info, threadpool_limits

    def counts():
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    def fail(record):
        raise RuntimeError("enough")

    inside = []
    with threadpool_limits(2, user_api="blas"):
        sd.pairwise(X, ground=M, lam=5, workers=2, progress=lambda _: inside.append(counts()))
        assert all(count == {1} for count in inside) and counts() == {2}
        with pytest.raises(RuntimeError, match="enough"):
            sd.pairwise(X, ground=M, lam=5, workers=2, progress=fail)
        assert counts() == {2}


def test_no_threads_are_left_behind():
    sd.pairwise(X, ground=M, lam=5, workers=4)
    assert not [t for t in threading.enumerate() if t.name.startswith("sinkdist")]


# -------------------------------------------------------------------------------------- Solution


@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
def test_solutions_pickle(store):
    for s in (sd.solve(X[0], Y[0], M, lam=5), sd.solve(store(X), store(Y), sd.Ground(M), lam=5)):
        for there in (pickle.loads(pickle.dumps(s)), copy.deepcopy(s)):
            np.testing.assert_array_equal(there.value, s.value)
            np.testing.assert_array_equal(there.plan, s.plan)
            np.testing.assert_array_equal(there.emd_bounds, s.emd_bounds)
            np.testing.assert_array_equal(there.status, s.status)
            assert repr(there) == repr(s)
    ground = pickle.loads(pickle.dumps(sd.Ground(M)))
    assert sd.distance(X[0], Y[0], ground, lam=5) == sd.distance(X[0], Y[0], M, lam=5)


def test_solutions_are_frozen_and_say_one_line():
    one, many = sd.solve(X[0], Y[0], M, lam=5), sd.solve(X, Y, M, lam=5)
    with pytest.raises(AttributeError):
        one.value = 0.0
    assert "\n" not in repr(one) + repr(many)
    assert repr(one).startswith(
        f"Solution(value={one.value:.4g}, marginal_error="
    ) and "converged=True" in repr(one)
    assert repr(many).startswith("Solution(6 pairs, 6 converged, worst marginal_error=")
    assert repr(sd.solve(X[0], Y[:0], M, lam=5)).startswith("Solution(0 pairs")
    fixed = sd.solve(X[0], Y[0], M, lam=5, iterations=3)
    assert "iter" in repr(fixed) and "\n" not in repr(fixed)


def test_solution_numbers_belong_together():
    s = sd.solve(X[0], Y[0], M, lam=5, tol=1e-11)
    assert s.lam == 5 and isinstance(s.ground, sd.Ground)
    assert s.value == pytest.approx((s.plan * M).sum())
    assert s.objective == pytest.approx(s.value - s.entropy / 5)
    h = lambda p: -(p[p > 0] * np.log(p[p > 0])).sum()  # noqa: E731
    assert s.alpha == pytest.approx(h(X[0]) + h(Y[0]) - s.entropy, abs=1e-9)
    f, g = s.potentials
    assert np.isneginf(f[X[0] == 0]).all() and np.isneginf(g[Y[0] == 0]).all()
    assert np.isfinite(f[X[0] > 0]).all() and np.isfinite(g[Y[0] > 0]).all()
    # The objective is the dual's value at the optimum: <f, r> + <g, c> - 1/lam (sum P) + 1/lam.
    on, at = X[0] > 0, Y[0] > 0
    assert s.objective == pytest.approx(f[on] @ X[0][on] + g[at] @ Y[0][at], abs=1e-9)


def test_statuses_are_sentences():
    assert len({str(status) for status in Status}) == len(Status) == 5
    assert all(str(status).endswith(".") for status in Status)
    assert "max_iter" in str(Status.MAX_ITER) and "tol" in str(Status.STALLED)


def test_a_solution_does_not_change_with_the_arrays_it_was_made_from():
    r, c = np.array([0.5, 0.5]), np.array([0.2, 0.8])
    one, many = (
        sd.solve(r, c, [[0, 1], [1, 0]], lam=9),
        sd.solve(r[None], c[None], np.eye(2), lam=9),
    )
    before = sd.solve([0.5, 0.5], [0.2, 0.8], [[0, 1], [1, 0]], lam=9)
    r[:], c[:] = [1.0, 0.0], [1.0, 0.0]
    assert one.emd_bounds == before.emd_bounds and one.alpha == before.alpha
    assert np.isfinite(many.gap).all()
