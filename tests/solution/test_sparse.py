"""Sparse plans are the dense ones, of any member and kind of array, without forming those."""

import math
import tracemalloc

import numpy as np
import pytest
from scipy.sparse import csr_array

import sinkdist as sd
from tests.problems import grid_costs, random_metric, simplex, sparse_histograms

INF = float("inf")
M = grid_costs(4, 5)
X, Y = sparse_histograms(4, 20, 0), simplex(4, 20, 1)
MEMBERS = {
    "penalised": {"lam": 5},
    "large lam": {"lam": 300},
    "beyond floats": {"lam": 1e18},
    "constrained": {"alpha": 0.1},
    "exact": {"lam": INF},
    "vacuous": {"alpha": 50.0},
    "independence": {"lam": 0},
    "steps": {"lam": 9, "iterations": 3},
}


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_the_sparse_plan_is_the_plan(member, dtype):
    X_, Y_ = X.astype(dtype), Y.astype(dtype)
    for r, c in ((X_[0], Y_[0]), (X_[1], X_[2])):
        s = sd.solve(r, c, M, **MEMBERS[member])
        P = s.sparse_plan
        assert isinstance(P, csr_array) and P.shape == (20, 20) and P.has_canonical_format
        assert (P.data > 0).all() and P.dtype == np.float64
        np.testing.assert_array_equal(P.toarray(), s.plan)
    many = sd.solve(X_, Y_, M, **MEMBERS[member])
    plans = many.sparse_plan
    assert isinstance(plans, list)
    np.testing.assert_array_equal([P.toarray() for P in plans], many.plan)


@pytest.mark.parametrize(
    "ground", [M, M**2, sd.Ground.grid(20), sd.Ground.graph(np.eye(20, k=1)), 1.0 - np.eye(20)]
)
def test_an_exact_plan_has_few_entries(ground):
    for r, c in zip(X, Y, strict=True):
        P = sd.solve(r, c, ground, lam=INF).sparse_plan
        assert P.nnz <= np.count_nonzero(r) + np.count_nonzero(c) - 1
        np.testing.assert_allclose(P.sum(axis=1), r, rtol=1e-13, atol=1e-16)
        np.testing.assert_allclose(P.sum(axis=0), c, rtol=1e-13, atol=1e-16)


@pytest.mark.parametrize("member", ["penalised", "exact", "independence"])
def test_a_threshold_says_what_it_drops(member):
    s = sd.solve(X[0], Y[0], M, **MEMBERS[member])
    P = s.plan
    threshold = float(np.median(P[P > 0]))
    cut = s.to_sparse(threshold=threshold)
    np.testing.assert_array_equal(cut.plan.toarray(), np.where(threshold <= P, P, 0.0))
    small = P[(P > 0) & (threshold > P)]
    assert cut.dropped_entries == small.size > 0
    assert cut.dropped_mass == pytest.approx(math.fsum(small), rel=1e-14)
    whole = s.to_sparse(threshold=0)
    assert (whole.dropped_mass, whole.dropped_entries) == (0.0, 0)
    nothing = s.to_sparse(threshold=2.0)
    assert nothing.plan.nnz == 0 and nothing.dropped_mass == pytest.approx(1.0)
    many = sd.solve(X, Y, M, **MEMBERS[member]).to_sparse(threshold=threshold)
    assert len(many) == 4 and many[0].dropped_entries == cut.dropped_entries


@pytest.mark.parametrize("bad", [-1e-9, INF, np.nan])
def test_bad_thresholds(bad):
    s = sd.solve(X[0], Y[0], M, lam=5)
    with pytest.raises(sd.InputError, match="'threshold' option must be at least 0"):
        s.to_sparse(threshold=bad)
    for wrong in ("small", True, None):
        with pytest.raises(sd.InputTypeError, match="'threshold' option must be a number"):
            s.to_sparse(threshold=wrong)


