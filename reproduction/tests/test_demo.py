"""The demo: its table, its votes, its examples, its pictures and its words."""

import io
import json
from importlib.resources import files

import numpy as np
import pytest
from rich.console import Console

import sinkdist as sd
from sinkdist_paper.demo import (
    definitions as source,
)
from sinkdist_paper.demo import (
    digit_pictures,
    digits,
    examples,
    main,
    report,
    rivals,
    word_picture,
)

TABLE = source.load()


def ranking(wrong=(), name="one", n=200):
    """A ranking that is wrong for the rows listed."""
    mistakes = np.zeros(n, dtype=bool)
    mistakes[list(wrong)] = True
    return rivals.Ranking(name, "bins", 1.0, np.zeros((n, 5), int), mistakes)


def test_the_table_is_small_and_has_its_licence():
    folder = files("sinkdist_paper.demo")
    assert len((folder / "definitions.npz").read_bytes()) < 1_000_000
    licence = (folder / "LICENSE-WordNet.txt").read_text()
    assert "WordNet 3.0 Copyright 2006 by Princeton University" in licence


def test_definitions_are_histograms_over_words():
    assert len(TABLE) == 1600 and TABLE.pairs == 1_279_200
    np.testing.assert_allclose(TABLE.histograms.sum(axis=1), 1, rtol=1e-14)
    kinds, number = np.unique(TABLE.kinds, return_counts=True)
    assert len(kinds) == 8 and (number == 200).all()
    np.testing.assert_allclose(np.linalg.norm(TABLE.vectors, axis=1), 1, atol=2e-3)
    assert "dog" in TABLE.words and TABLE.words_of(0) == sorted(TABLE.words_of(0))


def test_some_definitions():
    some = source.load(160)
    assert len(some) == 160 and np.unique(some.kinds, return_counts=True)[1].tolist() == [20] * 8
    for n in (79, 1601):
        with pytest.raises(sd.InputError, match="between 80 and 1600"):
            source.load(n)


def test_votes():
    kinds = np.array(["a", "b", "b", "a", "c", "a"])
    nearest = np.array([[3, 5, 1, 2, 4], [0, 2, 3, 4, 5], [4, 1, 0, 3, 5]] + [[0] * 5] * 3)
    judged = rivals.judge("x", "y", 1.0, nearest, kinds)
    assert judged.wrong.tolist() == [False, True, True, False, True, False]
    assert judged.mistakes == 3 and judged.error == 0.5


def test_rank_leaves_the_row_itself_out_and_takes_equal_ones_in_order():
    places = np.array([0.0, 1.0, 3.0, 3.5, 10.0, 12.0, 20.0])
    found = rivals.rank("x", "y", lambda: abs(places[:, None] - places), np.array(list("aababbb")))
    assert found.nearest[0].tolist() == [1, 2, 3, 4, 5]
    equal = rivals.rank("x", "y", lambda: np.ones((7, 7)), np.array(list("aaaaaaa")))
    assert equal.nearest[3].tolist() == [0, 1, 2, 4, 5]


def test_chance_gap_counts_rows_that_tell_two_distances_apart():
    assert rivals.chance_gap(ranking(range(30)), ranking(range(30))) == 0
    gap = rivals.chance_gap(ranking(range(20)), ranking(range(15, 24)))
    assert gap == int(2 * np.sqrt(15 + 4))


def test_rivals_are_the_textbook_formulas():
    some = source.load(80)
    counts = some.counts.toarray()
    weights = np.log(80 / np.maximum((counts > 0).sum(axis=0), 1))
    a, b = counts[3] * weights, counts[7] * weights
    cosine = a @ b / np.linalg.norm(a) / np.linalg.norm(b)
    assert rivals.tf_idf(some)[3, 7] == pytest.approx(1 - cosine)
    mean = some.histograms.toarray() @ some.vectors
    cosine = mean[3] @ mean[7] / np.linalg.norm(mean[3]) / np.linalg.norm(mean[7])
    assert rivals.means(some)[3, 7] == pytest.approx(1 - cosine)
    assert len(rivals.rivals(some)) == 4


@pytest.fixture(scope="module")
def shown():
    some = source.load(400)
    ground = sd.Ground.points(some.vectors)
    found = sd.neighbors(some.histograms, ground=ground, k=5, lam=np.inf)
    return some, ground, found, examples.choose(some, found, ground)


