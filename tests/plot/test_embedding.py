import numpy as np
import pytest

import sinkdist as sd

POINTS = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [3.0, 4.0]])
D = np.hypot(*(POINTS[:, None] - POINTS).T).T


def drawn(ax):
    return np.concatenate([points.get_offsets() for points in ax.collections])


def test_points_of_the_plane_keep_their_distances():
    places = drawn(sd.plot.embedding(D))
    np.testing.assert_allclose(np.hypot(*(places[:, None] - places).T).T, D, atol=1e-6)


def test_labels_have_colours_and_a_legend():
    ax = sd.plot.embedding(D, labels=["b", "a", "a", "b"])
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["a", "b"]
    assert [len(points.get_offsets()) for points in ax.collections] == [2, 2]
    first, second = (points.get_facecolor()[0].tolist() for points in ax.collections)
    assert first != second


def test_names_are_written():
    ax = sd.plot.embedding(D, names=list("abcd"))
    assert [text.get_text() for text in ax.texts] == list("abcd")


def test_an_unknown_method_is_refused():
    with pytest.raises(sd.InputError, match=r"'mds' or 'tsne'\. Got 'pca'"):
        sd.plot.embedding(D, method="pca")
