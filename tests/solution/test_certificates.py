"""Certificates: bounds contain the exact EMD and follow their formulas, converged or not."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sinkdist as sd
from sinkdist.solution import certificates as bounds
from sinkdist.solution.certificates import many_pairs
from sinkdist.solution.plans import entropic_plan
from tests import naive
from tests.problems import (
    digits,
    emd,
    grid_costs,
    mnist_20,
    plan_error,
    random_metric,
    simplex,
    solved,
    sparse_histograms,
)
from tests.small_pairs import highs, off, shapes, small_pair

# Stops of every kind: after a few reads, after a few steps of Algorithm 1, and converged.
STOPS = [
    *({"max_iter": n} for n in (1, 2, 3, 4, 5)),
    *({"iterations": n} for n in (1, 2, 5, 20)),
    {"tol": 1e-2},
    {"tol": 1e-9, "max_iter": 50_000},
]
LABELS = [" ".join(f"{k}={v}" for k, v in stop.items()) for stop in STOPS]

GROUNDS = {
    "random metric": (random_metric(24, 0), simplex(10, 24, 1), simplex(10, 24, 2)),
    "grid, sparse": (grid_costs(5, 5), sparse_histograms(10, 25, 3), sparse_histograms(10, 25, 4)),
    "squares": (grid_costs(4, 5) ** 2, simplex(10, 20, 5), sparse_histograms(10, 20, 6)),
    "rectangular": (
        np.random.default_rng(7).random((12, 17)),
        simplex(10, 12, 8),
        sparse_histograms(10, 17, 9),
    ),
    "large and small": (
        grid_costs(4, 4) ** 3,
        sparse_histograms(10, 16, 10) ** 4,
        simplex(10, 16, 11) ** 6,
    ),
}
for name, (M, X, Y) in GROUNDS.items():
    GROUNDS[name] = M, X / X.sum(axis=1, keepdims=True), Y / Y.sum(axis=1, keepdims=True)
TRUTH = {
    name: np.array([emd(x, y, M) for x, y in zip(X, Y, strict=True)])
    for name, (M, X, Y) in GROUNDS.items()
}


def assert_certified(s, exact, M, r, c):
    """Everything that is promised about the bounds of some pairs, given the exact distances."""
    lower, upper = s.emd_bounds
    rounding = 1e-12 * M.max()
    assert (lower <= exact + rounding).all(), (lower - exact).max()
    assert (exact <= upper + rounding).all(), (exact - upper).max()
    assert (np.asarray(lower) >= 0).all() and (np.asarray(s.gap) >= 0).all()
    # Rounding to a coupling moves no more mass than the marginals are off by.
    assert (abs(upper - s.value) <= np.ptp(M) * np.asarray(s.marginal_error) / 2 + rounding).all()
    np.testing.assert_allclose(plan_error(s, r, c), s.marginal_error, rtol=1e-6, atol=1e-10)


@pytest.mark.parametrize("stop", STOPS, ids=LABELS)
@pytest.mark.parametrize("L", [0.5, 9, 50, 1000])
@pytest.mark.parametrize("name", GROUNDS)
def test_bounds_contain_the_exact_distance(name, L, stop):
    M, X, Y = GROUNDS[name]
    s = solved(X, Y, M, lam=L / np.median(M), **stop)
    assert_certified(s, TRUTH[name], M, X, Y)


@pytest.mark.parametrize("solver", ["plain", "relaxed", "newton", "log"])
@pytest.mark.parametrize("max_iter", [1, 7, 60])
@pytest.mark.parametrize("L", [9, 200])
def test_bounds_hold_wherever_a_solver_stops(solver, max_iter, L):
    for name, (M, X, Y) in GROUNDS.items():
        s = solved(X, Y, M, lam=L / np.median(M), solver=solver, max_iter=max_iter)
        assert_certified(s, TRUTH[name], M, X, Y)


@pytest.mark.parametrize(
    "stop", [{"max_iter": 2}, {"iterations": 20}, {}], ids=["capped", "algorithm 1", "converged"]
)
@pytest.mark.parametrize("L", [9, 50])
def test_bounds_on_real_digits(L, stop):
    X = digits(40)
    ground = sd.Ground.grid(8, 8).scaled()
    s = solved(X[:20], X[20:], ground, lam=L, **stop)
    exact = np.array([emd(x, y, ground.matrix) for x, y in zip(X[:20], X[20:], strict=True)])
    assert_certified(s, exact, ground.matrix, X[:20], X[20:])


@pytest.mark.data
def test_bounds_on_mnist(data_folder):
    X = mnist_20(data_folder, 12)
    ground = sd.Ground.grid(20, 20).scaled()
    exact = np.array([emd(x, y, ground.matrix) for x, y in zip(X[:6], X[6:], strict=True)])
    for L, stop in [
        (9, {"iterations": 20}),
        (50, {"iterations": 20}),
        (50, {"max_iter": 3}),
        (1000, {}),
    ]:
        s = solved(X[:6], X[6:], ground, lam=L, **stop)
        assert_certified(s, exact, ground.matrix, X[:6], X[6:])


@pytest.mark.parametrize("dtype", ["float32"])
def test_bounds_in_float32_are_bounds_for_the_numbers_given(dtype):
    M, X, Y = GROUNDS["grid, sparse"]
    X, Y = X.astype(dtype), Y.astype(dtype)
    exact = np.array([emd(x, y, M) for x, y in zip(X, Y, strict=True)])
    for stop in ({"max_iter": 2}, {"iterations": 5}, {}):
        lower, upper = solved(X, Y, M, lam=20, **stop).emd_bounds
        assert (lower <= exact + 1e-12).all() and (exact <= upper + 1e-12).all()


def test_the_value_after_a_few_steps_may_lie_below_the_emd_but_its_bounds_never_do():
    """Why the certificate goes with the number: 20 steps at a large lam do not give a coupling."""
    M = random_metric(100, 0)
    r, c = simplex(2, 100, 1)
    s, exact = sd.solve(r, c, M, lam=50, iterations=20), emd(r, c, M)
    assert s.value < 0.95 * exact
    assert s.emd_bounds[0] <= exact <= s.emd_bounds[1]


# -------------------------------------------------------------------- the formulas themselves


@pytest.mark.parametrize(
    "stop", [{"iterations": 3}, {"max_iter": 2}, {}], ids=["columns exact", "capped", "converged"]
)
@pytest.mark.parametrize("L", [2, 30])
@pytest.mark.parametrize("name", GROUNDS)
@pytest.mark.nojit
def test_numbers_are_those_of_the_formulas(name, L, stop):
    M, X, Y = GROUNDS[name]
    lam = L / np.median(M)
    for r, c in zip(X[:3], Y[:3], strict=True):
        s = solved(r, c, M, lam=lam, **stop)
        P, f, g = s.plan.tolist(), s.potentials[0].tolist(), s.potentials[1].tolist()
        costs, a, b = M.tolist(), r.tolist(), c.tolist()
        for i in range(len(a)):
            for j in range(len(b)):
                p = math.exp(lam * (f[i] + g[j] - costs[i][j])) if a[i] > 0 and b[j] > 0 else 0.0
                assert P[i][j] == pytest.approx(p, rel=1e-9)
        unit = M.max()
        assert s.value == pytest.approx(naive.cost(P, costs), rel=1e-9)
        assert s.entropy == pytest.approx(naive.entropy(P), rel=1e-9, abs=1e-12)
        assert s.alpha == pytest.approx(
            max(0, naive.kl_from_independence(P, a, b)), rel=1e-8, abs=1e-10
        )
        assert s.objective == pytest.approx(
            naive.cost(P, costs) - naive.entropy(P) / lam, rel=1e-9, abs=1e-12
        )
        lower, upper = s.emd_bounds
        by_rows = naive.lower_bound(costs, f, a, b)
        found = naive.best_lower_bound(costs, lam, f, g, a, b)
        assert lower == pytest.approx(found, abs=1e-11 * unit)
        by_product = naive.cost(naive.rounded(P, a, b), costs)
        gap = naive.gap(P, costs, lam, f, g, a, b)
        if by_product - naive.cost(P, costs) < 1e-4 * by_product:
            assert upper == pytest.approx(by_product, abs=1e-11 * unit)
            assert s.gap == pytest.approx(gap, abs=1e-10 * unit)
        else:  # the missing mass may go by cheaper moves
            assert upper <= by_product + 1e-11 * unit
        if "iterations" in stop:  # right after a column update, where the free bound is defined
            assert naive.free_lower_bound(lam, f, g, a, b) <= by_rows + 1e-12 * unit


@pytest.mark.nojit
@pytest.mark.parametrize("L", [2, 30])
@pytest.mark.parametrize("name", GROUNDS)
def test_any_potentials_whatever_give_bounds(name, L):
    """Neither marginal is exact, nor the mass 1; POT's exact distance is inside all the same."""
    M, X, Y = GROUNDS[name]
    lam, rng = L / np.median(M), np.random.default_rng(12)
    f, g = M.max() * rng.uniform(-1, 0.3, X.shape), M.max() * rng.uniform(-1, 0.3, Y.shape)
    rounding = 1e-12 * M.max()
    for k in range(len(X)):
        on, at = X[k] > 0, Y[k] > 0
        costs, r, c, p, q = M[np.ix_(on, at)], X[k][on], Y[k][at], f[k][on], g[k][at]
        P = np.exp(lam * (p[:, None] + q - costs))
        m = bounds.measure_pair(P, costs, lam, p, q, r, c)
        assert m.lower <= TRUTH[name][k] + rounding and TRUTH[name][k] <= m.upper + rounding
        G = bounds.rounded(P, r, c, costs)
        minus_h = (G * np.log(np.where(G > 0, G, 1))).sum()
        of_dual = (G * costs).sum() + minus_h / lam - (p @ r + q @ c - (P.sum() - 1) / lam)
        assert m.gap == pytest.approx(of_dual, rel=1e-9, abs=1e-10)
        P, costs = P.tolist(), costs.tolist()
        assert m.value == pytest.approx(naive.cost(P, costs), rel=1e-9)
        assert m.entropy == pytest.approx(naive.entropy(P), rel=1e-9)


