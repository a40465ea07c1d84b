"""The classic distances, held against their definitions written as loops, and against SciPy."""

import inspect
import math
import pickle
import tracemalloc
from decimal import Decimal, localcontext
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import additive_chi2_kernel

import sinkdist as sd
from sinkdist import classic
from sinkdist.classic import formulas, summed
from sinkdist.classic.pairs import Comparison, read_families
from sinkdist.errors import InputError, InputTypeError
from sinkdist.kernels import binwise
from sinkdist.problem.options import Options
from sinkdist.scale import memory
from sinkdist.scale.tiles import Tiling
from sinkdist.solution.status import Status

T = 0.5  #: of the Mahalanobis distances


def line(X):
    """Bins on a line, as many as some histograms have."""
    return sd.Ground.grid(X.shape[1] if hasattr(X, "shape") else len(X[0]))


def smoothed(X, Y=None, **options):
    return classic.mahalanobis(X, Y, ground=line(X), t=T, **options)


def sharpened(X, Y=None, **options):
    return classic.mahalanobis(X, Y, ground=line(X), t=T, inverse=True, **options)


def of_many(distance):
    """A distance as it is computed between large families, whatever their size."""

    def compiled(X, Y=None, **options):
        with mock.patch.object(formulas, "_MANY", 0):
            return distance(X, Y, **options)

    compiled.__name__ = f"{distance.__name__} of many"
    return compiled


chi2_of_many, total_variation_of_many = of_many(classic.chi2), of_many(classic.total_variation)

BINWISE = [
    classic.euclidean,
    classic.sqeuclidean,
    classic.hellinger,
    classic.chi2,
    classic.total_variation,
]
DISTANCES = [*BINWISE, smoothed, sharpened]
SUMMED = [classic.chi2, classic.total_variation, chi2_of_many, total_variation_of_many]
COMPILED = [chi2_of_many, total_variation_of_many]
SQUARED = [classic.sqeuclidean, classic.chi2, chi2_of_many]  #: metrics only after a square root
LARGEST = {
    classic.euclidean: math.sqrt(2),
    classic.sqeuclidean: 2,
    classic.hellinger: 1,
    classic.chi2: 1,
    classic.total_variation: 1,
    chi2_of_many: 1,
    total_variation_of_many: 1,
}


def squared(x, y):
    return math.fsum((a - b) ** 2 for a, b in zip(x, y, strict=True))


def by_matrix(A):
    def one(x, y):
        difference = np.subtract(x, y)
        return math.sqrt(difference @ A @ difference)

    return one


def definition(distance, d):
    """The distance of one pair, one bin after the other, in exact sums of float64."""
    A = np.exp(-T * sd.Ground.grid(d).matrix ** 2)
    same = dict(zip(COMPILED, (classic.chi2, classic.total_variation), strict=True))
    return {
        classic.euclidean: lambda x, y: math.sqrt(squared(x, y)),
        classic.sqeuclidean: squared,
        classic.hellinger: lambda x, y: math.sqrt(squared(np.sqrt(x), np.sqrt(y)) / 2),
        classic.chi2: lambda x, y: (
            math.fsum((a - b) / (a + b) * (a - b) for a, b in zip(x, y, strict=True) if a + b) / 2
        ),
        classic.total_variation: lambda x, y: (
            math.fsum(abs(a - b) for a, b in zip(x, y, strict=True)) / 2
        ),
        smoothed: by_matrix(A),
        sharpened: by_matrix(np.linalg.inv(A)),
    }[same.get(distance, distance)]


def by_definition(distance, X, Y):
    """All distances."""
    one = definition(distance, X.shape[1])
    return np.array([[one(x, y) for y in Y.tolist()] for x in X.tolist()])


def histograms(n, d, seed=0):
    return np.random.default_rng(seed).dirichlet(np.ones(d), n)


def with_gaps(n, d, seed=0):
    """Half of the bins without mass."""
    rng = np.random.default_rng(seed)
    X = rng.dirichlet(np.ones(d), n) * (rng.random((n, d)) < 0.5)
    X[:, 0] += 1e-3
    return X / X.sum(axis=1, keepdims=True)


# ---------------------------------------------------------------------------------- the numbers


