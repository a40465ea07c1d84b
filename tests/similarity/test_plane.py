"""Places in the plane: distances that a plane can hold are kept, others approached."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.similarity.plane import plane


def between(places):
    return np.hypot(*(places[:, None] - places).T).T


def test_distances_of_a_plane_are_kept():
    points = np.random.default_rng(0).normal(size=(30, 2))
    np.testing.assert_allclose(between(plane(between(points))), between(points), atol=1e-6)


def test_sweeps_lower_the_stress_of_classical_scaling():
    from sinkdist.similarity.plane import _classical

    X = np.random.default_rng(0).dirichlet(np.ones(16) / 4, size=40)
    D = sd.pairwise(X, ground=sd.Ground.grid(4, 4), lam=np.inf)

    def stress(places):
        return np.square(between(places) - D).sum()

    assert stress(plane(D)) < 0.9 * stress(_classical(D))


def test_neighbours_stay_together():
    pytest.importorskip("sklearn")
    places = np.repeat([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]], 10, axis=0)
    places += np.random.default_rng(0).normal(size=places.shape)
    group = np.repeat(np.arange(3), 10)
    found = between(plane(between(places), "tsne"))
    np.fill_diagonal(found, np.inf)
    assert (group[found.argmin(axis=1)] == group).mean() > 0.9


@pytest.mark.parametrize("n", [0, 1, 2])
def test_small_families(n):
    places = plane(3.0 * (1 - np.eye(n)))
    assert places.shape == (n, 2)
    if n == 2:
        assert np.hypot(*(places[0] - places[1])) == 3.0


@pytest.mark.parametrize("D", [np.ones((2, 3)), [[0, np.nan], [np.nan, 0]], [[0, -1], [-1, 0]]])
def test_what_are_no_distances_is_refused(D):
    with pytest.raises(sd.InputError):
        plane(D)
