import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.sparse import csr_array

import sinkdist as sd
from sinkdist.plot import canvas


def test_given_axes_are_used_and_new_ones_made():
    _, ax = plt.subplots()
    assert canvas.axes(ax) is ax
    assert canvas.axes(None) is not ax


def test_more_groups_than_colours_have_colours_of_their_own():
    colours = [tuple(np.round(canvas.colour_of(k), 3)) for k in range(30)]
    assert len(set(colours)) == 30


@pytest.mark.parametrize("x", [[0.5, -0.5], [np.nan, 1.0], np.eye(2), []])
def test_what_is_no_histogram_is_refused(x):
    with pytest.raises(sd.InputError):
        canvas.dense_row(x)


def test_a_sparse_row_is_read():
    assert canvas.dense_row(csr_array([[0.0, 0.5, 0.5]])).tolist() == [0.0, 0.5, 0.5]


def test_every_picture_draws_on_the_axes_it_is_given():
    ground, X = sd.Ground.grid(2, 2), np.eye(4)
    s = sd.solve(X[0], X[3], ground, lam=9)
    found = sd.neighbors(X, ground=ground, k=1, lam=np.inf)
    D = sd.pairwise(X, ground=ground, lam=9)
    draw = {
        "plan": lambda ax: sd.plot.plan(s, ax=ax),
        "flow": lambda ax: sd.plot.flow(s, ax=ax),
        "histogram": lambda ax: sd.plot.histogram(X[0], ground, ax=ax),
        "neighbors": lambda ax: sd.plot.neighbors(found, X, ax=ax),
        "matrix": lambda ax: sd.plot.matrix(D, ax=ax),
        "embedding": lambda ax: sd.plot.embedding(D, ax=ax),
        "path": lambda ax: sd.plot.path([s], ax=ax),
        "interpolation": lambda ax: sd.plot.interpolation(X[0], X[3], ground, lam=9, ax=ax),
    }
    assert set(draw) == set(sd.plot.__all__)
    for call in draw.values():
        figure, ax = plt.subplots()
        assert call(ax) is ax
        figure.canvas.draw()  # what cannot be drawn fails here


@pytest.mark.parametrize("what", ["plan", "flow"])
def test_many_pairs_are_refused(what):
    many = sd.solve(np.eye(3), np.eye(3)[::-1], sd.Ground.grid(3), lam=9)
    with pytest.raises(sd.InputError, match=f"plot.{what} draws one pair. Got a Solution of 3"):
        getattr(sd.plot, what)(many)
