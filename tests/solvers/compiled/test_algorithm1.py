"""`iterations=n` is Algorithm 1 of the paper to the letter: the oracle in plain loops says so."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.solution.status import Status
from tests.naive import algorithm1, marginal_error
from tests.problems import (
    digits,
    grid_costs,
    random_metric,
    simplex,
    sparse_histograms,
    steps_by_logarithms,
)

STEPS = [1, 2, 5, 20]

PAIRS = {
    "full support": (random_metric(10, 0), *simplex(2, 10, 1)),
    "zero bins": (grid_costs(3, 4), *sparse_histograms(2, 12, 2, density=0.4)),
    "rectangular": (
        np.random.default_rng(3).random((5, 9)),
        simplex(1, 5, 4)[0],
        simplex(1, 9, 5)[0],
    ),
    "tall, zero bins": (
        np.random.default_rng(6).random((11, 4)),
        sparse_histograms(1, 11, 7)[0],
        simplex(1, 4, 8)[0],
    ),
    "a dirac": (grid_costs(3, 3), np.eye(9)[2], simplex(1, 9, 9)[0]),
    "identical": (random_metric(8, 10), *simplex(1, 8, 11).repeat(2, axis=0)),
}


def oracle(M, lam, r, c, n):
    return algorithm1(
        np.asarray(M).tolist(), lam, np.asarray(r, float).tolist(), np.asarray(c, float).tolist(), n
    )


@pytest.mark.nojit
@pytest.mark.parametrize("L", [0.5, 9, 50])
@pytest.mark.parametrize("n", STEPS)
@pytest.mark.parametrize("name", PAIRS)
def test_one_pair(name, n, L):
    M, r, c = PAIRS[name]
    truth = oracle(M, L, r, c, n)
    s = sd.solve(r, c, M, lam=L, iterations=n)
    assert s.value == pytest.approx(truth.value, rel=1e-12, abs=1e-14)
    assert sd.distance(r, c, M, reg=1 / L, iterations=n) == pytest.approx(
        s.value, rel=1e-12, abs=1e-14
    )
    np.testing.assert_allclose(s.plan, truth.P, rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(
        s.plan.sum(axis=0), c, atol=1e-14
    )  # columns are exact after the last line
    assert s.marginal_error == pytest.approx(marginal_error(truth.P, r, c), rel=1e-9, abs=1e-13)
    assert (s.n_iter, s.status, s.solver, s.converged) == (n, Status.FIXED, "algorithm1", False)


# Thirty are enough for a block of matrix products; the paper's own program is vectorised like that.
FAMILIES = {
    "full support": (random_metric(9, 20), simplex(1, 9, 21)[0], simplex(30, 9, 22)),
    "zero bins": (grid_costs(3, 4), sparse_histograms(1, 12, 23)[0], sparse_histograms(30, 12, 24)),
    "rectangular": (
        np.random.default_rng(25).random((5, 9)),
        simplex(1, 5, 26)[0],
        sparse_histograms(30, 9, 27),
    ),
    "two": (random_metric(9, 28), simplex(1, 9, 29)[0], simplex(2, 9, 30)),
}


@pytest.mark.parametrize("n", STEPS)
@pytest.mark.parametrize("name", FAMILIES)
def test_one_against_many(name, n):
    M, r, C = FAMILIES[name]
    truth = [oracle(M, 7.0, r, c, n) for c in C]
    values = np.array([t.value for t in truth])
    np.testing.assert_allclose(sd.distance(r, C, M, lam=7, iterations=n), values, rtol=1e-12)
    s = sd.solve(r, C, M, lam=7, iterations=n)
    np.testing.assert_allclose(s.value, values, rtol=1e-12)
    np.testing.assert_allclose(s.plan, [t.P for t in truth], rtol=1e-11, atol=1e-15)
    errors = [marginal_error(t.P, r, c) for t, c in zip(truth, C, strict=True)]
    np.testing.assert_allclose(s.marginal_error, errors, rtol=1e-9, atol=1e-13)
    assert (s.status == Status.FIXED).all() and (s.n_iter == n).all()
    # Many against one is the paper's algorithm from the other side: r is each row in turn.
    backwards = sd.distance(C, r, np.array(M).T, lam=7, iterations=n)
    np.testing.assert_allclose(
        backwards, [oracle(np.array(M).T, 7.0, c, r, n).value for c in C], rtol=1e-12
    )


def test_matched_families_and_all_pairs():
    M, X, Y = grid_costs(3, 3), sparse_histograms(12, 9, 31), sparse_histograms(12, 9, 32)
    truth = np.array([[oracle(M, 5.0, x, y, 4).value for y in Y] for x in X])
    np.testing.assert_allclose(sd.pairwise(X, Y, ground=M, lam=5, iterations=4), truth, rtol=1e-12)
    np.testing.assert_allclose(
        sd.solve(X, Y, M, lam=5, iterations=4).value, truth.diagonal(), rtol=1e-12
    )


def test_all_pairs_of_one_family_are_the_upper_triangle_mirrored():
    M, X = grid_costs(3, 3), sparse_histograms(10, 9, 33)
    D = sd.pairwise(X, ground=M, lam=5, iterations=2)
    truth = np.array(
        [
            [oracle(M, 5.0, X[min(i, j)], X[max(i, j)], 2).value for j in range(10)]
            for i in range(10)
        ]
    )
    np.testing.assert_allclose(D, truth, rtol=1e-12)


def test_float32_families_follow_the_same_steps():
    X = digits(40).astype("float32")
    M = sd.Ground.grid(8, 8).scaled()
    D = sd.distance(X[0], X, M, lam=9, iterations=20)
    assert D.dtype == np.float32
    truth = [oracle(M.matrix, 9.0, X[0], x, 20).value for x in X]
    np.testing.assert_allclose(D, truth, rtol=2e-6)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("pairs", [1, 3, 20])
@pytest.mark.parametrize("L", [60, 90, 200, 500, 700, 5000])
def test_any_strength_without_overflow(L, pairs, dtype):
    """Beyond what a kernel of either dtype can hold, the same steps are taken by logarithms."""
    M = grid_costs(3, 4)
    r, C = (
        sparse_histograms(1, 12, 34)[0].astype(dtype),
        sparse_histograms(pairs, 12, 35).astype(dtype),
    )
    lam = L / M.max()
    s = sd.solve(r, C, M, lam=lam, iterations=6)
    np.testing.assert_allclose(sd.distance(r, C, M, lam=lam, iterations=6), s.value, rtol=1e-5)
    close = {"float64": 1e-9, "float32": 2e-5}[dtype]
    for k in range(pairs):
        value = steps_by_logarithms(M, lam, r.astype(float), C[k].astype(float), 6)
        assert s.value[k] == pytest.approx(value, rel=close, abs=close)
