"""The estimators: their numbers, their place in scikit-learn, and what they say of bad input."""

import pickle
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

import sinkdist as sd
from sinkdist import classic, similarity
from sinkdist.learn import (
    TransportKernel,
    TransportNeighborsClassifier,
    TransportSVC,
    distance_cache,
)

BINS = 6
LINE = sd.Ground.grid(BINS)
INF = float("inf")
CLASSIFIERS = [TransportSVC, TransportNeighborsClassifier]


@pytest.fixture(autouse=True)
def _fresh_cache():
    """Nothing is known when a test begins, and the limit is the usual one."""
    limit = distance_cache.info().limit
    distance_cache.clear()
    yield
    distance_cache.allow(limit)
    distance_cache.clear()


def bumps(n, seed=0):
    """Histograms with most mass on the left (0) or on the right (1), as counts, and which."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 2
    rates = np.where(y[:, None] == 0, [6, 6, 4, 2, 1, 1], [1, 1, 2, 4, 6, 6])
    return rng.poisson(rates) + np.eye(BINS, dtype=int)[0], y


def probabilities(X):
    return X / X.sum(axis=1, keepdims=True)


# Numbers


@pytest.mark.parametrize(
    "options",
    [
        {"lam": 2.0},
        {"reg": 0.5},
        {"alpha": 0.3},
        {"lam": INF},
        {"alpha": INF},
        {"lam": 0},
        {"alpha": 0},
        {"lam": 2.0, "iterations": 20},
        {"lam": 2.0, "tol": 1e-9, "max_iter": 500},
    ],
    ids=str,
)
def test_the_kernel_of_every_member_of_the_family(options):
    X, _ = bumps(9)
    Y, _ = bumps(4, seed=1)
    kernel = TransportKernel(LINE, t=0.7, **options).fit(X)
    wanted = sd.pairwise(Y, X, ground=LINE, normalize=True, **options)
    np.testing.assert_allclose(kernel.transform(Y), np.exp(-wanted / 0.7), atol=3e-6)


@pytest.mark.parametrize(
    "name", ["euclidean", "sqeuclidean", "hellinger", "chi2", "total_variation"]
)
def test_the_kernel_of_classic_distances(name):
    X, _ = bumps(9)
    Y, _ = bumps(4, seed=1)
    wanted = np.exp(-getattr(classic, name)(Y, X, normalize=True) / 0.7)
    found = TransportKernel(distance=name, t=0.7).fit(X).transform(Y)
    np.testing.assert_allclose(found, wanted, rtol=1e-12)


def test_without_options_bins_lie_on_a_line_and_lam_is_nine_medians():
    X, _ = bumps(8)
    wanted = sd.pairwise(X, ground=LINE, lam=9 / LINE.median, normalize=True)
    kernel = TransportKernel(t=1.0).fit(X)
    np.testing.assert_allclose(kernel.transform(X) - kernel.shift_ * np.eye(8), np.exp(-wanted))
    np.testing.assert_array_equal(kernel.ground_.matrix, LINE.matrix)


@pytest.mark.parametrize(("t", "place"), [("q10", 1), ("q20", 2), ("q50", 3)])
def test_bandwidths_are_quantiles_of_the_training_distances(t, place):
    X, _ = bumps(12)
    D = sd.pairwise(X, ground=LINE, lam=3, normalize=True)
    kernel = TransportKernel(LINE, lam=3, t=t).fit(X)
    assert kernel.t_ == pytest.approx(similarity.bandwidths(D)[place], rel=1e-12)


def test_quantiles_are_found_where_smaller_ones_are_zero():
    X = np.repeat(np.eye(BINS, dtype=int)[[0, 5]], [9, 1], axis=0)  # one pair in five is apart
    X = np.vstack([X, X[-1:], np.eye(BINS, dtype=int)[2:3]])
    D = sd.pairwise(X, ground=LINE, lam=INF)
    wanted = np.quantile(D[np.triu_indices(len(D), 1)], 0.5)
    assert wanted == 0.0
    with pytest.raises(sd.InputError, match="t='q50' is 0 here"):
        TransportKernel(LINE, lam=INF).fit(X)
    apart = X[5:]
    D = sd.pairwise(apart, ground=LINE, lam=INF)
    quantiles = np.quantile(D[np.triu_indices(len(D), 1)], [0.1, 0.5])
    assert quantiles[0] == 0.0 < quantiles[1]
    assert TransportKernel(LINE, lam=INF).fit(apart).t_ == quantiles[1]


#: Shortest paths on a graph with two bins on one side and three on the other: exp(-d/t) is no
#: kernel there if t is large.
TWO_AND_THREE = sd.Ground.graph([[0, 0, 1, 1, 1], [0, 0, 1, 1, 1], [0] * 5, [0] * 5, [0] * 5])


@pytest.mark.parametrize("repeats", [1, 3])
def test_an_indefinite_kernel_is_repaired_in_training_and_in_test(repeats):
    X = np.repeat(np.eye(5), repeats, axis=0)
    plain = np.exp(-TWO_AND_THREE.matrix / 10)
    assert np.linalg.eigvalsh(plain)[0] < -1e-3
    kernel = TransportKernel(TWO_AND_THREE, lam=INF, t=10.0)
    K = kernel.fit_transform(X)
    assert kernel.shift_ == pytest.approx(-np.linalg.eigvalsh(plain)[0], rel=1e-9)
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    np.testing.assert_array_equal(kernel.transform(X), K)
    np.testing.assert_array_equal(kernel.transform(X[:: repeats + 1]), K[:: repeats + 1])
    other = kernel.transform([[0.5, 0.5, 0, 0, 0]])  # none of the training rows
    np.testing.assert_allclose(other, np.exp(-np.repeat([[1, 1, 1, 1, 1]], repeats, 1) / 10))


def test_a_kernel_that_is_one_already_is_left_alone():
    X, _ = bumps(10)
    kernel = TransportKernel(distance="hellinger", t=1.0).fit(X)
    assert kernel.shift_ == 0.0


def test_coincidence_makes_the_distance_to_itself_zero():
    X, _ = bumps(6)
    plain = TransportKernel(LINE, lam=1, t=1.0).fit(X)
    indicated = TransportKernel(LINE, lam=1, t=1.0, coincidence=True).fit(X)
    assert (plain.transform(X).diagonal() - plain.shift_ < 0.9).all()
    np.testing.assert_allclose(indicated.transform(X).diagonal() - indicated.shift_, 1.0)
    others, _ = bumps(5, seed=3)
    np.testing.assert_array_equal(indicated.transform(others), plain.transform(others))


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 5.0, 1: 0.1}])
def test_the_machine_is_libsvm_on_the_repaired_kernel(class_weight):
    X, _ = bumps(24)
    y = np.arange(24) % 3
    Y, _ = bumps(9, seed=1)
    y[y == 2] = y[::3]  # labels that cannot be learnt, so that C and weights matter
    D = sd.pairwise(X, ground=LINE, lam=INF, normalize=True)
    E = sd.pairwise(Y, X, ground=LINE, lam=INF, normalize=True)
    t = similarity.bandwidths(D)[2]
    K, shift = similarity.repaired(similarity.kernel(D, t))
    wanted = SVC(C=3.0, kernel="precomputed", class_weight=class_weight).fit(K, y)
    machine = TransportSVC(LINE, lam=INF, t="q20", C=3.0, class_weight=class_weight).fit(X, y)
    assert machine.kernel_.shift_ == pytest.approx(shift, abs=1e-12)
    np.testing.assert_allclose(
        machine.decision_function(Y), wanted.decision_function(np.exp(-E / t)), atol=1e-6
    )
    assert machine.classes_.tolist() == [0, 1]


@pytest.mark.parametrize("shape", ["ovr", "ovo"])
def test_shapes_of_the_decision(shape):
    X, _ = bumps(20)
    machine = TransportSVC(LINE, decision_function_shape=shape).fit(X, np.arange(20) % 4)
    assert machine.decision_function(X[:7]).shape == (7, 4 if shape == "ovr" else 6)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda D: np.exp(-D)])
@pytest.mark.parametrize("options", [{"lam": 3}, {"lam": INF}, {"distance": "chi2"}], ids=str)
def test_neighbours_are_those_of_scikit_learn(options, weights):
    X, _ = bumps(30)
    y = np.array(["a", "b", "c"])[np.arange(30) % 3]
    Y = np.vstack([bumps(9, seed=1)[0], X[:4]])
    if "distance" in options:
        D, E = (classic.chi2(A, X, normalize=True) for A in (X, Y))
    else:
        D, E = (sd.pairwise(A, X, ground=LINE, normalize=True, **options) for A in (X, Y))
    wanted = KNeighborsClassifier(4, metric="precomputed", weights=weights).fit(D, y)
    near = TransportNeighborsClassifier(LINE, n_neighbors=4, weights=weights, **options).fit(X, y)
    np.testing.assert_allclose(near.predict_proba(Y), wanted.predict_proba(E), atol=1e-5)
    assert near.score(Y, y[:13]) == wanted.score(E, y[:13])
    np.testing.assert_allclose(near.kneighbors(Y)[0], wanted.kneighbors(E)[0], atol=1e-6)
    np.testing.assert_allclose(near.kneighbors()[0], wanted.kneighbors()[0], atol=1e-6)


def test_a_training_row_is_not_its_own_neighbour():
    X = np.eye(4, dtype=int)[[0, 0, 1, 3]]
    near = TransportNeighborsClassifier(lam=INF, n_neighbors=1).fit(X, [0, 0, 1, 1])
    assert near.kneighbors(return_distance=False).ravel().tolist() == [1, 0, 0, 2]
    assert near.kneighbors(X, return_distance=False).ravel().tolist() == [0, 0, 2, 3]


def test_the_nearest_vote_alone_where_distances_are_zero():
    X = np.eye(4, dtype=int)
    near = TransportNeighborsClassifier(lam=INF, n_neighbors=3, weights="distance")
    near.fit(X, [0, 1, 1, 1])
    np.testing.assert_array_equal(near.predict_proba(X[:1]), [[1.0, 0.0]])


def test_neighbours_by_asymmetric_costs_go_from_new_rows_to_training_rows():
    uphill = sd.Ground([[0, 1, 2], [9, 0, 1], [9, 9, 0]])
    near = TransportNeighborsClassifier(uphill, lam=INF, n_neighbors=1).fit(
        np.eye(3)[[0, 2]], ["low", "high"]
    )
    assert near.kneighbors(np.eye(3)[[1]], 2)[0].tolist() == [[1.0, 9.0]]
    assert near.predict(np.eye(3)[[1]]).tolist() == ["high"]
    assert near.kneighbors()[0].ravel().tolist() == [2.0, 9.0]


def test_transport_wins_where_images_are_moved():
    """Digits moved by up to two pixels: the same bins say little, bins that are near say more."""
    ink, y = load_digits(return_X_y=True)
    rng, side = np.random.default_rng(0), 10
    moved = np.zeros((len(ink), side, side))
    for image, small in zip(moved, ink.reshape(-1, 8, 8), strict=True):
        i, j = rng.integers(0, 3, 2)
        image[i : i + 8, j : j + 8] = small
    X = moved.reshape(len(ink), -1)
    ground, mixed = sd.Ground.grid(side, side), rng.permutation(side**2)
    contestants = {
        "transport": TransportSVC(ground, iterations=20, C=100),
        "ground of other images": TransportSVC(
            ground.matrix[np.ix_(mixed, mixed)], iterations=20, C=100
        ),
        "euclidean": TransportSVC(distance="euclidean", C=100),
        "sqeuclidean": TransportSVC(distance="sqeuclidean", C=100),
    }
    right = dict.fromkeys(contestants, 0.0)
    for seed in range(3):
        A, B, a, b = train_test_split(
            X, y, train_size=60, test_size=200, random_state=seed, stratify=y
        )
        for name, machine in contestants.items():
            right[name] += machine.fit(A, a).score(B, b) / 3
    assert right.pop("transport") > max(right.values()) + 0.02


def test_accuracy_on_digits():
    X, y = load_digits(return_X_y=True)
    A, B, a, b = train_test_split(X, y, train_size=100, test_size=300, random_state=0, stratify=y)
    ground = sd.Ground.grid(8, 8)
    assert TransportSVC(ground, lam=9 / ground.median, C=100).fit(A, a).score(B, b) > 0.85
    near = TransportNeighborsClassifier(ground, lam=9 / ground.median, n_neighbors=1).fit(A, a)
    assert near.score(B, b) > 0.8


# Searches and the cache


class Witness:
    """Stands for `pairwise` and writes down which pairs it was asked for."""

    def __init__(self):
        self.pairs = []

    def __call__(self, X, Y=None, **options):
        names = [[np.asarray(row).tobytes() for row in rows] for rows in (X, X if Y is None else Y)]
        for i, x in enumerate(names[0]):
            own = names[1][i:] if Y is None else names[1]
            self.pairs.extend(frozenset((x, y)) for y in own)
        return sd.pairwise(X, Y, **options)


@pytest.fixture
def witness(monkeypatch):
    found = Witness()
    monkeypatch.setattr("sinkdist.learn.distance_spec.pairwise", found)
    return found


GRID = {"C": [0.1, 1, 10, 100], "t": [1.0, "q10", "q20", "q50"]}


@pytest.mark.parametrize("folds", [2, 4])
def test_a_search_solves_each_pair_once(witness, folds):
    X, y = bumps(24)
    n = len(np.unique(probabilities(X), axis=0))
    search = GridSearchCV(TransportSVC(LINE, lam=3), GRID, cv=folds).fit(X, y)
    assert search.best_score_ > 0.8
    search.predict(X)
    assert len(witness.pairs) == len(set(witness.pairs)) == n * (n + 1) // 2
    assert distance_cache.info().solved == n * (n + 1) // 2


def test_a_search_over_a_pipeline_solves_each_pair_once(witness):
    X, y = bumps(24)
    line = make_pipeline(TransportKernel(LINE, lam=3), SVC(kernel="precomputed"))
    grid = {f"transportkernel__{name}": GRID[name] for name in ["t"]} | {"svc__C": GRID["C"]}
    piped = GridSearchCV(line, grid, cv=2).fit(X, y)
    assert len(witness.pairs) == len(set(witness.pairs))
    whole = GridSearchCV(TransportSVC(LINE, lam=3), GRID, cv=2).fit(X, y)
    assert len(witness.pairs) == len(set(witness.pairs))
    np.testing.assert_allclose(
        sorted(piped.cv_results_["mean_test_score"]), sorted(whole.cv_results_["mean_test_score"])
    )


def test_every_lam_is_a_question_of_its_own(witness):
    X, y = bumps(16)
    grid = {"lam": [1, 3, 9], "C": [1, 10]}
    GridSearchCV(TransportSVC(LINE), grid, cv=2).fit(X, y)
    n = len(np.unique(probabilities(X), axis=0))
    assert len(witness.pairs) == 3 * n * (n + 1) // 2
    assert distance_cache.info().tables == 3


def test_searches_on_threads_solve_each_pair_once(witness):
    joblib = pytest.importorskip("joblib")
    X, y = bumps(24)
    with joblib.parallel_backend("threading", n_jobs=4):
        GridSearchCV(TransportSVC(LINE, lam=3), GRID, cv=3).fit(X, y)
    assert len(witness.pairs) == len(set(witness.pairs))


def test_neighbours_need_no_distances_within_the_training_set(witness):
    X, y = bumps(10)
    near = TransportNeighborsClassifier(LINE, lam=3, n_neighbors=1).fit(X, y)
    assert witness.pairs == []
    near.predict(bumps(3, seed=5)[0])
    n = len(np.unique(probabilities(X), axis=0))
    assert len(witness.pairs) == 3 * n


def test_folds_of_neighbours_share_distances(witness):
    X, y = bumps(20)
    for k in (1, 3, 5):
        cross_val_score(TransportNeighborsClassifier(LINE, lam=3, n_neighbors=k), X, y, cv=5)
    assert len(witness.pairs) == len(set(witness.pairs))


def test_equal_questions_are_recognised_and_different_ones_kept_apart(witness):
    X, y = bumps(8)
    TransportSVC(LINE, lam=2).fit(X, y)
    once = len(witness.pairs)
    TransportSVC(LINE.matrix.tolist(), reg=0.5, C=7).fit(2 * X[::-1], y)
    TransportSVC(LINE, lam=2).fit(csr_array(X), y)
    assert len(witness.pairs) == once
    TransportSVC(LINE, lam=2, tol=1e-8).fit(X, y)
    TransportSVC(LINE.scaled(2), lam=2).fit(X, y)
    TransportSVC(LINE, lam=2, dtype="float32").fit(X, y)
    TransportSVC(LINE, lam=2, iterations=5).fit(X, y)
    TransportSVC(LINE, alpha=2).fit(X, y)
    assert len(witness.pairs) == 6 * once


def test_threads_are_those_of_the_estimator_that_asks(monkeypatch):
    asked = []

    def count(X, Y=None, *, workers, **options):
        asked.append(workers)
        return sd.pairwise(X, Y, workers=workers, **options)

    monkeypatch.setattr("sinkdist.learn.distance_spec.pairwise", count)
    for k in (1, 2):
        TransportSVC(LINE, lam=3, workers=k).fit(*bumps(6 * k, seed=k))
    assert asked[0] == 1 and set(asked[1:]) == {2}


def test_a_cache_without_room_forgets_and_stays_right(witness):
    distance_cache.allow(0)
    X, y = bumps(10)
    first = TransportSVC(LINE, lam=2).fit(X, y).decision_function(X)
    once = len(witness.pairs)
    assert distance_cache.info().nbytes == 0
    again = TransportSVC(LINE, lam=2).fit(X, y).decision_function(X)
    assert len(witness.pairs) == 2 * once
    np.testing.assert_allclose(first, again, rtol=1e-9)


def test_a_training_set_that_cannot_be_kept_is_told():
    distance_cache.allow(4000)
    X, y = bumps(40)
    with pytest.warns(UserWarning, match=r"do not fit in 4 kB of cache.*distance_cache.allow"):
        TransportSVC(LINE, lam=2).fit(X, y)


def test_the_least_recently_used_distance_goes_first(witness):
    X, y = bumps(20)
    TransportSVC(LINE, lam=1).fit(X, y)
    one = distance_cache.info().nbytes
    distance_cache.allow(int(2.5 * one))
    TransportSVC(LINE, lam=2).fit(X, y)
    TransportSVC(LINE, lam=1).fit(X, y)
    TransportSVC(LINE, lam=3).fit(X, y)  # lam=2 has to go
    assert distance_cache.info().tables == 2
    known = len(witness.pairs)
    TransportSVC(LINE, lam=1).fit(X, y)
    assert len(witness.pairs) == known
    TransportSVC(LINE, lam=2).fit(X, y)
    assert len(witness.pairs) > known


def test_test_rows_are_forgotten_before_training_rows(witness):
    X, y = bumps(20)
    machine = TransportSVC(LINE, lam=1).fit(X, y)
    limit = 3 * distance_cache.info().nbytes
    distance_cache.allow(limit)
    for seed in range(1, 12):
        machine.predict(bumps(10, seed=seed)[0])
        assert distance_cache.info().nbytes <= limit
    known = len(witness.pairs)
    TransportSVC(LINE, lam=1, C=5).fit(X, y)
    assert len(witness.pairs) == known


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("limit", [10**9, 20_000, 3_000])
def test_a_book_is_right_whatever_it_was_asked_before(symmetric, limit):
    from sinkdist.inputs.histograms import Histograms
    from sinkdist.learn.distance_table import DistanceTable
    from sinkdist.learn.hashed_rows import hashed_rows

    asked, wanted = [], set()

    def solve(X, Y, workers, progress=False):
        right, left = X if Y is None else Y, X[:, 0].tolist()
        for k, x in enumerate(left):
            asked.extend((x, y) for y in (left[k:] if Y is None else Y[:, 0].tolist()))
        sign = 0.0 if symmetric else 0.25
        between = X[:, :1] - right[:, 0]
        return np.abs(between) + sign * between

    question = SimpleNamespace(solve=solve, is_symmetric=symmetric, dtype=np.dtype(float))
    book, rng = DistanceTable(question), np.random.default_rng(0)
    for _ in range(60):
        X, Y = (rng.integers(0, 40, rng.integers(1, 25)).astype(float)[:, None] for _ in "XY")
        if rng.random() < 0.3:
            Y = X
        values, _, _ = book.distances(
            hashed_rows(Histograms(X)), hashed_rows(Histograms(Y)), limit, None
        )
        between = X - Y[:, 0]
        np.testing.assert_array_equal(
            values, np.abs(between) + (0.0 if symmetric else 0.25) * between
        )
        assert book.nbytes <= limit
        wanted.update((x, y) for x in X[:, 0].tolist() for y in Y[:, 0].tolist())
    if limit == 10**9:  # nothing was forgotten
        found, wanted = (
            [frozenset(pair) if symmetric else pair for pair in pairs] for pairs in (asked, wanted)
        )
        assert len(found) == len(set(found)) and set(found) == set(wanted)


# The rest of scikit-learn


ALL = [
    TransportKernel(LINE, lam=3),
    TransportSVC(LINE, alpha=0.5, t=1.0, C=4),
    TransportNeighborsClassifier(LINE, lam=INF, n_neighbors=3),
    TransportSVC(distance="hellinger"),
]


def answer(estimator, X):
    return estimator.transform(X) if hasattr(estimator, "transform") else estimator.predict(X)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_clone_and_pickle(estimator):
    X, y = bumps(16)
    before = pickle.loads(pickle.dumps(estimator)).fit(X, y)
    fitted = clone(estimator).fit(X, y)
    after = pickle.loads(pickle.dumps(fitted))
    distance_cache.clear()  # as in another process
    for other in (before, after, clone(after).fit(X, y)):
        np.testing.assert_allclose(answer(other, X[:5]), answer(fitted, X[:5]), rtol=1e-9)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.float64])
def test_sparse_rows_are_as_good_as_dense_ones(estimator, dtype):
    X, y = bumps(16)
    X = X.astype(dtype)
    X[:, 3] = 0
    dense, sparse = clone(estimator).fit(X, y), clone(estimator).fit(csr_array(X), y)
    np.testing.assert_allclose(answer(dense, X), answer(sparse, csr_array(X)), rtol=1e-5)
    np.testing.assert_allclose(answer(dense, csr_array(X)), answer(sparse, X), rtol=1e-5)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_frames(estimator):
    pandas = pytest.importorskip("pandas")
    X, y = bumps(16)
    frame = pandas.DataFrame(X, columns=list("abcdef"))
    fitted = clone(estimator).fit(frame, pandas.Series(y))
    assert fitted.feature_names_in_.tolist() == list("abcdef")
    np.testing.assert_array_equal(answer(fitted, frame), answer(clone(estimator).fit(X, y), X))
    with pytest.raises(ValueError, match="feature names"):
        answer(fitted, frame[list("fedcba")])


def test_the_kernel_names_its_columns():
    pandas = pytest.importorskip("pandas")
    X, _ = bumps(3)
    kernel = TransportKernel(LINE).set_output(transform="pandas")
    out = kernel.fit_transform(X)
    assert isinstance(out, pandas.DataFrame)
    assert out.columns.tolist() == ["transportkernel0", "transportkernel1", "transportkernel2"]
    machine = TransportSVC(LINE).fit(X, [0, 1, 1])
    assert machine.predict(X).shape == (3,)


@pytest.mark.parametrize("estimator", ALL, ids=repr)
def test_what_is_learnt_is_not_the_callers_memory(estimator):
    X, y = bumps(16)
    X = probabilities(X)
    X[:] = np.round(X * 64) / 64
    X[:, 0] += 1 - X.sum(axis=1)  # sums are 1 to the bit: nothing has to be divided
    fitted = clone(estimator).fit(X, y)
    rows = X[:6].copy()
    before = answer(fitted, rows)
    X[:] = X[:, ::-1].copy()
    distance_cache.clear()
    np.testing.assert_allclose(answer(fitted, rows), before, rtol=1e-9)


def test_single_precision_stays():
    X, _ = bumps(8)
    single = TransportKernel(LINE, lam=3).fit_transform(X.astype(np.float32))
    double = TransportKernel(LINE, lam=3).fit_transform(X)
    assert single.dtype == np.float32 and double.dtype == np.float64
    np.testing.assert_allclose(single, double, atol=1e-3)
    assert TransportKernel(LINE, lam=3, dtype="float32").fit_transform(X).dtype == np.float32


@pytest.mark.parametrize("Classifier", CLASSIFIERS)
def test_cross_validation(Classifier):
    X, y = bumps(30)
    scores = cross_val_score(Classifier(LINE, lam=3), X, np.array(["no", "yes"])[y], cv=3)
    assert scores.mean() > 0.85


@pytest.mark.parametrize("Classifier", CLASSIFIERS)
def test_precomputed_distances(Classifier):
    X, y = bumps(30)
    D = sd.pairwise(X, ground=LINE, lam=3, normalize=True)
    E = sd.pairwise(X[:7], X, ground=LINE, lam=3, normalize=True)
    given = Classifier(distance="precomputed").fit(D, y)
    np.testing.assert_array_equal(given.predict(D), Classifier(LINE, lam=3).fit(X, y).predict(X))
    assert given.predict(E).shape == (7,) and given.n_features_in_ == 30
    np.testing.assert_allclose(
        cross_val_score(Classifier(distance="precomputed"), D, y, cv=3),
        cross_val_score(Classifier(LINE, lam=3), X, y, cv=3),
    )


def test_a_precomputed_kernel_is_repaired_as_well():
    kernel = TransportKernel(distance="precomputed", t=10.0)
    K = kernel.fit_transform(TWO_AND_THREE.matrix)
    assert kernel.shift_ > 1e-3 and np.linalg.eigvalsh(K)[0] > -1e-12
    np.testing.assert_array_equal(kernel.transform(TWO_AND_THREE.matrix[2:4]), K[2:4])


@pytest.mark.parametrize("Classifier", CLASSIFIERS)
def test_a_stored_matrix(Classifier, tmp_path):
    X, y = bumps(12)
    D = sd.pairwise(X, ground=LINE, lam=3, normalize=True, out=tmp_path / "D.zarr")
    machine = Classifier(distance="precomputed").fit(D, y)
    np.testing.assert_array_equal(
        machine.predict(D), Classifier(distance="precomputed").fit(D.to_numpy(), y).predict(D[:])
    )


# What is said of bad input


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"lam": 1, "reg": 1}, "exactly one of 'lam', 'reg' and 'alpha'. Got lam=1 and reg=1"),
        ({"lam": -1}, "'lam' must be non-negative. Got -1"),
        ({"iterations": 3, "tol": 1e-3}, "'iterations' runs exactly that many steps"),
        ({"lam": INF, "iterations": 3}, "this call asks for the exact distance"),
        ({"workers": 0}, "The 'workers' option must be at least 1. Got 0 instead."),
        ({"dtype": "int8"}, "The 'dtype' option must be float32 or float64. Got 'int8' instead."),
        ({"distance": "emd"}, "'total_variation' or 'precomputed'. Got 'emd' instead."),
        ({"distance": None}, "The 'distance' option must be 'transport', 'euclidean', "),
        ({"ground": sd.Ground.grid(7)}, "'X' has 6 bins per row, but the ground metric has 7."),
        ({"ground": np.ones((6, 5))}, "The 'ground' option must be square"),
        ({"normalize": False}, "Row 0 of 'X' sums to 20.*: pass normalize=True"),
    ],
    ids=str,
)
@pytest.mark.parametrize("Estimator", [TransportKernel, *CLASSIFIERS])
def test_options_without_meaning(Estimator, options, sentence):
    X, y = bumps(6)
    X[0, 1] += 20 - X[0].sum()
    with pytest.raises(sd.InputError) as caught:
        Estimator(**{"ground": LINE} | options).fit(X, y)
    assert all(part in str(caught.value) for part in sentence.split(".*"))


@pytest.mark.parametrize("t", [0, -1.0, "q30", INF, float("nan")])
def test_bandwidths_without_meaning(t):
    said = r"The 't' option must be a positive number, 'q10', 'q20' or 'q50'\. Got .* instead"
    with pytest.raises(sd.InputError, match=said):
        TransportSVC(LINE, t=t).fit(*bumps(6))


@pytest.mark.parametrize("t", [None, True, [1.0]])
def test_bandwidths_of_the_wrong_type(t):
    with pytest.raises(sd.InputTypeError, match="The 't' option must be a positive number"):
        TransportKernel(LINE, t=t).fit(bumps(6)[0])


def test_rows_without_mass_are_named():
    X, y = bumps(6)
    X[[2, 4]] = 0
    with pytest.raises(sd.InputError, match=r"^Row 2 of 'X' \(and 1 more\) has no mass"):
        TransportNeighborsClassifier(LINE).fit(X, y)


def test_negative_masses_are_named():
    X, y = bumps(6)
    X[2, 3] = -4
    said = r"^Negative values in data: entry \(2, 3\) of 'X' is -4, but masses must be non-negative"
    with pytest.raises(sd.InputError, match=said):
        TransportSVC(LINE).fit(X, y)


def test_one_row_has_no_quantiles():
    with pytest.raises(sd.InputError, match="there is only 1 sample: pass a number"):
        TransportKernel(LINE).fit(bumps(1)[0])
    assert TransportKernel(LINE, lam=INF, t=1.0).fit_transform(bumps(1)[0]).tolist() == [[1.0]]


def test_kernels_need_symmetric_distances():
    X, y = bumps(6)
    M = LINE.matrix + np.triu(np.ones((6, 6)), 1)
    with pytest.raises(sd.InputError, match="The 'ground' option must be symmetric"):
        TransportSVC(M).fit(X, y)
    D = sd.pairwise(X, ground=LINE, lam=3, normalize=True)
    D[1, 4] *= 2
    said = "distances between training rows must be symmetric. Got .* from row 1 to 4 and .* back"
    with pytest.raises(sd.InputError, match=said):
        TransportSVC(distance="precomputed").fit(D, y)


@pytest.mark.parametrize("Estimator", [TransportKernel, *CLASSIFIERS])
def test_precomputed_distances_without_meaning(Estimator):
    D, y = LINE.matrix.copy(), np.arange(6) % 2
    with pytest.raises(sd.InputError, match=r"a square matrix. Got shape \(5, 6\) instead"):
        Estimator(distance="precomputed").fit(D[:5], y[:5])
    D[3, 2] = -1
    with pytest.raises(sd.InputError, match=r"entry \(3, 2\) of 'X' is -1, but distances must be"):
        Estimator(distance="precomputed").fit(D, y)
    D[3, 2] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        Estimator(distance="precomputed").fit(D, y)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n_neighbors": 0}, "The 'n_neighbors' option must be at least 1. Got 0 instead."),
        ({"n_neighbors": 7}, "n_samples = 6 here. Got 7 instead."),
        ({"weights": "closest"}, "must be 'uniform', 'distance' or a function of distances."),
    ],
)
def test_neighbours_without_meaning(options, sentence):
    with pytest.raises(sd.InputError) as caught:
        TransportNeighborsClassifier(LINE, **options).fit(*bumps(6))
    assert sentence in str(caught.value)


def test_votes_without_weight():
    near = TransportNeighborsClassifier(LINE, weights=lambda D: 0 * D).fit(*bumps(6))
    with pytest.raises(sd.InputError, match="gave no neighbour of row 0 a positive weight"):
        near.predict(bumps(6)[0])


def test_the_package_does_without_scikit_learn():
    script = """
import sys
import sinkdist, sinkdist.api.pairs, sinkdist.similarity, sinkdist.classic
assert "sklearn" not in sys.modules
sys.modules["sklearn"] = None
try:
    import sinkdist.learn
except sinkdist.MissingExtraError as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    sentence = 'sinkdist.learn needs scikit-learn: run pip install "sinkdist[learn]" '
    assert done.stdout.startswith(sentence)