@pytest.mark.nojit
@pytest.mark.parametrize("family", [histograms, with_gaps])
@pytest.mark.parametrize("distance", [*DISTANCES, *COMPILED])
def test_matches_definition(distance, family):
    X, Y = family(12, 30), family(7, 30, seed=1)
    np.testing.assert_allclose(distance(X, Y), by_definition(distance, X, Y), rtol=1e-12)
    off_diagonal = ~np.eye(12, dtype=bool)
    expected = by_definition(distance, X, X)
    np.testing.assert_allclose(distance(X)[off_diagonal], expected[off_diagonal], rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 64, 512, 515, 1100])
def test_matches_other_packages(d, dtype):
    """More bins than are summed at once, too. Half of the digits are kept where rows are close."""
    X, Y = with_gaps(70, d).astype(dtype), with_gaps(40, d, seed=1).astype(dtype)
    half = math.sqrt(np.finfo(dtype).eps)
    close = {"rtol": half, "atol": 1e-15 if dtype is np.float64 else 1e-6}
    x, y = (Z.astype(float) / Z.astype(float).sum(axis=1, keepdims=True) for Z in (X, Y))
    np.testing.assert_allclose(classic.euclidean(X, Y), cdist(x, y), **close)
    np.testing.assert_allclose(classic.sqeuclidean(X, Y), cdist(x, y, "sqeuclidean"), **close)
    for total_variation in (classic.total_variation, total_variation_of_many):
        np.testing.assert_allclose(total_variation(X, Y), cdist(x, y, "cityblock") / 2, **close)
    for chi2 in (classic.chi2, chi2_of_many):
        np.testing.assert_allclose(chi2(X, Y), additive_chi2_kernel(x, y) / -2, **close)
    np.testing.assert_allclose(
        classic.hellinger(X, Y), cdist(np.sqrt(x), np.sqrt(y)) / math.sqrt(2), **close
    )
    if d <= 64:  # SciPy takes its time for more
        VI = np.exp(-T * line(X).matrix ** 2)
        np.testing.assert_allclose(smoothed(X, Y), cdist(x, y, "mahalanobis", VI=VI), **close)


@pytest.mark.parametrize("distance", [*DISTANCES, *COMPILED])
def test_diagonal_is_zero_and_matrix_symmetric(distance):
    D = distance(histograms(50, 64))
    assert (np.diag(D) == 0).all()
    np.testing.assert_array_equal(D, D.T)
    assert (D[~np.eye(50, dtype=bool)] > 0).all()


@pytest.mark.parametrize("distance", [*DISTANCES, *COMPILED])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_equal_rows_have_distance_zero_anywhere(distance, dtype):
    X = histograms(6, 40).astype(dtype)
    assert (np.diag(distance(X, X.copy())) == 0).all()
    assert (distance(np.repeat(X[:1], 4, axis=0)) == 0).all()
    shuffled = np.random.default_rng(2).permutation(np.repeat(X, 7, axis=0))
    D = distance(shuffled, X)  # a product of another shape
    np.testing.assert_array_equal((D == 0).sum(axis=1), 1)


@pytest.mark.parametrize("distance", [*DISTANCES, *COMPILED])
def test_tiny_distances_keep_their_digits(distance):
    X = histograms(1, 40).repeat(2, axis=0)
    X[1, 0] += 1e-9
    X[1, 1] -= 1e-9
    expected = by_definition(distance, X, X)[0, 1]
    # By |x|^2 + |y|^2 - 2 x.y this would be 0 or 1e-8: all digits lost.
    assert distance(X)[0, 1] == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("distance", [*BINWISE, *COMPILED])
def test_tiny_masses(distance):
    """Masses whose squares no float64 can hold."""
    X = np.array([[1.0, 0.0, 0.0], [1.0, 1e-99, 0.0], [1.0, 3e-99, 0.0], [1.0, 0.0, 1e-90]])
    D = distance(X)
    assert np.isfinite(D).all()
    if distance in SUMMED:
        expected = by_definition(distance, X, X)
        np.testing.assert_allclose(D, expected, rtol=1e-14)
        assert (expected[~np.eye(4, dtype=bool)] > 0).all()


@pytest.mark.parametrize("distance", [*BINWISE, *COMPILED])
def test_many_tiny_distances_need_little_memory(monkeypatch, distance):
    monkeypatch.setattr(summed, "ENTRIES_AT_ONCE", 100)
    X = histograms(1, 16) + np.linspace(0, 1e-10, 30)[:, None] * ([1, -1] * 8)
    np.testing.assert_allclose(distance(X), by_definition(distance, X, X), rtol=1e-5, atol=1e-16)


