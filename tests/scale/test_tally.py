"""Tallies: counting piece by piece is counting at once."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sinkdist.scale.tally import Tally

pairs = st.lists(
    st.tuples(st.integers(0, 4), st.one_of(st.just(math.nan), st.floats(0.0, 2.0))), max_size=30
)


def counted(rows):
    status, error = (np.array([row[k] for row in rows]) for k in (0, 1))
    return Tally.of(status.astype(np.int8), error.astype(float))


@given(pairs, st.integers(0, 30))
def test_the_sum_of_two_parts_is_the_whole(rows, cut):
    whole, parts = counted(rows), counted(rows[:cut]) + counted(rows[cut:])
    assert parts.counts == whole.counts
    assert sum(whole.counts.values()) == len(rows)
    for code, worst in whole.worst.items():
        known = [error for status, error in rows if status == code and not math.isnan(error)]
        assert worst == max(known) if known else math.isnan(worst)
        np.testing.assert_equal(parts.worst[code], worst)
    assert whole.count((1, 3)) == sum(status in (1, 3) for status, _ in rows)


def test_arrays_of_any_shape_are_counted():
    found = Tally.of(np.array([[0, 1], [1, 1]]), np.array([[0.1, 0.2], [0.4, 0.3]]))
    assert found == Tally({0: 1, 1: 3}, {0: 0.1, 1: 0.4})
    assert Tally({}, {}) + found == found
