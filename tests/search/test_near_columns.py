"""Solves and planes on a few columns are those on all bins."""

import numpy as np

import sinkdist as sd
from sinkdist.search.near_columns import NearColumns
from sinkdist.solvers.bins import sparse_rows
from sinkdist.solvers.explored import Plane

RNG = np.random.default_rng(2)
GROUND = sd.Ground.points(RNG.random((20, 3)))
Y = RNG.dirichlet(np.full(20, 0.1), 30) * (RNG.random((30, 20)) < 0.3)
Y[Y.sum(axis=1) == 0.0, 3] = 1.0
ROWS, BINS = sparse_rows(Y), np.array([4, 11, 17])


def test_costs_come_from_wider_columns_where_these_have_them():
    wide = NearColumns(GROUND, BINS, ROWS, np.arange(10))
    for index in (np.array([2, 8]), np.array([2, 29])):  # the last is beyond the wider ones
        near = NearColumns(GROUND, BINS, ROWS, index, wide)
        np.testing.assert_array_equal(near.bins[:3], BINS)
        np.testing.assert_array_equal(near.costs, GROUND.matrix[np.ix_(BINS, near.bins)])


def test_planes_on_a_few_columns():
    index, g = np.array([1, 5, 9]), RNG.normal(size=20)
    near = NearColumns(GROUND, BINS, ROWS, index)
    bound = np.full(3, -9.0)
    near.raise_bounds(index, [Plane(g[near.bins], 0.25)], bound)
    np.testing.assert_allclose(bound, Y[index] @ g + 0.25, rtol=1e-14)


def test_rectangular_costs_have_no_own_columns():
    ground = sd.Ground(RNG.random((3, 20)))
    near = NearColumns(ground, np.array([0, 2]), ROWS, np.array([6]))
    assert near.own == 0
    np.testing.assert_array_equal(near.bins, np.flatnonzero(Y[6]))
    np.testing.assert_array_equal(near.costs, ground.matrix[[0, 2]][:, near.bins])