@pytest.mark.parametrize("L", [1, 9, 60])
@pytest.mark.parametrize("name", GROUNDS)
def test_the_gap_bounds_the_error_of_the_distance(name, L):
    """|<G, M> - d^lam| <= range(M) / 2 * sqrt(2 lam gap), and the gap closes at convergence."""
    M, X, Y = GROUNDS[name]
    lam = L / np.median(M)
    tight = solved(X, Y, M, lam=lam, tol=1e-11, max_iter=100_000)
    assert (tight.gap <= 1e-8 * M.max()).all()
    for n in (1, 3, 10):
        s = sd.solve(X, Y, M, lam=lam, iterations=n)
        reach = np.ptp(M) / 2 * np.sqrt(2 * lam * s.gap)
        assert (abs(s.emd_bounds[1] - tight.value) <= reach + 1e-9 * M.max()).all()
        # and the gap is no less than the distance of the objectives
        assert (s.gap >= -1e-12).all()


def test_bounds_close_as_lam_grows():
    M, X, Y = GROUNDS["random metric"]
    widths = [
        np.subtract(*solved(X, Y, M, lam=L).emd_bounds[::-1]).max() for L in (5, 50, 500, 5000)
    ]
    assert widths == sorted(widths, reverse=True)
    assert widths[-1] < 2e-3


