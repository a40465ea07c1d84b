import numpy as np
import pytest

import sinkdist as sd
from sinkdist.plot.matrix import cluster_order

#: Rows 0, 2 and 4 are near each other, and so are 1, 3 and 5.
PLACES = np.array([0.0, 9.0, 0.1, 9.1, 0.2, 9.2])
D = np.abs(PLACES[:, None] - PLACES)


def test_rows_of_a_cluster_stand_together():
    order = cluster_order(D)
    assert {frozenset(order[:3].tolist()), frozenset(order[3:].tolist())} == {
        frozenset({0, 2, 4}), frozenset({1, 3, 5}),
    }  # fmt: skip
    drawn = sd.plot.matrix(D).images[0].get_array()
    np.testing.assert_array_equal(drawn, D[np.ix_(order, order)])


def test_labels_part_the_rows():
    ax = sd.plot.matrix(D, labels=["b", "a", "b", "a", "b", "a"])
    drawn = ax.images[0].get_array()
    assert drawn[:3, :3].max() < 1 < drawn[:3, 3:].min()
    assert [text.get_text() for text in ax.get_yticklabels()] == ["a", "b"]
    assert len(ax.lines) == 2 and ax.lines[0].get_ydata()[0] == 2.5


def test_rows_without_distances_stand_at_the_end():
    lost = D.copy()
    lost[1], lost[:, 1] = np.nan, np.nan
    assert cluster_order(lost)[-1] == 1


def test_a_stored_matrix_is_read(tmp_path):
    X = np.random.default_rng(0).dirichlet(np.ones(4), size=7)
    stored = sd.pairwise(X, ground=sd.Ground.grid(4), lam=9, out=tmp_path / "D.zarr")
    drawn = sd.plot.matrix(stored, labels=np.zeros(7)).images[0].get_array()
    assert np.sort(drawn.ravel()).tolist() == np.sort(stored.to_numpy().ravel()).tolist()


@pytest.mark.parametrize(
    ("bad", "words"), [((np.ones((2, 3)), None), "square"), ((D, [1, 2]), "one label per row, 6")]
)
def test_what_does_not_fit_is_refused(bad, words):
    with pytest.raises(sd.InputError, match=words):
        sd.plot.matrix(*bad)
