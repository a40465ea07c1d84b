import numpy as np
import pytest

import sinkdist as sd


def test_images_lead_from_one_to_the_other():
    ground = sd.Ground.grid(3, 3, metric="sqeuclidean")
    r, c = np.eye(9)[0], np.eye(9)[8]
    ax = sd.plot.interpolation(r, c, ground, lam=5, steps=3)
    first, middle, last = (image.get_array().ravel() for image in ax.images)
    assert (first.argmax(), middle.argmax(), last.argmax()) == (0, 4, 8)
    assert [text.get_text() for text in ax.texts] == ["0", "0.5", "1"]


def test_on_a_line_they_are_curves():
    ax = sd.plot.interpolation(
        [1, 1, 0, 0], [0, 0, 1, 1], sd.Ground.grid(4), lam=5, steps=2, normalize=True
    )
    assert len(ax.lines) == 2
    np.testing.assert_allclose(ax.lines[0].get_ydata(), [0.5, 0.5, 0, 0], atol=1e-4)


def test_one_step_is_no_way():
    with pytest.raises(sd.InputError, match="at least 2"):
        sd.plot.interpolation([1, 0], [0, 1], sd.Ground.grid(2), lam=5, steps=1)
