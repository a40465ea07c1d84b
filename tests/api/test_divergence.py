"""The divergence: zero for equal histograms, non-negative, the same however it is asked for."""

import math
import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_digits

import sinkdist as sd
from sinkdist.solvers.compiled.symmetric import symmetric_block
from tests import naive
from tests.problems import digits, emd, grid_costs, random_metric, simplex, sparse_histograms

M = grid_costs(3, 4)
X, Y = sparse_histograms(6, 12, 0), sparse_histograms(6, 12, 1)
GROUNDS = {
    "euclidean": M,
    "cityblock": np.asarray(sd.Ground.grid(3, 4, metric="cityblock").matrix),
    "sqeuclidean": np.asarray(sd.Ground.grid(3, 4, metric="sqeuclidean").matrix),
    "random": random_metric(12, 3),
}
NEGATIVE_TYPE = tuple(GROUNDS)


# ----------------------------------------------------------------------------------- the oracle


def divergence(M, lam, r, c):
    """Three solves in plain loops, each penalised by the information of its plan."""

    def penalised(r, c):
        P = naive.log_sinkhorn(M, lam, r, c, tol=1e-11).P
        return naive.cost(P, M) + naive.kl_from_independence(P, r, c) / lam

    return penalised(r, c) - penalised(r, r) / 2 - penalised(c, c) / 2


@pytest.mark.parametrize("strength", [0.3, 3.0, 9.0])
@pytest.mark.parametrize("name", GROUNDS)
def test_oracle(name, strength):
    ground = GROUNDS[name]
    lam = strength / ground.max()
    for r, c in zip(X[:3], Y[:3], strict=True):
        wanted = divergence(ground.tolist(), lam, r.tolist(), c.tolist())
        got = sd.divergence(r, c, ground, lam=lam, tol=1e-9)
        assert got == pytest.approx(wanted, rel=1e-9, abs=1e-12)


def test_costs_of_staying():
    """Costs on the diagonal, where the symmetric fixed point may be slow."""
    rng = np.random.default_rng(5)
    ground = rng.random((12, 12))
    ground = ground + ground.T
    for lam in (1.0, 10.0, 30.0):
        wanted = divergence(ground.tolist(), lam, X[0].tolist(), Y[0].tolist())
        got = sd.divergence(X[0], Y[0], ground, lam=lam, tol=1e-9)
        assert got == pytest.approx(wanted, rel=1e-7, abs=1e-10)


@pytest.mark.parametrize("lam", [1e3, 1e6])
def test_strong(lam):
    """Beyond what a kernel can represent, where the divergence is near the exact distance."""
    got = sd.divergence(X, Y, M, lam=lam)
    wanted = [emd(r, c, M) for r, c in zip(X, Y, strict=True)]
    np.testing.assert_allclose(got, wanted, atol=2 * math.log(12) / lam)


def test_from_solutions():
    """The definition, by the numbers that `solve` returns, with either form of the objective."""
    options = {"lam": 4.0, "tol": 1e-12}
    pairs = [sd.solve(a, b, M, **options) for a, b in ((X, Y), (X, X), (Y, Y))]
    for number in (lambda s: s.objective, lambda s: s.value + s.alpha / s.lam):
        whole, first, second = map(number, pairs)
        np.testing.assert_allclose(
            sd.divergence(X, Y, M, **options), whole - first / 2 - second / 2, rtol=1e-9
        )


# ---------------------------------------------------------------------------------- properties

masses = st.lists(st.floats(0.0, 1.0), min_size=12, max_size=12).filter(lambda x: sum(x) > 1e-3)


@given(masses, masses, st.sampled_from(NEGATIVE_TYPE), st.floats(-3.0, 3.0))
def test_non_negative_and_symmetric(r, c, name, exponent):
    lam = 10.0**exponent
    r, c = np.array(r) / sum(r), np.array(c) / sum(c)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.ConvergenceWarning)
        there = sd.divergence(r, c, GROUNDS[name], lam=lam, normalize=True)
        back = sd.divergence(c, r, GROUNDS[name], lam=lam, normalize=True)
    assert there >= 0.0 and back >= 0.0
    # To the tolerance asked for: marginals may be off by 1e-6, and costs are at most `largest`.
    largest = sd.Ground.of(GROUNDS[name]).max
    assert there == pytest.approx(back, rel=1e-6, abs=1e-9 / lam + 2e-6 * largest)


@given(masses, st.sampled_from(["lam=0", *NEGATIVE_TYPE]), st.floats(-3.0, 3.0))
def test_zero_for_equal_histograms(r, name, exponent):
    r = np.array(r) / sum(r)
    lam, ground = (0.0, M) if name == "lam=0" else (10.0**exponent, GROUNDS[name])
    assert sd.divergence(r, r.copy(), ground, lam=lam, normalize=True) == 0.0


def test_near_equal_histograms():
    """Second order in the difference, down to rounding, and never below zero."""
    step = np.zeros(12)
    step[2], step[7] = 1.0, -1.0
    r = np.full(12, 1 / 12)
    sizes = 10.0 ** -np.arange(3, 13)
    got = np.array([sd.divergence(r, r + t * step, M, lam=3, tol=1e-11) for t in sizes])
    assert (got >= 0.0).all()
    curvature = got[1] / sizes[1] ** 2
    np.testing.assert_allclose(got, curvature * sizes**2, rtol=1e-2, atol=1e-14)


