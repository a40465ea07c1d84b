"""Points are found in their distances, and cells along lines never bound too high."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.inputs.histograms import read
from sinkdist.search import cascade
from sinkdist.search.candidates import Candidates
from sinkdist.search.cloud import CloudLines, find_cloud
from sinkdist.search.projections import Projections


@pytest.mark.parametrize("axes", [2, 3])
def test_points_are_found_in_their_distances(axes):
    rng = np.random.default_rng(axes)
    points = 7.0 + 40.0 * rng.random((50, axes))
    ground = sd.Ground(sd.Ground.points(points).scaled("max").matrix)
    found = find_cloud(ground)
    assert found is not None and found.points.shape == (50, axes) and found.off < 1e-9
    away = found.points[:, None] - found.points
    distance = np.linalg.norm(away, axis=2)
    np.testing.assert_allclose(distance, ground.matrix, atol=1e-9)
    assert (distance - found.off <= ground.matrix).all()


def test_other_costs_are_no_clouds():
    rng = np.random.default_rng(0)
    points = rng.random((20, 2))
    bent = sd.Ground.points(points).matrix.copy()
    bent[3, 7] *= 0.999  # one way only
    others = [sd.Ground.points(points, metric=x) for x in ("sqeuclidean", "cityblock", "chebyshev")]
    others += [sd.Ground(bent), sd.Ground.points(rng.random((20, 5))), sd.Ground.grid(9)]
    others += [sd.Ground(rng.random((8, 9))), sd.Ground(np.zeros((5, 5)))]
    others += [sd.Ground.points(np.outer(np.arange(6.0), [1.0, 2.0]))]
    for ground in others:
        assert find_cloud(ground) is None


@pytest.mark.parametrize("axes", [2, 3])
@pytest.mark.parametrize("d", [5, 40, 120])
def test_never_above_the_exact_distance(axes, d):
    rng = np.random.default_rng(d)
    points = rng.normal(size=(d, axes))
    points[1] = points[0]  # two bins in one place
    points[2] = points[3] + 1e-9
    ground = sd.Ground.points(points)
    X = rng.dirichlet(np.full(d, 0.2), 30) * (rng.random((30, d)) < 0.7)
    X[X.sum(axis=1) == 0.0] = 1.0
    X[5], X[6] = np.eye(d)[0], np.eye(d)[1]
    X /= X.sum(axis=1, keepdims=True)
    bound = Projections.of(ground, Candidates.of(read(X, "X", dtype=np.dtype(float), bins=d)))
    assert bound is not None and bound.nbytes < 2000 * 256
    D = sd.pairwise(X, ground=ground, lam=np.inf)
    found = bound.bounds(X)
    assert (found <= D).all() and found.sum() > 0.7 * D.sum()


def test_cells_are_the_integrals_of_cumulative_masses():
    rng = np.random.default_rng(4)
    cloud = find_cloud(sd.Ground.points(rng.random((9, 2))))
    assert cloud is not None
    lines, (a, b) = CloudLines(cloud), rng.dirichlet(np.ones(9), 2)
    apart = np.abs(np.subtract(*lines.cumulated(np.stack([a, b]))))
    for k, direction in enumerate(lines.directions):  # few bins: every gap is a cell
        places = cloud.points @ direction
        order = np.argsort(places)
        wanted = np.abs(np.cumsum((a - b)[order]))[:-1] @ np.diff(places[order])
        total = apart[lines.first[k] : lines.first[k + 1]].sum()
        assert total == pytest.approx(wanted, abs=1e-5)


@pytest.mark.parametrize("member", [{"lam": np.inf}, {"alpha": 0.3}, {"lam": 8.0}])
def test_neighbours_of_points_in_the_plane_equal_brute_force(member, monkeypatch):
    monkeypatch.setattr(cascade, "MANY", 2)
    rng = np.random.default_rng(8)
    ground = sd.Ground.points(rng.random((30, 2)))
    Y = rng.dirichlet(np.full(30, 0.2), 150)
    Y[40:60] = Y[:20]
    X = rng.dirichlet(np.full(30, 0.2), 6)
    found = sd.neighbors(X, Y, ground=ground, k=5, **member)
    assert found.bounds == ("projections", "planes")
    D = np.sort(sd.pairwise(X, Y, ground=ground, **member), axis=1)[:, :5]
    np.testing.assert_allclose(found.distances, D, rtol=1e-6)
    assert found.proven.all() or "lam" in member
    assert found.solved.mean() < 120
