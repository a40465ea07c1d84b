"""Costs of a grid as a formula, against the matrix of the same grid."""

import pickle

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.errors import InputError
from sinkdist.ground.dense import DenseCosts
from sinkdist.ground.grid import DENSE_UP_TO, GridCosts
from sinkdist.ground.metric import check_metric

METRICS = ("sqeuclidean", "cityblock", "euclidean")
GRIDS = {
    "line": ((7,), (1.0,)),
    "square": ((4, 4), (1.0, 1.0)),
    "odd": ((3, 5), (0.5, 2.0)),
    "cube": ((2, 3, 4), (1.0, 0.1, 3.0)),
    "flat": ((1, 6), (1.0, 1.0)),
    "one bin": ((1,), (1.0,)),
}


def matrix(sides, metric, spacing):
    """By loops over coordinates."""
    points = np.stack(np.meshgrid(*map(np.arange, sides), indexing="ij"), -1)
    points = points.reshape(-1, len(sides)) * np.array(spacing)
    steps = points[:, None] - points
    if metric == "cityblock":
        return np.abs(steps).sum(-1)
    squares = (steps**2).sum(-1)
    return squares if metric == "sqeuclidean" else np.sqrt(squares)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("name", GRIDS)
def test_all_that_is_known_is_that_of_the_matrix(name, metric):
    sides, spacing = GRIDS[name]
    M = matrix(sides, metric, spacing) / 1.7
    grid, dense = GridCosts(sides, metric, spacing).scaled(1.7), DenseCosts(M)
    d, rng = len(M), np.random.default_rng(0)
    rows, columns = rng.integers(d, size=4), rng.integers(d, size=3)
    np.testing.assert_allclose(grid.block(), M, rtol=1e-14)
    np.testing.assert_allclose(grid.block(rows, columns), M[np.ix_(rows, columns)], rtol=1e-14)
    np.testing.assert_allclose(grid.block(None, columns), M[:, columns], rtol=1e-14)
    np.testing.assert_allclose(grid.at(rows[:3], columns), M[rows[:3], columns], rtol=1e-14)
    assert grid.shape == M.shape and grid.min == 0.0 and not grid.diagonal.any()
    np.testing.assert_allclose([grid.max, grid.median], [M.max(), np.median(M)], rtol=1e-14)
    R = rng.random((3, d))
    np.testing.assert_allclose(grid.mean_costs(R), R @ M, rtol=1e-13, atol=1e-13 * M.max())
    single = R.astype(np.float32)
    np.testing.assert_allclose(
        grid.mean_costs(single), single.astype(float) @ M, rtol=1e-13, atol=1e-13 * M.max()
    )
    wanted, found = check_metric(M, dense.max, True), grid.check_metric()
    assert bool(wanted) == bool(found)
    np.testing.assert_allclose(found.violation, max(wanted.violation, 0.0), atol=1e-12)


@pytest.mark.parametrize(
    ("sides", "metric"),
    [((40, 40), "sqeuclidean"), ((17, 11), "euclidean"), ((1100,), "cityblock")],
)
def test_the_median_is_exact_for_odd_and_even_numbers_of_pairs(sides, metric):
    grid = GridCosts(sides, metric, (1.0,) * len(sides))
    assert grid.median == np.median(grid.block())


def test_a_large_grid_has_no_matrix():
    ground = sd.Ground.grid(1024, 1024, metric="sqeuclidean")
    assert not ground.is_dense and ground.max == 2 * 1023**2
    message = r"A matrix of 1,048,576 x 1,048,576 costs would take 8.8 TB, .* ground.block\("
    for ask in (lambda: ground.matrix, lambda: ground.dense):
        with pytest.raises(InputError, match=message):
            ask()
    with pytest.raises(InputError, match="GiB"):
        ground.block()
    np.testing.assert_array_equal(
        ground.block(np.array([0, 1024]), np.array([0, 1, 1025])), [[0, 1, 2], [1, 2, 1]]
    )


def test_a_grid_between_the_two_is_a_matrix_for_those_who_ask():
    ground = sd.Ground.grid(50, 40, metric="sqeuclidean")
    assert not ground.is_dense and ground.matrix.shape == (2000, 2000)
    np.testing.assert_array_equal(ground.matrix, matrix((50, 40), "sqeuclidean", (1, 1)))
    with pytest.raises(ValueError, match="read-only"):
        ground.matrix[0, 0] = 1.0


def test_small_grids_are_matrices():
    for metric, bins in DENSE_UP_TO.items():
        assert sd.Ground.grid(bins // 2, 2, metric=metric).is_dense
        assert not sd.Ground.grid(bins // 2 + 1, 2, metric=metric).is_dense


@pytest.mark.parametrize("metric", METRICS)
def test_grounds_of_large_grids(metric):
    ground = sd.Ground.grid(70, 65, metric=metric, spacing=(0.5, 2))
    assert repr(ground).startswith(f"Ground(4550 x 4550, {metric} grid 70 x 65, median ")
    again = pickle.loads(pickle.dumps(ground))
    assert repr(again) == repr(ground) and again.fingerprint == ground.fingerprint
    assert bool(again.is_metric) == (metric != "sqeuclidean") == again.is_made_metric
    scaled = ground.scaled()
    np.testing.assert_allclose(scaled.median, 1.0, rtol=1e-14)
    assert scaled.fingerprint != ground.fingerprint
    assert sd.Ground.grid(65, 70, metric=metric, spacing=(0.5, 2)).fingerprint != ground.fingerprint
    rows = np.array([0, 3, 4549])
    np.testing.assert_allclose(
        scaled.block(rows, rows), ground.block(rows, rows) / ground.median, rtol=1e-14
    )


def test_squares_violate_triangles():
    check = sd.Ground.grid(40, 40, metric="sqeuclidean").is_metric
    assert not check and check.triangle is not None
    i, j, k = check.triangle
    assert check.reason == f"Going from bin {i} to {j} costs 3042, but 1522 by way of {k}."


@pytest.mark.parametrize(
    "spacing", [0, -1, np.nan, [1, 2, 3], [[1, 1]], 1e200]
)  # fmt: skip
def test_bad_spacings(spacing):
    with pytest.raises(InputError, match="The 'spacing' option must"):
        sd.Ground.grid(4, 4, spacing=spacing)


def test_spacings_of_a_matrix():
    ground = sd.Ground.grid(3, 2, metric="cityblock", spacing=[0.5, 2])
    np.testing.assert_array_equal(ground.matrix, matrix((3, 2), "cityblock", (0.5, 2)))
