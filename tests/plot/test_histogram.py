import numpy as np
import pytest

import sinkdist as sd


def test_on_a_grid_it_is_an_image():
    x = np.arange(6) / 15
    ax = sd.plot.histogram(x, sd.Ground.grid(2, 3))
    np.testing.assert_array_equal(ax.images[0].get_array(), x.reshape(2, 3))


def test_on_a_line_all_bins_are_bars():
    ax = sd.plot.histogram([0.2, 0.0, 0.8], sd.Ground.grid(3))
    assert [bar.get_height() for bar in ax.patches] == [0.2, 0.0, 0.8]


def test_the_largest_bins_have_their_names_and_the_rest_is_counted():
    ax = sd.plot.histogram([0.1, 0.4, 0.3, 0.2, 0.0], names=list("abcde"), top=2)
    assert [text.get_text() for text in ax.get_yticklabels()] == ["b", "c"]
    assert ax.get_xlabel() == "mass (and 2 smaller bins)"


def test_circles_have_the_mass_as_area():
    ax = sd.plot.histogram([0.5, 0.0, 0.25], positions=[[0, 0], [1, 1], [2, 0]])
    circles = ax.collections[0]
    assert circles.get_offsets().tolist() == [[0, 0], [2, 0]]
    large, small = circles.get_sizes()
    assert large == pytest.approx(2 * small)


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"ground": sd.Ground.grid(4)}, "'x' has 3 bins"),
        ({"names": ["a"]}, "one name per bin, 3 in all. Got 1"),
        ({"positions": [[0, 0]]}, r"shape \(3, 2\)"),
    ],
)
def test_what_does_not_fit_is_refused(more, words):
    with pytest.raises(sd.InputError, match=words):
        sd.plot.histogram([0.2, 0.3, 0.5], **more)
