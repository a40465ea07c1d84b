import numpy as np
import pytest
from scipy.sparse import csr_array

import sinkdist as sd
from sinkdist.explore import family, family_of

GROUND = sd.Ground.grid(3, 3)
X = np.random.default_rng(0).dirichlet(np.ones(9), size=20)


@pytest.mark.parametrize("strength", [{}, {"lam": 5.0}, {"alpha": 0.5}])
def test_nearest_are_those_of_neighbors(strength):
    shown = family_of(X, GROUND, method="mds", **strength)
    found = sd.neighbors(X, ground=GROUND, k=family.NEAREST, **(strength or {"lam": np.inf}))
    assert shown.near.tolist() == found.indices.tolist()
    np.testing.assert_allclose(shown.distances, found.distances, rtol=1e-5)
    assert shown.proven.all()
    word = next(iter(strength), "exact")
    assert word in shown.distance


def test_rows_are_histograms():
    counts = csr_array(np.arange(18).reshape(2, 9) + 0.0)
    shown = family_of(counts, GROUND, method="mds", normalize=True)
    np.testing.assert_allclose(shown.rows.toarray(), counts.toarray() / counts.sum(axis=1)[:, None])


def test_a_stored_matrix_says_what_it_is_and_how_pairs_ended(tmp_path):
    with pytest.warns(sd.ConvergenceWarning):
        D = sd.pairwise(X, ground=GROUND, lam=30, max_iter=1, out=tmp_path / "D.zarr")
    shown = family_of(X, GROUND, distances=D, method="mds")
    late = (D.status.to_numpy() != sd.Status.CONVERGED) & ~np.eye(len(X), dtype=bool)
    assert late.any() and (shown.proven == ~late.any(axis=1)).all()
    assert shown.distance == "distance at lam = 30"


def test_distances_in_memory_that_did_not_converge_are_not_proven(monkeypatch):
    def late(*args, **options):
        import warnings

        warnings.warn("late", sd.ConvergenceWarning, stacklevel=1)
        return np.ones((len(X), len(X)))

    monkeypatch.setattr(family, "pairwise", late)
    with pytest.warns(sd.ConvergenceWarning):
        shown = family_of(X, GROUND, method="mds", lam=30)
    assert not shown.proven.any()


def test_a_plain_matrix_proves_nothing():
    D = sd.pairwise(X, ground=GROUND, lam=np.inf)
    shown = family_of(X, GROUND, distances=D, method="mds")
    assert not shown.proven.any() and shown.distance == "given distances"


@pytest.mark.parametrize(
    ("rows", "more", "words"),
    [
        (X[0], {}, "shape"),
        (X[:1], {}, "2 to 5,000"),
        (X, {"labels": [1, 2]}, "'labels' option must hold one text per row, 20"),
        (X, {"bins": ["a"]}, "'bins' option must hold one text per bin, 9"),
        (X, {"distances": np.ones((2, 2))}, "20 x 20"),
        (X, {"distances": np.ones((20, 20)), "lam": 3}, "neither"),
        (2 * X, {}, "sum to 1"),
    ],
)
def test_what_does_not_fit_is_refused(rows, more, words):
    with pytest.raises(sd.InputError, match=words):
        family_of(rows, GROUND, method="mds", **more)


def test_points_are_those_of_the_ground():
    places = np.random.default_rng(0).normal(size=(9, 3))
    ground = sd.Ground.points(places, metric="cityblock").scaled()
    shown = family_of(X, ground, method="mds", points=places, metric="cityblock")
    assert shown.points.unit == pytest.approx(sd.Ground.points(places, metric="cityblock").median)
    for points, metric, words in (
        (places + np.arange(9)[:, None], "cityblock", "are not the distances"),
        (places, "euclidean", "are not the distances"),
        (places[:5], "cityblock", "one point per bin, 9"),
        (places, "jaccard", "must be one of"),
    ):
        with pytest.raises(sd.InputError, match=words):
            family_of(X, ground, method="mds", points=points, metric=metric)
