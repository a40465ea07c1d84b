"""The exact distance against POT and a linear program: cancelled or not, on lines, in any unit."""

import math

import numpy as np
import pytest
from scipy.optimize import linprog

import sinkdist as sd
from sinkdist.interrupts import Stop
from sinkdist.solution.status import Status
from sinkdist.solvers.compiled.exact import exact_pair
from tests.problems import (
    digits,
    emd,
    grid_costs,
    mnist_20,
    random_metric,
    simplex,
    sparse_histograms,
)

INF = float("inf")


def assert_optimal(s, r, c, M, rel=1e-12):
    """A coupling and feasible potentials of the same value, whatever anyone else says."""
    P, (f, g) = s.plan, s.potentials
    assert s.status is Status.CONVERGED and s.lam == INF
    assert P.min() >= 0
    np.testing.assert_allclose(P.sum(axis=1), r, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(P.sum(axis=0), c, rtol=1e-12, atol=1e-15)
    primal = math.fsum((P * M).ravel())
    rows, columns = r > 0, c > 0
    f, g, costs = f[rows], g[columns], M[np.ix_(rows, columns)]
    assert (f[:, None] + g - costs).max() <= 1e-12 * max(costs.max(), abs(f).max(), abs(g).max())
    dual = math.fsum([*(f * r[rows]), *(g * c[columns])])
    assert s.value == pytest.approx(primal, rel=rel, abs=1e-300)
    assert dual == pytest.approx(primal, rel=1e-9, abs=1e-12 * costs.max())


# -------------------------------------------------------------------- against other solvers

CASES = {
    "metric": (random_metric(30, 0), simplex(6, 30, 1), simplex(6, 30, 2)),
    "zero bins": (grid_costs(6, 6), sparse_histograms(6, 36, 3), sparse_histograms(6, 36, 4)),
    "squares": (grid_costs(6, 6) ** 2, sparse_histograms(6, 36, 5), simplex(6, 36, 6)),
    "any costs": (np.random.default_rng(7).random((30, 30)), simplex(6, 30, 8), simplex(6, 30, 9)),
    "rectangular": (
        np.random.default_rng(10).random((9, 23)),
        simplex(6, 9, 11),
        sparse_histograms(6, 23, 12),
    ),
    "degenerate": (
        np.array(sd.Ground.grid(4, 4, metric="cityblock").matrix),
        np.full((6, 16), 1 / 16),
        sparse_histograms(6, 16, 13),
    ),
    "digits": (grid_costs(8, 8), digits(12)[:6], digits(12)[6:]),
}


@pytest.mark.parametrize("name", CASES)
def test_against_pot(name):
    M, X, Y = CASES[name]
    truth = [[emd(x, y, M) for y in Y] for x in X]
    np.testing.assert_allclose(sd.pairwise(X, Y, ground=M, lam=INF), truth, rtol=1e-9)
    np.testing.assert_allclose(sd.distance(X[0], Y, M, lam=INF), truth[0], rtol=1e-9)
    for k in range(len(X)):
        s = sd.solve(X[k], Y[k], M, lam=INF)
        assert s.value == pytest.approx(truth[k][k], rel=1e-9)
        assert_optimal(s, X[k], Y[k], M)


@pytest.mark.parametrize("name", CASES)
def test_against_a_linear_program(name):
    M, X, Y = CASES[name]
    for r, c in zip(X[:2], Y[:2], strict=True):
        rows, columns = r > 0, c > 0
        a, b, costs = r[rows], c[columns], M[np.ix_(rows, columns)]
        m, n = costs.shape
        sums = np.concatenate([np.kron(np.eye(m), np.ones(n)), np.kron(np.ones(m), np.eye(n))])
        found = linprog(costs.ravel(), A_eq=sums[:-1], b_eq=[*a, *b[:-1]], method="highs")
        assert sd.distance(r, c, M, lam=INF) == pytest.approx(found.fun, rel=1e-7)


def test_one_family_is_computed_once_per_pair():
    X = digits(8)
    D = sd.pairwise(X, ground=sd.Ground.grid(8, 8), lam=INF)
    np.testing.assert_array_equal(D, D.T)
    assert (D.diagonal() == 0).all() and (D[~np.eye(8, dtype=bool)] > 0.1).all()


def test_threads_change_nothing():
    X = digits(10)
    one, two = (sd.pairwise(X, ground=grid_costs(8, 8), lam=INF, workers=n) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.data
def test_all_pairs_of_real_digits(data_folder):
    X, M = mnist_20(data_folder, 30), grid_costs(20, 20)
    D = sd.pairwise(X, ground=sd.Ground.grid(20, 20), lam=INF)
    truth = [[emd(x, y, M) for y in X] for x in X[:5]]
    np.testing.assert_allclose(D[:5], truth, rtol=1e-9, atol=1e-12)


# -------------------------------------------------------------- cancelling the common mass


@pytest.mark.parametrize("name", ["metric", "zero bins", "degenerate", "digits"])
def test_cancelling_common_mass_changes_nothing_for_a_metric(name):
    M, X, Y = CASES[name]
    for r, c in zip(X, Y, strict=True):
        whole, less = (exact_pair(M, r, c, metric=metric, stop=Stop()) for metric in (False, True))
        assert less.upper == pytest.approx(whole.upper, rel=1e-12)
        assert less.solved and whole.solved
        assert less.plan.marginal_error(r, c) <= 1e-14
        stays = less.plan.rows == less.plan.columns
        on_diagonal = np.bincount(less.plan.rows[stays], less.plan.mass[stays], M.shape[0])
        np.testing.assert_allclose(on_diagonal, np.minimum(r, c), rtol=1e-12, atol=1e-16)


def test_squared_costs_are_not_cancelled():
    """Moving 0.5 by two steps of one costs 1; leaving the common half and moving by 2 costs 2."""
    M = grid_costs(3) ** 2
    r, c = [0.5, 0.5, 0.0], [0.0, 0.5, 0.5]
    s = sd.solve(r, c, M, lam=INF)
    assert s.value == 1 and s.plan[1, 1] == 0
    misled = exact_pair(M, np.array(r), np.array(c), metric=True, stop=Stop())
    assert misled.value == 1 and misled.solved  # the certificate tells, and integers mend it


@pytest.mark.parametrize("violation", [1e-3, 1e-6])
def test_costs_that_are_almost_a_metric_are_not_cancelled(violation):
    M = grid_costs(3)
    M[0, 2] = M[2, 0] = 2 + violation
    assert sd.distance([0.5, 0.5, 0], [0, 0.5, 0.5], M, lam=INF) == pytest.approx(1, rel=1e-12)


@pytest.mark.parametrize("name", CASES)
def test_equal_and_nearly_equal_histograms(name):
    M, X, _ = CASES[name]
    if M.shape[0] != M.shape[1] or M.diagonal().any():
        return
    for mass in (0.0, 1e-15, 1e-12, 1e-9, 1e-6):
        r = X[0] / 2
        r[:2] += 0.25
        c = r.copy()
        c[0], c[1] = c[0] + mass, c[1] - mass
        s = sd.solve(r, c, M, lam=INF)
        assert s.converged and s.value == pytest.approx(mass * M[0, 1], rel=1e-3, abs=1e-17)
    assert sd.distance(X[0], X[0], M, lam=INF) == pytest.approx(0, abs=1e-15)


# ------------------------------------------------------------------------------ units and masses


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e-15, 1e15, 1e30, 1e300])
@pytest.mark.parametrize("name", ["metric", "squares", "rectangular"])
def test_costs_of_any_size(name, scale):
    """The simplex compares with absolute constants: POT alone is 14 to 40 % off at 1e-15."""
    M, X, Y = CASES[name]
    M = M / M.max()
    for r, c in zip(X[:3], Y[:3], strict=True):
        s = sd.solve(r, c, M * scale, lam=INF)
        assert s.converged and s.value == pytest.approx(emd(r, c, M) * scale, rel=1e-9)
        assert_optimal(s, r, c, M * scale)


