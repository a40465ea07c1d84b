"""What inputs may look like, and what is said of those that mean nothing: seen from outside."""

import ast
import os
import pickle
import re
import subprocess
import sys

import joblib
import numpy as np
import pytest
import scipy.sparse as sparse
from scipy.optimize import linprog
from scipy.special import logsumexp

import sinkdist as sd
from sinkdist import classic
from sinkdist.learn import TransportKernel, TransportSVC, distance_cache
from sinkdist.scale import threads
from sinkdist.solvers.table import SOLVERS
from tests.problems import random_metric, sparse_histograms

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


# -------------------------------------------------------------- sparse input that is damaged


def _csr(**parts):
    made = sparse.csr_array(np.full((4, D), 1 / D))
    for name, change in parts.items():
        array = getattr(made, name).copy()
        setattr(made, name, change(array))
    return made


def _set(place, value):
    def change(array):
        array[place] = value
        return array

    return change


def _csc(place, value):
    made = _csr().tocsc()
    made.indices[place] = value
    return made


def _bsr(place, value):
    made = _csr().tobsr((2, 3))
    made.indices[place] = value
    return made


def _coo(axis, place, value):
    made = _csr().tocoo()
    made.coords = tuple(index.copy() for index in made.coords)
    made.coords[axis][place] = value
    return made


def _lil(column):
    made = _csr().tolil()
    made.rows[2][3] = column
    return made


def _short_lil():
    made = _csr().tolil()
    made.data[2] = made.data[2][:5]
    return made


def _dok(key):
    made = _csr().todok()
    made._dict[key] = 0.5
    return made


def _dia():
    made = sparse.dia_array(np.eye(D))
    made.offsets = np.array([0, 1, 2])
    return made


FAR = 123_456_789
#: What was done to a sound matrix, and what must be said of it.
DAMAGE = {
    "csr, beyond": (lambda: _csr(indices=_set(15, FAR)), f"Row 1 of .* column {FAR}"),
    "csr, just beyond": (lambda: _csr(indices=_set(15, D)), f"Row 1 of .* column {D}"),
    "csr, negative": (lambda: _csr(indices=_set(40, -1)), "Row 3 of .* column -1"),
    "csr, very negative": (lambda: _csr(indices=_set(0, -FAR)), f"Row 0 of .* column -{FAR}"),
    "csr, backwards": (lambda: _csr(indptr=_set(2, 5)), "backwards at row 1, from 12 to 5"),
    "csr, not from 0": (lambda: _csr(indptr=_set(0, 3)), "begins with 3"),
    "csr, below 0": (lambda: _csr(indptr=_set(0, -3)), "begins with -3"),
    "csr, too long": (lambda: _csr(indptr=_set(-1, FAR)), f"row 3 at entry {FAR}"),
    "csr, an early row too long": (
        lambda: _csr(indptr=lambda p: np.array([0, FAR, FAR, FAR, FAR])),
        f"row 0 at entry {FAR}",
    ),
    "csr, rows missing": (lambda: _csr(indptr=lambda p: p[:-1]), "4 entries, but 4 rows need 5"),
    "csr, data missing": (lambda: _csr(data=lambda x: x[:-5]), "43 entries, but 48 indices"),
    "csr, indices missing": (lambda: _csr(indices=lambda x: x[:-5]), "48 entries, but 43 indices"),
    "csr, fractions": (lambda: _csr(indices=lambda x: x + 0.5), "indices of .* must be integers"),
    "csr, square": (lambda: _csr(indices=lambda x: x.reshape(4, D)), "must be 1-dimensional"),
    "csc, beyond": (lambda: _csc(5, FAR), f"Column 1 of .* row {FAR}"),
    "csc, negative": (lambda: _csc(5, -7), "Column 1 of .* row -7"),
    "bsr, beyond": (lambda: _bsr(4, FAR), f"Block row 1 of .* block column {FAR}"),
    "coo, column beyond": (lambda: _coo(1, 13, FAR), f"Row 1 of .* column {FAR}"),
    "coo, row negative": (lambda: _coo(0, 13, -2), "Column 1 of .* row -2"),
    "lil, beyond": (lambda: _lil(FAR), f"Row 2 of .* column {FAR}"),
    "lil, negative": (lambda: _lil(-1), "Row 2 of .* column -1"),
    "lil, data missing": (_short_lil, "Row 2 of .* 5 entries, but 12 indices"),
    "dok, beyond": (lambda: _dok((1, FAR)), f"Row 1 of .* column {FAR}"),
    "dok, row beyond": (lambda: _dok((FAR, 1)), f"Column 1 of .* row {FAR}"),
    "dia, data missing": (_dia, "3 diagonals"),
}


