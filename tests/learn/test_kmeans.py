"""Clusters around barycentres: they are found, they are consistent, and they are repeatable."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("sklearn")

from sklearn.base import clone

import sinkdist as sd
from sinkdist.learn import TransportKMeans

BINS = 30
GROUND = sd.Ground.grid(BINS, metric="sqeuclidean")
LAM = 0.5


def bumps(n=24, seed=0, places=(6, 15, 24)):
    """Narrow bumps around three places, of different width: few share a bin with another."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % len(places)
    center = np.array(places)[y] + rng.uniform(-1.5, 1.5, n)
    X = np.exp(-0.5 * ((np.arange(BINS) - center[:, None]) / rng.uniform(0.7, 1.3, (n, 1))) ** 2)
    X[X < 1e-6] = 0.0
    return X / X.sum(axis=1, keepdims=True), y


def same_partition(a, b):
    return len(set(zip(a.tolist(), b.tolist(), strict=True))) == len(set(a.tolist()))


def model(**options):
    return TransportKMeans(3, GROUND, **{"lam": LAM, "random_state": 0, **options})


def test_clusters_are_found_and_everything_fits_together():
    X, y = bumps()
    found = model().fit(X)
    assert same_partition(found.labels_, y)
    D = sd.pairwise(X, found.cluster_centers_, ground=GROUND, lam=LAM, debiased=True)
    np.testing.assert_allclose(found.transform(X), np.maximum(D, 0), atol=1e-12)
    np.testing.assert_array_equal(found.labels_, D.argmin(axis=1))
    np.testing.assert_array_equal(found.predict(X), found.labels_)
    assert found.inertia_ == pytest.approx(D.min(axis=1).sum(), abs=1e-9)
    assert found.score(X) == pytest.approx(-found.inertia_, abs=1e-9)
    np.testing.assert_allclose(found.cluster_centers_.sum(axis=1), 1.0)
    assert 1 <= found.n_iter_ <= 50


def test_centres_are_barycentres_of_their_rows():
    X, _ = bumps()
    found = model().fit(X)
    for k in range(3):
        mean = sd.barycenter(X[found.labels_ == k], ground=GROUND, lam=LAM)
        apart = sd.divergence(found.cluster_centers_[k], mean, GROUND, lam=LAM)
        assert apart < 1e-4  # squared bins: centres are found to a tolerance
        place = found.cluster_centers_[k] @ np.arange(BINS)
        assert place == pytest.approx((X[found.labels_ == k] @ np.arange(BINS)).mean(), abs=1e-2)


def test_rounds_lower_the_inertia():
    X, _ = bumps(40, 1, places=(5, 9, 14, 18, 24))
    inertias = [
        TransportKMeans(5, GROUND, lam=LAM, random_state=3, max_rounds=k).fit(X).inertia_
        for k in (1, 2, 4, 8)
    ]
    assert inertias == sorted(inertias, reverse=True)


def test_more_runs_are_no_worse():
    X, _ = bumps(30, 2, places=(5, 9, 14, 18, 24))
    options = {"lam": LAM, "random_state": 5}
    one, many = (TransportKMeans(5, GROUND, n_init=k, **options).fit(X).inertia_ for k in (1, 4))
    assert many <= one


def test_the_same_seed_gives_the_same_clusters():
    X, _ = bumps()
    first, second = model().fit(X), model().fit(X)
    np.testing.assert_array_equal(first.cluster_centers_, second.cluster_centers_)
    np.testing.assert_array_equal(clone(first).fit(X).labels_, first.labels_)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(first)).predict(X), first.labels_)


def test_batches_find_them_too():
    X, y = bumps(90)
    found = model(batch_size=30, max_rounds=6).fit(X)
    assert same_partition(found.labels_, y) and found.n_iter_ == 6
    full = model().fit(X)
    assert found.inertia_ < 1.2 * full.inertia_


def test_csr_counts_and_labels():
    X, y = bumps()
    counts = np.round(X * 1000)
    found = model().fit(csr_array(counts))
    assert same_partition(found.labels_, y)
    np.testing.assert_array_equal(found.labels_, model().fit(counts).labels_)
    assert list(found.get_feature_names_out()) == [f"transportkmeans{k}" for k in range(3)]


def test_more_clusters_than_kinds_of_rows():
    """Empty clusters take a row of their own; no NaN, no endless loop."""
    X = np.eye(BINS)[[3, 3, 3, 20, 20, 20]]
    found = TransportKMeans(4, GROUND, lam=5.0, random_state=0).fit(X)
    assert np.isfinite(found.cluster_centers_).all() and found.inertia_ < 1e-6
    assert same_partition(found.labels_[[0, 3]], np.array([0, 1]))


def test_progress_is_written_on_request(capsys):
    X, _ = bumps()
    found = model(verbose=1).fit(X)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) >= found.n_iter_ and lines[0].startswith("TransportKMeans, round 1: inertia")
    model().fit(X)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_clusters": 0}, "'n_clusters' option must be at least 1"),
        ({"n_clusters": 25}, "'n_clusters' option must be at most the number of rows"),
        ({"n_init": 0}, "'n_init' option must be at least 1"),
        ({"max_rounds": 0}, "'max_rounds' option must be at least 1"),
        ({"batch_size": 0}, "'batch_size' option must be at least 1"),
        ({"lam": np.inf, "center_lam": np.inf}, "need entropy"),
        ({"center_lam": 5.0}, "center_lam"),
        ({"ground": np.triu(np.ones((BINS, BINS)))}, "symmetric"),
    ],
    ids=str,
)
def test_errors(options, message):
    with pytest.raises(ValueError, match=message):
        TransportKMeans(**{"n_clusters": 3, "ground": GROUND, "lam": LAM, **options}).fit(
            bumps()[0]
        )


@pytest.mark.parametrize("options", [{"lam": np.inf}, {"alpha": 0.5}], ids=str)
def test_the_nearest_centre_is_searched_for_under_distances(options, monkeypatch):
    """Labels and inertia are those of all distances to the centres that were found."""
    import sinkdist.learn.kmeans as module

    calls = []
    search = module.neighbors
    monkeypatch.setattr(
        module, "neighbors", lambda *a, **k: (calls.append(k["k"]), search(*a, **k))[1]
    )
    rng, ground = np.random.default_rng(0), sd.Ground.grid(6)
    X = np.concatenate([rng.dirichlet([8, 4, 1, 1, 1, 1], 8), rng.dirichlet([1, 1, 1, 1, 4, 8], 8)])
    found = TransportKMeans(2, ground, random_state=0, **options).fit(X)
    assert calls and set(calls) == {1}
    D = sd.pairwise(X, found.cluster_centers_, ground=ground, **options)
    np.testing.assert_array_equal(found.labels_, D.argmin(axis=1))
    assert found.inertia_ == pytest.approx(D.min(axis=1).sum(), rel=1e-6)
    np.testing.assert_allclose(found.transform(X), D, rtol=1e-6, atol=1e-9)
    assert len(set(found.labels_[:8])) == len(set(found.labels_[8:])) == 1


def test_a_divergence_has_centres_of_its_own_lam():
    with pytest.raises(sd.InputError, match="center_lam"):
        TransportKMeans(2, lam=3.0, center_lam=5.0).fit(np.eye(4))
