"""`sinkdist explore`: a page from files."""

import json
import re

import numpy as np
import pytest

import sinkdist as sd

EXPLORE = ("explore", "X.npy", "--ground", "grid:4x4", "--out", "page.html", "--map", "mds")


@pytest.fixture
def family(tmp_path, monkeypatch):
    """Thirty histograms in X.npy, in an empty folder to work in."""
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).dirichlet(np.ones(16), 30)
    np.save("X.npy", X)
    return X


def shown():
    with open("page.html", encoding="utf-8") as file:
        text = file.read()
    (found,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    return json.loads(found) | {"title": re.search("<h1>(.*)</h1>", text)[1]}


def test_a_page_with_labels_and_names(command, family):
    np.save("y.npy", np.arange(30) % 3)
    with open("names.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(f"name {k}" for k in range(30)))
    code, out, err = command(
        *EXPLORE, "--labels", "y.npy", "--names", "names.txt", "--title", "Thirty", "--no-progress"
    )
    assert (code, err) == (0, "")
    assert re.fullmatch(r"page\.html: 30 histograms, exact distance, 0\.\d MB\n", out)
    page = shown()
    assert page["title"] == "Thirty"
    assert page["labels"][:4] == ["0", "1", "2", "0"] and page["names"][29] == "name 29"


def test_distances_that_are_known(command, family):
    command("pairwise", "X.npy", "--ground", "grid:4x4", "--alpha", 1, "--out", "D.zarr")
    code, _, err = command(*EXPLORE, "--distances", "D.zarr/")
    assert (code, err) == (0, "")
    page = shown()
    assert page["distance"] == "distance at alpha = 1" and all(page["proven"])


def test_counts_are_divided_on_request(command, family):
    np.save("X.npy", 7 * family)
    code, _, err = command(*EXPLORE)
    assert code == 2 and "--normalize" in err
    assert command(*EXPLORE, "--normalize", "--no-progress")[0] == 0


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--lam", 3, "--emd"], "at most one of --lam, --alpha, --emd and --distances"),
        (["--names", "none.txt"], "none.txt"),
        (["--out", "page.txt"], ".html"),
        (["--labels", "X.npy"], "one text per row, 30 in all. Got 480"),
    ],
)
def test_mistakes_are_one_sentence(command, family, more, words):
    code, out, err = command(*EXPLORE, *more)
    assert code == 2 and out == "" and words in err and err.count("\n") == 1


def test_a_page_is_not_replaced_unasked(command, family):
    assert command(*EXPLORE, "--no-progress")[0] == 0
    code, _, err = command(*EXPLORE)
    assert code == 2 and "--overwrite" in err
    assert command(*EXPLORE, "--overwrite", "--no-progress")[0] == 0


def test_nearest_of_the_page_are_the_nearest(command, family):
    from tests.explore.test_packing import unpacked

    command(*EXPLORE, "--no-progress")
    page = shown()
    near = unpacked(page["near"]).reshape(30, page["k"])
    found = sd.neighbors(family, ground=sd.Ground.grid(4, 4), k=page["k"], lam=np.inf)
    assert near.tolist() == found.indices.tolist()
