"""Whether costs are a metric, by how much not, and the largest metric below them."""

import itertools
import pickle

import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

import sinkdist as sd
from sinkdist.ground.metric import check_metric, largest_metric_below
from tests.problems import grid_costs, random_metric


def random_costs(d, seed, low=0.05):
    """Symmetric, 0 on the diagonal, with many violated triangles."""
    M = np.random.default_rng(seed).uniform(low, 1.0, (d, d)) ** 3
    M = np.triu(M, 1)
    return M + M.T


def worst_by_hand(M):
    d = range(len(M))
    return max(M[i, j] - (M[i, k] + M[k, j]) for i, j, k in itertools.product(d, repeat=3))


# ------------------------------------------------------------------------------------ is_metric


@pytest.mark.parametrize(
    "ground",
    [
        sd.Ground.grid(4, 5),
        sd.Ground.grid(4, 5, metric="cityblock"),
        sd.Ground(grid_costs(4, 5)),
        sd.Ground(random_metric(30, 0)),
        sd.Ground(random_metric(30, 0) * 1e-200),
        sd.Ground(random_metric(30, 0) * 1e200),
        sd.Ground.points(np.random.default_rng(0).random((20, 3))),
        sd.Ground.points(np.random.default_rng(0).random((20, 3)), metric="chebyshev"),
        sd.Ground(np.array(sd.Ground.points(np.random.default_rng(1).random((20, 3))).matrix)),
        sd.Ground.graph(np.diag(np.ones(9), 1)),
        sd.Ground(1 - np.eye(6)),
        sd.Ground([[0.0]]),
        sd.Ground(np.zeros((3, 3))),  # different bins may be at distance 0
        sd.Ground(np.sqrt(grid_costs(5))),
        sd.Ground.grid(3, 3).scaled(),
    ],
    ids=repr,
)
def test_metrics(ground):
    check = ground.is_metric
    assert check and check.holds is True
    assert check.triangle is None and check.violation == 0


@pytest.mark.parametrize("seed", range(5))
def test_the_worst_triangle_is_named(seed):
    M = random_costs(9, seed)
    check = sd.Ground(M).is_metric
    assert not check and check.holds is False
    i, j, k = check.triangle
    assert check.violation == pytest.approx(worst_by_hand(M), rel=1e-12)
    assert M[i, j] - (M[i, k] + M[k, j]) == pytest.approx(check.violation, rel=1e-12)
    assert check.reason == (
        f"Going from bin {i} to {j} costs {M[i, j]:.6g}, "
        f"but {M[i, j] - check.violation:.6g} by way of {k}."
    )


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e200])
def test_a_small_violation_counts_and_rounding_does_not(size):
    M = grid_costs(5)
    for relative, holds in ((1e-9, False), (1e-15, True)):
        bent = M.copy()
        bent[0, 4] = bent[4, 0] = 4 * (1 + relative)
        assert bool(sd.Ground(bent * size).is_metric) is holds


@pytest.mark.parametrize(
    ("matrix", "reason"),
    [
        (np.ones((2, 3)), "The matrix is not square: 2 x 3."),
        ([[0, 1], [1, 0.5]], "Staying in bin 1 costs 0.5, not 0."),
        ([[0, 1], [2, 0]], "It is not symmetric: 2 from bin 1 to 0, 1 back."),
        ([[0, 1, 5], [1, 0, 1], [5, 1, 0]], "Going from bin 0 to 2 costs 5, but 2 by way of 1."),
    ],
)
def test_reasons(matrix, reason):
    assert sd.Ground(matrix).is_metric.reason == reason


def test_the_answer_is_kept_and_pickled():
    ground = sd.Ground(random_costs(6, 0))
    assert not ground.is_known_metric
    check = ground.is_metric
    assert ground.is_metric is check
    again = pickle.loads(pickle.dumps(ground))
    assert again.is_metric == check
    metric = pickle.loads(pickle.dumps(sd.Ground.grid(3, 3)))
    assert metric.is_known_metric and metric.is_made_metric


def test_known_by_construction():
    assert sd.Ground.grid(3, 3).is_known_metric
    assert sd.Ground.points([0.0, 2.0, 5.0]).scaled().is_known_metric
    assert not sd.Ground.grid(3, 3, metric="sqeuclidean").is_known_metric
    assert not sd.Ground.points([[0.0], [1.0]], [[0.5]]).is_known_metric


# -------------------------------------------------------------------------------- closest_metric


