"""Which histograms belong to which barycentre."""

import numpy as np
import pytest

from sinkdist.means.pairing import pairing_of

pytestmark = pytest.mark.nojit

W = np.array([[0.5, 0.0, 0.5], [0.0, 1.0, 0.0], [0.2, 0.3, 0.5]])


def test_weights_of_0_make_no_pair():
    pairs = pairing_of(W)
    assert pairs.size == 6 and pairs.count == 3
    assert pairs.starts.tolist() == [0, 2, 3]
    assert pairs.histogram.tolist() == [0, 2, 1, 0, 1, 2]


def test_sums_by_parts_are_the_weighted_sums():
    pairs, values = pairing_of(W), np.arange(12.0).reshape(6, 2)
    wanted = [(W[k][W[k] > 0] @ values[pairs.barycenter == k]) for k in range(3)]
    found = np.zeros((3, 2))
    for rows in (slice(0, 3), slice(3, 5), slice(5, 6)):
        part, first = pairs.weighted_sums(rows, values[rows]), pairs.barycenter[rows.start]
        found[first : first + len(part)] += part
    np.testing.assert_allclose(found, wanted)


def test_some_barycentres():
    pairs, rows = pairing_of(W).chosen(np.array([True, False, True]))
    assert rows.tolist() == [True, True, False, True, True, True]
    assert pairs.count == 2 and pairs.barycenter.tolist() == [0, 0, 1, 1, 1]
    assert pairs.largest(np.array([1.0, 5.0, 2.0, 7.0, 3.0])).tolist() == [5.0, 7.0]