# ----------------------------------------------------------------------- each bound by itself


@given(shapes, st.floats(0.0, 1.0))
def test_bounds_of_any_potentials_and_any_plan_hold_the_exact_distance(shape, noise):
    p = small_pair(*shape)
    right = highs(p.M, p.r, p.c)
    rng = np.random.default_rng(shape[2])
    _, _, f, g = p.truth
    f, g = f + noise * rng.normal(size=f.size), g + noise * rng.normal(size=g.size)
    P = entropic_plan(p.M, p.lam, f, g)
    found = bounds.measure_pair(P, p.M, p.lam, f, g, p.r, p.c)
    assert found.lower <= right * (1 + 1e-12) + 1e-15 and right <= found.upper * (1 + 1e-12) + 1e-15
    assert found.value == pytest.approx((P * p.M).sum(), rel=1e-12)
    assert found.entropy == pytest.approx(naive.entropy(P.tolist()), rel=1e-9, abs=1e-12)
    G = bounds.rounded(P, p.r, p.c)
    assert (G >= 0).all() and off(G, p.r, p.c) <= 1e-14
    np.testing.assert_allclose(G, naive.rounded(P.tolist(), p.r.tolist(), p.c.tolist()), atol=1e-14)


@given(shapes)
def test_a_cheaper_repair_is_taken_where_costs_are_known(shape):
    p = small_pair(*shape)
    P = 0.5 * np.outer(p.r, p.c)
    dear, cheap = bounds.rounded(P, p.r, p.c), bounds.rounded(P, p.r, p.c, p.M)
    assert off(cheap, p.r, p.c) <= 1e-14
    assert (cheap * p.M).sum() <= (dear * p.M).sum() * (1 + 1e-14)