def refusals(damage):
    """What the verbs say of a damaged matrix."""
    make = DAMAGE[damage][0]
    verbs = {
        "pairwise": lambda z: sd.pairwise(z, ground=M, lam=9, workers=1),
        "exact": lambda z: sd.pairwise(z, ground=M, lam=np.inf, workers=1),
        "second": lambda z: sd.pairwise(X, z, ground=M, alpha=0.1, workers=1),
        "distance": lambda z: sd.distance(X[0], z, M, lam=9, normalize=True),
        "solve": lambda z: sd.solve(z, X[0], M, lam=9, dtype="float32"),
        "divergence": lambda z: sd.divergence(z, X[0], M, lam=9),
        "classic": classic.chi2,
        "kernel": lambda z: TransportKernel(M, lam=9).fit(z),
    }
    said = {}
    for name, verb in verbs.items():
        try:
            verb(make())
        except sd.InputError as error:
            said[name] = str(error)
        else:
            said[name] = "no error"
    return said


@pytest.fixture(scope="module")
def said():
    """What is said of every damage, in a process of its own: what is not refused may end it."""
    script = (
        "from tests.behaviour import test_kept_promises_inputs as t\n"
        "for damage in t.DAMAGE: print((damage, t.refusals(damage)), flush=True)\n"
        "print(('graph', t.graph_refusals()))"
    )
    return dict(map(ast.literal_eval, in_process(script).splitlines()))


@pytest.mark.parametrize("damage", DAMAGE)
def test_sparse_histograms_that_are_damaged_are_refused(damage, said):
    assert len(said[damage]) == 8
    for verb, sentence in said[damage].items():
        assert re.search(DAMAGE[damage][1], sentence), (verb, sentence)
        assert re.search("of '[XYrc]'|in '[XYrc]'", sentence), (verb, sentence)


def graph_refusals():
    """What is said of damaged graphs."""
    said = []
    square = sparse.csr_array(np.ones((4, 4)))
    for name, place, value in (("indices", 5, FAR), ("indices", 5, -2), ("indptr", 2, 0)):
        for kind in ("csr", "csc"):
            damaged = square.asformat(kind).copy()
            getattr(damaged, name)[place] = value
            try:
                sd.Ground.graph(damaged)
            except sd.InputError as error:
                said.append(str(error))
    return said


def test_graphs_that_are_damaged_are_refused(said):
    assert len(said["graph"]) == 6
    assert all("of the adjacency matrix" in sentence for sentence in said["graph"])


