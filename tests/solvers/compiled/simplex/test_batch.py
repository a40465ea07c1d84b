"""The simplex as callers in Python meet it, with what `pairs` and `proof` do for it."""

from fractions import Fraction

import numpy as np
import ot
import pytest
import scipy.sparse as sp
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist

from sinkdist.interrupts import Abandoned, Stop
from sinkdist.solvers.bins import sparse_rows
from sinkdist.solvers.compiled.simplex.batch import transport


def family(rng, n, d, empty=0.4):
    X = rng.dirichlet(np.full(d, 0.7), n) * (rng.uniform(size=(n, d)) >= empty)
    X[np.arange(n), rng.integers(d, size=n)] += 1e-3
    return X / X.sum(axis=1, keepdims=True)


def solve(M, R, C, metric=False, **options):
    rows = sparse_rows(R), sparse_rows(C)
    return transport(M, float(M.max()), *rows, metric=metric, stop=Stop(), **options)


@pytest.mark.parametrize("kind", ["metric", "symmetric", "rectangular", "equal", "zero"])
@pytest.mark.parametrize("keep", [False, True])
def test_against_pot(kind, keep):
    rng = np.random.default_rng(5)
    for d, e in [(1, 1), (2, 9), (13, 13), (30, 26), (40, 25)]:
        e = e if kind == "rectangular" else d
        Z = rng.normal(size=(d, 2))
        M = {
            "metric": cdist(Z, Z), "symmetric": cdist(Z, Z) ** 2, "equal": np.ones((d, d)),
            "rectangular": rng.uniform(size=(d, e)), "zero": np.zeros((d, d)),
        }[kind]  # fmt: skip
        R, C = family(rng, 6, d), family(rng, 6, e)
        found = solve(M, R, C, kind == "metric", keep=keep)
        truth = np.array([ot.emd2(r, c, M) for r, c in zip(R, C, strict=True)])
        assert np.abs(found.value - truth).max() <= 1e-13 * max(M.max(), 1e-300)
        assert found.error.max() <= 1e-14
        if kind not in ("zero",) and d > 1:
            assert found.solved.all()


def test_plans_potentials_and_bounds_prove_the_value():
    rng = np.random.default_rng(6)
    Z = rng.normal(size=(30, 2))
    R, C = family(rng, 10, 30), family(rng, 10, 30)
    for M, metric in ((cdist(Z, Z), True), (rng.uniform(size=(30, 30)), False)):
        found = solve(M, R, C, metric, keep=True)
        for k in range(10):
            plan = found.plan(k)
            assert plan.rows.size <= 2 * 30 + 29 and (plan.mass > 0.0).all()
            P = np.zeros((30, 30))
            np.add.at(P, (plan.rows, plan.columns), plan.mass)
            assert np.abs(P.sum(1) - R[k]).sum() + np.abs(P.sum(0) - C[k]).sum() <= 1e-14
            assert (P * M).sum() == pytest.approx(found.value[k], rel=1e-13)
            f, g = found.F[k], found.G[k]
            assert ((f == -np.inf) == (R[k] == 0)).all() and ((g == -np.inf) == (C[k] == 0)).all()
            on = np.ix_(R[k] > 0, C[k] > 0)
            assert (M - f[:, None] - g)[on].min() >= -1e-15
            assert found.lower[k] <= found.value[k] <= found.upper[k]
            assert found.upper[k] - found.lower[k] <= 1e-9 * found.value[k]


@pytest.mark.parametrize("metric", [False, True])
def test_one_row_is_shared_and_csr_rows_are_read_as_they_are(metric):
    rng = np.random.default_rng(7)
    Z = rng.normal(size=(20, 3))
    M = cdist(Z, Z)
    R, C = family(rng, 1, 20), family(rng, 8, 20)
    dense = solve(M, R, C, metric)
    sparse = solve(M, sp.csr_array(R), sp.csr_array(C), metric)
    each = solve(M, R.repeat(8, 0), C, metric)
    assert (dense.value == sparse.value).all() and (dense.value == each.value).all()


def test_large_pairs_begin_in_single_precision():
    rng = np.random.default_rng(8)
    M = rng.uniform(size=(260, 230))
    R, C = rng.dirichlet(np.ones(260), 2), rng.dirichlet(np.ones(230), 2)
    found = solve(M, R, C, keep=True)
    truth = [ot.emd2(r, c, M) for r, c in zip(R, C, strict=True)]
    assert found.solved.all() and found.value == pytest.approx(truth, rel=1e-12)


@pytest.mark.parametrize("scale", [1e-300, 1e-28, 1.0, 1e28, 1e290])
def test_costs_of_any_scale(scale):
    rng = np.random.default_rng(9)
    M, R, C = rng.uniform(size=(15, 15)), family(rng, 4, 15), family(rng, 4, 15)
    found, truth = solve(M * scale, R, C), solve(M, R, C).value * scale
    assert found.value == pytest.approx(truth, rel=1e-13, abs=0.0) and found.solved.all()


def test_costs_too_small_for_their_inverse():
    R, C = np.array([[0.25, 0.75]]), np.array([[1.0, 0.0]])
    assert solve(np.array([[0.0, 2e-310], [3e-310, 0.0]]), R, C).value == [0.75 * 3e-310]


def test_assignments_of_a_thousand():
    M = np.random.default_rng(15).uniform(size=(1000, 1000))
    even = np.full((1, 1000), 1e-3)
    found = solve(M, even, even)
    truth = M[linear_sum_assignment(M)].mean()
    assert found.solved.all() and found.value == pytest.approx(truth, rel=1e-12)


