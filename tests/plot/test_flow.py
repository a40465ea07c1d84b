import numpy as np
import pytest
from matplotlib.patches import FancyArrowPatch, PathPatch

import sinkdist as sd


def solved(shape, r, c, **more):
    return sd.solve(r, c, sd.Ground.grid(*shape), lam=np.inf, **more)


def test_arrows_lead_from_pixel_to_pixel():
    """Half of the mass goes from row 0, column 1 to row 1, column 2; x is the column."""
    s = solved((2, 3), [0.5, 0.5, 0, 0, 0, 0], [0.5, 0, 0, 0, 0, 0.5])
    ax = sd.plot.flow(s)
    (arrow,) = ax.patches
    assert isinstance(arrow, FancyArrowPatch)
    assert arrow._posA_posB == [(1.0, 0.0), (2.0, 1.0)]
    assert ax.get_xlabel() == "1 of 1 moves, 100% of the mass that moves"


def test_more_mass_is_a_wider_arrow():
    s = solved((1, 4), [0.75, 0, 0, 0.25], [0, 0.75, 0.25, 0])
    wide, thin = sd.plot.flow(s, positions=np.stack([np.arange(4), np.zeros(4)], 1)).patches
    assert wide.get_linewidth() == pytest.approx(3 * thin.get_linewidth())


def test_the_largest_moves_are_drawn_and_their_share_said():
    s = solved((2, 2), [0.75, 0.25, 0, 0], [0, 0, 0.75, 0.25])
    ax = sd.plot.flow(s, top=1)
    assert len(ax.patches) == 1
    assert ax.get_xlabel() == "1 of 2 moves, 75% of the mass that moves"


def test_nothing_moves():
    ax = sd.plot.flow(solved((2, 2), [0.5, 0.5, 0, 0], [0.5, 0.5, 0, 0]))
    assert len(ax.patches) == 0 and ax.get_xlabel() == "nothing moves"


def test_on_a_line_lines_lead_from_bars_to_bars():
    ax = sd.plot.flow(solved((4,), [1, 0, 0, 0], [0, 0, 0.5, 0.5]))
    assert {(tuple(line.get_xdata()), tuple(line.get_ydata())) for line in ax.lines} == {
        ((0, 2), (1.0, 0.0)), ((0, 3), (1.0, 0.0)),
    }  # fmt: skip


def test_bands_between_names():
    words = ["cat", "dog", "car"]
    ground = sd.Ground([[0, 1, 9], [1, 0, 9], [9, 9, 0]])
    ax = sd.plot.flow(sd.solve([0.6, 0.4, 0], [0, 0.5, 0.5], ground, lam=np.inf), names=words)
    texts = sorted((text.get_position()[0] > 0, text.get_text()) for text in ax.texts)
    moves = sd.solve([0.6, 0.4, 0], [0, 0.5, 0.5], ground, lam=np.inf).moves(names=words)
    expected = {(False, m.source) for m in moves} | {(True, m.target) for m in moves}
    assert texts == sorted(expected)
    bands = [patch for patch in ax.patches if isinstance(patch, PathPatch)]
    assert len(bands) == len(moves)
    heights = [
        abs(band.get_path().vertices[0, 1] - band.get_path().vertices[7, 1]) for band in bands
    ]
    np.testing.assert_allclose(
        np.divide(heights, heights[0]), [m.mass / moves[0].mass for m in moves]
    )


def test_positions_of_two_sets_of_points():
    ground = sd.Ground.points([[0.0, 0.0]], [[1.0, 0.0], [0.0, 2.0]])
    s = sd.solve([1.0], [0.5, 0.5], ground, lam=np.inf)
    ax = sd.plot.flow(s, positions=(np.zeros((1, 2)), np.array([[1.0, 0.0], [0.0, 2.0]])))
    assert {arrow._posA_posB[1] for arrow in ax.patches} == {(1.0, 0.0), (0.0, 2.0)}
    with pytest.raises(sd.InputError, match="a pair of arrays"):
        sd.plot.flow(s, positions=np.zeros((1, 2)))
