"""The order of a cloud, its runs and their boxes."""

import numpy as np
import pytest

from sinkdist.ground.cloud import Cloud, in_runs, neighbours_together
from sinkdist.kernels.cloud import RUN


@pytest.mark.parametrize("n", [1, 7, 8, 9, 64, 100, 1000])
@pytest.mark.parametrize("dimension", [1, 3])
def test_the_order_is_one(n, dimension):
    points = np.random.default_rng(n).random((n, dimension))
    np.testing.assert_array_equal(np.sort(neighbours_together(points)), np.arange(n))


def test_runs_are_compact():
    points = np.random.default_rng(0).random((4096, 2))
    cloud = Cloud(points[neighbours_together(points)]).double
    areas = np.prod(cloud.high - cloud.low, axis=1)
    assert areas.sum() < 1.0  # boxes of neighbours hardly overlap; of random points they fill 60


def test_points_that_are_all_the_same():
    cloud = Cloud(np.ones((20, 2))[neighbours_together(np.ones((20, 2)))])
    np.testing.assert_array_equal(cloud.double.low, cloud.double.high)


def test_the_last_run_is_filled_up():
    x = np.arange(RUN + 3.0)[:, None]
    cloud = Cloud(x).double
    assert cloud.runs.shape == (2, 1, RUN)
    np.testing.assert_array_equal(cloud.runs[1, 0, 3:], x[-1, 0])
    np.testing.assert_array_equal(in_runs(x[:, 0], -1.0)[1, 3:], -1.0)
    assert cloud.high[1, 0] == x[-1, 0]
