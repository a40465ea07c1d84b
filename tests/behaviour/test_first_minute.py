"""Where new users stumble: each a call as they write it, and what they are told or given."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

import sinkdist as sd

PIXELS = sd.Ground.grid(8, 8)
INF = float("inf")


@pytest.fixture
def X():
    return np.random.default_rng(0).dirichlet(np.ones(64), 5)


def heard(call):
    """The scale warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    return [x for x in caught if issubclass(x.category, sd.ScaleWarning)]


# lam and the unit of costs


@pytest.mark.parametrize(
    "verb",
    [
        lambda X, M, **o: sd.pairwise(X, ground=M, **o),
        lambda X, M, **o: sd.distance(X[0], X, M, **o),
        lambda X, M, **o: sd.solve(X[0], X[1], M, **o).value,
        lambda X, M, **o: sd.divergence(X[0], X[1], M, **o),
        lambda X, M, **o: sd.barycenter(X, ground=M, **o),
        lambda X, M, **o: sd.neighbors(X, ground=M, k=2, **o).distances,
        lambda X, M, **o: sd.Index(X, M, **o).query(X, k=2).distances,
        lambda X, M, **o: sd.learn.TransportKernel(M, **o).fit_transform(X),
        lambda X, M, **o: sd.learn.TransportKMeans(2, M, random_state=0, **o).fit(X).inertia_,
    ],
)
def test_strength_relative_to_the_median_is_the_same_in_every_unit(X, verb):
    inches = sd.Ground.grid(8, 8, spacing=100.0)
    wanted = verb(X, inches, lam=9 / inches.median)
    np.testing.assert_allclose(verb(X, inches, lam="9/median"), wanted, rtol=1e-12)
    (warning,) = heard(lambda: verb(X, sd.Ground.grid(8, 8, spacing=100.0), lam=9.0))
    assert "ground.scaled()" in str(warning.message) and "lam='9/median'" in str(warning.message)
    assert warning.filename == __file__
    assert not heard(lambda: verb(X, inches, lam="200/median"))
    assert not heard(lambda: verb(X, inches.scaled(), lam=200.0))


def test_strength_relative_to_the_median_in_a_path_and_in_the_advice(X):
    one, two = sd.path(X[0], X[1], PIXELS, ["3/median", 9 / PIXELS.median])
    assert one.lam == pytest.approx(3 / PIXELS.median)
    assert two.value == pytest.approx(sd.distance(X[0], X[1], PIXELS, lam="9/median"), rel=1e-6)
    assert sd.iterations_for("9/median", PIXELS) == sd.iterations_for(9, PIXELS.scaled())


def test_costs_that_were_scaled_by_hand_are_not_warned_about(X):
    M = PIXELS.matrix
    assert heard(lambda: sd.pairwise(X, ground=M, reg=0.01))
    unit_square = sd.Ground.grid(8, 8, metric="sqeuclidean", spacing=1 / 8)
    for scaled in (M / M.max(), M / np.median(M), unit_square):
        assert not heard(lambda M=scaled: sd.pairwise(X, ground=M, reg=0.001))
    assert not heard(lambda: sd.pairwise(X, ground=M, lam=INF))


@pytest.mark.parametrize("lam", ["9", "9/mean", "-1/median", "nan/median", "/median"])
def test_other_texts_are_no_strength(X, lam):
    with pytest.raises(TypeError, match="'9/median'"):
        sd.pairwise(X, ground=PIXELS, lam=lam)


def test_a_median_of_zero_is_no_unit():
    with pytest.raises(ValueError, match="median of the costs is 0"):
        sd.distance([1, 0], [0, 1], np.zeros((2, 2)), lam="9/median")


# zeros on the diagonal


def test_clustering_wants_zeros_on_the_diagonal(X):
    D = sd.pairwise(X, ground=PIXELS, lam="9/median")
    with pytest.raises(ValueError, match="diagonal"):
        squareform(D)
    for option in ({"coincidence": True}, {"debiased": True}):
        condensed = squareform(sd.pairwise(X, ground=PIXELS, lam="9/median", **option))
        assert len(linkage(condensed)) == len(X) - 1
    assert "coincidence=True" in sd.pairwise.__doc__


# shapes