def in_process(script):
    """What a script prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia", "lil", "dok"])
@pytest.mark.parametrize("maker", [sparse.csr_array, sparse.csr_matrix])
def test_every_sparse_format_is_read(kind, maker):
    found = sd.pairwise(maker(X).asformat(kind), ground=M, lam=9)
    np.testing.assert_allclose(found, sd.pairwise(X, ground=M, lam=9), rtol=1e-12)


@pytest.mark.parametrize("stale", [False, True])
def test_unsorted_doubled_and_spare_entries_are_read_right(stale):
    rng = np.random.default_rng(3)
    wanted = sd.pairwise(X, ground=M, lam=9)
    usual = sparse.csr_array(X)
    order = np.concatenate([rng.permutation(np.arange(a, b)) for a, b in
                            zip(usual.indptr[:-1], usual.indptr[1:], strict=True)])  # fmt: skip
    twice = np.repeat(order, 2)
    halves = usual.data[twice] * np.tile([0.25, 0.75], order.size)
    doubled = sparse.csr_array(X)
    if stale:  # what SciPy has found out about the old indices is no longer true
        assert doubled.has_canonical_format and doubled.has_sorted_indices
    doubled.data, doubled.indices = halves, usual.indices[twice]
    doubled.indptr = 2 * usual.indptr
    kept = doubled.data.copy(), doubled.indices.copy()
    spare = sparse.csr_array(X)
    for more in (0.0, 7.0):
        spare.data = np.append(usual.data, [more, more])
        spare.indices = np.append(usual.indices, [FAR, 0]).astype(usual.indices.dtype)
        np.testing.assert_allclose(sd.pairwise(spare, ground=M, lam=9), wanted, rtol=1e-12)
        counts = sd.pairwise(2 * spare, ground=M, lam=9, normalize=True)
        np.testing.assert_allclose(counts, wanted, rtol=1e-12)
    np.testing.assert_allclose(sd.pairwise(doubled, ground=M, lam=9), wanted, rtol=1e-9)
    np.testing.assert_array_equal(doubled.data, kept[0])
    np.testing.assert_array_equal(doubled.indices, kept[1])


# ------------------------------------------------------------- options and kinds of the wrong type


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (X.astype(object), r"Got dtype object instead: pass .astype\(float\)\."),
        (X.astype(np.float32).astype(object), r"dtype object instead: pass .astype\(float\)\."),
        (np.array([[1, True]], object), r"dtype object instead: pass .astype\(float\)\."),
        (np.array([[0.5, None]], object), "with None among its entries"),
        (np.array([[0.5, "x"]], object), "with an object of type str among its entries"),
        (np.empty((0, D), object), r"dtype object instead: pass .astype\(float\)\."),
    ],
)
def test_arrays_of_objects_are_told_what_is_odd(values, said):
    with pytest.raises(sd.InputTypeError, match=said):
        sd.pairwise(values, ground=M, lam=9)
    with pytest.raises(sd.InputTypeError, match=said):
        sd.Ground(values)


ONE, TWO = X[0], X[5]
#: Every option that is True or False, of every verb.
FLAGS = {
    "solve": (lambda **o: sd.solve(ONE, TWO, M, lam=9, **o), "normalize coincidence"),
    "solve many": (lambda **o: sd.solve(X, X, M, lam=9, **o), "normalize coincidence"),
    "distance": (lambda **o: sd.distance(ONE, TWO, M, lam=9, **o), "normalize coincidence"),
    "distance many": (lambda **o: sd.distance(ONE, X, M, lam=9, **o), "normalize coincidence"),
    "pairwise": (
        lambda **o: sd.pairwise(X, ground=M, lam=9, **o),
        "normalize coincidence debiased overwrite",
    ),
    "divergence": (lambda **o: sd.divergence(ONE, TWO, M, lam=9, **o), "normalize"),
    "path": (lambda **o: sd.path(ONE, TWO, M, [1.0], **o), "normalize"),
    "mahalanobis": (
        lambda **o: classic.mahalanobis(X, ground=sd.Ground.grid(D), t=1.0, **o),
        "normalize overwrite inverse",
    ),
    **{
        name: (lambda name=name, **o: getattr(classic, name)(X, **o), "normalize overwrite")
        for name in classic.__all__
        if name != "mahalanobis"
    },
    "features": (
        lambda **o: sd.similarity.independence_features(X, sd.Ground.grid(D), **o),
        "normalize",
    ),
    "kernel": (lambda **o: TransportKernel(M, **o).fit(X), "normalize coincidence"),
    "svc": (lambda **o: TransportSVC(M, **o).fit(X, np.arange(10) % 2), "normalize coincidence"),
}


@pytest.mark.parametrize("verb", FLAGS)
@pytest.mark.parametrize("wrong", ["no", "", 0, 1, None, 1.0, [], np.array([True])], ids=repr)
def test_flags_are_true_or_false(verb, wrong):
    call, flags = FLAGS[verb]
    for name in flags.split():
        said = rf"The '{name}' option must be True or False\. Got {re.escape(repr(wrong))} instead"
        with pytest.raises(sd.InputTypeError, match=said):
            call(**{name: wrong})


@pytest.mark.parametrize("verb", FLAGS)
def test_flags_of_numpy_are_flags(verb):
    call, flags = FLAGS[verb]
    for name in set(flags.split()) - {"overwrite", "inverse"}:
        for value in (np.True_, np.False_):
            call(**{name: value})


@pytest.mark.parametrize("verb", [name for name in FLAGS if name not in
                                  ("path", "features", "kernel", "svc")])  # fmt: skip
def test_progress_is_a_flag_or_a_function(verb):
    call, _ = FLAGS[verb]
    for wrong in ("no", 0, 1, None, []):
        with pytest.raises(sd.InputTypeError, match="'progress' option must be True, False or a"):
            call(progress=wrong)
    call(progress=np.False_)
    records = []
    call(progress=records.append)
    assert records[-1].done == records[-1].total


@pytest.mark.parametrize("verb", [name for name in FLAGS if name not in
                                  ("path", "features", "kernel", "svc")])  # fmt: skip
def test_words_are_words(verb):
    call, _ = FLAGS[verb]
    for wrong in (None, 0, True, ["raise"], np.array(["raise", "nan"])):
        with pytest.raises(sd.InputTypeError, match="'on_empty' option must be 'raise' or 'nan'"):
            call(on_empty=wrong)
    with pytest.raises(sd.InputError, match="'on_empty' option must be 'raise' or 'nan'"):
        call(on_empty="skip")
    if verb.split()[0] not in ("solve", "distance", "pairwise", "divergence"):
        return
    for wrong in (None, 0, [], np.array(["auto", "log"]), "quick"):
        with pytest.raises(ValueError, match="'solver' option must be one of"):
            call(solver=wrong)
    for wrong in (0, [], "nonsense", "f4,(", {"names": ["a"]}, np.array([1.0]), object()):
        with pytest.raises(ValueError, match="'dtype' option must be float32 or float64"):
            call(dtype=wrong)


def test_a_stored_matrix_takes_flags_of_numpy(tmp_path):
    options = {"coincidence": np.True_, "debiased": np.False_, "overwrite": np.True_}
    found = sd.pairwise(X, ground=M, lam=9, out=tmp_path / "d", **options)
    np.testing.assert_allclose(np.asarray(found), sd.pairwise(X, ground=M, lam=9, coincidence=True))


# ------------------------------------------------------------------------- threads and imports


@pytest.fixture
def one_thread(monkeypatch):
    """More threads at work than one, beside the main one that waits, are an error."""

    def refuse(works, stop, run=threads.run_beside):
        if len(works) > 1:
            raise AssertionError("threads were started")
        run(works, stop)

    monkeypatch.setattr(threads, "run_beside", refuse)


LARGE = 730  # bins whose kernel is worth threads


@pytest.mark.parametrize("options", [{}, {"debiased": True}, {"coincidence": True}], ids=repr)
@pytest.mark.parametrize("stored", [False, True])
def test_one_worker_is_one_thread(one_thread, stored, options, tmp_path):
    """Not even to build the kernel that all pairs share."""
    Z, ground = np.eye(LARGE)[:3], sd.Ground.grid(LARGE).scaled()
    out = {"out": tmp_path / "d"} if stored else {}
    found = sd.pairwise(Z, ground=ground, lam=1, workers=1, **out, **options)
    assert np.asarray(found).shape == (3, 3)
    sd.distance(Z[0], Z, ground.forget(), lam=1, workers=1)
    sd.distance(Z[0], Z[1], ground.forget(), lam=1, workers=1)


def test_more_workers_are_more_threads(one_thread):
    """Else the test above would say nothing."""
    Z, ground = np.eye(LARGE)[:3], sd.Ground.grid(LARGE).scaled()
    with pytest.raises(AssertionError, match="threads were started"):
        sd.pairwise(Z, ground=ground, lam=1, workers=2)


INTERRUPTED = """
import builtins, importlib.abc, signal, sys
import sinkdist as sd

