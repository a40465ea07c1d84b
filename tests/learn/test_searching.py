"""Estimators on nearest rows: searching large training sets gives what all distances give."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from scipy.sparse import csr_matrix
from scipy.spatial.distance import cdist
from sklearn.cluster import DBSCAN, HDBSCAN, SpectralClustering
from sklearn.manifold import Isomap
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

import sinkdist as sd
from sinkdist.learn import (
    TransportNeighborsClassifier,
    TransportNeighborsRegressor,
    TransportNeighborsTransformer,
    searching,
)

RNG = np.random.default_rng(8)
GRID = sd.Ground.grid(3, 3)
X = RNG.dirichlet(np.full(9, 0.4), 60)
NEW = RNG.dirichlet(np.full(9, 0.4), 7)
LABELS = X @ np.arange(9.0) > 4.0
MEMBERS = [{"lam": np.inf}, {"alpha": 0.3}, {"lam": 4.0}, {"lam": 4.0, "coincidence": True}]


@pytest.fixture
def no_search(monkeypatch):
    """Both ways, one after the other."""

    def use(search):
        monkeypatch.setattr(searching, "SEARCHED", 2 if search else 10**9)

    return use


@pytest.mark.parametrize("member", MEMBERS)
def test_both_ways_find_the_same_neighbours(member, no_search):
    near = TransportNeighborsClassifier(GRID, n_neighbors=4, **member).fit(X, LABELS)
    for rows in (NEW, X[:5], None):
        no_search(False)
        D, index = near.kneighbors(rows)
        no_search(True)
        E, found = near.kneighbors(rows)
        np.testing.assert_allclose(E, D, rtol=1e-5, atol=1e-9)
        assert (found == index).mean() > 0.97  # ties within the tolerance may differ
        assert (near.predict(NEW) == near.predict(NEW)).all()


def test_a_search_does_not_solve_all_pairs(no_search, monkeypatch):
    no_search(True)
    monkeypatch.setattr(TransportNeighborsClassifier, "_distances", None)  # would be called
    near = TransportNeighborsClassifier(GRID, lam=np.inf).fit(X, LABELS)
    assert near.predict(NEW).shape == (7,)
    again = pickle.loads(pickle.dumps(near))
    assert again._engine is None and (again.predict(NEW) == near.predict(NEW)).all()
    assert near.fit(X[:30], LABELS[:30])._engine is None  # a new training set, a new search


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda D: np.exp(-D)])
def test_the_regressor_is_scikit_learns_on_the_same_distances(weights):
    D, E = sd.pairwise(X, ground=GRID, lam=np.inf), sd.pairwise(NEW, X, ground=GRID, lam=np.inf)
    for y in (X[:, 0], X[:, :2]):
        wanted = KNeighborsRegressor(4, metric="precomputed", weights=weights).fit(D, y).predict(E)
        near = TransportNeighborsRegressor(GRID, lam=np.inf, n_neighbors=4, weights=weights)
        np.testing.assert_allclose(near.fit(X, y).predict(NEW), wanted, rtol=1e-12)


def test_a_mean_needs_a_weight():
    near = TransportNeighborsRegressor(GRID, lam=np.inf, weights=lambda D: 0 * D).fit(X, X[:, 0])
    with pytest.raises(sd.InputError, match="gave no neighbour of row 0 a positive weight"):
        near.predict(NEW)


@pytest.mark.parametrize("search", [False, True])
@pytest.mark.parametrize("member", [{"lam": np.inf}, {"lam": 4.0}])
def test_the_graph_of_the_transformer(search, member, no_search):
    no_search(search)
    near = TransportNeighborsTransformer(GRID, n_neighbors=3, **member)
    graph = near.fit_transform(X)
    assert graph.shape == (60, 60) and (np.diff(graph.indptr) == 4).all()
    assert (graph.indices.reshape(60, 4)[:, 0] == np.arange(60)).all()  # each its own, at 0
    assert (graph.data.reshape(60, 4)[:, 0] == 0.0).all()
    assert (np.diff(graph.data.reshape(60, 4)) >= 0.0).all()
    found = sd.neighbors(X, ground=GRID, k=3, **member)
    np.testing.assert_allclose(graph.data.reshape(60, 4)[:, 1:], found.distances, rtol=1e-5)
    ones = TransportNeighborsTransformer(GRID, n_neighbors=3, mode="connectivity", **member)
    assert ones.fit(X).transform(NEW).sum() == 3 * len(NEW)
    assert len(near.get_feature_names_out()) == 60


@pytest.fixture(scope="module")
def two_groups():
    """Ink in the left or in the right half of a picture; their distances."""
    left, right = np.r_[np.full(8, 2.0), np.full(8, 0.02)], np.r_[np.full(8, 0.02), np.full(8, 2.0)]
    rows = np.vstack([RNG.dirichlet(left, 30), RNG.dirichlet(right, 30)])
    ground = sd.Ground.grid(4, 4)
    return rows, ground, sd.pairwise(rows, ground=ground, lam=np.inf)


def same_partition(labels, others):
    """Whether two labellings differ by names alone."""
    return len(set(zip(labels, others, strict=True))) == len(set(labels)) == len(set(others))


@pytest.mark.parametrize("search", [False, True])
def test_dbscan_finds_what_it_finds_of_all_distances(two_groups, search, no_search):
    no_search(search)
    rows, ground, D = two_groups
    eps = float(np.sort(D, axis=1)[:, 12].min())  # no more neighbours than the graph has
    near = TransportNeighborsTransformer(ground, lam=np.inf, n_neighbors=30)
    for samples in (3, 6):
        groups = DBSCAN(eps=eps, metric="precomputed", min_samples=samples)
        found = make_pipeline(near, groups).fit_predict(rows)
        np.testing.assert_array_equal(found, groups.fit_predict(D))
    assert len(set(found)) > 2  # noise, and more than one group


@pytest.mark.parametrize("search", [False, True])
def test_isomap_places_rows_as_it_does_by_all_distances(two_groups, search, no_search):
    no_search(search)
    rows, ground, D = two_groups
    near = TransportNeighborsTransformer(ground, lam=np.inf, n_neighbors=35)
    places = make_pipeline(near, Isomap(n_neighbors=33, metric="precomputed")).fit_transform(rows)
    wanted = Isomap(n_neighbors=33, metric="precomputed").fit_transform(D)
    np.testing.assert_allclose(cdist(places, places), cdist(wanted, wanted), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("search", [False, True])
def test_spectral_clustering_finds_the_groups(two_groups, search, no_search):
    no_search(search)
    rows, ground, _ = two_groups
    near = TransportNeighborsTransformer(ground, lam=np.inf, n_neighbors=33)
    groups = SpectralClustering(
        2, affinity="precomputed_nearest_neighbors", n_neighbors=32, random_state=0
    )
    assert same_partition(make_pipeline(near, groups).fit_predict(rows), [0] * 30 + [1] * 30)


@pytest.mark.parametrize("search", [False, True])
def test_hdbscan_finds_what_it_finds_of_all_distances(two_groups, search, no_search):
    """It wants a graph that is the same both ways."""
    no_search(search)
    rows, ground, D = two_groups
    near = TransportNeighborsTransformer(ground, lam=np.inf, n_neighbors=40)
    both = FunctionTransformer(lambda graph: graph.maximum(graph.T), accept_sparse=True)
    groups = HDBSCAN(min_cluster_size=8, metric="precomputed", copy=True)
    found = make_pipeline(near, both, groups).fit_predict(rows)
    np.testing.assert_array_equal(found, groups.fit_predict(D))
    assert same_partition(found[found >= 0], np.repeat([0, 1], 30)[found >= 0])
    graph = sd.neighbors(rows, ground=ground, k=40, lam=np.inf).to_graph(symmetric=True)
    np.testing.assert_array_equal(groups.fit_predict(csr_matrix(graph)), found)


@pytest.mark.filterwarnings("ignore")  # of others
def test_umap_takes_the_neighbours(two_groups):
    umap = pytest.importorskip("umap")
    rows, ground, _ = two_groups
    near = TransportNeighborsTransformer(ground, lam=np.inf, n_neighbors=14)
    graph = near.fit_transform(rows)  # each row is its own first neighbour, as UMAP expects
    knn = graph.indices.reshape(60, 15), graph.data.reshape(60, 15)
    assert (knn[0][:, 0] == np.arange(60)).all()
    made = umap.UMAP(n_neighbors=15, precomputed_knn=knn, random_state=0, n_epochs=200)
    places = made.fit_transform(rows)
    assert places.shape == (60, 2) and np.isfinite(places).all()
    apart = cdist(places, places)
    assert apart[:30, :30].max() < apart[:30, 30:].max()
    nearest = np.argsort(apart + 1e9 * np.eye(60), axis=1)[:, 0]
    assert ((nearest < 30) == (np.arange(60) < 30)).all()


def test_mistakes():
    with pytest.raises(sd.InputError, match="'mode' option must be 'distance' or 'connectivity'"):
        TransportNeighborsTransformer(GRID, lam=1, mode="edges").fit(X)
    with pytest.raises(sd.InputError, match="at most the number of training rows"):
        TransportNeighborsTransformer(GRID, lam=1, n_neighbors=61).fit(X)
