"""The demo: its neighbours and mistakes, its choice of images, its picture and its words."""

import io
import json

import numpy as np
import pytest
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle
from rich.console import Console

import sinkdist as sd
from sinkdist import classic
from sinkdist_paper.demo import digits as source
from sinkdist_paper.demo import main, picture, report
from sinkdist_paper.demo.neighbours import SHOWN, Queries, Ranking, chance_gap, choose_queries, rank

LABELS = np.arange(200) % 10


def ranking(wrong=(), name="one", n=200):
    """A ranking whose first neighbours are wrong for the images listed."""
    mistakes = np.zeros(n, dtype=bool)
    mistakes[list(wrong)] = True
    nearest = (np.arange(n)[:, None] + 10 * np.arange(1, SHOWN + 1)) % n
    nearest[mistakes, 0] += 1
    return Ranking(name, "bins", 1.0, nearest % n, mistakes)


def test_digits_are_histograms_in_balance():
    digits = source.load()
    assert len(digits) == 1797
    assert digits.pairs == 1_613_706
    assert digits.histograms.shape == (1797, 64)
    np.testing.assert_allclose(digits.histograms.sum(axis=1), 1, rtol=1e-14)
    assert np.bincount(source.load(100).labels).min() >= 8


def test_rank_leaves_the_image_itself_out():
    places = np.array([0.0, 1.0, 3.0, 3.5, 10.0, 12.0, 20.0])
    distances = abs(places[:, None] - places)
    result = rank("line", "places", distances, np.array([0, 0, 1, 0, 2, 2, 2]), seconds=1.0)
    np.testing.assert_array_equal(result.nearest[0], [1, 2, 3, 4, 5])
    np.testing.assert_array_equal(result.nearest[:, 0], [1, 0, 3, 2, 5, 4, 5])
    np.testing.assert_array_equal(result.wrong, [0, 0, 1, 1, 0, 0, 0])
    assert (result.mistakes, result.error) == (2, pytest.approx(2 / 7))
    assert distances[0, 0] == 0  # the caller's matrix is left alone


def test_ties_go_to_the_lower_index():
    result = rank("equal", "nothing", np.ones((7, 7)), np.zeros(7, dtype=int), seconds=1.0)
    np.testing.assert_array_equal(result.nearest[3], [0, 1, 2, 4, 5])


def test_chance_gap_counts_images_that_tell_two_distances_apart():
    assert chance_gap(ranking(range(30)), ranking(range(30))) == 0
    assert chance_gap(ranking(range(20)), ranking(range(15, 24))) == int(2 * np.sqrt(15 + 4))


def test_queries_are_fair_to_both_sides():
    first, others = ranking([3, 14, 25, 36]), [ranking([40, 51, 62, 3]), ranking([3, 73, 84])]
    chosen = choose_queries(first, others, LABELS)
    assert chosen == choose_queries(first, others, LABELS)
    right, wrong = {40, 51, 62, 73, 84}, {14, 25, 36}
    assert len(right & set(chosen.disputed)) == 3
    assert len(wrong & set(chosen.disputed)) == 2
    assert len(chosen.ordinary) == 3
    assert not set(chosen.ordinary) & {3, *right, *wrong}
    assert len(set(LABELS[list(chosen.disputed + chosen.ordinary)])) == 8


def test_queries_without_dispute_are_ordinary():
    chosen = choose_queries(ranking(), [ranking(), ranking()], LABELS)
    assert chosen.disputed == ()
    assert len(chosen.ordinary) == 8


@pytest.mark.parametrize("wrong", [[], [0, 40, 41]])
def test_picture_frames_the_wrong_neighbours_and_no_others(wrong):
    digits = source.load(200)
    digits = source.Digits(digits.histograms, LABELS)
    rankings = [ranking(wrong), ranking([41]), ranking([1])]
    figure = picture.compose(digits, rankings, Queries((0, 1, 40, 41), (5,)))
    frames = [p for axes in figure.axes for p in axes.patches if isinstance(p, Rectangle)]
    red = [frame for frame in frames if frame.get_edgecolor() == to_rgba(picture.WRONG)]
    assert len(frames) == 5 * (1 + 3 * SHOWN)
    assert len(red) == len(wrong) + 2
    numbers = [text.get_text() for axes in figure.axes for text in axes.texts]
    assert sorted(numbers) == sorted([*(str((i + 1) % 10) for i in wrong), "2", "2"])
    words = " ".join(text.get_text() for text in figure.texts)
    assert f"{len(wrong)} of 200 wrong" in words
    assert "first 4 images were chosen because the distances disagree" in words


