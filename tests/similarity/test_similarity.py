"""Kernels of distances, their bandwidths and their repair; features for the independence kernel."""

import numpy as np
import pytest
import scipy.sparse as sparse
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import sinkdist as sd
from sinkdist import classic
from sinkdist.similarity import (
    bandwidths,
    independence_features,
    is_psd,
    kernel,
    repaired,
    repaired_cross,
    shift,
)
from tests.problems import digits, grid_costs, simplex, sparse_histograms

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
    assert sd.similarity.kernel is kernel


# ------------------------------------------------------------------------------------- kernels


def distances(n=30, m=None, dtype=np.float64):
    """Distances whose kernel is not positive semi-definite: maxima of squared differences."""
    points = np.random.default_rng(3).standard_normal((n + (m or 0), 2))
    D = (abs(points[:n, None] - points[-m if m else 0 :]) ** 2).max(axis=-1)
    return D.astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("t", [1, 0.3, np.float64(2), np.float32(0.5)])
def test_kernel(dtype, t):
    D = distances(8, 5, dtype)
    before = D.copy()
    K = kernel(D, t)
    assert K.dtype == dtype and K.shape == (8, 5)
    np.testing.assert_allclose(K, np.exp(-D / float(t)), rtol=1e-12 if D.itemsize == 8 else 2e-6)
    np.testing.assert_array_equal(D, before)


def test_kernels_of_other_forms():
    np.testing.assert_allclose(kernel([0, 1, 2], 2), np.exp([0, -0.5, -1]))
    assert kernel(np.array([[0, 1]], np.int8), 1).dtype == np.float64
    assert float(kernel(2.0, 1)) == pytest.approx(np.exp(-2))
    assert kernel(np.zeros((0, 3)), 1).shape == (0, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("t", "far"), [(1e-320, 0), (1e-50, 0), (1e-38, 0), (1e50, 1), (1e300, 1)])
def test_bandwidths_at_the_ends_of_the_range(t, far, dtype):
    K = kernel(np.array([[0, 3]], dtype), t)
    assert K.tolist() == [[1, far]]


def test_a_kernel_of_a_stored_matrix(tmp_path):
    H = simplex(20, 12, 3)
    D = classic.hellinger(H, out=tmp_path / "D.zarr")
    np.testing.assert_array_equal(kernel(D, 0.3), kernel(classic.hellinger(H), 0.3))
    np.testing.assert_array_equal(bandwidths(D), bandwidths(classic.hellinger(H)))


@pytest.mark.parametrize("t", [0, -1.0, float("nan"), float("inf"), "1", None, True, [1.0]])
def test_bad_bandwidths(t):
    with pytest.raises(sd.InputError, match=r"The bandwidth 't' must be a positive number\. Got"):
        kernel(np.eye(2), t)


@pytest.mark.parametrize("function", [lambda D: kernel(D, 1), bandwidths])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (
            -0.25,
            r"Entry \(1, 2\) of 'D' is -0\.25, but distances must be finite and non-negative\.",
        ),
        (np.nan, r"Entry \(1, 2\) of 'D' is nan, .*: drop the rows without mass"),
        (np.inf, r"Entry \(1, 2\) of 'D' is inf"),
        (-np.inf, r"Entry \(1, 2\) of 'D' is -inf"),
    ],
)
def test_what_is_no_distance(function, bad, message):
    D = distances(4)
    D[1, 2] = bad
    with pytest.raises(sd.InputError, match=message):
        function(D)


def test_no_distances_at_all():
    with pytest.raises(sd.InputTypeError, match="'D' must be an array of real numbers"):
        kernel(None, 1)
    with pytest.raises(sd.InputError, match=r"Entry 1 of 'D' is -1,"):
        kernel([1.0, -1.0], 1)


def test_negative_rounding_is_zero():
    """As sums with cancellation leave it: of Diracs' independence distances, for one."""
    assert kernel([[-1e-16, 1.0]], 1e-17).tolist() == [[1, 0]]
    K = kernel(np.array([[-1e-8, 1.0]], np.float32), 1e-9)
    assert K.tolist() == [[1, 0]]


# ---------------------------------------------------------------------------------- bandwidths


def test_bandwidths_of_a_symmetric_matrix():
    """The diagonal does not count, and each pair counts once."""
    D = distances(21)
    expected = np.quantile(D[np.triu_indices(21, 1)], [0.1, 0.2, 0.5])
    np.testing.assert_allclose(bandwidths(D), [1, *expected], rtol=1e-14)
    wobbly = D * (1 + 1e-9 * np.arange(21))  # as solvers leave it that look at (i, j) and (j, i)
    np.testing.assert_allclose(bandwidths(wobbly), [1, *expected], rtol=1e-6)