costs = [[0, 1, 3], [1, 0, 1], [3, 1, 0]]

class Interrupt(importlib.abc.MetaPathFinder):
    armed = True

    def find_spec(self, name, path=None, target=None):
        if self.armed and name == {module!r}:
            self.armed = False
            {how}

sys.meta_path.insert(0, Interrupt())
try:
    sd.distance([0.5, 0.5, 0], [0, 0.5, 0.5], costs, lam=float("inf"))
    print("not interrupted")
except KeyboardInterrupt:
    print("interrupted")
print(sd.distance([0.5, 0.5, 0], [0, 0.5, 0.5], costs, lam=float("inf")))
print(sd.distance([0.5, 0.5, 0], [0, 0.5, 0.5], costs, alpha=5))
import ot
print(ot.lp.emd2([1.0], [1.0], [[2.0]]), ot.bregman.sinkhorn is ot.sinkhorn)
"""


@pytest.mark.parametrize(
    ("module", "how"),
    [
        ("ot.lp", "signal.raise_signal(signal.SIGINT)"),
        ("torch.nn", "signal.raise_signal(signal.SIGINT)"),  # which POT imports where it finds it
        ("torch.autograd", "signal.raise_signal(signal.SIGINT)"),
        ("ot.lp.emd_wrap", "raise KeyboardInterrupt"),
        ("ot.gaussian", "raise KeyboardInterrupt"),
    ],
)
@pytest.mark.slow
def test_an_import_that_was_interrupted_is_no_obstacle(module, how):
    """Ctrl-C at several depths of the first exact call, which imports its dependency."""
    pytest.importorskip(module.partition(".")[0])
    told = in_process(INTERRUPTED.format(module=module, how=how)).splitlines()
    assert told == ["interrupted", "1.0", "1.0", "2.0 True"]


# ------------------------------------------------------------------------ moves that are forbidden


def advised(costs):
    """The number that the error for an infinite cost names."""
    with pytest.raises(sd.InputError, match="infinite costs are not accepted") as caught:
        sd.Ground(costs)
    return float(re.search(r"such as (\S+) \(", str(caught.value))[1])


def test_the_advice_for_infinite_costs_names_a_number():
    assert advised([[0, 1, 2], [1, 0, 1], [np.inf, 1, 0]]) == 2e6
    with pytest.raises(sd.InputError, match=r"Cost \(2, 0\) .* such as 2e\+06 \(a million times"):
        sd.Ground([[0, 1, 2], [1, 0, 1], [np.inf, 1, 0]])
    assert advised([[0, np.inf], [np.inf, 0]]) == 1e6
    assert advised([[np.inf]]) == 1e6
    assert advised([[0, 1e305], [np.inf, 0]]) == 1e300
    assert advised([[0, 1e-30], [np.inf, 0]]) == pytest.approx(1e-24)
    np.testing.assert_allclose(advised([[np.inf, 3], [0, 0]]), 3e6)


def problems_with_forbidden_moves():
    """Costs with infinite entries that leave a plan, and histograms."""
    rng = np.random.default_rng(5)
    for d in (3, 5, 8):
        for _ in range(3):
            costs = random_metric(d, seed=int(rng.integers(1000)))
            forbidden = rng.random((d, d)) < 0.3
            np.fill_diagonal(forbidden, False)
            r, c = rng.dirichlet(np.ones(d), 2)
            if linear(np.where(forbidden, np.inf, costs), r, c) is not None:
                yield np.where(forbidden, np.inf, costs), r, c


def linear(costs, r, c):
    """The exact distance with nothing at all where costs are infinite; None without a plan."""
    d, e = costs.shape
    sums = np.zeros((d + e, d * e))
    for i in range(d):
        sums[i, i * e : (i + 1) * e] = 1
    for j in range(e):
        sums[d + j, j::e] = 1
    allowed = np.isfinite(costs).ravel()
    bounds = [(0, None if ok else 0) for ok in allowed]
    found = linprog(np.where(allowed, costs.ravel(), 0.0), A_eq=sums, b_eq=[*r, *c], bounds=bounds)
    return found.fun if found.status == 0 else None


def log_sinkhorn_with_infinite_costs(costs, lam, r, c, sweeps=200_000):
    """``<P, M>`` by plain sweeps in the log domain, with -inf in the kernel; None if not solved."""
    K, f, g = -lam * costs, np.zeros(len(r)), np.zeros(len(c))
    allowed = np.isfinite(costs)
    for k in range(sweeps):
        f = np.log(r) - logsumexp(K + g, axis=1)
        g = np.log(c) - logsumexp(K + f[:, None], axis=0)
        if k % 50 == 0:
            P = np.exp(K + f[:, None] + g)
            if np.abs(P.sum(axis=1) - r).sum() < 1e-12:
                return float((P[allowed] * costs[allowed]).sum())
    return None


def test_the_advice_for_infinite_costs_is_safe_to_follow():
    count = 0
    for costs, r, c in problems_with_forbidden_moves():
        finite = np.where(np.isinf(costs), advised(costs), costs)
        exact = sd.distance(r, c, finite, lam=np.inf)
        assert exact == pytest.approx(linear(costs, r, c), rel=1e-9)
        for lam in (1e-3, 0.1, 1.0, 10.0, 100.0):
            truth = log_sinkhorn_with_infinite_costs(costs, lam, r, c)
            if truth is not None:
                s = sd.solve(r, c, finite, lam=lam, tol=1e-9)
                assert s.converged
                assert s.value == pytest.approx(truth, rel=1e-5), lam
                assert s.plan[np.isinf(costs)].max() < 1e-300
                batch = sd.distance([r, r], [c, c], finite, lam=lam, tol=1e-9)
                np.testing.assert_allclose(batch, truth, rtol=1e-5)
                count += 1
    assert count >= 15
