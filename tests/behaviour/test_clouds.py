"""Large clouds of points, all bins with mass: what a user sees, against the matrix."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

import sinkdist as sd
from sinkdist.ground import costs, on_demand


@pytest.fixture
def small(monkeypatch):
    """Clouds of 200 points count as large: they have no matrix, and no pair has one."""
    monkeypatch.setattr(costs, "DENSE_UP_TO", 200)
    monkeypatch.setattr(on_demand, "_DENSE", 0)


def cloud(metric="euclidean", dimension=3, d=600, seed=0):
    """Points, their matrix, two histograms with bins that have no mass."""
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(d, dimension)) + (2.0 if metric == "cosine" else 0.0)
    r, c = rng.random(d), rng.random(d) * (1.2 + np.sin(z[:, 0]))
    r[::7], c[::5] = 0.0, 0.0
    return z, cdist(z, z, metric), r / r.sum(), c / c.sum()


METRICS = ["euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine"]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("dimension", [2, 3, 6])
@pytest.mark.parametrize("L", [2.0, 40.0])
def test_as_on_the_matrix(small, metric, dimension, L):
    z, M, r, c = cloud(metric, dimension)
    ground, lam = sd.Ground.points(z, metric=metric), L / np.median(M)
    assert not ground.is_dense
    s, other = (sd.solve(r, c, g, lam=lam, tol=1e-9) for g in (ground, M))
    assert s.converged and s.solver == "relaxed"
    assert s.value == pytest.approx(other.value, rel=1e-7)
    f, g = s.potentials
    assert np.all(np.isneginf(f[r == 0.0])) and np.all(np.isneginf(g[c == 0.0]))
    P = np.exp(lam * (f[:, None] + g - M))
    error = np.abs(P.sum(axis=1) - r).sum() + np.abs(P.sum(axis=0) - c).sum()
    assert error <= 1e-9 * 1.01 and s.marginal_error == pytest.approx(error, abs=1e-12)
    assert s.value == pytest.approx((P * M).sum(), rel=1e-10)
    np.testing.assert_allclose(s.plan_rows([3, 5]), P[[3, 5]], atol=1e-13)
    np.testing.assert_allclose(
        s.transport_map(z)[r > 0], (P @ z)[r > 0] / r[r > 0, None], rtol=1e-6
    )
    assert np.isnan(s.transport_map(z)[0]).all()


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_bounds_hold_at_any_tolerance(small, metric, tol):
    z, M, r, c = cloud(metric, 2, d=300)
    ground = sd.Ground.points(z, metric=metric)
    exact = sd.distance(r, c, M, lam=np.inf)
    penalised = sd.distance(r, c, M, lam=8 / np.median(M), tol=1e-10)
    s = sd.solve(r, c, ground, lam=8 / np.median(M), tol=tol)
    low, high = s.emd_bounds
    assert low <= exact <= high
    low, high = s.bracket
    assert low <= penalised <= high
    assert s.gap >= 0.0


def test_tight_bounds_are_as_good_as_those_of_the_matrix(small):
    z, M, r, c = cloud(d=300)
    s, other = (
        sd.solve(r, c, g, lam=30 / np.median(M), tol=1e-8) for g in (sd.Ground.points(z), M)
    )
    np.testing.assert_allclose(s.emd_bounds, other.emd_bounds, rtol=2e-3)
    assert s.entropy == pytest.approx(other.entropy, rel=1e-6)
    assert s.objective == pytest.approx(other.objective, rel=1e-6)


def test_algorithm_1_to_the_letter(small):
    z, M, r, c = cloud(d=300)
    for steps in (1, 4):
        s, other = (sd.solve(r, c, g, lam=3.0, iterations=steps) for g in (sd.Ground.points(z), M))
        assert s.solver == "algorithm1" and s.n_iter == steps
        assert s.value == pytest.approx(other.value, rel=1e-10)
        assert s.marginal_error == pytest.approx(other.marginal_error, rel=1e-8)


@pytest.mark.parametrize("solver", ["plain", "log"])
def test_plain_sweeps(small, solver):
    z, M, r, c = cloud(d=300)
    s = sd.solve(r, c, sd.Ground.points(z), lam=3.0, tol=1e-7, solver=solver)
    assert s.converged
    assert s.value == pytest.approx(sd.distance(r, c, M, lam=3.0, tol=1e-9), rel=1e-5)


def test_a_histogram_against_itself(small):
    z, M, r, _ = cloud(d=300)
    s = sd.solve(r, r, sd.Ground.points(z), lam=20.0, tol=1e-8)
    assert s.converged and s.n_iter < 60
    assert s.value == pytest.approx(sd.distance(r, r, M, lam=20.0, tol=1e-9), rel=1e-5)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean"])
def test_divergences(small, metric):
    z, M, r, c = cloud(metric, d=300)
    ground, lam = sd.Ground.points(z, metric=metric), 6 / np.median(M)
    X = np.stack([r, c, 0.5 * (r + c)])
    wanted = sd.pairwise(X, ground=M, lam=lam, tol=1e-9, debiased=True)
    found = sd.pairwise(X, ground=ground, lam=lam, tol=1e-8, debiased=True)
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-8)
    assert sd.divergence(r, c, ground, lam=lam, tol=1e-8) == pytest.approx(wanted[0, 1], rel=1e-4)
    assert np.all(np.diag(found) == 0.0)


def test_the_limit_of_iterations_is_kept(small):
    z, _, r, c = cloud(d=300)
    with pytest.warns(sd.ConvergenceWarning):
        s = sd.solve(r, c, sd.Ground.points(z), lam=60.0, tol=1e-9, max_iter=4)
    assert s.n_iter <= 4 and not s.converged and s.marginal_error > 1e-9
    low, high = s.emd_bounds
    assert low <= high


def test_tiles_rows_and_csr_agree_to_the_bit(small):
    z, _, r, c = cloud(d=300)
    ground = sd.Ground.points(z)
    X = np.stack([r, c, 0.5 * (r + c), c[::-1]])
    D = sd.pairwise(X, ground=ground, lam=5.0, tol=1e-6)
    np.testing.assert_array_equal(
        D, sd.pairwise(sparse.csr_array(X), ground=ground, lam=5.0, tol=1e-6)
    )
    np.testing.assert_array_equal(D, sd.pairwise(X, ground=ground, lam=5.0, tol=1e-6, workers=2))
    np.testing.assert_array_equal(D[0], sd.distance(r, X, ground, lam=5.0, tol=1e-6))
    assert D[0, 1] == sd.solve(r, c, ground, lam=5.0, tol=1e-6).value


def test_scaled_grounds_and_float32_points(small):
    z, M, r, c = cloud(d=300)
    ground = sd.Ground.points(z.astype(np.float32)).scaled("max")
    wanted = sd.distance(r, c, M / ground_unit(z), lam=30.0, tol=1e-9)
    assert sd.distance(r, c, ground, lam=30.0, tol=1e-7) == pytest.approx(wanted, rel=1e-4)


def ground_unit(z):
    """What `scaled("max")` divides by: the diagonal of the cloud's extent."""
    return sd.Ground.points(z.astype(np.float32)).max


