"""The text of the page: alone, small, and safe whatever names have in them."""

import json
import re

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.explore import family_of, write_page
from sinkdist.explore.family import COSTS_UP_TO
from sinkdist.explore.page import page

X = np.random.default_rng(0).dirichlet(np.ones(4), size=5)
GROUND = sd.Ground.grid(2, 2)


def data(text):
    (found,) = re.findall(r'<script id="data" type="application/json">(.*?)</script>', text, re.S)
    return json.loads(found)


def test_names_cannot_break_the_page():
    names = ["</script><script>alert(1)</script>", "<b>", "&amp;", '"', "{{data}}"]
    text = page(family_of(X, GROUND, names=names, method="mds"), "<i>{{data}}")
    assert data(text)["names"] == names
    assert text.count("<script") == 2 + 1  # data, scripts; and the name, within a string
    assert "<title>&lt;i&gt;{{data}}</title>" in text


def test_nothing_is_fetched():
    text = page(family_of(X, GROUND, method="mds"))
    assert not re.search(r"""(src|href)\s*=|@import|url\(|fetch\(|XMLHttp""", text)
    assert "default-src 'none'" in text


def test_a_page_is_written_and_its_size_said(tmp_path):
    out = tmp_path / "page.html"
    assert write_page(family_of(X, GROUND, method="mds"), out) == out.stat().st_size < 100_000


def test_costs_of_other_grounds_are_those_between_bins_in_use():
    rows = np.zeros((3, 50))
    rows[[0, 1, 2], [7, 20, 33]] = 1.0
    found = data(page(family_of(rows, sd.Ground.points(np.arange(50.0)), method="mds")))["ground"]
    assert found["kind"] == "matrix" and found["median"] == sd.Ground.points(np.arange(50.0)).median


def test_too_many_bins_leave_plans_out_and_say_so():
    d = COSTS_UP_TO + 1
    rows = np.full((2, d), 1 / d)
    ground = sd.Ground.points(np.random.default_rng(0).normal(size=(d, 2)))
    shown = family_of(rows, ground, distances=np.ones((2, 2)), method="mds")
    assert not shown.has_costs
    assert "1,201 bins are in use" in data(page(shown))["ground"]["reason"]


@pytest.mark.parametrize("labels", [None, ["a", "b", "a", "b", "a"]])
def test_labels_are_there_or_not(labels):
    assert data(page(family_of(X, GROUND, labels=labels, method="mds")))["labels"] == labels