@pytest.mark.parametrize("kind", [sparse.csr_matrix, sparse.csr_array])
def test_one_row_of_a_sparse_matrix_is_one_histogram(X, kind):
    rows = kind(X)
    one = rows[2:3]
    wanted = sd.distance(X[2], X, PIXELS, lam="9/median")
    np.testing.assert_allclose(sd.distance(one, rows, PIXELS, lam="9/median"), wanted)
    np.testing.assert_allclose(sd.distance(rows, one, PIXELS, lam="9/median"), wanted, rtol=1e-6)
    assert sd.solve(one, rows[:3], PIXELS, lam="9/median").value.shape == (3,)
    assert sd.divergence(one, rows, PIXELS, lam="9/median")[2] == 0.0
    assert sd.distance(one, rows[:1], PIXELS, lam="9/median").shape == (1,)


def test_numbers_and_nouns_agree(X):
    with pytest.raises(ValueError, match=r"'r' has 1 row and 'c' has 5 rows: .* Pass r\[0\]"):
        sd.distance(X[:1], X, PIXELS, lam="9/median")
    with pytest.warns(sd.ConvergenceWarning, match="1 of 1 pair did not"):
        sd.distance(X[0], X[1], PIXELS, lam="9/median", max_iter=2)


def test_images_are_reshaped_first(X):
    with pytest.raises(ValueError, match=r"pass X\.reshape\(5, 64\)"):
        sd.pairwise(X.reshape(5, 8, 8), ground=PIXELS, lam="9/median")
    with pytest.raises(ValueError, match=r"Pass r\.ravel\(\) if it is one image"):
        sd.distance(X[0].reshape(8, 8), X[1], PIXELS, lam="9/median")


# names


def test_a_ground_by_position_is_told_how(X):
    with pytest.raises(TypeError, match=r"pairwise\(X, ground=M, \.\.\.\).*position is Y"):
        sd.pairwise(X, PIXELS, lam=9)
    with pytest.raises(TypeError, match=r"barycenter\(X, ground=M"):
        sd.barycenter(X, lam=9)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [("numItermax", "max_iter"), ("epsilon", "reg"), ("stopThr", "tol"), ("n_jobs", "workers")],
)
def test_names_of_other_packages_are_answered_with_ours(X, theirs, ours):
    for call in (
        lambda **o: sd.pairwise(X, ground=PIXELS, **o),
        lambda **o: sd.distance(X[0], X[1], PIXELS, **o),
        lambda **o: sd.neighbors(X, ground=PIXELS, **o),
        lambda **o: sd.learn.TransportSVC(PIXELS, **o),
    ):
        with pytest.raises(TypeError, match=f"no option '{theirs}': here it is called '{ours}'"):
            call(**{theirs: 1})


def test_misspelt_names_are_answered_with_the_nearest(X):
    with pytest.raises(
        TypeError, match=r"solve\(\) has no option 'maxiterr'. Did you .*'max_iter'"
    ):
        sd.solve(X[0], X[1], PIXELS, maxiterr=3)