def test_examples_mean_alike_and_share_no_word(shown):
    some, _, found, chosen = shown
    assert len({some.kinds[x.one] for x in chosen}) == len(chosen) == examples.SHOWN
    for x in chosen:
        assert some.kinds[x.one] == some.kinds[x.other] and not some.share_words(x.one, x.other)
        assert x.other in found.indices[x.one]
        for word, other, mass, cost in x.moves:
            assert word in some.words_of(x.one) and other in some.words_of(x.other)
            assert mass > 0 and cost > 0
        costs = [move[3] for move in x.moves]
        assert costs == sorted(costs)


def test_pictures_of_words(shown):
    some, _, _, chosen = shown
    figure = word_picture.compose(some, chosen)
    words = [text.get_text() for axes in figure.axes for text in axes.texts]
    for x in chosen:
        assert str(some.heads[x.one]) in words and x.moves[0][0] in words
        assert x.moves[0][1] in words
    assert sum(len(axes.lines) for axes in figure.axes) == sum(len(x.moves) for x in chosen)


def test_digits_are_histograms():
    images = digits.load()
    assert len(images) == 1797
    np.testing.assert_allclose(images.histograms.sum(axis=1), 1, rtol=1e-14)


def test_digits_that_are_placed_keep_their_ink():
    rows = digits.load(40).histograms[:2]
    placed = digit_pictures._placed(rows, np.array([[0, 0], [8, 8]]))
    side = digit_pictures.FIELD
    np.testing.assert_allclose(placed.sum(axis=1), 1)
    first, second = placed.reshape(2, side, side)
    assert first[16:].sum() == first[:, 16:].sum() == second[:8].sum() == second[:, :8].sum() == 0


@pytest.fixture(scope="module")
def a_run(tmp_path_factory):
    out = tmp_path_factory.mktemp("demo")
    console = Console(file=io.StringIO(), width=100)
    return out, main.run(out, n=160, workers=1, console=console), console.file.getvalue()


def test_a_run_writes_what_it_says(a_run):
    out, summary, text = a_run
    for name in (report.WORDS, digit_pictures.FLOW, digit_pictures.MEANS, digit_pictures.PATH):
        assert (out / name).read_bytes().startswith(b"\x89PNG") and str(out / name) in text
    saved = json.loads((out / report.SUMMARY).read_text())
    assert saved["definitions"] == summary.definitions == 160
    assert saved["scores"][0]["distance"] == "Transport" and len(saved["scores"]) == 5
    assert 0 < saved["share_solved"] < 1


def test_a_run_says_what_it_does(a_run):
    _, summary, text = a_run
    assert "Compiling, once for this environment" in text and "1 of 4" in text and "4 of 4" in text
    assert "without a word in common" in text and " -> " in text
    assert "Where transport does not help" in text and "Princeton University" in text
    best = min(summary.scores[1:], key=lambda score: score.mistakes)
    assert f"{summary.scores[0].mistakes} of 160" in text and best.distance in text


@pytest.mark.parametrize(
    ("mistakes", "said"),
    [
        ((10, 60), "first makes 50 fewer than other, the best of the others: more than chance"),
        ((60, 10), "other makes 50 fewer than first: more than chance"),
        ((10, 12), "no more than chance"),
        ((10, 10), "make equally many"),
    ],
)
def test_sentences_follow_the_numbers(mistakes, said):
    pair = [ranking(range(n), name) for n, name in zip(mistakes, ("first", "other"), strict=True)]
    assert said in report._compare(*pair)


def test_a_folder_that_cannot_be_made(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(sd.InputError, match="cannot be created"):
        main.run(tmp_path / "file" / "demo", n=80)


def test_the_table_can_be_made_again(tmp_path):
    """The script in the project makes the table that is shipped, where WordNet is installed."""
    import subprocess
    import sys
    from pathlib import Path

    if not Path("/usr/share/wordnet/data.noun").exists():
        pytest.skip("WordNet is not installed")
    script = Path(__file__).parents[1] / "scripts" / "make_definitions.py"
    out = tmp_path / "definitions.npz"
    subprocess.run([sys.executable, script, "--out", out], check=True, capture_output=True)
    made, kept = np.load(out), np.load(files("sinkdist_paper.demo") / "definitions.npz")
    for name in ("words", "heads", "kinds", "counts", "indices", "indptr"):
        np.testing.assert_array_equal(made[name], kept[name])
    # Vectors are known up to the signs of their directions.
    angles = [x["vectors"][:200].astype(float) @ x["vectors"][:200].T for x in (made, kept)]
    np.testing.assert_allclose(*angles, atol=0.02)
