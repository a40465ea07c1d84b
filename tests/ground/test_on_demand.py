"""Costs on demand, against matrices; every verb on clouds of points and graphs without one."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array
from scipy.sparse.csgraph import shortest_path
from scipy.spatial.distance import cdist

import sinkdist as sd
from sinkdist.errors import InputError
from sinkdist.ground import costs
from sinkdist.ground.on_demand import POINT_METRICS, GraphCosts, PointCosts

INF = float("inf")


@pytest.mark.parametrize("metric", POINT_METRICS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_points(metric, dtype):
    rng = np.random.default_rng(0)
    Z = (rng.normal(size=(60, 7)) + 30).astype(dtype)  # far from 0, where products cancel
    Z[3] = Z[5]
    Z[8] = Z[9] * np.array(1 + 1e-6, dtype)
    M = cdist(Z.astype(float), Z.astype(float), metric)
    found = PointCosts(Z, metric).scaled(2.0)
    rows, columns = np.array([3, 9, 0]), np.array([5, 8, 9, 59])
    np.testing.assert_allclose(
        found.block(rows, columns), M[np.ix_(rows, columns)] / 2, rtol=1e-9, atol=1e-12
    )
    np.testing.assert_allclose(found.block(), M / 2, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.at(rows, columns[:3]), M[rows, columns[:3]] / 2, rtol=1e-9,
                               atol=1e-12)  # fmt: skip
    R = rng.random((3, 60))
    for some in (R, csr_array(R)):
        np.testing.assert_allclose(found.mean_costs(some), R @ M / 2, rtol=1e-9)
    assert M.max() / 2 <= found.max and not found.diagonal.any()
    np.testing.assert_allclose(found.median, np.median(M) / 2, rtol=1e-9)  # of all, when so few
    again = pickle.loads(pickle.dumps(found))
    assert again.fingerprint == found.fingerprint != PointCosts(Z, metric).fingerprint
    with pytest.raises(InputError, match="A matrix of 60 x 60 costs"):
        found.matrix()


def test_graphs():
    rng = np.random.default_rng(1)
    W = random_array((50, 50), density=0.05, rng=rng).toarray()
    W[np.arange(49), np.arange(1, 50)] = rng.random(49) + 0.1
    graph = csr_array(W)
    M = shortest_path(graph, directed=False)
    found = GraphCosts(graph)
    rows, columns = np.array([4, 40]), np.array([40, 1, 2])
    np.testing.assert_allclose(found.block(rows, columns), M[np.ix_(rows, columns)], rtol=1e-12)
    assert M.max() <= found.max
    np.testing.assert_allclose(found.median, np.median(M), rtol=1e-12)


@pytest.fixture
def few(monkeypatch):
    """Clouds of more than 50 points have no matrix."""
    monkeypatch.setattr(costs, "DENSE_UP_TO", 50)


def documents(bins, count, seed):
    """Sparse histograms, as of words."""
    X = random_array((count, bins), density=0.05, rng=np.random.default_rng(seed)).toarray()
    X[np.arange(count), np.arange(count)] += 0.5
    return X / X.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("metric", ["euclidean", "sqeuclidean", "cosine", "cityblock"])
@pytest.mark.parametrize("options", [{"lam": 9.0}, {"lam": INF}, {"alpha": 0.5}, {"lam": 0.0},
                                     {"lam": 9.0, "iterations": 5}])  # fmt: skip
@pytest.mark.parametrize("sparse", [False, True])
def test_every_member_answers_as_on_the_matrix(few, metric, options, sparse):
    Z = np.random.default_rng(2).normal(size=(120, 5))
    lazy = sd.Ground.points(Z, metric=metric)
    dense = sd.Ground(cdist(Z, Z, metric))
    assert not lazy.is_dense
    X = documents(120, 9, 3)
    X[4] = X[2]  # equal ones
    given = csr_array(X) if sparse else X
    wanted = sd.pairwise(X, ground=dense, **options)
    np.testing.assert_allclose(sd.pairwise(given, ground=lazy, **options), wanted, rtol=1e-5,
                               atol=1e-9)  # fmt: skip
    found, wanted = (
        sd.distance(H, H[[1] * 9], G, **options) for H, G in ((given, lazy), (X, dense))
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-9)
    s, same = sd.solve(X[0], X[1], lazy, **options), sd.solve(X[0], X[1], dense, **options)
    np.testing.assert_allclose(s.value, same.value, rtol=1e-6)
    np.testing.assert_allclose(s.emd_bounds, same.emd_bounds, rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(s.plan_rows([0, 7]), same.plan[[0, 7]], rtol=1e-4, atol=1e-9)
    assert s.moves(top=3).__class__ is same.moves(top=3).__class__


def test_what_is_known_of_clouds(few):
    Z = np.random.default_rng(0).normal(size=(80, 3)).astype(np.float32)
    ground = sd.Ground.points(Z)
    assert ground.is_metric and ground.is_made_metric and np.shares_memory(ground._costs.points, Z)
    assert not sd.Ground.points(Z, metric="sqeuclidean").is_metric
    np.testing.assert_allclose(ground.scaled().median, 1.0)
    assert pickle.loads(pickle.dumps(ground)).fingerprint == ground.fingerprint
    with pytest.raises(InputError, match="A matrix of 80 x 80 entries of the plan would take"):
        _ = sd.solve(*documents(80, 2, 0), ground, lam=3.0).plan
    Z[7, 1] = np.nan
    with pytest.raises(InputError, match="Coordinate 1 of point 7"):
        sd.Ground.points(Z)


def test_graphs_without_a_matrix(few):
    rng = np.random.default_rng(5)
    W = random_array((90, 90), density=0.03, rng=rng).toarray()
    W[np.arange(89), np.arange(1, 90)] = rng.random(89) + 0.1
    lazy, X = sd.Ground.graph(csr_array(W)), documents(90, 6, 1)
    assert not lazy.is_dense
    dense = sd.Ground(shortest_path(csr_array(W), directed=False))
    for options in ({"lam": INF}, {"lam": 5.0}):
        found, wanted = (sd.pairwise(csr_array(X), ground=G, **options) for G in (lazy, dense))
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-9)
    path = sd.Ground.graph(csr_array(np.diag(np.ones(99), 1)))  # a line stays a formula
    assert not path.is_dense
    r, c = np.eye(100)[[3, 90]]
    assert sd.distance(r, c, path, lam=INF) == 87.0


@pytest.mark.parametrize("other", [False, True])
def test_tiles_with_many_words_are_cut(few, monkeypatch, other):
    monkeypatch.setattr("sinkdist.pairs.tile_part.MOST_COSTS", 300)
    Z, X = np.random.default_rng(2).normal(size=(200, 5)), documents(200, 37, 3)
    Y = documents(200, 23, 4) if other else None
    lazy, dense = sd.Ground.points(Z), sd.Ground(cdist(Z, Z))
    found, wanted = (
        sd.pairwise(csr_array(X), None if Y is None else csr_array(Y), ground=G, lam=INF)
        for G in (lazy, dense)
    )
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12)


def test_stores_and_threads(few, tmp_path):
    pytest.importorskip("zarr")
    Z, X = np.random.default_rng(2).normal(size=(200, 5)), documents(200, 40, 3)
    ground = sd.Ground.points(Z)
    wanted = sd.pairwise(csr_array(X), ground=ground, lam=INF, workers=1)
    np.testing.assert_allclose(
        sd.pairwise(csr_array(X), ground=ground, lam=INF, workers=2), wanted, rtol=1e-12
    )
    stored = sd.pairwise(csr_array(X), ground=ground, lam=INF, out=tmp_path / "D.zarr")
    np.testing.assert_allclose(np.asarray(stored[:]), wanted, rtol=1e-12, atol=1e-15)


def test_a_bin_that_is_named_more_than_once_costs_nothing_to_itself():
    Z = np.random.default_rng(0).normal(size=(50, 3))
    costs = PointCosts(Z, "euclidean")
    rows, columns = np.array([3, 7, 3, 40]), np.array([7, 3, 3, 9, 7])
    found = costs.block(rows, columns)
    np.testing.assert_array_equal(found == 0.0, rows[:, None] == columns)
    np.testing.assert_allclose(found, np.linalg.norm(Z[rows][:, None] - Z[columns], axis=-1))
