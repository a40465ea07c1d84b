"""What inputs may look like, and what is said of those that mean nothing: seen from outside."""

import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sparse
from problems import random_metric, sparse_histograms

import sinkdist as sd
from sinkdist import classic
from sinkdist.learn import TransportKernel, TransportSVC, distance_cache
from sinkdist.solvers.table import SOLVERS

D = 12
M = random_metric(D, seed=0)
X = sparse_histograms(10, D, seed=1)
FULL = np.random.default_rng(2).dirichlet(np.ones(D), 10)

# --------------------------------------------------------------------- memory of every kind


def _read_only(array, tmp_path):
    array = array.copy()
    array.flags.writeable = False
    return array


def _memory_map(array, tmp_path):
    place = tmp_path / f"{np.random.default_rng().integers(1 << 62)}.npy"
    np.save(place, array)
    return np.load(place, mmap_mode="r")


def _strided(array, tmp_path):
    wide = np.zeros((array.shape[0], 2 * array.shape[1])) if array.ndim == 2 else None
    wide = np.zeros(2 * array.size) if wide is None else wide
    wide[..., ::2] = array
    return wide[..., ::2]


def _unaligned(array, tmp_path):
    buffer = np.zeros(array.nbytes + 1, np.uint8)
    view = buffer[1:].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


MEMORY = {
    "read-only": _read_only,
    "memory map": _memory_map,
    "strided": _strided,
    "reversed": lambda a, _: a[::-1].copy()[::-1],
    "columns first": lambda a, _: np.asfortranarray(a),
    "big-endian": lambda a, _: a.astype(">f8"),
    "unaligned": _unaligned,
}
#: Every member of the family, and every solver by name.
MEMBERS = {
    **{name: {"lam": 3.0, "solver": name} for name in SOLVERS},
    "large lam": {"lam": 2000.0},
    "steps": {"lam": 9.0, "iterations": 5},
    "steps in the log domain": {"lam": 2000.0, "iterations": 5},
    "ball": {"alpha": 0.3},
    "small ball": {"alpha": 1e-3},
    "exact": {"lam": np.inf},
    "independence": {"lam": 0},
}


def csr_in(memory, rows, tmp_path, index=np.int32):
    """Rows as CSR whose three arrays lie in some kind of memory."""
    made = sparse.csr_array(rows)
    made.data = MEMORY[memory](made.data, tmp_path)
    if memory in ("read-only", "memory map"):  # the other kinds, SciPy itself copies or refuses
        made.indices = MEMORY[memory](made.indices.astype(index), tmp_path)
        made.indptr = MEMORY[memory](made.indptr.astype(index), tmp_path)
    return made


def answers(first, second, ground, options):
    """All verbs on families and on one pair."""
    one, other = first[0], second[0]
    s, t = sd.solve(first, second, ground, **options), sd.solve(one, other, ground, **options)
    found = [
        s.value, s.plan, s.entropy, *s.emd_bounds, t.value, t.plan, t.entropy, *t.emd_bounds,
        sd.distance(first, second, ground, **options), sd.distance(one, other, ground, **options),
        sd.distance(one, second, ground, **options), sd.pairwise(first, ground=ground, **options),
        sd.pairwise(first, second, ground=ground, **options),
    ]  # fmt: skip
    if "alpha" not in options:
        found += [
            sd.divergence(first, second, ground, **options),
            sd.divergence(one, other, ground, **options),
            sd.pairwise(first, second, ground=ground, debiased=True, **options),
        ]
    return found