@pytest.mark.parametrize("distance", [*DISTANCES, *COMPILED])
def test_float32_stays_float32(distance):
    X = histograms(9, 30)
    D = distance(X.astype(np.float32))
    assert D.dtype == np.float32
    np.testing.assert_allclose(D, by_definition(distance, X, X), atol=2e-6)
    assert distance(X.astype(np.float32), X).dtype == np.float64


@pytest.mark.parametrize("distance", LARGEST)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_without_common_bins_have_the_largest_distance(distance, dtype):
    X = np.zeros((3, 30), dtype)
    for i in range(3):
        X[i, 10 * i : 10 * i + 10] = histograms(1, 10, seed=i)
    D = distance(X)
    assert D.max() <= LARGEST[distance]
    if distance in (classic.euclidean, classic.sqeuclidean):
        D = distance(np.eye(3, 30, dtype=dtype))
    np.testing.assert_allclose(
        D, LARGEST[distance] * (1 - np.eye(3)), atol=1e-15 if dtype is np.float64 else 3e-7
    )


@pytest.mark.parametrize("distance", [*DISTANCES, *COMPILED])
@given(
    X=arrays(
        float,
        st.tuples(st.integers(3, 3), st.integers(1, 12)),
        elements=st.floats(0, 1).map(lambda x: x + 1e-3),
    )
)
def test_is_a_metric(distance, X):
    D = distance(X, normalize=True)
    assert np.isfinite(D).all()
    assert (D >= 0).all()
    assert D.max() <= LARGEST.get(distance, np.inf)
    D = np.sqrt(D) if distance in SQUARED else D
    # Squares are kept to half of their digits, so near-ties are decided to 1e-8; vectors, by which
    # the Mahalanobis distances are computed, are rounded before they are compared.
    slack = 1e-14 if distance in (smoothed, sharpened) else 0
    assert D[0, 2] <= (D[0, 1] + D[1, 2]) * (1 + 1e-8) + slack


@given(X=arrays(float, (2, 9), elements=st.floats(0, 1).map(lambda x: x if x > 0.3 else 0.0)))
def test_inequalities_between_them(X):
    """Le Cam's, and Cauchy and Schwarz'."""
    X[:, 0] += 0.1
    H, V, C = (
        distance(X, normalize=True)[0, 1]
        for distance in (classic.hellinger, classic.total_variation, classic.chi2)
    )
    assert H**2 <= C + 1e-14 and C <= 2 * H**2 + 1e-14
    assert V**2 <= C + 1e-14 and C <= V + 1e-14


