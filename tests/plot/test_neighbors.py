import numpy as np
import pytest

import sinkdist as sd

GROUND = sd.Ground.grid(2, 2)
X = np.array([[1, 0, 0, 0], [0.5, 0.5, 0, 0], [0, 0, 0, 1.0], [0, 0, 0.5, 0.5]])


def texts(ax):
    return [text.get_text() for text in ax.texts]


def test_each_query_is_followed_by_its_nearest():
    found = sd.neighbors(X, ground=GROUND, k=2, lam=np.inf)
    ax = sd.plot.neighbors(found, X, ground=GROUND, queries=[2])
    drawn = [image.get_array().ravel().tolist() for image in ax.images]
    assert drawn == [X[k].tolist() for k in (2, *found.indices[2])]
    assert texts(ax) == ["query 2", *(f"{d:.3g}" for d in found.distances[2])]
    assert ax.get_xlabel() == ""


def test_what_is_not_proven_has_a_star():
    rng = np.random.default_rng(0)
    Y = rng.dirichlet(np.ones(4), size=50)
    found = sd.neighbors(X, Y, ground=GROUND, k=3, lam=np.inf, budget=3)
    assert not found.proven.all()
    ax = sd.plot.neighbors(found, X, Y, ground=GROUND)
    starred = [text.endswith("*") for text in texts(ax) if not text.startswith("query")]
    assert starred == (~found.proven).ravel().tolist()
    assert "not proven" in ax.get_xlabel()


def test_names_of_rows_and_of_bins():
    found = sd.neighbors(X, ground=GROUND, k=1, lam=np.inf)
    ax = sd.plot.neighbors(found, X, names=list("abcd"), bins=["n", "e", "s", "w"], queries=0)
    assert texts(ax) == ["n", "a", "n\ne", "b 0.5"]


def test_without_a_grid_histograms_are_bars():
    found = sd.neighbors(X, ground=GROUND, k=1, lam=np.inf)
    assert len(sd.plot.neighbors(found, X).patches) == 4 * 2 + 4  # stairs, frames of the queries


def test_other_families_are_refused():
    found = sd.neighbors(X, ground=GROUND, k=1, lam=np.inf)
    with pytest.raises(sd.InputError, match="4 queries among 4 rows, but 'X' has 3"):
        sd.plot.neighbors(found, X[:3])
    with pytest.raises(sd.InputError, match=r"from 0 to 3\. Got 9"):
        sd.plot.neighbors(found, X, queries=[9])
