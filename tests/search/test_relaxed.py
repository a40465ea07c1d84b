"""Relaxed transport bounds the exact distance, for any costs and more sharply for a metric."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.search.relaxed import Relaxed
from sinkdist.solvers.bins import sparse_rows


def families(rng, d, n):
    X = rng.dirichlet(np.full(d, 0.3), n) * (rng.random((n, d)) < 0.5)
    X[X.sum(axis=1) == 0.0] = 1.0
    X[1], X[2] = X[0], np.eye(d)[0]
    return X / X.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("metric", [False, True])
def test_never_above_the_exact_distance(metric):
    rng = np.random.default_rng(0)
    for _ in range(12):
        d = int(rng.integers(2, 14))
        costs = rng.random((d, d)) * 10.0 ** rng.integers(-3, 4)
        ground = sd.Ground.points(rng.random((d, 3))) if metric else sd.Ground(costs)
        X = families(rng, d, 20)  # more than are served at once
        bound = Relaxed(ground, sparse_rows(X), None, metric, 0.0)
        D = sd.pairwise(X, X, ground=ground, lam=np.inf)
        found = bound.bounds(X)
        assert (found <= D).all() and (found >= 0.0).all() and np.isfinite(found).all()
        for q in (0, 2):
            np.testing.assert_allclose(bound.bounds(X[[q]])[0], found[q], atol=1e-6 * costs.max())
        if metric:
            plain = Relaxed(ground, sparse_rows(X), None, False, 0.0).bounds(X)
            assert found.sum() > plain.sum()


def test_costs_on_demand_give_the_same_bounds():
    rng = np.random.default_rng(5)
    ground, X = sd.Ground.points(rng.random((12, 3))), families(np.random.default_rng(6), 12, 20)
    X[:, 7], X[:, 9] = 0.0, 0.0
    X[X.sum(axis=1) == 0.0, 0] = 1.0
    X /= X.sum(axis=1, keepdims=True)
    rows, used = sparse_rows(X[5:]), np.flatnonzero(X[5:].any(axis=0))
    whole, part = (Relaxed(ground, rows, u, True, 0.0).bounds(X[:5]) for u in (None, used))
    np.testing.assert_allclose(whole, part, atol=2e-6)  # margins are of the largest cost used


def test_costs_in_single_precision_give_the_same_bits():
    rng = np.random.default_rng(8)
    ground, X = sd.Ground.points(rng.random((12, 3))), families(rng, 12, 20)
    single = ground.dense.astype(np.float32)
    whole, half = (
        Relaxed(ground, sparse_rows(X), None, True, 0.0, x).bounds(X) for x in (None, single)
    )
    np.testing.assert_array_equal(whole, half)


def test_rectangular_costs():
    rng = np.random.default_rng(7)
    M, C = rng.random((5, 8)), families(rng, 8, 20)
    R = rng.dirichlet(np.ones(5), 4)
    found = Relaxed(sd.Ground(M), sparse_rows(C), None, False, 0.0).bounds(R)
    np.testing.assert_allclose(found, [C @ M[r > 0].min(axis=0) for r in R], atol=1e-4)
    assert (found <= sd.pairwise(R, C, ground=M, lam=np.inf)).all()