def test_total_variation_is_the_earth_movers_distance_of_equal_costs():
    X = with_gaps(5, 12)
    emd = sd.pairwise(X, ground=1 - np.eye(12), lam=np.inf)
    np.testing.assert_allclose(classic.total_variation(X), emd, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("family", [histograms, with_gaps])
@pytest.mark.parametrize("distance", [classic.chi2, classic.total_variation])
def test_large_families_are_compiled_and_agree_up_to_rounding(monkeypatch, distance, family, dtype):
    X, Y = family(60, 700).astype(dtype), family(50, 700, seed=1).astype(dtype)
    small = distance(X, Y)
    used = []
    for name in ("harmonic", "excess"):
        kernel = getattr(binwise, name)
        monkeypatch.setattr(binwise, name, lambda *a, run=kernel: used.append(run) or run(*a))
    monkeypatch.setattr(formulas, "_MANY", 60 * 50 * 700 + 1)
    np.testing.assert_array_equal(distance(X, Y), small)
    assert not used
    monkeypatch.setattr(formulas, "_MANY", 60 * 50 * 700)
    large = distance(X, Y)
    assert used and large.dtype == dtype
    np.testing.assert_allclose(large, small, rtol=400 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(distance(sparse.csr_array(X), sparse.csr_array(Y)), large)


# --------------------------------------------------------------------------------- Mahalanobis


GRID = sd.Ground.grid(4, 5)


@pytest.mark.parametrize("t", [1e-12, 1e-3, 0.3, 5.0, 1e9, 1e300])
def test_smoothing_for_every_t(t):
    """Down to where all entries of A are equal but for their last digits: 2 t |mean - mean|^2."""
    X, Y = histograms(6, 20), histograms(4, 20, seed=1)
    D = classic.mahalanobis(X, Y, ground=GRID, t=t)
    if t == 1e-12:
        places = np.stack(np.unravel_index(np.arange(20), (4, 5)), axis=1)
        expected = math.sqrt(2 * t) * cdist(X @ places, Y @ places)
    else:
        with np.errstate(under="ignore", over="ignore"):
            A = np.exp(-t * GRID.matrix**2)
        expected = [[by_matrix(A)(x, y) for y in Y] for x in X]
    np.testing.assert_allclose(D, expected, rtol=1e-9)


@pytest.mark.parametrize("inverse", [False, True])
def test_for_large_t_it_is_euclidean(inverse):
    X = histograms(6, 20)
    D = classic.mahalanobis(X, ground=GRID, t=1e4, inverse=inverse)
    np.testing.assert_allclose(D, classic.euclidean(X), rtol=1e-12)


def test_an_inverse_without_digits_is_refused():
    X = histograms(3, 400)
    ground = sd.Ground.grid(20, 20)
    with pytest.raises(InputError, match=r"condition number of at least [\d.e+]+, .*larger 't'"):
        classic.mahalanobis(X, ground=ground, t=0.01, inverse=True)
    with pytest.raises(InputError, match=r"condition number of 2\.3e\+10, "):
        classic.mahalanobis(X, ground=ground, t=0.18, inverse=True)
    assert np.linalg.cond(np.exp(-0.18 * ground.matrix**2)) == pytest.approx(2.3e10, rel=0.01)


def in_many_digits(x, y, t, M):
    """The distance by the inverse, by elimination in 60 digits."""
    with localcontext() as context:
        context.prec = 60
        squares = (M**2).round().astype(int).tolist()
        rows = [[(-Decimal(t) * m).exp() for m in row] for row in squares]
        difference = [Decimal(a) - Decimal(b) for a, b in zip(x.tolist(), y.tolist(), strict=True)]
        left = [[*row, b] for row, b in zip(rows, difference, strict=True)]
        total = Decimal(0)  # d^T A^-1 d is the sum of squares of what Cholesky's factor leaves of d
        while left:
            pivot, *below = left
            total += pivot[-1] ** 2 / pivot[0]
            left = [
                [a - row[0] / pivot[0] * b for a, b in zip(row[1:], pivot[1:], strict=True)]
                for row in below
            ]
        return float(total.sqrt())


@pytest.mark.parametrize("t", [0.5, 0.1, 0.06, 0.03])
def test_an_inverse_near_the_limit_is_right_to_six_digits(t):
    X, ground = histograms(2, 16), sd.Ground.grid(4, 4)
    condition = np.linalg.cond(np.exp(-t * ground.matrix**2))
    assert condition < 1e10 and (t > 0.03 or condition > 1e9)
    actual = classic.mahalanobis(X, ground=ground, t=t, inverse=True)[0, 1]
    assert actual == pytest.approx(in_many_digits(*X, t, ground.matrix), rel=1e-6)


def test_costs_that_are_no_euclidean_distances():
    """Shortest paths on a complete bipartite graph."""
    ground = np.where(np.not_equal.outer(np.arange(5) < 2, np.arange(5) < 2), 1.0, 2.0)
    np.fill_diagonal(ground, 0.0)
    for inverse in (False, True):
        with pytest.raises(InputError, match=r"not positive semi-definite.*eigenvalue -\d") as text:
            classic.mahalanobis(np.eye(5), ground=ground, t=0.05, inverse=inverse)
        assert "larger 't'" in str(text.value)
    D = classic.mahalanobis(np.eye(5), ground=ground, t=1)  # there it is one
    assert D[0, 1] == pytest.approx(math.sqrt(2 - 2 * math.exp(-4)))


@pytest.mark.parametrize("matrix", [[[0, 1], [2, 0]], np.ones((2, 3))], ids=["mirror", "shape"])
def test_costs_must_be_symmetric(matrix):
    with pytest.raises(InputError, match="must be symmetric"):
        classic.mahalanobis([[0.5, 0.5]], ground=matrix, t=1)


def test_bins_in_one_place():
    X = histograms(3, 4)
    assert (classic.mahalanobis(X, ground=np.zeros((4, 4)), t=1) == 0).all()
    with pytest.raises(InputError, match="condition number of at least"):
        classic.mahalanobis(X, ground=np.zeros((4, 4)), t=1, inverse=True)
    assert (classic.mahalanobis(np.ones((3, 1)), ground=[[0.0]], t=1, inverse=True) == 0).all()


@pytest.mark.parametrize("t", [0, -1, float("nan"), float("inf"), "1", None, True, [1]])
def test_bad_t(t):
    with pytest.raises(InputError, match=r"The 't' option must be a positive number\. Got"):
        classic.mahalanobis(histograms(3, 20), ground=GRID, t=t)


def test_bad_inverse_and_bins():
    with pytest.raises(InputTypeError, match=r"'inverse' option must be True or False\. Got 'yes'"):
        classic.mahalanobis(histograms(3, 20), ground=GRID, t=1, inverse="yes")
    with pytest.raises(InputError, match="'X' has 19 bins per row, but the ground metric has 20"):
        classic.mahalanobis(histograms(3, 19), ground=GRID, t=1)


# -------------------------------------------------------------------------------------- reading


@pytest.mark.parametrize("distance", DISTANCES)
def test_reads_what_people_hold(distance):
    X = histograms(5, 8)
    expected = distance(X)
    read_only = X.copy()
    read_only.flags.writeable = False
    for form in (X.tolist(), pd.DataFrame(X), sparse.csr_array(X), read_only, X[::-1][::-1]):
        np.testing.assert_allclose(distance(form), expected, rtol=1e-14)
        np.testing.assert_allclose(distance(form, X[:2]), expected[:, :2], rtol=1e-14)
    np.testing.assert_array_equal(X, histograms(5, 8))


@pytest.mark.parametrize("distance", DISTANCES)
def test_families_of_none_and_of_one(distance):
    X = histograms(4, 8)
    assert distance(X[:0]).shape == (0, 0)
    assert distance(X, X[:0]).shape == (4, 0)
    assert distance(X[:1]).tolist() == [[0]]


def test_counts_are_normalised_on_request():
    counts = np.array([[1, 3], [2, 2]], dtype=np.uint8)
    D = classic.euclidean(counts, normalize=True)
    assert D[0, 1] == pytest.approx(math.sqrt(0.125))
    assert classic.total_variation(counts, normalize=True)[0, 1] == 0.25
    with pytest.raises(InputError, match=r"Row 0 of 'X' sums to 4.*normalize=True"):
        classic.euclidean(counts)


@pytest.mark.parametrize("distance", DISTANCES)
def test_rows_without_mass(distance):
    X = histograms(4, 6)
    X[2] = 0
    with pytest.raises(InputError, match="Row 2 of 'X' has no mass"):
        distance(X)
    D = distance(X, on_empty="nan")
    assert np.isnan(D[2]).all()
    assert np.isnan(D[:, 2]).all()
    assert np.isfinite(np.delete(np.delete(D, 2, 0), 2, 1)).all()
    between = distance(X, X[:2], on_empty="nan")
    np.testing.assert_array_equal(np.isnan(between).any(axis=1), [False, False, True, False])


def test_messages_name_the_argument():
    X = histograms(3, 6)
    with pytest.raises(InputError, match="'Y' has 5 bins per row, but 'X' has 6"):
        classic.euclidean(X, histograms(3, 5))
    with pytest.raises(InputError, match=r"'X' must be a family .* Got shape \(6,\)"):
        classic.hellinger(X[0])
    with pytest.raises(InputError, match=r"'Y' must be a family .* Got shape \(6,\)"):
        classic.chi2(X, X[0])


@pytest.mark.parametrize("name", classic.__all__)
def test_every_function_is_documented_in_full(name):
    text = inspect.getdoc(getattr(classic, name))
    sections = ["Parameters\n---", "Returns\n---", "Examples\n---", ">>> "]
    arguments = ["\nX : ", "\nY : ", "\nnormalize : ", "\non_empty : ", "memory, out"]
    assert [part for part in [*sections, *arguments] if part not in text] == []
    assert "<" not in text  # no place was left unfilled


# ------------------------------------------------------------------ tiles, stores, memory, clusters


class Enough(Exception):
    """Raised by a listener that has seen enough."""


@pytest.mark.parametrize("distance", DISTANCES)
def test_a_stored_matrix(distance, tmp_path):
    X = with_gaps(100, 20)
    X[7] = 0
    out, expected = tmp_path / "D.zarr", distance(X, on_empty="nan")
    seen = []

    def listen(record):
        seen.append(record.done)
        if len(seen) == 3:
            raise Enough

    with pytest.raises(Enough):
        distance(X, on_empty="nan", out=out, progress=listen, workers=1)
    assert 0 < len(sd.open_matrix(out).missing) < 28
    D = distance(X, on_empty="nan", out=out)
    assert D.is_complete and D.dtype == np.float64
    np.testing.assert_array_equal(D.to_numpy(), expected)
    assert (np.asarray(D.status)[7] == Status.EMPTY).all()
    with pytest.raises(InputError, match="X is not the one that was stored"):
        distance(X[::-1], on_empty="nan", out=out)
    D = distance(X[:50], X[50:90], on_empty="nan", out=out, overwrite=True)
    np.testing.assert_allclose(D.to_numpy(), expected[:50, 50:90], rtol=1e-12)


def test_stores_know_which_distance_they_hold(tmp_path):
    X = histograms(20, 20)
    out = tmp_path / "D.zarr"
    assert classic.total_variation(X, out=out).parameters["distance"] == "total_variation"
    with pytest.raises(InputError, match="distance is total_variation there and chi2 here"):
        classic.chi2(X, out=out)


def test_stores_know_what_a_mahalanobis_distance_depends_on(tmp_path):
    X = histograms(20, 20)
    out = tmp_path / "D.zarr"
    D = classic.mahalanobis(X, ground=GRID, t=2, out=out)
    assert D.parameters == {
        "distance": "mahalanobis", "dtype": "float64", "t": 2.0, "inverse": False,
    }  # fmt: skip
    classic.mahalanobis(X, ground=GRID.matrix, t=2.0, out=out)  # the same
    for change, message in (
        ({"t": 3}, "t is 2.0 there and 3.0 here"),
        ({"inverse": True}, "inverse is False there and True here"),
        ({"ground": sd.Ground.grid(5, 4)}, "ground is not the one that was stored"),
    ):
        with pytest.raises(InputError, match=message):
            classic.mahalanobis(X, **{"ground": GRID, "t": 2, "out": out, **change})


@pytest.mark.parametrize("distance", DISTANCES)
def test_workers_and_progress(distance):
    X = with_gaps(70, 20)
    seen = []
    D = distance(X, workers=2, progress=seen.append)
    assert seen[-1].done == seen[-1].total == 70 * 71 // 2
    np.testing.assert_array_equal(D, distance(X, workers=1))
    with pytest.raises(InputError, match="The 'workers' option must be at least 1"):
        distance(X, workers=0)


@pytest.mark.parametrize("distance", DISTANCES)
def test_the_memory_budget(distance, tmp_path):
    X = histograms(40, 20)
    with pytest.raises(InputError, match="The memory budget of 1 MB is too small"):
        distance(X, memory="1MB", out=tmp_path / "D.zarr")
    D = distance(X, memory=memory.held() + 150_000_000, out=tmp_path / "D.zarr")
    np.testing.assert_array_equal(D, distance(X))


@pytest.mark.parametrize("pairs", [1, 10**9])
@pytest.mark.parametrize("name", ["CHI2", "HELLINGER"])
def test_tiles_travel(name, pairs):
    """To other processes, as pickles."""
    X = histograms(20, 8)
    families = read_families(X, None, Options(workers=1))
    formula = getattr(formulas, name).formula(pairs, 8)
    compare = Comparison(formula, families.X, families.other, np.dtype(float))
    tile = Tiling((20, 20), 16, True).tile(0, 1)
    here, there = compare(tile), pickle.loads(pickle.dumps(compare))(tile)
    np.testing.assert_array_equal(here.values, there.values)


def test_on_a_cluster(tmp_path):
    from distributed import Client, LocalCluster

    X = with_gaps(60, 20)
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=2, processes=False, silence_logs=50,
            dashboard_address="127.0.0.1:0",
        ) as cluster,
        Client(cluster) as client,
    ):  # fmt: skip
        for distance in (classic.chi2, smoothed):
            expected = distance(X)
            np.testing.assert_array_equal(distance(X, client=client), expected)
            stored = distance(X, client=client, out=tmp_path / f"{distance.__name__}.zarr")
            np.testing.assert_array_equal(stored, expected)


@pytest.mark.parametrize("name", ["CHI2", "TOTAL_VARIATION", "HELLINGER", "SQEUCLIDEAN"])
@pytest.mark.parametrize("family", [histograms, with_gaps])
@pytest.mark.parametrize("d", [40, 3000])
def test_a_tile_takes_no_more_memory_than_it_says(name, family, d):
    distance = getattr(formulas, name)
    for dtype in (np.float32, np.float64):
        X, Y = family(256, d).astype(dtype), family(256, d, seed=1).astype(dtype)
        distance.between(X[:2], Y[:2])  # imports
        tracemalloc.start()
        try:
            values = distance.between(X, Y)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak - values.nbytes <= distance.bytes_at_once(256, d, 8)
