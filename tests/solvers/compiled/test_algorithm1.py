"""`iterations=n` is Algorithm 1 of the paper to the letter: the oracle in plain loops says so."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.interrupts import Stop
from sinkdist.solution.status import Status
from sinkdist.solvers.compiled import algorithm1 as loops
from tests.naive import algorithm1, marginal_error
from tests.problems import (
    digits,
    grid_costs,
    random_metric,
    simplex,
    sparse_histograms,
    steps_by_logarithms,
)
from tests.small_pairs import small_pair

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


# ----------------------------------------------------------------------- the loops themselves


@pytest.mark.parametrize("iterations", [1, 2, 7])
def test_the_three_loops_give_the_scalings_of_the_paper(iterations):
    p = small_pair(6, 5, 1, lam=7.0)
    right = algorithm1(p.M.tolist(), p.lam, p.r.tolist(), p.c.tolist(), iterations)
    u, v = loops.algorithm1_pair(p.K, p.r, p.c, iterations, Stop())
    f, g = loops.algorithm1_log(p.M, p.lam, p.r, p.c, iterations, Stop())
    U, V = loops.algorithm1_block(p.K, p.r[None], np.stack([p.c, p.c]), iterations, Stop())
    for found, scaling, potential in ((f, u, right.f), (g, v, right.g)):
        np.testing.assert_allclose(found, potential, atol=1e-13)
        np.testing.assert_allclose(np.log(scaling) / p.lam, potential, atol=1e-13)
    np.testing.assert_allclose(U[1][:, None] * p.K * V[1], right.P, rtol=1e-12)
    P = loops.plan_with_exact_columns(p.M, p.lam, f, p.c)
    np.testing.assert_allclose(P, right.P, rtol=1e-12)


def test_a_block_leaves_bins_without_mass_at_0():
    p = small_pair(5, 4, 2)
    R, C = np.array([[0.5, 0.0, 0.3, 0.2, 0.0]]), np.array([[0.1, 0.0, 0.4, 0.5], [0, 0, 0, 1.0]])
    U, V = loops.algorithm1_block(p.K, R, C, 3, Stop())
    for k in range(2):
        right = algorithm1(p.M.tolist(), p.lam, R[0].tolist(), C[k].tolist(), 3)
        np.testing.assert_allclose(U[k][:, None] * p.K * V[k], right.P, atol=1e-15)


def test_scalings_that_are_not_representable_are_told():
    p = small_pair(4, 4, 0, lam=1e5)
    with np.errstate(all="ignore"):
        assert loops.algorithm1_pair(p.K, p.r, p.c, 3, Stop()) is None


def test_a_lam_beyond_all_numbers_gives_a_plan():
    p = small_pair(4, 4, 0)
    f, _ = loops.algorithm1_log(p.M * 1e10, 1e305, p.r, p.c, 3, Stop())
    P = loops.plan_with_exact_columns(p.M * 1e10, 1e305, f, p.c)
    np.testing.assert_allclose(P.sum(axis=0), p.c, rtol=1e-13)
