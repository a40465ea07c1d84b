"""Features for the independence kernel: the paper's faster way gives the same distances."""

import numpy as np
import pytest
import scipy.sparse as sparse
from problems import digits, grid_costs, simplex, sparse_histograms

import sinkdist as sd
from sinkdist.similarity import independence_features

X, Y = simplex(7, 12, 0), sparse_histograms(5, 12, 1)
POINTS = np.random.default_rng(2).standard_normal((12, 3))
GROUNDS = {
    "distances": sd.Ground.points(POINTS),
    "squared distances": sd.Ground.points(POINTS, metric="sqeuclidean"),
    "grid": sd.Ground.grid(3, 4),
    "city blocks": sd.Ground.grid(3, 4, metric="cityblock"),
    "a matrix": np.sqrt(grid_costs(3, 4)),
    "large": sd.Ground(grid_costs(3, 4) * 1e100),
    "small": sd.Ground(grid_costs(3, 4) * 1e-100),
    "bins in one place": sd.Ground.points(np.repeat(POINTS[:4], 3, axis=0)),
    "all in one place": np.zeros((12, 12)),
}


@pytest.mark.parametrize("name", GROUNDS)
def test_distances_are_those_of_independence(name):
    ground = GROUNDS[name]
    M = sd.Ground.of(ground).matrix
    a, b = independence_features(X, ground), independence_features(Y, ground)
    scale = 1e-12 * M.max()
    np.testing.assert_allclose(a.distances(b), X @ M @ Y.T, rtol=1e-10, atol=scale)
    np.testing.assert_allclose(a.distances(), X @ M @ X.T, rtol=1e-10, atol=scale)
    np.testing.assert_allclose(
        a.distances(b), sd.pairwise(X, Y, ground=ground, lam=0), rtol=1e-10, atol=scale
    )
    assert a.vectors.shape[0] == 7 and a.norms.shape == (7,)
    assert a.vectors.shape[1] == b.vectors.shape[1] <= 11


@pytest.mark.parametrize("power", [0.01, 0.1, 0.5, 1, 1.0])
def test_powers(power):
    """The paper's choices of the exponent."""
    H = digits(10)
    M = grid_costs(8, 8)
    features = independence_features(H, sd.Ground.grid(8, 8), power=power)
    np.testing.assert_allclose(features.distances(), H @ M**power @ H.T, rtol=1e-9)


def test_the_rank_is_that_of_the_points():
    assert independence_features(X, GROUNDS["squared distances"]).vectors.shape == (7, 3)


def test_kernel_is_positive_semi_definite():
    D = independence_features(np.concatenate([X, Y]), GROUNDS["distances"]).distances()
    for t in (0.1, 1, 10):
        assert np.linalg.eigvalsh(np.exp(-t * D))[0] >= -1e-12


def test_what_is_no_euclidean_distance_matrix():
    """Squares of squared distances; shortest paths on a complete bipartite graph."""
    with pytest.raises(sd.InputError, match="negative eigenvalue -") as caught:
        independence_features(X, GROUNDS["squared distances"], power=2)
    message = str(caught.value)
    assert "no Euclidean distance matrix" in message and "smaller 'power'" in message
    M = GROUNDS["squared distances"].matrix ** 2
    centre = np.eye(12) - 1 / 12
    smallest = np.linalg.eigvalsh(-0.5 * centre @ M @ centre)[0]
    assert f"{smallest:.3g}" in message
    bipartite = np.where(np.not_equal.outer(np.arange(5) < 2, np.arange(5) < 2), 1.0, 2.0)
    np.fill_diagonal(bipartite, 0.0)
    with pytest.raises(sd.InputError, match=r"eigenvalue -0\."):
        independence_features(np.eye(5), bipartite)
    independence_features(np.eye(5), bipartite, power=0.5)  # a smaller power helps


@pytest.mark.parametrize(
    "matrix",
    [[[0, 1], [2, 0]], [[0.5, 1], [1, 0]], np.ones((2, 3))],
    ids=["mirror", "stay", "shape"],
)
def test_costs_must_be_symmetric_and_zero_on_the_diagonal(matrix):
    with pytest.raises(sd.InputError, match="must be symmetric and 0 on the diagonal"):
        independence_features([[0.5, 0.5]], matrix)


@pytest.mark.parametrize("power", [0, -1, float("nan"), float("inf"), "1", None, True, [1]])
def test_bad_powers(power):
    with pytest.raises((sd.InputError, sd.InputTypeError), match="The 'power' option must be"):
        independence_features(X, grid_costs(3, 4), power=power)


def test_histograms_are_checked():
    with pytest.raises(sd.InputError, match="Row 0 of 'X' sums to 2"):
        independence_features(2 * X[:1], grid_costs(3, 4))
    with pytest.raises(sd.InputError, match="'X' has 11 bins"):
        independence_features(X[:, :11], grid_costs(3, 4), normalize=True)
    with pytest.raises(sd.InputError, match="Row 1 of 'X' has no mass"):
        independence_features(X * [[1], [0], *[[1]] * 5], grid_costs(3, 4))


def test_normalize_and_sparse():
    ground = sd.Ground.grid(3, 4)
    truth = independence_features(Y, ground).distances()
    np.testing.assert_allclose(
        independence_features(5 * Y, ground, normalize=True).distances(), truth, rtol=1e-12
    )
    features = independence_features(sparse.csr_array(Y), ground)
    np.testing.assert_allclose(features.distances(), truth, rtol=1e-12)
    assert isinstance(features.vectors, np.ndarray) and features.norms.shape == (5,)


def test_it_is_public():
    assert sd.similarity.independence_features is independence_features
