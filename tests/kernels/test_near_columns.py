"""Rows and costs on the bins that some rows use."""

import numpy as np
import pytest

from sinkdist.kernels.near_columns import costs_between, number_columns, renumber_rows
from sinkdist.solvers.bins import sparse_rows


@pytest.mark.nojit
def test_own_bins_come_first_and_rows_stay_the_same():
    rng = np.random.default_rng(0)
    Y = rng.dirichlet(np.ones(9), 6) * (rng.random((6, 9)) < 0.4)
    rows, index, own = sparse_rows(Y), np.array([4, 0, 5]), np.array([2, 7])
    label, columns = np.empty((2, 9), np.int64)
    count = number_columns(rows.start, rows.bins, index, own, label, columns)
    used = columns[:count]
    others = np.setdiff1d(np.flatnonzero(Y[index].any(axis=0)), own)
    np.testing.assert_array_equal(used, [*own, *others])
    np.testing.assert_array_equal(label[used], np.arange(count))
    assert (np.delete(label, used) < 0).all()
    size = int(np.count_nonzero(Y[index]))
    start, bins, mass = np.empty(4, np.int64), np.empty(size, np.int64), np.empty(size)
    renumber_rows(*rows, index, label, own.size, start, bins, mass)
    for k in range(3):
        part = slice(start[k], start[k + 1])
        assert (np.diff(bins[part]) > 0).all()
        whole = np.zeros(9)
        whole[used[bins[part]]] = mass[part]
        np.testing.assert_array_equal(whole, Y[index[k]])


@pytest.mark.nojit
@pytest.mark.parametrize("count", [0, 1, 2, 4, 7])
def test_costs_between(count):
    M, costs = np.arange(20.0).reshape(4, 5), np.empty((count, 3))
    rows, columns = np.array([3, 1, 0, 2, 2, 1, 3])[:count], np.array([4, 0, 2])
    costs_between(M, rows, columns, costs)
    np.testing.assert_array_equal(costs, M[np.ix_(rows, columns)])