def test_pieces_of_rows_make_up_the_plan(monkeypatch):
    monkeypatch.setattr("sinkdist.solution.evidence._PIECE", 50)
    s = sd.solve(Y[0], Y[1], M, lam=5)
    np.testing.assert_array_equal(s.sparse_plan.toarray(), s.plan)


def test_pairs_without_mass_have_empty_plans():
    s = sd.solve(np.stack([X[0], np.zeros(20)]), Y[:2], M, lam=INF, on_empty="nan")
    assert s.sparse_plan[0].nnz > 0 and s.sparse_plan[1].nnz == 0
    assert len(s.moves()[1]) == 0


@pytest.mark.parametrize("options", [{"lam": INF}, {"lam": 9.0}, {"alpha": 1.0}], ids=str)
def test_documents_over_many_words_need_no_dense_plan(options):
    """A dense plan would take 72 MB; supports are of 40 words."""
    d = 3000
    rng = np.random.default_rng(0)
    points = rng.standard_normal((d, 5))
    ground = sd.Ground.points(points)
    rows = np.zeros((2, d))
    for row in rows:
        row[rng.choice(d, 40, replace=False)] = rng.integers(1, 5, 40)
    X = csr_array(rows / rows.sum(axis=1, keepdims=True))
    s = sd.solve(X[[0]], X[[1]], ground, **options)
    s.moves()  # what is imported or compiled on the way does not count
    s = sd.solve(X[[0]], X[[1]], ground, **options)
    tracemalloc.start()
    try:
        (P,) = s.sparse_plan
        (table,) = s.moves(names=[f"word {k}" for k in range(d)])
        bounds, entropy = s.bracket, s.entropy
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4e6
    assert P.sum() == pytest.approx(1.0) and len(table) == 20 and entropy[0] > 0
    assert bounds[0][0] <= s.value[0] <= bounds[1][0]


@pytest.mark.parametrize("library", ["array_api_strict", "torch"])
@pytest.mark.parametrize("member", ["penalised", "exact", "constrained", "vacuous", "independence"])
def test_arrays_of_other_libraries(library, member):
    xp = pytest.importorskip(library)
    r, c = (xp.asarray(x) for x in (X, Y))
    s = sd.solve(r, c, xp.asarray(M), **MEMBERS[member])
    one = sd.solve(r[0, :], c[0, :], xp.asarray(M), **MEMBERS[member])
    dense = np.asarray(s.plan)
    np.testing.assert_array_equal([P.toarray() for P in s.sparse_plan], dense)
    np.testing.assert_array_equal(one.sparse_plan.toarray(), np.asarray(one.plan))
    host = sd.solve(X[0], Y[0], M, **MEMBERS[member])
    assert [m[:2] for m in one.moves(top=3)] == [m[:2] for m in host.moves(top=3)]


def test_plans_are_refused_where_numbers_are_not_known():
    jax = pytest.importorskip("jax")

    def total(r):
        return sd.solve(r, jax.numpy.asarray(Y[0]), jax.numpy.asarray(M), lam=5.0).sparse_plan.sum()

    with pytest.raises(sd.InputTypeError, match="outside of jit"):
        jax.jit(total)(jax.numpy.asarray(X[0]))


def test_a_plain_metric_of_random_points():
    """Also where the simplex cancels what both histograms have in a bin."""
    M = random_metric(30, 0)
    r, c = simplex(2, 30, 3)
    s = sd.solve(r, c, M, lam=INF)
    assert s.sparse_plan.nnz <= 59
    np.testing.assert_allclose(s.sparse_plan.diagonal(), np.minimum(r, c), rtol=1e-12)


def test_a_plan_with_too_many_entries_asks_for_a_threshold(monkeypatch):
    monkeypatch.setattr("sinkdist.solution.sparse._MOST", 100)
    r, c = simplex(2, 20, 0)
    s = sd.solve(r, c, M, lam=1.0)
    with pytest.raises(sd.InputError, match="more than 100 entries of at least 0: call to_sparse"):
        _ = s.sparse_plan
    assert s.to_sparse(threshold=1e-2).plan.nnz <= 100
