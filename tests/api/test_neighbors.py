"""`sd.neighbors` finds what a look at all pairs finds, for every member and any ground."""

import inspect

import numpy as np
import pytest
from scipy.sparse import csr_array, vstack

import sinkdist as sd
from sinkdist import classic
from sinkdist.search import bounds, candidates, cascade
from tests.search_problems import by_brute_force, draw

GRID = sd.Ground.grid(3, 3)
RNG = np.random.default_rng(5)
X = RNG.dirichlet(np.full(9, 0.4), 6)
Y = RNG.dirichlet(np.full(9, 0.4), 40)


def agree(found, D, k, tol, size):
    """Whether the neighbours are the k nearest, as sets of distances, in order, and all proven."""
    for q, row in enumerate(D):
        wanted = np.sort(row[~np.isnan(row)])[:k]
        there = found.indices[q] >= 0
        index, distances = found.indices[q][there], found.distances[q][there]
        assert len(index) == len(wanted) == len(set(index.tolist()))
        np.testing.assert_allclose(distances, wanted, rtol=tol, atol=tol * size)
        np.testing.assert_allclose(row[index], distances, rtol=tol, atol=tol * size)
        assert (np.lexsort((index, distances)) == np.arange(len(index))).all()
        assert found.proven[q][there].all()
        assert np.isnan(found.distances[q][~there]).all()


@pytest.fixture
def all_bounds(monkeypatch):
    """Bounds that wait for large families are used for small ones, too."""
    monkeypatch.setattr(cascade, "MANY", 2)
    monkeypatch.setattr(bounds, "_LOOK", 3)


@pytest.mark.filterwarnings("ignore::sinkdist.ConvergenceWarning")  # pairs that stall anyway
@pytest.mark.parametrize("part", range(8))
@pytest.mark.parametrize("sparse", [False, True])
def test_random_problems_agree_with_brute_force(part, sparse, all_bounds, monkeypatch):
    """Ties, duplicates, zero bins, asymmetric and rectangular costs, tiny and huge ones."""
    if sparse:
        monkeypatch.setattr(candidates, "_SPARSE", 2.0)
    for seed in range(50 * part, 50 * part + 50):
        ground, A, B, member, tol, k = draw([seed, int(sparse)])
        D = by_brute_force(ground, A, B, member)
        found = sd.neighbors(A, B, ground=ground, k=k, **member)
        agree(found, D, k, tol, ground.max)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sinkdist.ConvergenceWarning")
def test_many_more_random_problems(all_bounds, monkeypatch):
    dense = candidates._SPARSE
    for seed in range(10_000, 20_000):
        monkeypatch.setattr(candidates, "_SPARSE", 2.0 if seed % 2 else dense)
        ground, A, B, member, tol, k = draw(seed)
        D = by_brute_force(ground, A, B, member)
        agree(sd.neighbors(A, B, ground=ground, k=k, **member), D, k, tol, ground.max)


