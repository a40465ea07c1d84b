"""Clouds between the bins of a ground: places, units, threads, interrupts."""

import threading

import numpy as np
import pytest

from sinkdist.ground.cloud_plan import PARTS, CloudPair, cut_of
from sinkdist.ground.on_demand import POINT_METRICS, PointCosts
from sinkdist.interrupts import Abandoned, Stop


@pytest.mark.parametrize("metric", POINT_METRICS)
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e15])
def test_costs_are_those_of_the_ground(metric, size):
    points = size * np.random.default_rng(0).normal(size=(300, 3)) + 5.0 * size
    costs = PointCosts(points, metric, unit=3.0)
    rows, columns = np.arange(0, 300, 2), np.arange(0, 300, 3)
    pair = CloudPair.of(costs, rows, columns)
    some = np.random.default_rng(1).random(columns.size)
    M = costs.block(rows, columns)
    found = pair.clouds.mean_costs(some[pair.column_order])
    np.testing.assert_allclose(found, (M @ some)[pair.row_order], rtol=1e-9)


def test_the_same_bins_are_one_cloud():
    costs = PointCosts(np.random.default_rng(0).random((100, 2)), "euclidean")
    clouds = CloudPair.of(costs, np.arange(50), np.arange(50)).clouds
    assert clouds.x is clouds.y


def test_any_order_of_parts_gives_the_same_bits():
    costs = PointCosts(np.random.default_rng(0).random((500, 3)), "euclidean")
    every, log_r = np.arange(500), np.full(500, -np.log(500))

    def backwards(parts, work):
        threads = [threading.Thread(target=work, args=(k,)) for k in reversed(range(parts))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    psi, unknown = np.linspace(0, 1, 500), np.full(500, -np.inf)
    first, second = (
        CloudPair.of(costs, every, every, *team).clouds.sweep(9.0, psi, unknown, log_r)
        for team in ((), (backwards,))
    )
    for one, other in zip(first, second, strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_interrupt_is_noticed_between_pieces():
    costs, stop, seen = (
        PointCosts(np.random.default_rng(0).random((200, 3)), "euclidean"),
        Stop(),
        [],
    )

    def team(parts, work):
        assert parts == PARTS
        for k in range(parts):
            seen.append(k)
            work(k)
            stop.set()

    clouds = CloudPair.of(costs, np.arange(200), np.arange(200), team, stop).clouds
    with pytest.raises(Abandoned):
        clouds.mean_costs(np.ones(200))
    assert seen == [0, 1]


def test_the_cut_leaves_out_what_is_said():
    assert 1000 * np.exp(-cut_of(1e-6, 1000)) == pytest.approx(1e-6)
