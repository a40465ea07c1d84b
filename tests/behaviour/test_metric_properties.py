"""The paper's section 3 as tests: d_{M,alpha} is a metric, d^lam is not, and the gluing lemma."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import sinkdist as sd
from tests import naive
from tests.problems import digits, grid_costs, random_metric, simplex, sparse_histograms

INF = float("inf")
ALPHAS = [0, 0.01, 0.2, 0.7, 1.5, INF]
TOL = 1e-7

FAMILIES = {
    "random": (random_metric(16, 0), simplex(20, 16, 1)),
    "sparse, diracs": (
        grid_costs(4, 4),
        np.concatenate([sparse_histograms(14, 16, 2, 0.4), np.eye(16)[[0, 3, 9]]]),
    ),
    "near each other": (
        random_metric(10, 3),
        (simplex(1, 10, 4) + 0.05 * simplex(18, 10, 5)) / 1.05,
    ),
    "digits": (grid_costs(8, 8), digits(16)),
}


def worst(D):
    """The largest D_ik - (D_ij + D_jk) over all triples, relative to the largest distance."""
    return float((D[:, None, :] - D[:, :, None] - D[None, :, :]).max() / D.max())


# ---------------------------------------------------------------------- symmetry and triangles


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", FAMILIES)
def test_all_triangle_inequalities(name, alpha):
    """Some 5,000 triples for each family and radius, both with and without the indicator."""
    M, X = FAMILIES[name]
    D = sd.pairwise(X, ground=M, alpha=alpha, tol=TOL)
    assert worst(D) <= 3 * TOL
    np.fill_diagonal(D, 0.0)
    assert worst(D) <= 3 * TOL


@pytest.mark.parametrize("alpha", ALPHAS)
@pytest.mark.parametrize("name", FAMILIES)
def test_symmetry(name, alpha):
    M, X = FAMILIES[name]
    there = sd.pairwise(X[:8], X[8:], ground=M, alpha=alpha, tol=TOL)
    back = sd.pairwise(X[8:], X[:8], ground=M, alpha=alpha, tol=TOL)
    np.testing.assert_allclose(there, back.T, rtol=3 * TOL)


@pytest.mark.parametrize("alpha", ALPHAS)
def test_all_triangle_inequalities_of_many_digits(alpha):
    D = sd.pairwise(digits(120), ground=sd.Ground.grid(8, 8), alpha=alpha)
    assert worst(D) <= 3e-6


@pytest.mark.parametrize("alpha", [0.05, 1.0])
def test_triangle_inequalities_need_a_metric_on_the_bins(alpha):
    """With squared distances they fail: so the tests above can fail."""
    X = np.eye(3)
    D = sd.pairwise(X, ground=grid_costs(3) ** 2, alpha=alpha)
    assert worst(D) == pytest.approx(0.5)  # 4 against 1 + 1


def test_the_penalised_distance_violates_a_triangle_inequality():
    """What the paper does not claim for d^lam, and what d_{M,alpha} is for.

    x, y and z have two equal bins each. A plan that swaps them pays delta more, and swaps with
    probability 1 / (1 + e^(lam delta)): the cost of swapping, delta times that, is largest near
    delta = 1.28 / lam. From x to z delta is 1; on the way by y it is 3, which is nearly free.
    """
    own, swapped = np.eye(2), 1 - np.eye(2)
    within, near, far = 3 * swapped, own + 4 * swapped, 2 * own + 3 * swapped
    ground = sd.Ground(np.block([[within, near, far], [near, within, near], [far, near, within]]))
    assert ground.is_metric
    x, y, z = np.kron(np.eye(3), [0.5, 0.5])
    lam = 1.28
    direct, first, second = (
        sd.distance(a, b, ground, lam=lam, tol=1e-12) for a, b in ((x, z), (x, y), (y, z))
    )
    assert direct == pytest.approx(2 + 1 / (1 + np.exp(lam)), rel=1e-9)
    assert first == second == pytest.approx(1 + 3 / (1 + np.exp(3 * lam)), rel=1e-9)
    assert direct > 1.04 * (first + second)
    D = sd.pairwise(np.array([x, y, z]), ground=ground, lam=lam)
    np.fill_diagonal(D, 0.0)
    assert worst(D) > 0.04  # the check of the tests above would have seen it
    for alpha in (0.01, 0.1, 0.3, 0.6):
        D = sd.pairwise(np.array([x, y, z]), ground=ground, alpha=alpha, tol=TOL)
        assert D[0, 2] <= (D[0, 1] + D[1, 2]) * (1 + 3 * TOL)


# -------------------------------------------------------------------------------- coincidence


@pytest.mark.parametrize("strength", [{"alpha": 0.2}, {"alpha": INF}, {"alpha": 0}, {"lam": 2}])
@pytest.mark.parametrize("name", FAMILIES)
def test_coincidence_axiom(name, strength):
    M, X = FAMILIES[name]
    X = np.concatenate([X, X[:2]])
    D = sd.pairwise(X, ground=M, coincidence=True, **strength)
    same = (X[:, None] == X).all(axis=2)
    assert (D[same] == 0).all() and (D[~same] > 0).all()
    if "alpha" in strength:  # and it stays a metric
        assert worst(D) <= 3e-6


def test_without_the_indicator_a_histogram_is_away_from_itself():
    M, X = FAMILIES["random"]
    assert (sd.pairwise(X, ground=M, alpha=0.2).diagonal() > 0.01).all()


# --------------------------------------------------------------------------------- independence


EUCLIDEAN = {
    "squared distances": cdist(*[np.random.default_rng(0).standard_normal((12, 3))] * 2) ** 2,
    "distances": cdist(*[np.random.default_rng(1).standard_normal((12, 3))] * 2),
    "roots of grid distances": np.sqrt(grid_costs(3, 4)),
    "city blocks": np.array(sd.Ground.grid(3, 4, metric="cityblock").matrix),
}


@pytest.mark.parametrize("t", [0.01, 0.3, 3.0])
@pytest.mark.parametrize("name", EUCLIDEAN)
def test_the_independence_kernel_is_positive_semi_definite(name, t):
    X = np.concatenate([simplex(30, 12, 2), sparse_histograms(30, 12, 3), np.eye(12)])
    D = sd.pairwise(X, ground=EUCLIDEAN[name], alpha=0)
    kernel = np.exp(-t * D)
    assert np.linalg.eigvalsh(kernel)[0] >= -1e-12 * len(X)


def test_the_independence_kernel_of_other_metrics_is_not():
    """Shortest paths between two and three nodes, all joined, are no Euclidean distance matrix."""
    M = np.where(np.not_equal.outer(np.arange(5) < 2, np.arange(5) < 2), 1.0, 2.0)
    np.fill_diagonal(M, 0.0)
    ground = sd.Ground(M)
    assert ground.is_metric
    kernel = np.exp(-0.1 * sd.pairwise(np.eye(5), ground=ground, alpha=0))
    assert np.linalg.eigvalsh(kernel)[0] < -1e-3


# ----------------------------------------------------------------------------- the gluing lemma


def random_coupling(x, y, seed):
    """A coupling of x and y with information: scaled to its marginals by hand."""
    rows, columns = x > 0, y > 0
    P = np.random.default_rng(seed).lognormal(sigma=2, size=(rows.sum(), columns.sum()))
    for _ in range(3000):
        P *= (x[rows] / P.sum(axis=1))[:, None]
        P *= y[columns] / P.sum(axis=0)
    out = np.zeros((x.size, y.size))
    out[np.ix_(rows, columns)] = P
    return out


def information(P, x, y):
    return naive.kl_from_independence(P.tolist(), x.tolist(), y.tolist())


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("gaps", [False, True])
def test_glued_couplings(gaps, seed):
    make = sparse_histograms if gaps else simplex
    x, y, z = make(1, 7, seed)[0], make(1, 9, seed + 50)[0], make(1, 5, seed + 99)[0]
    assert gaps == (y == 0).any()
    P, Q = random_coupling(x, y, seed), random_coupling(y, z, seed + 1)
    S = sd.glue(P, Q)
    assert S.shape == (7, 5) and S.min() >= 0
    np.testing.assert_allclose(S.sum(axis=1), x, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(S.sum(axis=0), z, rtol=1e-9, atol=1e-15)
    assert information(S, x, z) <= min(information(P, x, y), information(Q, y, z)) + 1e-12
    expected = sum(np.outer(P[:, j], Q[j]) / y[j] for j in range(9) if y[j] > 0)
    np.testing.assert_allclose(S, expected, rtol=1e-12, atol=1e-17)


@pytest.mark.parametrize("alpha", [0.01, 0.3, 1.0, INF])
@pytest.mark.parametrize("name", ["random", "sparse, diracs", "digits"])
def test_glued_solutions_prove_the_triangle_inequality(name, alpha):
    M, X = FAMILIES[name]
    for x, y, z in X[: len(X) // 3 * 3].reshape(-1, 3, X.shape[1]):
        first, second = (sd.solve(a, b, M, alpha=alpha) for a, b in ((x, y), (y, z)))
        S = sd.glue(first.plan, second.plan)
        assert abs(S.sum(axis=1) - x).sum() + abs(S.sum(axis=0) - z).sum() <= 1e-5
        assert information(S, x, z) <= min(first.alpha, second.alpha) + 1e-4
        assert (S * M).sum() <= (first.value + second.value) * (1 + 1e-5)
        assert sd.distance(x, z, M, alpha=alpha) <= (S * M).sum() + 1e-4 * M.max()


def test_gluing_with_independence_forgets():
    x, y, z = simplex(3, 6, 0)
    np.testing.assert_allclose(sd.glue(np.outer(x, y), random_coupling(y, z, 0)), np.outer(x, z))


@pytest.mark.parametrize(
    ("P", "Q", "message"),
    [
        ([[0.5, 0.5]], [[0.5], [0.4]], "'Q' sums to 0.9, but a coupling sums to 1"),
        ([[1.0, 1.0]], [[0.5], [0.5]], "'P' sums to 2, but a coupling sums to 1"),
        ([[0.5, 0.5]], [[0.9], [0.1]], "must sum to the same histogram. They differ by 0.8"),
        ([[0.5, 0.5]], [[1.0]], "'P' has 2 columns and 'Q' has 1 rows"),
        ([[1.5, -0.5]], [[0.5], [0.5]], r"Entry \(0, 1\) of 'P' is -0.5; couplings are non-neg"),
        ([[np.nan, 0.5]], [[0.5], [0.5]], r"Entry \(0, 0\) of 'P' is nan"),
        ([0.5, 0.5], [[0.5], [0.5]], r"'P' must be a matrix. Got shape \(2,\) instead"),
    ],
)
def test_what_cannot_be_glued(P, Q, message):
    with pytest.raises(sd.InputError, match=message):
        sd.glue(P, Q)


@pytest.mark.parametrize("bad", [None, "P", [[1j]]])
def test_gluing_takes_real_matrices(bad):
    with pytest.raises(sd.InputTypeError, match="'P'"):
        sd.glue(bad, [[1.0]])