def test_subpackages_are_names_and_dir_shows_ours_alone():
    code = (
        "import sinkdist as sd, sys; assert 'sklearn' not in sys.modules; names = dir(sd);"
        "sd.learn.TransportSVC, sd.classic.euclidean, sd.similarity.kernel;"
        "assert 'sklearn' in sys.modules; print(*names)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    names = done.stdout.split()
    assert {"classic", "learn", "similarity", "torch", "jax", "__version__"} <= set(names)
    assert set(names) - {"__version__"} <= {*sd.__all__, *sd._MODULES}
    with pytest.raises(AttributeError, match="no attribute 'plots'"):
        _ = sd.plots


# pandas


def test_frames_come_back_with_their_labels(X):
    frame = pd.DataFrame(X, index=list("abcde"))
    D = sd.pairwise(frame, ground=PIXELS, lam="9/median")
    assert isinstance(D, pd.DataFrame)
    assert list(D.index) == list(D.columns) == list("abcde")
    np.testing.assert_array_equal(D, sd.pairwise(X, ground=PIXELS, lam="9/median"))
    D = sd.pairwise(frame, X[:2], ground=PIXELS, lam="9/median")
    assert list(D.index) == list("abcde") and list(D.columns) == [0, 1]
    far = sd.distance(X[0], frame, PIXELS, lam="9/median")
    assert isinstance(far, pd.Series) and list(far.index) == list("abcde")
    assert list(sd.divergence(frame, X[0], PIXELS, lam="9/median").index) == list("abcde")


def test_neighbours_of_frames_are_named(X):
    frame = pd.DataFrame(X, index=list("abcde"))
    found = sd.neighbors(frame, ground=PIXELS, k=2, lam=INF)
    table = found.to_frame()
    assert list(table.columns) == ["query", "rank", "neighbour", "distance", "proven"]
    nearest = table[table["rank"] == 1].set_index("query")["neighbour"]
    assert nearest["a"] == "abcde"[found.indices[0, 0]]
    named, plain = (sd.neighbors(Y, k=2, distance="euclidean") for Y in (frame, X))
    assert named.to_frame()["neighbour"].tolist() == ["abcde"[k] for k in plain.indices.ravel()]
    assert plain.to_frame()["neighbour"].tolist() == plain.indices.ravel().tolist()


# labels in files


CITIES = "city,0 to 9,10 to 19,20 to 29\nParis,5,3,2\nRome,1,4,5\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_label_columns_are_suggested_and_carried(folder, command):
    (folder / "X.csv").write_text(CITIES)
    asked = ("--ground", "grid:3", "--lam", "9/median", "--normalize", "--out")
    code, _, err = command("pairwise", "X.csv", *asked, "D.csv")
    assert code == 2 and "is 'Paris', which is no number: pass --label-column 1" in err
    for column in ("1", "city"):
        code, _, err = command(
            "pairwise", "X.csv", *asked, "D.csv", "--label-column", column, "--overwrite"
        )
        assert (code, err) == (0, "")
        D = pd.read_csv("D.csv", index_col=0)
        assert list(D.index) == list(D.columns) == ["Paris", "Rome"]
    code, _, _ = command("pairwise", "X.csv", *asked, "D.parquet", "--label-column", "1")
    again = pd.read_parquet("D.parquet")
    assert code == 0 and list(again.index) == list(again.columns) == ["Paris", "Rome"]
    np.testing.assert_array_equal(again, D)
    code, out, _ = command(
        "nearest", "X.csv", "--k", 1, "--ground", "grid:3", "--emd", "--normalize",
        "--label-column", "1",
    )  # fmt: skip
    assert code == 0 and "0,Paris,1,1,Rome," in out


def test_frames_written_by_pandas_keep_their_labels(folder, command):
    frame = pd.DataFrame([[5, 3, 2], [1, 4, 5]], index=["Paris", "Rome"])
    frame.to_csv("X.csv")
    frame.to_parquet("X.parquet")
    for name in ("X.csv", "X.parquet"):
        code, _, err = command(
            "pairwise", name, "--ground", "grid:3", "--emd", "--normalize", "--out", "D.csv",
            "--overwrite",
        )  # fmt: skip
        assert (code, err) == (0, "")
        assert list(pd.read_csv("D.csv", index_col=0).columns) == ["Paris", "Rome"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("year,a,b\n1990,5,3\n1995,1,4\n", "is headed 'year'"),
        (
            "a,b,c\n" + "".join(f"{1990 + k},{k + 1},{9 - k}\n" for k in range(6)),
            "counts from 1990",
        ),
    ],
)
def test_numbers_that_count_are_asked_about(folder, command, text, said):
    (folder / "X.csv").write_text(text)
    asked = ("pairwise", "X.csv", "--emd", "--normalize", "--out", "D.npy", "--overwrite")
    code, _, err = command(*asked, "--ground", "grid:3")
    assert code == 2 and said in err and "--label-column 1" in err and "--label-column none" in err
    code, _, err = command(*asked, "--ground", "grid:2", "--label-column", 1)
    assert (code, err) == (0, "")
    code, _, err = command(*asked, "--ground", "grid:3", "--label-column", "none")
    assert (code, err) == (0, "")


