"""The classification experiment: folds, choices without a look at the test, stored distances."""

import itertools

import numpy as np
import pytest

import sinkdist as sd

pytest.importorskip("sklearn")

from matplotlib.figure import Figure

from sinkdist import similarity
from sinkdist_paper import contestants, data, fig2, protocol
from sinkdist_paper.figure import Setting

NINE = contestants.ALL[0].variants[2]


def separated(n=80, classes=4, seed=0):
    """Points of classes far apart on a line: their distances, and the classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    points = 10.0 * labels + rng.random(n)
    return np.abs(np.subtract.outer(points, points)), labels


# ------------------------------------------------------------------------------------ the folds


def test_a_quarter_is_trained_on_and_every_image_once_in_each_repeat():
    found = list(protocol.splits(103, repeats=3, seed=5))
    assert [(split.repeat, split.fold) for split in found] == [
        (repeat, fold) for repeat in range(3) for fold in range(4)
    ]
    for split in found:
        assert len(split.train) in (25, 26) and not set(split.train) & set(split.test)
        assert len(split.train) + len(split.test) == 103
    for repeat in range(3):
        trained = [split.train for split in found if split.repeat == repeat]
        assert sorted(np.concatenate(trained)) == list(range(103))
    assert not np.array_equal(found[0].train, found[4].train)


def test_the_papers_numbers():
    assert protocol.FOLDS * protocol.REPEATS == 24
    assert protocol.CONSTANTS == (1e-2, 1, 1e2, 1e4)
    assert contestants.LAMBDAS == (5, 7, 9, 11) and contestants.POWERS == (0.01, 0.1, 1)
    assert contestants.ITERATIONS == 20


# ------------------------------------------------------------------------------- one experiment


def first_split(n):
    return next(iter(protocol.splits(n, 1, 0)))


def test_classes_that_are_apart_are_told_apart():
    D, labels = separated()
    (trial,) = protocol.run([D], labels, first_split(80), seed=0, workers=1)
    assert trial.error == 0.0 and trial.inner_error == 0.0
    assert trial.bandwidth in ("1", "q10", "q20", "q50") and trial.C in protocol.CONSTANTS


def test_labels_without_sense_are_guessed():
    D, _ = separated(200)
    labels = np.random.default_rng(1).integers(0, 10, 200)
    (trial,) = protocol.run([D], labels, first_split(200), seed=0, workers=1)
    assert 0.8 < trial.error <= 1.0


def test_nothing_is_chosen_by_the_test():
    D, labels = separated(120, classes=3)
    split = first_split(120)
    (honest,) = protocol.run([D], labels, split, seed=0, workers=1)
    other = labels.copy()
    other[split.test] = (other[split.test] + 1) % 3
    far = D.copy()
    far[np.ix_(split.test, split.test)] = 1e6  # pairs of the test alone are nobody's business
    (changed,) = protocol.run([far], other, split, seed=0, workers=1)
    assert changed.error == 1.0 and honest.error == 0.0
    assert (changed.t, changed.C, changed.inner_error) == (honest.t, honest.C, honest.inner_error)


def test_bandwidths_are_quantiles_of_the_training_fold():
    D, labels = separated(80)
    split = first_split(80)
    (trial,) = protocol.run([D], labels, split, seed=0, workers=1)
    train = D[np.ix_(split.train, split.train)][np.triu_indices(len(split.train), 1)]
    expected = {"1": 1.0} | {f"q{s}": np.quantile(train, s / 100) for s in (10, 20, 50)}
    assert trial.t == pytest.approx(expected[trial.bandwidth])


def test_kernels_that_are_not_positive_are_repaired():
    D, labels = separated(80)
    (trial,) = protocol.run([D**3], labels, first_split(80), seed=0, workers=1)
    assert trial.shift > 0


def test_threads_change_nothing():
    D, labels = separated(120, seed=3)
    D = D + 30 * np.random.default_rng(0).random(D.shape)
    D = (D + D.T) / 2
    one, two = (
        protocol.run([D, D**2], labels, first_split(120), seed=0, workers=workers)
        for workers in (1, 2)
    )
    assert one == two and len(one) == 2


def test_machines_whose_bounds_do_not_bind_are_trained_once(monkeypatch):
    from sklearn.svm import SVC

    D, labels = separated(120, seed=4)
    D = D + 80 * np.random.default_rng(0).random(D.shape)
    kernel, _ = similarity.repaired(np.exp(-(D + D.T) / 40))
    fit, see = np.arange(60), np.arange(60, 120)
    parts = kernel[np.ix_(fit, fit)], labels[fit], kernel[np.ix_(see, fit)], labels[see]
    wanted = [
        np.mean(SVC(C=C, kernel="precomputed").fit(*parts[:2]).predict(parts[2]) != parts[3])
        for C in protocol.CONSTANTS
    ]
    trained = []

    class Counted(SVC):
        def fit(self, *arguments):
            trained.append(self.C)
            return super().fit(*arguments)

    monkeypatch.setattr(protocol, "SVC", Counted)
    assert list(protocol._errors(*parts, protocol.CONSTANTS)) == wanted
    assert len(set(wanted)) > 1 and trained == [1e-2, 1]


# ---------------------------------------------------------------------------- stored distances


@pytest.fixture(scope="module")
def images():
    return data.load("digits", 60)


def quiet(text):
    pass


def test_distances_are_those_of_the_verbs(images, tmp_path):
    D = contestants.stored_distances(NINE, images, tmp_path, tell=quiet)
    lam = 9 / np.median(images.ground.matrix)
    expected = sd.pairwise(images.histograms, ground=images.ground, lam=lam, iterations=20)
    np.testing.assert_allclose(D, expected, rtol=1e-5)


@pytest.mark.parametrize("contestant", contestants.ALL, ids=lambda contestant: contestant.name)
def test_every_contestant_gives_finite_distances(contestant, images, tmp_path):
    for variant in contestant.variants:
        D = contestants.stored_distances(variant, images, tmp_path, tell=quiet)
        assert D.shape == (60, 60) and np.isfinite(D).all() and (D >= 0).all()
        np.testing.assert_array_equal(D, D.T)


def test_distances_are_computed_once(images, tmp_path):
    told = []
    first = contestants.stored_distances(NINE, images, tmp_path, tell=told.append)
    assert told and "lam-9" in told[-1] and "1,830 of 1,830 pairs" in told[-1]
    chunks = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*") if path.name.isdigit()}
    again = contestants.stored_distances(NINE, images, tmp_path, tell=quiet)
    np.testing.assert_array_equal(first, again)
    assert chunks and all(path.stat().st_mtime_ns == then for path, then in chunks.items())


def test_distances_of_other_images_are_not_mistaken_for_these(images, tmp_path):
    contestants.stored_distances(NINE, images, tmp_path, tell=quiet)
    with pytest.raises(ValueError, match=r"other|differ"):
        contestants.stored_distances(NINE, data.load("digits", 60, seed=1), tmp_path, tell=quiet)


# ------------------------------------------------------------------------------------- figure 2


def test_cells_cover_every_experiment(tmp_path):
    setting = Setting("digits", (100, 200), False, tmp_path)
    keys = [cell.key for cell in fig2.EXPERIMENT.cells(setting)]
    errors = [key for key in keys if key["kind"] == "error"]
    assert len(errors) == len(contestants.ALL) * 2 * 24
    assert len({tuple(key.values()) for key in keys}) == len(keys)
    assert all(tuple(key) == fig2.EXPERIMENT.keys for key in keys)


def test_a_cell_is_measured(tmp_path):
    setting = Setting("digits", (60,), True, tmp_path)
    cells = {
        (cell.key["kind"], cell.key["contestant"], cell.key["fold"]): cell
        for cell in fig2.EXPERIMENT.cells(setting)
    }
    records = list(cells["error", "sinkhorn", 0].measure())
    assert [record["value"] for record in records] == [5, 7, 9, 11]
    assert sum(record["used"] for record in records) == 1
    used = next(record for record in records if record["used"])
    assert used["inner_error"] == min(record["inner_error"] for record in records)
    assert all(0 <= record["error"] <= 1 for record in records)
    (rate,) = cells["rate", "hellinger", 0].measure()
    assert rate["pairs_per_second"] > 100


def made_up(errors, chosen=9, n=(1_000, 3_000), repeats=3):
    """Records in which each contestant has these errors, with small differences between folds."""
    records = [
        {"kind": "rate", "contestant": "emd", "n": 0, "repeat": 0, "fold": 0, "value": "",
         "pairs_per_second": 1000.0},
    ]  # fmt: skip
    for size in n:
        for name, error in errors.items():
            values = {"sinkhorn": (5, 7, 9, 11), "independence": (0.01, 0.1, 1)}.get(name, ("",))
            for repeat, fold in itertools.product(range(repeats), range(4)):
                records += [
                    {"kind": "error", "contestant": name, "n": size, "repeat": repeat, "fold": fold,
                     "value": value, "used": int(value in (chosen, 0.01, "")), "bandwidth": "q50",
                     "t": 4.0, "C": 100, "shift": 0.0, "inner_error": error,
                     "error": error + 2e-4 * fold, "cpu_seconds": 1.0}
                    for value in values
                ]  # fmt: skip
    return records


ERRORS = {"sinkhorn": 0.05, "emd": 0.06, "independence": 0.07, "hellinger": 0.08,
          "mahalanobis": 0.2}  # fmt: skip


def verdicts(records):
    return [claim.holds for claim in fig2.EXPERIMENT.claims(records)]


def test_claims_that_hold():
    records = made_up(ERRORS)
    assert verdicts(records) == [True, True, True, True]
    first = fig2.EXPERIMENT.claims(records)[0].measured
    assert (
        "N = 3,000" in first and "5.03%" in first and "EMD 6.03%" in first and "12 of 12" in first
    )


def test_claims_that_do_not_hold():
    assert verdicts(made_up(ERRORS | {"emd": 0.04}))[0] is False
    assert verdicts(made_up(ERRORS | {"mahalanobis": 0.05}))[3] is False
    assert verdicts(made_up(ERRORS, chosen=5))[1] is False


def test_few_experiments_tell_nothing():
    assert verdicts(made_up(ERRORS, repeats=2)) == [None] * 4


def test_a_better_mean_is_not_a_safe_margin():
    records = made_up(ERRORS)
    for record in records:
        if record["contestant"] == "emd" and record.get("fold") in (0, 1) and "error" in record:
            record["error"] = 0.01 if record["fold"] == 0 else 0.2
    assert verdicts(records)[0] is False


def test_tables():
    errors, cost = fig2.EXPERIMENT.views(made_up(ERRORS))
    assert errors.head == ("Distance", "N = 1,000", "N = 3,000", "Chosen most often")
    assert [row[0] for row in errors.rows][:2] == ["Sinkhorn", "EMD"]
    assert errors.rows[0][3] == "lam q50(M) = 9, t = q50, C = 100"
    assert errors.rows[0][1] == "5.03 ± 0.02"
    assert (
        cost.rows[0][:2] == ("EMD", "1,000") and cost.rows[0][3] == "86.8"
    )  # 25,000^2 / 2 / 3.6e6


@pytest.mark.parametrize("sizes", [(1_000, 3_000), (1_000,)])
def test_drawing(sizes):
    figure = Figure(figsize=fig2.EXPERIMENT.inches)
    fig2.EXPERIMENT.draw(made_up(ERRORS, n=sizes), figure)
    (axes,) = figure.axes
    if len(sizes) > 1:
        words = [text.get_text() for text in axes.get_legend().get_texts()]
        (line,) = [line for line in axes.lines if line.get_label() == "EMD"]
        np.testing.assert_allclose(line.get_ydata(), 100 * 0.0603)
    else:
        words = [text.get_text() for text in axes.get_yticklabels()]
        assert words[-1] == "Sinkhorn"  # the best, on top
    assert {"Sinkhorn", "EMD", "Independence", "Hellinger"} <= set(words)