def test_masses_of_very_different_size():
    rng = np.random.default_rng(16)
    M, r, c = rng.uniform(size=(30, 30)), *rng.dirichlet(np.ones(30), 2)
    r[:10] = 10.0 ** -np.linspace(5, 300, 10)
    r /= r.sum()
    found = solve(M, r[None], c[None], keep=True)
    assert found.solved.all() and found.value == pytest.approx(ot.emd2(r, c, M), rel=1e-12)


def test_histograms_that_nearly_agree_are_not_called_solved():
    """Rounding the masses would show: a slower path has to answer."""
    rng = np.random.default_rng(10)
    M = rng.uniform(size=(12, 12))
    np.fill_diagonal(M, 0.0)
    r = rng.dirichlet(np.ones(12))
    c = r * (1 + 1e-13 * rng.normal(size=12))
    assert not solve(M, r[None], c[None]).solved.any()


@pytest.mark.parametrize("noise", [1e-3, 1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("keep", [False, True])
def test_histograms_that_nearly_agree_under_a_metric(noise, keep):
    """What they differ by moves, and is known to its own last digits."""
    rng = np.random.default_rng(21)
    M = cdist(*[np.stack(np.meshgrid(np.arange(12), np.arange(12)), -1).reshape(-1, 2)] * 2)
    X = family(rng, 5, 144)
    Y = X * (1 + noise * rng.normal(size=X.shape))
    Y /= Y.sum(axis=1, keepdims=True)
    found = solve(M, X, Y, True, bend=2.0**-46, keep=keep)
    assert found.solved.all() and (found.upper - found.lower <= 1e-9 * found.upper).all()
    for k, (x, y) in enumerate(zip(X, Y, strict=True)):
        exact = [[Fraction(p) for p in row] for row in (x, y)]
        one, two = ([p / sum(row) for p in row] for row in exact)
        left = [p - q for p, q in zip(one, two, strict=True)]
        total = sum(p for p in left if p > 0)
        r, c = (
            np.array([float(max(sign * p, Fraction(0)) / total) for p in left]) for sign in (1, -1)
        )
        truth = float(total) * ot.emd2(r / r.sum(), c / c.sum(), M)
        assert found.value[k] == pytest.approx(truth, rel=1e-9)


def test_equal_histograms_under_a_metric():
    Z = np.random.default_rng(11).normal(size=(9, 2))
    X = family(np.random.default_rng(12), 3, 9)
    found = solve(cdist(Z, Z), X, X, True, keep=True)
    assert found.solved.all() and (found.value == 0.0).all() and (found.upper == 0.0).all()
    assert found.plan(1).mass.sum() == pytest.approx(1.0)


def test_pairs_beyond_enough_are_abandoned_with_a_proof():
    rng = np.random.default_rng(13)
    M = rng.uniform(size=(60, 60))
    R, C = rng.dirichlet(np.ones(60), 1), rng.dirichlet(np.ones(60), 20)
    value = solve(M, R, C).value
    enough = np.full(20, np.median(value))
    found = solve(M, R, C, enough=enough)
    assert found.abandoned.any() and (value[found.abandoned] > enough[0]).all()
    kept = ~found.abandoned
    assert (found.value[kept] == value[kept]).all() and found.solved[kept].all()


def test_pairs_beyond_the_nearest_ones_are_abandoned_and_these_are_kept():
    rng = np.random.default_rng(15)
    M = rng.uniform(size=(60, 60))
    R, C = rng.dirichlet(np.ones(60), 1), rng.dirichlet(np.ones(60), 40)
    value = solve(M, R, C, keep=True).value
    nearest = np.array([0.9 * value.min(), np.inf, np.inf, np.inf])  # one is known already
    found = solve(M, R, C, keep=True, nearest=nearest, slack=1e-9)
    assert found.abandoned.any() and (found.solved | found.abandoned).all()
    three = np.sort(value)[:3]
    np.testing.assert_allclose(nearest, [0.9 * value.min(), *three], rtol=1e-9)
    assert (value[found.abandoned] > three[-1]).all()
    assert (found.value[found.solved] == value[found.solved]).all()
    best = [np.sort(value[:k])[2] if k > 2 else np.inf for k in range(40)]  # before each
    assert not found.abandoned[value <= best].any()


def test_potentials_of_abandoned_pairs_are_feasible():
    """A search makes planes of them: where they stop, they bound their own distance well."""
    rng = np.random.default_rng(13)
    M = rng.uniform(size=(60, 60))
    R, C = rng.dirichlet(np.ones(60), 1), rng.dirichlet(np.ones(60), 20)
    value = solve(M, R, C).value
    found = solve(M, R, C, enough=np.full(20, 0.8 * value.min()), keep=True)
    assert found.abandoned.any()
    for k in np.flatnonzero(found.abandoned):
        assert (found.F[k][:, None] + found.G[k] <= M + 1e-12).all()
        assert 0.8 * value.min() <= found.F[k] @ R[0] + found.G[k] @ C[k] <= value[k] + 1e-12


def test_it_stops_when_told_to():
    X = family(np.random.default_rng(14), 3, 9)
    stop = Stop()
    stop.set()
    with pytest.raises(Abandoned):
        transport(np.ones((9, 9)), 1.0, sparse_rows(X), sparse_rows(X), metric=False, stop=stop)