def test_columns_that_are_not_there(folder, command):
    (folder / "X.csv").write_text(CITIES)
    for column in ("town", "9"):
        code, _, err = command(
            "pairwise", "X.csv", "--ground", "grid:3", "--emd", "--out", "D.npy",
            "--label-column", column,
        )  # fmt: skip
        assert code == 2 and f"has no column '{column}', only 4 columns: city, 0 to 9" in err


def test_the_command_line_warns_of_the_scale_and_takes_the_median(folder, command):
    np.save("X.npy", np.full((3, 784), 1 / 784))
    asked = ("pairwise", "X.npy", "--ground", "grid:28x28", "--out", "D.npy", "--overwrite")
    code, _, err = command(*asked, "--lam", 9)
    assert code == 0 and err.startswith("Warning: lam times the median cost is ")
    assert "--scaled, or --lam 9/median" in err
    for relative in (("--lam", "9/median"), ("--lam", 9, "--scaled")):
        assert command(*asked, *relative)[::2] == (0, "")
    code, _, err = command(*asked, "--lam", "9/mean")
    assert code == 2 and "--lam must be a number, or one over the median cost" in err


# progress, and what a run will take


def test_compiling_is_not_part_of_the_estimate():
    record = sd.Progress(500, 1000, 25.0, 0, compiling=20.0)
    assert record.pairs_per_second == 100.0
    from sinkdist.scale.lines import sentence

    assert sentence(record) == "500 of 1,000 pairs, 100 pairs/s, 5 s left, after 20 s of compiling"
    assert sentence(sd.Progress(1, 1, 0.5, 0)) == "1 of 1 pair, 2 pairs/s, took 0.5 s"


def test_a_resumed_run_says_what_is_kept(X, tmp_path):
    out, records = tmp_path / "D.zarr", []
    rows = np.repeat(X, 16, axis=0)

    def stop(record):
        if record.done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sd.pairwise(rows, ground=PIXELS, lam="9/median", out=out, progress=stop, workers=1)
    sd.pairwise(rows, ground=PIXELS, lam="9/median", out=out, progress=records.append)
    first = records[0]
    assert 0 < first.before == first.done < first.total == 80 * 81 // 2
    from sinkdist.scale.lines import Lines

    lines = []
    Lines(lines.append)(first)
    assert lines == [f"{first.before:,} pairs kept, {first.total - first.before:,} to go"]


def test_pairs_of_large_tiles_are_seen_before_these_end(X, tmp_path, monkeypatch):
    """Within a second or so, though a tile of a store takes longer."""
    monkeypatch.setattr("sinkdist.scale.progress._SECONDS_BETWEEN_GLIMPSES", 0.0)
    records = []
    rows = np.repeat(X, 8, axis=0)
    D = sd.pairwise(
        rows, ground=PIXELS, lam="9/median", out=tmp_path / "D.zarr", progress=records.append,
        workers=1,
    )  # fmt: skip
    done = [record.done for record in records]
    assert done[0] < 40 and done == sorted(done) and done[-1] == 40 * 41 // 2
    np.testing.assert_array_equal(D, sd.pairwise(rows, ground=PIXELS, lam="9/median"))


@pytest.mark.parametrize("strength", [{"lam": "9/median"}, {"alpha": 0.5}, {"lam": INF}])
def test_what_a_run_will_take(X, strength, monkeypatch):
    monkeypatch.setattr("sinkdist.scale.estimate._SECONDS", 0.2)
    rows = np.repeat(X, 40, axis=0)
    found = sd.estimate(rows, ground=PIXELS, **strength)
    assert found.pairs == 200 * 201 // 2 and found.matrix_bytes == 8 * 200**2
    assert found.sampled > 0 and found.seconds == pytest.approx(
        found.pairs / found.pairs_per_second
    )
    assert str(found).startswith("20,100 pairs, about ")
    assert sd.estimate(X[:1], X[:2], ground=PIXELS, **strength).pairs == 2


def test_the_command_line_estimates_and_computes_nothing(folder, command, X):
    np.save("X.npy", X)
    asked = ("pairwise", "X.npy", "--ground", "grid:8x8", "--lam", "9/median", "--out", "D.zarr")
    code, out, err = command(*asked, "--estimate")
    assert (code, err) == (0, "") and out.startswith("15 pairs, about ")
    assert not (folder / "D.zarr").exists()


