"""Which lines are found for which costs."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.search.cloud import CloudLines
from sinkdist.search.lattice import GridLines
from sinkdist.search.lines import find_lines

RNG = np.random.default_rng(0)


@pytest.mark.parametrize(
    ("ground", "kind"),
    [
        (sd.Ground.grid(4, 5), GridLines),
        (sd.Ground.grid(2, 3, 4, metric="cityblock"), GridLines),
        (sd.Ground.points(RNG.random((12, 2))), CloudLines),
        (sd.Ground.points(RNG.random((12, 4))), type(None)),
        (sd.Ground.grid(4, 5, metric="sqeuclidean"), type(None)),
    ],
)
def test_lines_by_costs(ground, kind):
    lines = find_lines(ground)
    assert isinstance(lines, kind)
    if lines is not None:
        d = ground.shape[0]
        found = lines.cumulated(np.eye(d))
        assert found.shape == (d, lines.first[-1]) and (lines.first % 4 == 0).all()
        assert len(lines.lengths) == len(lines.directions) == lines.first.size - 1