def test_nine_thousand_points_take_no_matrix():
    """Beyond what has a matrix: judged by direct sums of some rows and columns."""
    import tracemalloc

    rng = np.random.default_rng(3)
    z = rng.random((9000, 3))
    r, c = rng.random(9000), rng.random(9000)
    r, c = r / r.sum(), c / c.sum()
    ground = sd.Ground.points(z)
    sd.solve(r, c, ground, lam=2.0, tol=1e-1)  # compiles
    tracemalloc.start()
    s = sd.solve(r, c, ground, lam=9.0, tol=1e-4)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert s.converged
    assert most < 9000 * 8 * 300  # not 9000^2
    f, g = s.potentials
    some = np.arange(0, 9000, 300)
    rows = np.exp(9.0 * (f[some, None] + g - cdist(z[some], z))).sum(axis=1)
    np.testing.assert_allclose(rows, r[some], rtol=1e-6)
    columns = np.exp(9.0 * (f + g[some, None] - cdist(z[some], z))).sum(axis=1)
    assert np.abs(columns - c[some]).mean() * 9000 < 2e-4


def test_sparse_histograms_share_a_matrix_as_before():
    rng = np.random.default_rng(0)
    z = rng.random((9000, 4))
    X = sparse.random_array((6, 9000), density=0.004, rng=rng, format="csr")
    X = sparse.csr_array(X / X.sum(axis=1)[:, None])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        D = sd.pairwise(X, ground=sd.Ground.points(z), lam=9.0, tol=1e-8)
    used = np.unique(X.indices)
    small = X[:, used].toarray()
    wanted = sd.pairwise(small, ground=cdist(z[used], z[used]), lam=9.0, tol=1e-8)
    np.testing.assert_allclose(D, wanted, rtol=1e-6)
