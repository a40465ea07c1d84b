"""Clusters around rows: on every distance, on matrices, and on those that are stored."""

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("sklearn")

import sinkdist as sd
from sinkdist.learn import TransportKMedoids, distance_cache
from tests.learn.test_kmeans import GROUND, bumps, same_partition

INF = float("inf")


@pytest.fixture(autouse=True)
def _fresh_cache():
    distance_cache.clear()
    yield
    distance_cache.clear()


@pytest.mark.parametrize(
    "options", [{"lam": INF}, {"lam": 0.5}, {"alpha": 1.0}, {"distance": "hellinger"}], ids=str
)
def test_every_distance(options):
    X, y = bumps()
    found = TransportKMedoids(3, GROUND, random_state=0, **options).fit(X)
    if "distance" not in options:
        assert same_partition(found.labels_, y)
    np.testing.assert_allclose(found.cluster_centers_, X[found.medoid_indices_], rtol=1e-12)
    np.testing.assert_array_equal(found.predict(X), found.labels_)
    D = found.transform(X)
    assert D.shape == (24, 3)
    assert found.inertia_ == pytest.approx(D.min(axis=1).sum(), abs=1e-9)


def test_only_pairs_with_medoids_are_solved_for_new_rows():
    X, _ = bumps()
    found = TransportKMedoids(3, GROUND, lam=INF, random_state=0).fit(X)
    before = distance_cache.info().solved
    found.predict(bumps(10, seed=9)[0])
    assert distance_cache.info().solved - before == 30


def test_precomputed_and_stored_matrices(tmp_path):
    X, _ = bumps()
    wanted = TransportKMedoids(3, GROUND, lam=INF, random_state=0).fit(X)
    D = sd.pairwise(X, ground=GROUND, lam=INF)
    stored = sd.pairwise(X, ground=GROUND, lam=INF, out=tmp_path / "D.zarr")
    for matrix in (D, stored):
        found = TransportKMedoids(3, distance="precomputed", random_state=0).fit(matrix)
        np.testing.assert_array_equal(found.medoid_indices_, wanted.medoid_indices_)
        np.testing.assert_array_equal(found.labels_, wanted.labels_)
        assert found.cluster_centers_ is None
        np.testing.assert_array_equal(found.predict(D[:5]), wanted.labels_[:5])


def test_csr_rows_and_runs(capsys):
    X, _ = bumps()
    one = TransportKMedoids(3, GROUND, lam=INF, random_state=1, n_init=2, verbose=1).fit(X)
    assert len(capsys.readouterr().err.splitlines()) == 2
    other = TransportKMedoids(3, GROUND, lam=INF, random_state=1, n_init=2).fit(csr_array(X))
    np.testing.assert_array_equal(one.medoid_indices_, other.medoid_indices_)
    assert isinstance(other.cluster_centers_, np.ndarray)


def test_asymmetric_costs_lead_from_rows_to_medoids():
    X, _ = bumps()
    M = GROUND.matrix + 3.0 * np.triu(np.ones(GROUND.shape), 1)
    found = TransportKMedoids(2, M, lam=INF, random_state=0).fit(X)
    D = sd.pairwise(X, X[found.medoid_indices_], ground=M, lam=INF)
    assert found.inertia_ == pytest.approx(D.min(axis=1).sum(), abs=1e-9)