def assert_same(found, wanted):
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("rows", ["some bins", "all bins"])
def test_histograms_and_costs_may_lie_in_any_memory(rows, member, tmp_path):
    options, Z = MEMBERS[member], X if rows == "some bins" else FULL
    wanted = answers(Z[:5], Z[5:], M, options)
    for place in MEMORY.values():
        first, second, costs = (place(a, tmp_path) for a in (Z[:5], Z[5:], M))
        copies = [a.copy() for a in (first, second, costs)]
        assert_same(answers(first, second, costs, options), wanted)
        for a, b in zip((first, second, costs), copies, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("member", MEMBERS)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_histograms_may_lie_in_any_memory(member, index, tmp_path):
    options = MEMBERS[member]
    for memory in MEMORY:
        for Z in (X, FULL):
            first, second = (csr_in(memory, part, tmp_path, index) for part in (Z[:5], Z[5:]))
            found = [
                sd.distance(first, second, M, **options),
                sd.pairwise(first, ground=M, **options),
                sd.solve(first, second, M, **options).plan,
            ]
            wanted = [
                sd.distance(Z[:5], Z[5:], M, **options),
                sd.pairwise(Z[:5], ground=M, **options),
                sd.solve(Z[:5], Z[5:], M, **options).plan,
            ]
            assert_same(found, wanted)


@pytest.mark.parametrize("memory", MEMORY)
def test_paths_and_classic_distances_take_any_memory(memory, tmp_path):
    place = MEMORY[memory]
    first, second, costs = (place(a, tmp_path) for a in (X[:5], X[5:], M))
    lams = place(np.array([1.0, 9.0, 100.0]), tmp_path)
    pairs = [(first[0], second[0]), (place(X[0], tmp_path), place(X[5], tmp_path))]
    for index in (np.int32, np.int64):
        one = csr_in(memory, X[0], tmp_path, index), csr_in(memory, X[5], tmp_path, index)
        pairs += [one] if one[0].ndim == 1 else []
    wanted = [s.value for s in sd.path(X[0], X[5], M, [1.0, 9.0, 100.0])]
    for r, c in pairs:
        assert [s.value for s in sd.path(r, c, costs, lams)] == pytest.approx(wanted, rel=1e-6)
    for name in classic.__all__:
        more = {"ground": costs, "t": 1.0} if name == "mahalanobis" else {}
        usual = {"ground": M, "t": 1.0} if name == "mahalanobis" else {}
        verb = getattr(classic, name)
        wanted = verb(X[:5], X[5:], **usual)
        for rows in ((first, second), tuple(csr_in(memory, a, tmp_path) for a in (X[:5], X[5:]))):
            np.testing.assert_allclose(verb(*rows, **more), wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("memory", MEMORY)
def test_estimators_take_any_memory(memory, tmp_path):
    place, y = MEMORY[memory], np.arange(10) % 2
    wanted = TransportKernel(M, lam=9).fit_transform(X)
    distance_cache.clear()
    rows, costs = place(X, tmp_path), place(M, tmp_path)
    np.testing.assert_allclose(TransportKernel(costs, lam=9).fit_transform(rows), wanted, rtol=1e-6)
    distance_cache.clear()
    TransportSVC(costs, lam=9).fit(csr_in(memory, X, tmp_path), y).predict(rows)


# ------------------------------------------------------------------- grounds from a pickle


def _by_joblib(ground, tmp_path):
    """As workers of joblib receive arrays that are large: a read-only map of a file."""
    joblib.dump(ground, tmp_path / "ground")
    return joblib.load(tmp_path / "ground", mmap_mode="r")


def _by_buffers(ground, tmp_path):
    """As clusters send arrays: apart from the pickle, in bytes that cannot be written to."""
    parts = []
    text = pickle.dumps(ground, protocol=5, buffer_callback=parts.append)
    return pickle.loads(text, buffers=[bytes(part) for part in parts])


@pytest.mark.parametrize("send", [_by_joblib, _by_buffers])
@pytest.mark.parametrize("member", MEMBERS)
def test_a_ground_works_after_any_journey(member, send, tmp_path):
    options = MEMBERS[member]
    line = sd.Ground.points(np.arange(D) ** 2.0)
    for ground in (sd.Ground(M), sd.Ground.grid(D).scaled(), line.scaled()):
        sent = send(ground, tmp_path)
        assert_same(answers(X[:5], X[5:], sent, options), answers(X[:5], X[5:], ground, options))
        assert_same(
            [s.value for s in sd.path(X[0], X[5], sent, [1.0, 9.0])],
            [s.value for s in sd.path(X[0], X[5], ground, [1.0, 9.0])],
        )
        assert bool(sent.is_metric) == bool(ground.is_metric)
        assert sent.scaled("max").closest_metric().max == pytest.approx(1.0)
        np.testing.assert_array_equal(sent.matrix, ground.matrix)


def test_a_mapped_ground_is_not_copied(tmp_path):
    """A worker that maps 1 GB of costs shall not hold them a second time."""
    sent = _by_joblib(sd.Ground.grid(20, 20), tmp_path)
    base = sent.matrix
    while getattr(base, "base", None) is not None and not isinstance(base, np.memmap):
        base = base.base
        base = getattr(base, "keeps", base)
    assert isinstance(base, np.memmap)


@pytest.mark.parametrize("send", [_by_joblib, _by_buffers])
def test_solutions_work_after_any_journey(send, tmp_path):
    for options in MEMBERS.values():
        for r, c in ((X[:5], X[5:]), (X[0], X[5])):
            s = sd.solve(r, c, M, **options)
            t = send(s, tmp_path)
            assert_same(
                [t.value, t.plan, t.entropy, t.alpha, *t.emd_bounds],
                [s.value, s.plan, s.entropy, s.alpha, *s.emd_bounds],
            )


def test_points_that_change_later_do_not_move_the_bins():
    places = np.array([0.0, 1.0, 3.0])
    ground = sd.Ground.points(places)
    places[:] = 0.0
    assert sd.distance([1, 0, 0], [0, 0, 1], ground, lam=np.inf) == 3.0


@pytest.mark.slow
def test_workers_of_joblib_take_a_large_ground():
    ground = sd.Ground.grid(20, 20).scaled()
    Z = np.random.default_rng(0).dirichlet(np.ones(400), 6)
    verb = joblib.delayed(sd.pairwise)
    found = joblib.Parallel(2)(verb(z, ground=ground, lam=9, workers=1) for z in (Z[:3], Z[3:]))
    for z, matrix in zip((Z[:3], Z[3:]), found, strict=True):
        np.testing.assert_allclose(matrix, sd.pairwise(z, ground=ground, lam=9), rtol=1e-9)


@pytest.mark.slow
def test_a_grid_search_on_processes_takes_a_large_ground():
    from sklearn.model_selection import GridSearchCV

    ground = sd.Ground.grid(20, 20).scaled()
    Z = np.random.default_rng(0).dirichlet(np.ones(400), 12)
    search = GridSearchCV(
        TransportSVC(ground, lam=9, workers=1), {"C": [1.0, 10.0]}, cv=2, n_jobs=2,
        error_score="raise",
    )  # fmt: skip
    search.fit(Z, np.arange(12) % 2)
    assert 0.0 <= search.best_score_ <= 1.0