@given(shapes)
def test_information_is_the_divergence_and_its_bound_lies_just_above(shape):
    p = small_pair(*shape)
    P = p.truth[0]
    right = naive.kl_from_independence(P.tolist(), p.r.tolist(), p.c.tolist())
    assert bounds.information(P, p.r, p.c) == pytest.approx(right, abs=1e-13)
    G, unit = bounds.rounded(P, p.r, p.c), bounds.rounding_of(p.r.size + p.c.size)
    above = many_pairs.information_above(np, G[None], p.r[None], p.c[None], unit)[0]
    assert right - 1e-10 <= above <= right + 1e-9


@given(shapes)
def test_the_best_potential_of_the_columns_makes_them_exact(shape):
    p = small_pair(*shape)
    f = np.random.default_rng(shape[2]).normal(size=p.r.size)
    P = entropic_plan(p.M, p.lam, f, bounds.column_potential(p.M, p.lam, f, p.c))
    np.testing.assert_allclose(P.sum(axis=0), p.c, rtol=1e-12)


@pytest.mark.parametrize("lam", [0.5, 5.0, 20.0])
def test_brackets_hold_the_distances(lam):
    """That of the penalty at lam, and that of the constraint which its plan just satisfies."""
    p = small_pair(6, 5, 7, lam=lam)
    P, value, f, g = p.truth
    rng = np.random.default_rng(0)
    for noise in (0.0, 1e-3, 0.1):
        f2, g2 = f + noise * rng.normal(size=6), g + noise * rng.normal(size=5)
        found = bounds.measure_pair(entropic_plan(p.M, lam, f2, g2), p.M, lam, f2, g2, p.r, p.c)
        pair = bounds.Measures(*(np.array([x]) for x in found))
        (low,), (high,) = bounds.bracket_of_penalised(
            np, pair, p.M, np.array([lam]), p.r[None], p.c[None]
        )
        assert low <= value * (1 + 1e-10) and value <= high * (1 + 1e-10)
        alpha = naive.kl_from_independence(P.tolist(), p.r.tolist(), p.c.tolist())
        low, high = bounds.bracket_pair(p.M, lam, f2, g2, p.r, p.c, alpha)
        assert low <= value * (1 + 1e-10) and value <= high * (1 + 1e-10)
        assert noise > 0 or high - low <= 1e-9 * value


def test_pinskers_bound_holds():
    p = small_pair(6, 6, 3, lam=3.0)
    P, value, *_ = p.truth
    alpha = naive.kl_from_independence(P.tolist(), p.r.tolist(), p.c.tolist())
    mean = p.r @ p.M @ p.c
    assert 0.0 < bounds.least_at(mean, np.ptp(p.M), alpha) <= value
    assert bounds.least_at(0.1, 1.0, 5.0) == 0.0


def test_a_plan_too_far_from_a_coupling_bounds_nothing():
    p = small_pair(4, 4, 0)
    none = np.zeros((1, 4, 4))
    found = many_pairs.cost_above(np, np.zeros(1), none, p.M, p.r[None], p.c[None], 1e-15)
    assert found[0] == np.inf