@pytest.mark.parametrize("iterations", [1, 3, 20])
def test_unconverged_is_not_negative(iterations):
    few = sd.divergence(X, Y, M, lam=9, iterations=iterations)
    assert (few >= 0.0).all()
    assert (few <= sd.divergence(X, Y, M, lam=9, tol=1e-10) + 1e-9).all()


def test_negative_where_the_kernel_is_indefinite_is_shown():
    """Four bins whose costs are no metric; the kernel has a negative eigenvalue."""
    ground = np.array([[0, 9, 0, 0], [9, 0, 0, 0], [0, 0, 0, 9], [0, 0, 9, 0]]) + 0.1
    np.fill_diagonal(ground, 0.0)
    assert np.linalg.eigvalsh(np.exp(-ground)).min() < 0
    r, c = np.array([0.5, 0.5, 0, 0]), np.array([0, 0, 0.5, 0.5])
    got = sd.divergence(r, c, ground, lam=1)
    assert got < -0.01
    assert got == pytest.approx(divergence(ground.tolist(), 1.0, r.tolist(), c.tolist()), rel=1e-6)


def test_zero_bins_change_nothing():
    wide = np.zeros((14, 14))
    wide[:12, :12] = M
    wide[12:, :12] = wide[:12, 12:] = 5.0
    pad = lambda rows: np.pad(rows, ((0, 0), (0, 2)))  # noqa: E731
    np.testing.assert_allclose(
        sd.divergence(pad(X), pad(Y), wide, lam=5), sd.divergence(X, Y, M, lam=5), rtol=1e-12
    )


def test_constant_and_separable_costs_cancel():
    shift = np.arange(12.0)
    for other in (M + 3.0, M + shift[:, None] + shift):
        np.testing.assert_allclose(
            sd.divergence(X, Y, other, lam=2, tol=1e-10),
            sd.divergence(X, Y, M, lam=2, tol=1e-10),
            rtol=1e-8,
        )


# -------------------------------------------------------------------------------------- limits


def test_limits():
    r, c = X[0], Y[0]
    means = [float(a @ M @ b) for a, b in ((r, c), (r, r), (c, c))]
    assert sd.divergence(r, c, M, lam=0) == pytest.approx(means[0] - sum(means[1:]) / 2)
    assert sd.divergence(r, c, M, alpha=0) == sd.divergence(r, c, M, lam=0)
    assert sd.divergence(r, c, M, lam=np.inf) == pytest.approx(emd(r, c, M))
    staying = M + np.diag(np.arange(12.0))
    parts = [emd(a, b, staying) for a, b in ((r, c), (r, r), (c, c))]
    wanted = parts[0] - sum(parts[1:]) / 2
    assert sd.divergence(r, c, staying, reg=0) == pytest.approx(wanted)
    assert sd.divergence(r, c, M, lam=1e-6) == pytest.approx(
        sd.divergence(r, c, M, lam=0), rel=1e-4
    )


@pytest.mark.parametrize("lam", [0.0, np.inf])
def test_limits_of_families(lam):
    D = sd.pairwise(X, Y, ground=M, lam=lam, debiased=True)
    rows = [[sd.divergence(r, c, M, lam=lam) for c in Y] for r in X]
    np.testing.assert_allclose(D, rows, rtol=1e-12, atol=1e-15)
    assert (sd.pairwise(X, ground=M, lam=lam, debiased=True).diagonal() == 0.0).all()


# ----------------------------------------------------------------------- one, many, all, sparse


def test_batch_is_single():
    D = sd.divergence(X, Y, M, lam=5, tol=1e-10)
    assert D.shape == (6,)
    alone = [sd.divergence(r, c, M, lam=5, tol=1e-10) for r, c in zip(X, Y, strict=True)]
    np.testing.assert_allclose(D, alone, rtol=1e-10)
    assert all(type(number) is float for number in alone)
    one = sd.divergence(X[0], Y, M, lam=5, tol=1e-10)
    np.testing.assert_allclose(one[0], D[0], rtol=1e-10)
    np.testing.assert_allclose(sd.divergence(Y, X[0], M, lam=5, tol=1e-10), one, rtol=1e-9)
    assert sd.divergence(X[0], Y[:0], M, lam=5).shape == (0,)


@pytest.mark.parametrize("option", [{}, {"iterations": 5}], ids=["tol", "iterations"])
def test_pairwise_is_a_loop(option):
    D = sd.pairwise(X, Y, ground=M, lam=5, debiased=True, **option)
    rows = [[sd.divergence(r, c, M, lam=5, **option) for c in Y] for r in X]
    np.testing.assert_allclose(D, rows, rtol=1e-7, atol=1e-12)