@pytest.mark.parametrize("large", [1e6, 1e12, 1e20, 1e32, 1e300])
def test_one_cost_beyond_all_others(large):
    """A forbidden move does not blur the others."""
    M, X, Y = CASES["zero bins"]
    r, c = X[0] / 2 + 0.5 / 36, Y[0] / 2 + 0.5 / 36
    M = M.copy()
    truth = emd(r, c, M)
    unused = np.argwhere(sd.solve(r, c, M, lam=INF).plan == 0)
    i, j = unused[len(unused) // 2]
    M[i, j] = large
    s = sd.solve(r, c, M, lam=INF)
    assert s.converged and s.value == pytest.approx(truth, rel=1e-9)
    assert s.plan[i, j] == 0


@pytest.mark.parametrize("large", [1e12, 1e32])
def test_a_forbidden_move_that_has_to_be_made(large):
    M = np.array([[1.0, large], [2.0, large]])
    s = sd.solve([0.5, 0.5], [0.9, 0.1], M, lam=INF)
    assert s.value == pytest.approx(0.1 * large, rel=1e-9)


@pytest.mark.parametrize("tiny", [1e-6, 1e-12, 1e-16, 1e-100, 1e-300])
def test_bins_with_almost_no_mass(tiny):
    M, X, Y = CASES["metric"]
    for r, c in zip(X[:4], Y[:4], strict=True):
        r, c = r.copy(), c.copy()
        r[:3], c[5:9] = tiny, tiny
        r, c = r / r.sum(), c / c.sum()
        s = sd.solve(r, c, M, lam=INF)
        assert s.converged and s.value == pytest.approx(emd(r, c, M), rel=1e-9)
        assert s.marginal_error <= 1e-14


def test_masses_that_are_all_tiny_but_one():
    d = 40
    r, c = np.full(d, 1e-12), np.full(d, 1e-12)
    r[0] = c[-1] = 1
    r, c = r / r.sum(), c / c.sum()
    for ground in (sd.Ground.grid(d), sd.Ground(grid_costs(d)), sd.Ground(grid_costs(d) ** 2)):
        value = float(ground.matrix[0, -1])
        s = sd.solve(r, c, ground, lam=INF)
        assert s.converged and s.value == pytest.approx(value, rel=1e-9)


@pytest.mark.parametrize("d", [1, 2])
def test_one_or_two_bins(d):
    M = np.array([[0.5, 2.0], [1.0, 0.25]])[:d, :d]
    r, c = np.array([[1.0], [0.3, 0.7]][d - 1]), np.array([[1.0], [0.6, 0.4]][d - 1])
    s = sd.solve(r, c, M, lam=INF)
    assert s.value == pytest.approx(0.5 if d == 1 else 0.3 * 0.5 + 0.3 * 1 + 0.4 * 0.25)
    assert_optimal(s, r, c, M)


def test_float32_histograms():
    M, X, Y = CASES["digits"]
    X, Y = X.astype("f4"), Y.astype("f4")
    D = sd.pairwise(X, Y, ground=M, lam=INF)
    truth = [[emd(x.astype(float), y.astype(float), M) for y in Y] for x in X]
    assert D.dtype == np.float32
    np.testing.assert_allclose(D, truth, rtol=3e-7)
    for k in range(3):
        s = sd.solve(X[k], Y[k], M, lam=INF)
        assert s.converged and s.value == pytest.approx(truth[k][k], rel=3e-7)