@pytest.mark.parametrize(
    ("first", "second", "words"),
    [
        ((), (), "Sinkhorn and Hellinger make equally many."),
        ((1,), (2, 3), "Sinkhorn makes 1 fewer than Hellinger, no more than chance"),
        (range(30), (50,), "Hellinger makes 29 fewer than Sinkhorn, more than chance"),
    ],
)
def test_words_follow_the_numbers(first, second, words):
    sentence = report._compare(ranking(first, "Sinkhorn"), ranking(second, "Hellinger"))
    assert sentence.startswith(words)


@pytest.mark.nojit
def test_its_distances_are_sinkhorn_distances():
    rows = source.load(20).histograms[:6]
    K, M = (matrix(sd.Ground.grid(8, 8).scaled().matrix) for matrix in (kernel, np.asarray))
    expected = np.array([[plain_sinkhorn(r, c, K, M) for c in rows] for r in rows])
    np.testing.assert_allclose(main.sinkhorn(rows, workers=1), expected, rtol=1e-5)


def kernel(M):
    return np.exp(-9 * np.asarray(M))


def plain_sinkhorn(r, c, K, M):
    """<P, M> of the plan that a thousand plain iterations give."""
    rows, columns = r > 0, c > 0
    r, c, K, M = r[rows], c[columns], K[np.ix_(rows, columns)], M[np.ix_(rows, columns)]
    v = np.ones(len(c))
    for _ in range(1000):
        u = r / (K @ v)
        v = c / (K.T @ u)
    return u @ (K * M) @ v


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A small run: the folder, the summary and what was printed."""
    out = tmp_path_factory.mktemp("demo") / "new" / "folder"
    console = Console(file=io.StringIO(), width=100)
    summary = main.run(out, n=120, workers=1, console=console)
    return out, summary, console.file.getvalue()


def test_run_leaves_a_picture(finished):
    out, _, _ = finished
    header = (out / report.PICTURE).read_bytes()[:24]
    assert header[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = np.frombuffer(header[16:24], dtype=">u4")
    assert width > 1000
    assert height > 500


def test_run_leaves_its_numbers(finished):
    out, summary, _ = finished
    saved = json.loads((out / report.SUMMARY).read_text())
    assert saved["version"] == sd.__version__
    assert (saved["images"], saved["pairs"], saved["lam"]) == (120, 7140, 9)
    assert [score["distance"] for score in saved["scores"]] == [
        "Sinkhorn",
        "Hellinger",
        "Euclidean",
    ]
    for score in saved["scores"]:
        assert score["error"] == pytest.approx(score["mistakes"] / 120, abs=1e-6)
        assert score["error"] < 0.15  # a tenth of the images share a digit: by chance 0.9
    assert summary.scores[0].mistakes == saved["scores"][0]["mistakes"]


def test_run_says_what_it_did(finished):
    out, summary, words = finished
    assert "all 7,140 pairs" in words
    assert "pairs a second" in words
    for score in summary.scores:
        assert f"{score.mistakes} of 120" in words
    assert str(out / report.PICTURE) in words
    assert str(out / report.SUMMARY) in words


def test_example_that_it_ends_with_runs(finished):
    _, _, words = finished
    lines = words[words.index("import sinkdist as sd") :].strip().splitlines()
    assert len(lines) == 3
    names = {"X": source.load(20).histograms}
    exec("\n".join(line.strip() for line in lines), names)
    assert names["D"].shape == (20, 20)


def test_mistakes_of_the_classic_distances_on_all_digits():
    digits = source.load()
    for distance, mistakes in ((classic.euclidean, 20), (classic.hellinger, 27)):
        D = distance(digits.histograms)
        assert rank("", "", D, digits.labels, seconds=1.0).mistakes == mistakes


@pytest.mark.slow
def test_mistakes_of_sinkhorn_on_all_digits():
    # The count of fully converged distances, checked once by 3,000 plain iterations in float64.
    digits = source.load()
    D = main.sinkhorn(digits.histograms, workers=None)
    assert rank("", "", D, digits.labels, seconds=1.0).mistakes == 26