def test_pairwise_of_one_family():
    again = np.concatenate([X, X[2:3]])
    D = sd.pairwise(again, ground=M, lam=5, debiased=True)
    assert (D == D.T).all() and (D.diagonal() == 0.0).all() and D[2, 6] == 0.0
    assert (D + np.eye(7) + (np.indices((7, 7)).sum(0) == 8) > 0.0).all()
    np.testing.assert_allclose(D, sd.pairwise(again, again, ground=M, lam=5, debiased=True))


def test_large_blocks():
    """Many pairs on full supports, which are solved by matrix products."""
    R, ground = simplex(40, 169, 4), grid_costs(13, 13)
    for dtype, rtol in (("float64", 1e-9), ("float32", 2e-5)):
        D = sd.pairwise(R, ground=ground, lam=3, debiased=True, dtype=dtype)
        assert D.dtype == dtype
        alone = [sd.divergence(R[3], c, ground, lam=3, tol=1e-10) for c in R]
        np.testing.assert_allclose(D[3], alone, rtol=rtol, atol=rtol * np.max(alone))


def test_sparse_family_and_empty_rows():
    rows = X.copy()
    rows[2] = 0.0
    for family in (rows, sparse.csr_array(rows)):
        D = sd.pairwise(family, ground=M, lam=5, debiased=True, on_empty="nan")
        assert np.isnan(D[2]).all() and np.isnan(D[:, 2]).all()
        whole = np.delete(np.delete(D, 2, 0), 2, 1)
        np.testing.assert_allclose(
            whole, sd.pairwise(np.delete(X, 2, 0), ground=M, lam=5, debiased=True), rtol=1e-9
        )
        pairs = sd.divergence(family, sparse.csr_array(Y), M, lam=5, on_empty="nan")
        assert np.isnan(pairs).tolist() == [False, False, True, False, False, False]
    with pytest.raises(sd.InputError, match="Row 2 of 'X'"):
        sd.pairwise(rows, ground=M, lam=5, debiased=True)


def test_float32():
    single = sd.divergence(X.astype(np.float32), Y.astype(np.float32), M, lam=5)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, sd.divergence(X, Y, M, lam=5), rtol=1e-5)


def test_counts_threads_and_input_untouched():
    counts = np.arange(24).reshape(2, 12)
    before = counts.copy()
    got = sd.divergence(counts, counts[::-1], M, lam=5, normalize=True, workers=1)
    np.testing.assert_allclose(
        got, sd.divergence(counts, counts[::-1], M, lam=5, normalize=True, workers=3), rtol=1e-12
    )
    assert (counts == before).all()


def test_digits_are_told_apart():
    """A digit's nearest neighbours, without its own bias, are mostly of its kind."""
    labels = load_digits().target[:100]
    D = sd.pairwise(digits(100), ground=grid_costs(8, 8), lam=2, debiased=True)
    np.fill_diagonal(D, np.inf)
    assert (labels[D.argmin(axis=1)] == labels).mean() > 0.8


def test_progress_counts_pairs():
    seen = []
    sd.pairwise(X, ground=M, lam=5, debiased=True, progress=seen.append)
    assert seen[-1].done == 21


# --------------------------------------------------------------------------- errors, warnings


def test_errors():
    with pytest.raises(sd.InputError, match=r"needs 'lam' or 'reg'\. Got 'alpha'"):
        sd.divergence(X, Y, M, alpha=0.5)
    with pytest.raises(sd.InputError, match=r"needs 'lam' or 'reg'\. Got 'alpha'"):
        sd.pairwise(X, ground=M, alpha=0.5, debiased=True)
    with pytest.raises(sd.InputError, match="exactly one of"):
        sd.divergence(X, Y, M)
    with pytest.raises(sd.InputError, match=r"symmetric ground.* this one is not"):
        sd.divergence(X, Y, np.triu(M), lam=1)
    with pytest.raises(sd.InputError, match="this one is 12 x 11"):
        sd.divergence(X, simplex(6, 11, 0), M[:, :11], lam=1)
    with pytest.raises(sd.InputError, match="Use pairwise"):
        sd.divergence(X, Y[:3], M, lam=1)


def test_a_pair_that_stops_short_warns_once():
    R, ground = simplex(5, 40, 2), random_metric(40, 3)
    with pytest.warns(sd.ConvergenceWarning) as caught:
        value = sd.divergence(R[:2], R[2:4], ground, lam=20, max_iter=1, solver="plain")
    assert len(caught) == 1 and "2 of 2 pairs" in str(caught[0].message)
    assert np.isfinite(value).all() and (value >= 0.0).all()


def test_the_verb_pickles():
    assert pickle.loads(pickle.dumps(sd.divergence)) is sd.divergence


# -------------------------------------------------------------------- the symmetric fixed point


@pytest.mark.parametrize("name", NEGATIVE_TYPE)
@pytest.mark.parametrize("lam", [0.01, 1.0, 10.0, 100.0])
def test_few_sweeps_against_itself(name, lam):
    K = np.exp(-lam * GROUNDS[name])
    found = symmetric_block(K, X, 1e-10, sweeps=40)
    assert (found.error <= 1e-10).all()
    assert ((found.U > 0) == (X > 0)).all()
    np.testing.assert_allclose(found.U * (found.U @ K), X, atol=1e-10)