def test_estimators_show_progress(X, capsys):
    y = [0, 1, 0, 1, 0]
    for estimator in (
        sd.learn.TransportKernel(PIXELS, lam="7/median", verbose=1),
        sd.learn.TransportSVC(PIXELS, lam="6/median", verbose=1),
        sd.learn.TransportKMedoids(2, PIXELS, lam="5/median", verbose=1, random_state=0),
    ):
        said = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                "sinkdist.scale.bar.Bar.__call__", lambda bar, x, said=said: said.append(x)
            )
            estimator.fit(X, y)
        assert said and said[-1].done == said[-1].total == 15
    near = sd.learn.TransportNeighborsClassifier(PIXELS, lam="4/median", n_neighbors=1, verbose=0)
    near.fit(X, y).predict(X)
    assert "pairs" not in capsys.readouterr().err


# stored matrices


@pytest.mark.parametrize("one_family", [True, False])
def test_stored_matrices_are_handled_like_arrays(X, tmp_path, one_family):
    rows = np.concatenate([X, X[:, ::-1], X[:, ::2].repeat(2, 1)])
    rows = np.repeat(rows, 3, axis=0) / np.repeat(rows, 3, axis=0).sum(axis=1, keepdims=True)
    Y = None if one_family else rows[:20]
    D = sd.pairwise(rows, Y, ground=PIXELS, lam="9/median", out=tmp_path / "D.zarr")
    whole = np.asarray(D)
    assert D.min() == whole.min() and D.max() == whole.max()
    assert D.mean() == pytest.approx(whole.mean(), rel=1e-12)
    half = float(np.median(whole))
    for mask, wanted in ((half > D, whole < half), (half >= D, whole <= half),
                         (half < D, whole > half), (half <= D, whole >= half),
                         (whole > D, whole < whole)):  # fmt: skip
        np.testing.assert_array_equal(mask, wanted)
    rows, columns = [4, 0, 33], [7, 7, 2, 19]
    np.testing.assert_array_equal(D[np.ix_(rows, columns)], whole[np.ix_(rows, columns)])
    flipped = D.T
    assert flipped.shape == whole.T.shape and (flipped is D) == one_family
    np.testing.assert_array_equal(np.asarray(flipped), whole.T)
    for key in (3, (slice(2, 9), slice(1, 20, 3)), (5, [1, 2]), np.ix_(columns, rows), (..., 4),
                ([1, 2], [3, 4]), (2, 30)):  # fmt: skip
        np.testing.assert_array_equal(flipped[key], whole.T[key])
    assert flipped.min() == whole.min()
    lazy = D.to_dask()
    assert lazy.shape == whole.shape and lazy.chunks[0][0] == D.band
    np.testing.assert_array_equal(lazy.compute(), whole)
    assert D.nearest(3)[0].shape == (len(whole), 3)


# estimators


def test_machines_with_probabilities():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.dirichlet(shape, 12) for shape in ([5, 2, 1, 1], [1, 1, 2, 5])])
    y = np.repeat(["low", "high"], 12)
    machine = sd.learn.TransportSVC(probability=True, random_state=0).fit(X, y)
    shares = machine.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (machine.classes_[shares.argmax(axis=1)] == y).mean() > 0.9
    assert not hasattr(sd.learn.TransportSVC().fit(X, y), "predict_proba")
    with pytest.raises(TypeError, match="'probability' option must be True or False"):
        sd.learn.TransportSVC(probability="yes").fit(X, y)


@pytest.mark.parametrize(("bins", "side"), [(64, 8), (784, 28)])
def test_bins_without_a_ground_are_taken_to_lie_on_a_line(bins, side):
    X = np.random.default_rng(0).dirichlet(np.ones(bins), 3)
    near = sd.learn.TransportNeighborsClassifier(n_neighbors=1)
    (warning,) = heard(lambda: near.fit(X, [0, 1, 0]))
    assert f"the {bins} bins are taken to lie on a line" in str(warning.message)
    assert f"Ground.grid({side}, {side})" in str(warning.message)
    assert warning.filename == __file__
    assert not heard(lambda: sd.learn.TransportKernel().fit(X[:, :60]))
    line = sd.Ground.grid(bins)
    assert not heard(lambda: sd.learn.TransportKernel(line).fit(X))
