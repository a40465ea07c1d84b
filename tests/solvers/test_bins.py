"""Bins with mass: what is cut away is what has none."""

import numpy as np

from sinkdist.solvers.bins import all_bins, cut, in_double, support, union


def test_support_is_none_where_every_bin_has_mass():
    assert support(np.array([0.5, 0.5])) is None
    np.testing.assert_array_equal(support(np.array([0.0, 0.5, 0.0, 0.5])), [1, 3])


def test_histograms_are_cut_to_bins_with_mass_as_kernels_take_them():
    bins, masses = cut(np.array([0.0, 0.25, 0.0, 0.75], np.float32))
    assert bins.tolist() == [1, 3] and masses.tolist() == [0.25, 0.75]
    assert masses.dtype == np.float64
    full = np.array([0.5, 0.5])
    assert cut(full)[0] is None and cut(full)[1] is full  # no copy
    full.flags.writeable = False
    bins, masses = cut(full)
    assert bins is None and masses.flags.writeable and masses.tolist() == [0.5, 0.5]


def test_union_of_rows():
    np.testing.assert_array_equal(union(np.array([[1.0, 0, 0], [0, 0, 1.0]])), [0, 2])
    assert union(np.array([[1.0, 0], [0, 1.0]])) is None


def test_all_bins():
    rows, columns = all_bins(None, np.array([1]), np.ones((1, 3)), np.ones((1, 2)))
    assert rows.tolist() == [0, 1, 2] and columns.tolist() == [1]


def test_single_precision_sums_to_one_again():
    weights = np.array([[0.1, 0.2, 0.7], [0.3, 0.3, 0.4]], np.float32)
    found = in_double(weights)
    assert found.dtype == np.float64 and np.abs(found.sum(axis=1) - 1).max() < 1e-15
    double = np.array([0.25, 0.75])
    assert in_double(double) is double