def test_bandwidths_of_other_matrices():
    D = distances(6, 9)
    np.testing.assert_allclose(bandwidths(D), [1, *np.quantile(D, [0.1, 0.2, 0.5])], rtol=1e-14)
    square = distances(9, 9)
    assert not np.allclose(square, square.T)
    np.testing.assert_allclose(
        bandwidths(square), [1, *np.quantile(square, [0.1, 0.2, 0.5])], rtol=1e-14
    )


def test_bandwidths_of_a_sample():
    n = 40
    D = distances(n)
    some = bandwidths(D, sample=200)
    np.testing.assert_array_equal(some, bandwidths(D, sample=200))
    assert (some[1:] != bandwidths(D, sample=200, seed=1)[1:]).any()
    np.testing.assert_array_equal(bandwidths(D, sample=n * (n - 1) // 2), bandwidths(D))
    all_but_one = bandwidths(D, sample=n * (n - 1) // 2 - 1)  # every pair but one, none twice
    np.testing.assert_allclose(all_but_one, bandwidths(D), rtol=0.05)
    # Drawn evenly from the pairs i < j: shares of a sample are those of the whole.
    marked = np.triu(np.full((n, n), 2.0), 1)
    marked[: n // 2, : n // 2] *= 2
    marked += marked.T
    np.fill_diagonal(marked, 100)
    pairs = n * (n - 1) // 2
    share = (n // 2) * (n // 2 - 1) / 2 / pairs
    drawn = [sd.similarity.kernels._observed(marked, pairs // 2, seed) for seed in range(30)]
    assert all(set(values) == {2.0, 4.0} for values in drawn)
    assert np.mean([np.mean(values == 4) for values in drawn]) == pytest.approx(share, abs=0.02)
    rectangle = distances(8, 5)
    assert np.isin(sd.similarity.kernels._observed(rectangle, 7, 0), rectangle).all()


def test_a_bandwidth_of_zero_is_left_out():
    H = np.repeat(np.eye(2), [9, 1], axis=0)
    np.testing.assert_array_equal(bandwidths(classic.total_variation(H)), [1])
    D = np.array([[0.0] * 3 + [0.5] * 7])  # of ten distances, the lowest 30 % are 0
    np.testing.assert_array_equal(bandwidths(D), [1, 0.5])
    np.testing.assert_array_equal(bandwidths(np.zeros((2, 2))), [1])


@pytest.mark.parametrize("shape", [(0, 0), (1, 1), (0, 5), (5, 0)])
def test_bandwidths_of_nothing(shape):
    with pytest.raises(sd.InputError, match="holds no distance between two histograms"):
        bandwidths(np.zeros(shape))


def test_bad_arguments_of_bandwidths():
    with pytest.raises(sd.InputError, match=r"'D' must be a matrix\. Got shape \(3,\)"):
        bandwidths(np.ones(3))
    for sample in (0, -1, 1.5, "3", True):
        with pytest.raises(sd.InputError, match="The 'sample' option must be a whole number"):
            bandwidths(distances(4), sample=sample)


# -------------------------------------------------------------------------------------- repair


def indefinite(n=30, dtype=np.float64):
    return kernel(distances(n, dtype=dtype), 1.5)


def with_diagonal(K, term):
    return K + term * np.eye(len(K))


@pytest.mark.parametrize("n", [3, 30, 150])
def test_the_shift_is_the_smallest_that_suffices(n):
    K = indefinite(n) - 0.5 * np.eye(n)
    term = shift(K)
    assert not is_psd(K) and term > 1e-3
    assert term == pytest.approx(-np.linalg.eigvalsh(K)[0], rel=1e-9)
    assert is_psd(with_diagonal(K, term))
    assert not is_psd(with_diagonal(K, term * (1 - 1e-8)))
    np.linalg.cholesky(with_diagonal(K, term))


@pytest.mark.parametrize("n", [3, 30, 150])
def test_float32_is_repaired_to_its_own_rounding(n):
    K = indefinite(n, np.float32)
    K -= np.float32(0.5) * np.eye(n, dtype=np.float32)
    new, term = repaired(K)
    assert new.dtype == np.float32 and isinstance(term, float)
    assert term == pytest.approx(-np.linalg.eigvalsh(K.astype(float))[0], rel=1e-4)
    assert is_psd(new) and shift(new) == 0.0
    assert not is_psd(with_diagonal(K, np.float32(0.999 * term)).astype(np.float32))
    np.linalg.cholesky(new.astype(float) + 1e-5 * np.eye(n))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [1, 2, 40, 200])
def test_what_is_positive_semi_definite_stays_as_it_is(n, dtype):
    line = np.linspace(0, 1, n)
    for K in (
        np.exp(-(np.subtract.outer(line, line) ** 2)),  # of numerical rank 10 or so
        np.exp(-abs(np.subtract.outer(line, line))),
        np.ones((n, n)),
        np.zeros((n, n)),
        np.eye(n) * 1e-200,
        np.outer(line, line) * 1e200 if dtype is np.float64 else np.outer(line, line),
    ):
        with np.errstate(under="ignore"):
            K = K.astype(dtype)
        new, term = repaired(K)
        assert term == 0.0 and is_psd(K)
        np.testing.assert_array_equal(new, K)
        assert not np.shares_memory(new, K)


@given(
    K=arrays(float, (5, 5), elements=st.floats(-1, 1).map(lambda x: round(x, 6))),
    scale=st.sampled_from([1e-100, 1e-6, 1.0, 1e6, 1e100]),
)
def test_repair_of_any_matrix(K, scale):
    K = (K + K.T) * scale
    new, term = repaired(K)
    values = np.linalg.eigvalsh(new)
    assert is_psd(new) and values[0] >= -1e-13 * abs(K).max()
    assert term == 0.0 or values[0] <= 1e-12 * abs(K).max()
    np.testing.assert_array_equal(new - np.diag(new.diagonal()), K - np.diag(K.diagonal()))


def test_kernels_of_real_distances():
    """The Sinkhorn distance of digits is not negative definite; of the classic ones, some are."""
    H = digits(60)
    D = sd.pairwise(H, ground=sd.Ground.grid(8, 8).scaled(), lam=9, coincidence=True)
    for t in bandwidths(D):
        assert is_psd(repaired(kernel(D, t))[0])
    for distance in (classic.sqeuclidean, classic.chi2, classic.total_variation):
        assert is_psd(kernel(distance(H), 0.1))


def test_train_and_test_are_parts_of_one_kernel():
    """Test histograms that are in the training set get what is on the repaired diagonal."""
    K = indefinite(30)
    new, term = repaired(K)
    assert term > 0
    np.testing.assert_array_equal(repaired_cross(K, term, np.eye(30, dtype=bool)), new)
    rows = [4, 11, 4]
    same = np.arange(30) == np.array(rows)[:, None]
    cross = repaired_cross(K[rows], term, same)
    np.testing.assert_array_equal(cross, new[rows])
    whole = np.block([[new, cross.T], [cross, new[np.ix_(rows, rows)]]])
    assert is_psd(whole)
    assert not is_psd(np.block([[new, K[rows].T], [K[rows], new[np.ix_(rows, rows)]]]))


def test_the_cross_kernel_is_a_new_array_of_the_same_dtype():
    K = np.ones((2, 3), np.float32)
    out = repaired_cross(K, 0.5, [[True, False, False], [False, False, True]])
    assert out.dtype == np.float32 and (K == 1).all()
    np.testing.assert_array_equal(out, [[1.5, 1, 1], [1, 1, 1.5]])


@pytest.mark.parametrize("function", [shift, repaired, is_psd])
def test_what_is_no_kernel_matrix(function):
    with pytest.raises(sd.InputError, match=r"'K' must be square\. Got 2 x 3 instead: .*_cross"):
        function(np.ones((2, 3)))
    with pytest.raises(sd.InputError, match=r"'K' must be a matrix\. Got shape \(3,\)"):
        function(np.ones(3))
    with pytest.raises(
        sd.InputError, match=r"Got 0\.5 at \(0, 1\) and 0\.25 at \(1, 0\): pass \(K"
    ):
        function([[1, 0.5], [0.25, 1]])
    with pytest.raises(sd.InputError, match=r"Entry \(1, 0\) of 'K' is nan"):
        function([[1, 0.5], [np.nan, 1]])
    assert function(np.array([[1, 0.5], [0.5 + 1e-14, 1]])) is not None  # mere rounding


@pytest.mark.parametrize("term", [-1.0, np.nan, np.inf, "1", None, True])
def test_bad_shifts(term):
    with pytest.raises(sd.InputError, match="The 'shift' must be a non-negative number"):
        repaired_cross(np.ones((1, 2)), term, [[True, False]])


@pytest.mark.parametrize("same", [[[1.0, 0.0]], [True, False], [[True], [False]], None])
def test_bad_marks(same):
    with pytest.raises(sd.InputError, match="'same' must hold one bool for each entry of 'K'"):
        repaired_cross(np.ones((1, 2)), 1.0, same)


def test_no_histograms_at_all():
    assert shift(np.zeros((0, 0))) == 0.0 and is_psd(np.zeros((0, 0)))
