"""A `Solution` in a notebook: what is known of it, in tables."""

import numpy as np
import pytest

import sinkdist as sd

GROUND = sd.Ground.grid(3)


def cells(html):
    """The cells of each row, without markup."""
    import re

    return [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in html.split("<tr>")[1:]]


def test_one_pair_shows_its_numbers_and_moves():
    s = sd.solve([0.6, 0.4, 0], [0, 0.25, 0.75], GROUND, lam=np.inf)
    shown = cells(s._repr_html_())
    known = dict(row for row in shown if len(row) == 2)
    assert known["distance"] == f"{s.value:.6g}"
    assert known["proven to be between"] == "{:.6g} and {:.6g}".format(*s.bracket)
    assert known["status"] == str(sd.Status.CONVERGED)
    moves = [[str(m.source), str(m.target), f"{m.mass:.4g}", f"{m.cost:.4g}"] for m in s.moves(5)]
    assert [row for row in shown if len(row) == 4][1:] == moves


def test_many_pairs_are_counted():
    s = sd.solve(np.eye(3), np.eye(3)[::-1], GROUND, lam=9)
    known = dict(cells(s._repr_html_()))
    assert known["pairs"] == "3" and known["converged"] == "3"
    assert known["least, median, largest distance"] == "0, 2, 2"


def test_no_distance_is_said_to_be_none():
    s = sd.solve([0.5, 0.5, 0], [0, 0, 0], GROUND, lam=9, on_empty="nan")
    assert dict(cells(s._repr_html_()))["status"] == str(sd.Status.EMPTY)


def test_a_large_plan_is_not_looked_at(monkeypatch):
    full = np.full(600, 1 / 600)
    s = sd.solve(full, full[::-1], sd.Ground.grid(600), lam=np.inf)
    monkeypatch.setattr(type(s), "moves", lambda *a, **k: pytest.fail("the plan was formed"))
    assert "distance" in s._repr_html_()
