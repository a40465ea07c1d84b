import numpy as np
import pytest

import sinkdist as sd

R, C = [0.5, 0.0, 0.5], [0.2, 0.3, 0.5]


def test_the_image_is_the_plan_on_bins_with_mass():
    s = sd.solve(R, C, sd.Ground.grid(3), lam=9)
    ax = sd.plot.plan(s)
    np.testing.assert_allclose(ax.images[0].get_array(), s.plan[[0, 2]], rtol=1e-12)
    labels = [
        [text.get_text() for text in axis] for axis in (ax.get_yticklabels(), ax.get_xticklabels())
    ]
    assert labels == [["0", "2"], ["0", "1", "2"]]


def test_sums_are_drawn_at_the_sides():
    above, side = sd.plot.plan(sd.solve(R, C, sd.Ground.grid(3), lam=9)).child_axes
    np.testing.assert_allclose([bar.get_height() for bar in above.patches], C, atol=1e-6)
    np.testing.assert_allclose([bar.get_width() for bar in side.patches], [0.5, 0.5], atol=1e-6)


def test_names_of_both_sides():
    ground = sd.Ground([[0.0, 1.0, 2.0], [1.0, 0.0, 1.0]])
    s = sd.solve([0.5, 0.5], C, ground, lam=np.inf)
    ax = sd.plot.plan(s, names=(["a", "b"], ["x", "y", "z"]))
    assert [text.get_text() for text in ax.get_xticklabels()] == ["x", "y", "z"]


def test_a_plan_too_large_for_a_picture_is_refused():
    d = 2100
    full = np.full(d, 1 / d)
    s = sd.solve(full, full[::-1], sd.Ground.grid(d), lam=np.inf)
    with pytest.raises(sd.InputError, match="2,100 x 2,100 entries"):
        sd.plot.plan(s)