def few_words(words, count, most):
    """Documents of few words, every other one from a small part of the vocabulary."""
    rng, rows = np.random.default_rng(3), []
    for k in range(count):
        bins = rng.choice(words if k % 2 else words // 30, rng.integers(1, most), replace=False)
        row = np.zeros(words)
        row[bins] = rng.dirichlet(np.ones(bins.size))
        rows.append(csr_array(row[None]))
    return vstack([*rows, rows[1], rows[2]]).tocsr()  # and some of them twice


def path_graph(nodes):
    """A ring with chords."""
    i = np.arange(nodes)
    start, end = np.concatenate([i, i]), np.concatenate([(i + 1) % nodes, (i + 97) % nodes])
    length = np.random.default_rng(4).random(2 * nodes) + 0.1
    return csr_array((length, (start, end)), shape=(nodes, nodes))


@pytest.fixture(scope="module")
def without_matrix():
    """Grounds of which no matrix is ever made."""
    points = np.random.default_rng(2).normal(size=(8300, 20))
    return {
        "words": sd.Ground.points(points),
        "squares": sd.Ground.points(points, metric="sqeuclidean"),
        "cosines": sd.Ground.points(points, metric="cosine"),
        "graph": sd.Ground.graph(path_graph(8300)), "pixels": sd.Ground.grid(110, 110),
        "huge costs": sd.Ground.points(points).scaled(1e-40),
    }  # fmt: skip


@pytest.mark.parametrize("kind", ["words", "squares", "cosines", "graph", "pixels", "huge costs"])
@pytest.mark.parametrize(("member", "tol"), [({"lam": np.inf}, 1e-9), ({"alpha": 0.5}, 1e-5)])
def test_grounds_without_a_matrix_agree_with_brute_force(without_matrix, kind, member, tol):
    """Costs are computed for the bins that queries and candidates use."""
    ground = without_matrix[kind]
    assert not ground.is_dense
    rows = few_words(ground.shape[0], 70, 9)
    for A, B in ((rows, None), (rows[:12], rows[20:])):
        D = by_brute_force(ground, A, B, member)
        found = sd.neighbors(A, B, ground=ground, k=4, **member)
        agree(found, D, 4, tol, float(np.nanmax(D)))
        assert found.bounds[-1] == "planes"
        assert ("two transforms" in found.bounds) == ground.is_made_metric


def test_a_vocabulary_with_a_finite_lam_and_estimates(without_matrix):
    ground, member = without_matrix["words"], {"lam": 3.0}
    rows = few_words(ground.shape[0], 70, 9)
    D = by_brute_force(ground, rows, None, member)
    agree(sd.neighbors(rows, ground=ground, k=4, **member), D, 4, 1e-5, np.nanmax(D))
    guessed = sd.neighbors(rows, ground=ground, k=4, order="heuristic", **member)
    for q, row in enumerate(D):
        sure = guessed.proven[q]
        wanted = np.sort(row)[:4][: sure.sum()]
        np.testing.assert_allclose(guessed.distances[q][sure], wanted, rtol=1e-5)
    D = by_brute_force(ground, rows, None, {"lam": 0})
    agree(sd.neighbors(rows, ground=ground, k=4, lam=0), D, 4, 1e-9, np.nanmax(D))


def test_an_index_of_a_vocabulary(without_matrix, tmp_path):
    ground = without_matrix["words"]
    rows = few_words(ground.shape[0], 70, 9)
    index = sd.Index(rows[:40], ground, lam=np.inf).add(rows[40:])
    found = index.query(rows[:5], 3)
    D = sd.pairwise(rows[:5], rows, ground=ground, lam=np.inf)
    agree(found, D, 3, 1e-9, D.max())
    with pytest.raises(sd.InputError, match="A matrix of 8,300 x 8,300 costs would take"):
        index.save(tmp_path / "words.index")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("metric", ["cityblock", "sqeuclidean"])
def test_grids_that_need_no_matrix_are_searched_on_theirs(metric, all_bounds):
    ground = sd.Ground.grid(30, 30, metric=metric)
    rows = np.random.default_rng(1).dirichlet(np.full(900, 0.02), 40)
    found = sd.neighbors(rows, ground=ground, k=3, lam=np.inf)
    agree(found, by_brute_force(ground, rows, None, {"lam": np.inf}), 3, 1e-9, ground.max)
    assert ("projections" in found.bounds) == (metric == "cityblock")


@pytest.mark.parametrize("member", [{"lam": np.inf}, {"alpha": 0.3}, {"lam": 4.0}, {"lam": 0}])
def test_a_radius_finds_all_within_it(member):
    D = sd.pairwise(X, Y, ground=GRID, **member)
    radius = float(np.quantile(D, 0.2))
    found = sd.neighbors(X, Y, ground=GRID, radius=radius, **member)
    for q in range(len(X)):
        assert set(found.indices[q]) - {-1} == set(np.flatnonzero(D[q] <= radius))
    some = sd.neighbors(X, Y, ground=GRID, radius=radius, k=2, **member)
    assert some.indices.shape == (6, 2)
    assert (some.indices == found.indices[:, :2]).all()


def test_a_radius_includes_its_edge():
    M = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    rows = np.eye(3)
    found = sd.neighbors(rows[:1], rows, ground=M, radius=1.0, lam=np.inf)
    assert found.indices.tolist() == [[0, 1]]
    assert sd.neighbors(rows[:1], rows[2:], ground=M, radius=0.5, lam=np.inf).indices.shape == (
        1,
        0,
    )


@pytest.mark.parametrize("member", [{"lam": np.inf}, {"alpha": 0.3}, {"lam": 4.0}])
def test_a_budget_is_kept_and_tells_what_is_proven(member):
    """Whatever is called proven is among the nearest, however small the budget."""
    D = sd.pairwise(X, Y, ground=GRID, **member)
    seen = []
    for budget in (1, 3, 10, 20, 40):
        found = sd.neighbors(X, Y, ground=GRID, k=5, budget=budget, **member)
        assert (found.solved <= budget).all()
        seen.append(found.proven.sum())
        for q, row in enumerate(D):
            sure = found.proven[q]
            np.testing.assert_allclose(
                found.distances[q][sure], np.sort(row)[:5][: sure.sum()], rtol=1e-5
            )
            assert (np.diff(sure.astype(int)) <= 0).all()  # the nearest are proven first
    assert seen[0] == 0 and seen[-1] == found.proven.size


def test_duplicates_are_neighbours_and_rows_are_not_their_own():
    rows = np.array([[0.5, 0.5, 0], [0, 1, 0], [0.5, 0.5, 0], [0.5, 0.5, 0]])
    found = sd.neighbors(rows, ground=sd.Ground.grid(3), k=2, lam=np.inf)
    assert found.indices.tolist() == [[2, 3], [0, 2], [0, 3], [0, 2]]
    assert found.distances.tolist() == [[0, 0], [0.5, 0.5], [0, 0], [0, 0]]


def test_fewer_candidates_than_k():
    found = sd.neighbors(X, Y[:2], ground=GRID, k=4, lam=np.inf)
    assert (found.indices[:, 2:] == -1).all() and np.isnan(found.distances[:, 2:]).all()
    assert not found.proven[:, 2:].any() and found.proven[:, :2].all()
    alone = sd.neighbors(Y[:1], ground=GRID, k=1, lam=np.inf)
    assert alone.indices.tolist() == [[-1]]


def test_rows_without_mass():
    A, B = X.copy(), Y.copy()
    A[1], B[3] = 0.0, 0.0
    for member in ({"lam": np.inf}, {"alpha": 0.3}, {"lam": 0}, {"lam": 3}):
        found = sd.neighbors(A, B, ground=GRID, k=40, on_empty="nan", **member)
        assert (found.indices[1] == -1).all() and np.isnan(found.distances[1]).all()
        assert (np.sort(found.indices[0]) == np.r_[-1, 0:3, 4:40]).all()
    with pytest.raises(sd.InputError, match="Row 3 of 'Y' has no mass"):
        sd.neighbors(X, B, ground=GRID, lam=np.inf)


@pytest.mark.parametrize(
    "name", ["euclidean", "sqeuclidean", "hellinger", "chi2", "total_variation"]
)
def test_classic_distances(name):
    D = getattr(classic, name)(X, Y)
    found = sd.neighbors(X, Y, distance=name, k=4)
    agree(found, D, 4, 1e-12, 1.0)
    own = sd.neighbors(Y, distance=name, k=1)
    D = getattr(classic, name)(Y)
    np.fill_diagonal(D, np.nan)
    agree(own, D, 1, 1e-12, 1.0)


def test_fixed_iterations_are_bounded_by_nothing():
    """Their plans are no couplings: all pairs are solved, and none is ruled out."""
    member = {"lam": 20.0, "iterations": 2}
    found = sd.neighbors(X, Y, ground=GRID, k=3, **member)
    agree(found, sd.pairwise(X, Y, ground=GRID, **member), 3, 1e-9, 1.0)
    assert found.bounds == () and (found.solved == len(Y)).all()


def test_heuristic_order_says_what_it_proves():
    D = sd.pairwise(X, Y, ground=GRID, lam=4.0)
    found = sd.neighbors(X, Y, ground=GRID, k=3, lam=4.0, order="heuristic")
    for q, row in enumerate(D):
        sure = found.proven[q]
        np.testing.assert_allclose(
            found.distances[q][sure], np.sort(row)[:3][: sure.sum()], rtol=1e-5
        )
        np.testing.assert_allclose(row[found.indices[q]], found.distances[q], rtol=1e-5)


def test_rows_of_every_kind_and_any_number_of_workers():
    import pandas as pd

    one = sd.neighbors(X, Y, ground=GRID, k=3, lam=np.inf, workers=1)
    for A, B in (
        (csr_array(X), csr_array(Y)), (X.tolist(), Y.tolist()), (pd.DataFrame(X), pd.DataFrame(Y)),
        (np.asfortranarray(X), Y[::-1][::-1]),
    ):  # fmt: skip
        found = sd.neighbors(A, B, ground=GRID, k=3, lam=np.inf, workers=3)
        assert (found.indices == one.indices).all()
        np.testing.assert_allclose(found.distances, one.distances, rtol=1e-12)
    counts = np.round(X * 1000)
    found = sd.neighbors(counts, Y, ground=GRID, k=3, lam=np.inf, normalize=True)
    assert found.indices.shape == (6, 3)


def test_float32():
    A, B = X.astype(np.float32), Y.astype(np.float32)
    for member, tol in (({"lam": np.inf}, 1e-5), ({"alpha": 0.3}, 1e-3), ({"lam": 3.0}, 1e-3)):
        found = sd.neighbors(A, B, ground=GRID, k=3, **member)
        assert found.distances.dtype == np.float32
        agree(found, sd.pairwise(A, B, ground=GRID, **member), 3, tol, 1.0)


def test_inputs_stay_as_they_are():
    A, B = X.copy(), Y.copy()
    for rows in (A, B):
        rows.flags.writeable = False
    sd.neighbors(A, B, ground=GRID, k=2, lam=np.inf)
    assert (A == X).all() and (B == Y).all()


def test_progress_and_the_one_line_of_the_result():
    seen = []
    found = sd.neighbors(X, Y, ground=GRID, k=2, lam=np.inf, progress=seen.append)
    assert seen[-1].done == seen[-1].total == len(X) * len(Y)
    text = repr(found)
    assert text.startswith("Neighbors(6 x 2 of 40, ") and "proven, by planes" in text
    assert "\n" not in text


def test_a_warning_for_pairs_that_fell_short():
    with pytest.warns(sd.ConvergenceWarning, match="did not reach tol"):
        sd.neighbors(X, Y, ground=GRID, k=2, lam=400.0, max_iter=1)


def test_the_graph_has_a_row_for_each_query():
    found = sd.neighbors(Y, ground=GRID, k=3, lam=np.inf)
    graph = found.to_graph()
    assert graph.shape == (40, 40) and graph.nnz == 120
    assert (np.diff(graph.indptr) == 3).all()
    np.testing.assert_array_equal(graph.indices.reshape(40, 3), found.indices)


def test_a_symmetric_graph_has_every_edge_both_ways():
    rows = np.vstack([Y, Y[:3]])  # duplicates: edges of length 0
    found = sd.neighbors(rows, ground=GRID, k=3, lam=np.inf)
    graph, both = found.to_graph(), found.to_graph(symmetric=True)
    edges = {(i, j) for i in range(43) for j in graph[[i]].indices}
    wanted = edges | {(j, i) for i, j in edges}
    assert {(i, j) for i in range(43) for j in both[[i]].indices} == wanted
    assert (both != both.T).nnz == 0 and (0, 40) in wanted and both.has_sorted_indices
    with pytest.raises(sd.InputError, match="for the neighbours of one family"):
        sd.neighbors(X, Y, ground=GRID, k=3, lam=np.inf).to_graph(symmetric=True)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"lam": np.inf}, "Neighbours under transport need costs between bins: pass 'ground'"),
        ({"ground": GRID}, "exactly one of 'lam', 'reg' and 'alpha'. Got none of them"),
        ({"ground": GRID, "lam": 9, "k": 0}, "The 'k' option must be at least 1. Got 0"),
        ({"ground": GRID, "lam": 9, "k": 2.5}, "The 'k' option must be a whole number. Got 2.5"),
        (
            {"ground": GRID, "lam": 9, "radius": -1},
            "The 'radius' option must be at least 0. Got -1",
        ),
        ({"ground": GRID, "lam": 9, "budget": 0}, "The 'budget' option must be at least 1"),
        (
            {"ground": GRID, "lam": 9, "order": "fast"},
            "must be 'proven' or 'heuristic'. Got 'fast'",
        ),
        ({"ground": GRID, "alpha": 1, "order": "heuristic"}, "bounds on the constrained distance"),
        ({"distance": "cosine"}, "or 'total_variation'. Got 'cosine' instead"),
        ({"distance": "chi2", "lam": 9}, "distance='chi2' is computed bin by bin: leave out 'lam'"),
        ({"distance": "chi2", "ground": GRID}, "bin by bin: leave out 'ground'"),
    ],
)
def test_mistakes_are_answered_in_a_sentence(options, said):
    with pytest.raises((sd.InputError, sd.InputTypeError)) as error:
        sd.neighbors(X, Y, **options)
    assert said in str(error.value)


def test_a_single_histogram_is_no_family():
    with pytest.raises(sd.InputError, match=r"'X' must be a family of histograms"):
        sd.neighbors(X[0], Y, ground=GRID, lam=np.inf)


def test_k_has_its_default_in_words():
    assert inspect.signature(sd.neighbors).parameters["k"].default is None
    assert sd.neighbors(X, Y, ground=GRID, lam=np.inf).indices.shape == (6, 10)