@pytest.mark.parametrize("d", [2, 3, 5, 30])
@pytest.mark.parametrize("seed", range(3))
def test_it_is_a_metric_below_the_costs(d, seed):
    M = random_costs(d, seed)
    closest = sd.Ground(M).closest_metric()
    below = np.array(closest.matrix)
    assert sd.Ground(below).is_metric  # looked at, not only believed
    assert closest.is_metric
    assert (below <= M).all()
    np.testing.assert_allclose(below, shortest_path(M), rtol=1e-13)
    assert d == 2 or (below < M).any()


@pytest.mark.parametrize("seed", range(4))
def test_no_larger_metric_is_below_the_costs(seed):
    """Any metric below the costs, here others' shortest paths, is below this one too."""
    M = random_costs(7, seed)
    closest = sd.Ground(M).closest_metric().matrix
    rng = np.random.default_rng(seed)
    for _ in range(30):
        shrunk = M * np.triu(rng.uniform(0.3, 1.0, M.shape), 1)
        shrunk += shrunk.T
        other = shortest_path(shrunk)
        assert (other <= closest + 1e-14).all()
    # and every single distance is reached: raising it breaks a triangle or exceeds its cost
    for i, j in zip(*np.triu_indices(7, 1), strict=True):
        raised = np.array(closest)
        raised[i, j] = raised[j, i] = closest[i, j] * (1 + 1e-6)
        assert raised[i, j] > M[i, j] or not sd.Ground(raised).is_metric


def test_a_metric_is_its_own_closest():
    for M in (grid_costs(4, 4), random_metric(20, 1)):
        np.testing.assert_array_equal(sd.Ground(M).closest_metric().matrix, M)


def test_costs_that_are_not_symmetric_or_free_to_stay():
    M = np.array([[3.0, 1.0, 9.0], [2.0, 0.0, 1.0], [4.0, 8.0, 1.0]])
    closest = sd.Ground(M).closest_metric()
    np.testing.assert_array_equal(closest.matrix, [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    assert sd.Ground(closest.matrix).is_metric


def test_the_exact_distance_under_it_is_no_larger():
    M = random_costs(8, 5)
    r, c = np.random.default_rng(0).dirichlet(np.ones(8), 2)
    ground = sd.Ground(M)
    inf = float("inf")
    below = sd.distance(r, c, ground.closest_metric(), lam=inf)
    assert 0 < below < sd.distance(r, c, ground, lam=inf)


def test_only_square_costs_have_one():
    with pytest.raises(sd.InputError, match=r"Only a square ground .* This one is 2 x 3"):
        sd.Ground(np.ones((2, 3))).closest_metric()


def test_the_matrix_given_is_not_changed():
    M = random_costs(6, 0)
    before = M.copy()
    ground = sd.Ground(M)
    ground.closest_metric()
    np.testing.assert_array_equal(M, before)
    np.testing.assert_array_equal(ground.matrix, before)


# ------------------------------------------------------------------------ the check by itself


def checked(M):
    M = np.array(M, float)
    return check_metric(
        M, float(M.max(initial=0.0)), bool(M.shape[0] == M.shape[1] and (M == M.T).all())
    )


@pytest.mark.parametrize(
    ("M", "reason"),
    [
        ([[0, 1, 2]], "The matrix is not square: 1 x 3."),
        ([[0, 1], [1, 0.5]], "Staying in bin 1 costs 0.5, not 0."),
        ([[0, 3], [1, 0]], "It is not symmetric: 3 from bin 0 to 1, 1 back."),
        ([[0, 1, 5], [1, 0, 1], [5, 1, 0]], "Going from bin 0 to 2 costs 5, but 2 by way of 1."),
    ],
)
def test_what_is_no_metric_is_told_by_its_worst(M, reason):
    found = checked(M)
    assert not found and found.reason == reason


def test_a_violation_within_rounding_is_none():
    M = np.array([[0, 1, 2 + 1e-13], [1, 0, 1], [2 + 1e-13, 1, 0]])
    assert checked(M) and checked(M).violation == 0.0
    M[0, 2] = M[2, 0] = 2 + 1e-9
    assert checked(M).triangle == (0, 2, 1) and checked(M).violation == pytest.approx(
        1e-9, rel=1e-3
    )


def test_the_largest_metric_below_is_below_a_metric_and_the_largest():
    """Against shortest paths by SciPy; what is a metric stays as it is."""
    M = np.random.default_rng(0).random((7, 7))
    found = largest_metric_below(M)
    assert checked(found) and (found <= M + 1e-15)[~np.eye(7, dtype=bool)].all()
    both = np.minimum(M, M.T)
    np.fill_diagonal(both, 0.0)
    np.testing.assert_allclose(found, shortest_path(both), rtol=1e-14)
    np.testing.assert_allclose(largest_metric_below(found), found, rtol=1e-14)
