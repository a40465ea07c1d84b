"""A table of known distances: the right numbers, each pair solved once, within its limit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist

from sinkdist.inputs.histograms import Histograms
from sinkdist.learn.distance_table import DistanceTable
from sinkdist.learn.hashed_rows import hashed_rows

ROWS = np.random.default_rng(0).dirichlet(np.ones(3), 14)
PLENTY = 10**9


class CountingSpec:
    """City-block distances that count how often they are solved; not symmetric, if asked."""

    dtype = np.dtype(float)
    workers = None

    def __init__(self, symmetric=True):
        self.is_symmetric, self.solved, self.progress = symmetric, [], False

    def right(self, X, Y):
        return cdist(X, Y, "cityblock") + (0.0 if self.is_symmetric else X[:, :1])

    def solve(self, X, Y, workers, progress=False):
        Y, both = (X, True) if Y is None else (Y, False)
        assert not both or self.is_symmetric
        for i, x in enumerate(X):
            for j, y in enumerate(Y):
                if not both or i <= j:
                    self.solved.append((x.tobytes(), y.tobytes()))
        return self.right(X, Y)


index = st.lists(st.integers(0, 13), min_size=1, max_size=9).map(np.array)


@settings(max_examples=60)
@given(st.lists(st.tuples(index, index), min_size=1, max_size=5), st.booleans())
def test_any_calls_in_turn_are_answered_right_and_no_pair_is_solved_twice(calls, symmetric):
    question = CountingSpec(symmetric)
    table, told = DistanceTable(question), 0
    for x, y in calls:
        X, Y = ROWS[x], ROWS[y]
        values, solved, kept = table.distances(
            hashed_rows(Histograms(X)), hashed_rows(Histograms(Y)), PLENTY, None
        )
        np.testing.assert_allclose(values, question.right(X, Y), atol=1e-15)
        told += solved
        assert kept
    pairs = {frozenset(pair) for pair in question.solved} if symmetric else set(question.solved)
    assert len(pairs) == len(question.solved) == told


@pytest.mark.parametrize("limit", [0, 2000, 4000])
def test_a_small_limit_costs_time_and_no_digits(limit):
    question = CountingSpec()
    table = DistanceTable(question)
    for x in (slice(0, 5), slice(3, 9), slice(0, 14), slice(0, 5)):
        roll = hashed_rows(Histograms(ROWS[x]))
        values, _, kept = table.distances(roll, roll, limit, None)
        np.testing.assert_allclose(values, question.right(ROWS[x], ROWS[x]), atol=1e-15)
        assert table.nbytes <= max(limit, 0)
        assert kept or len(roll) * 300 > limit - 8 * len(roll) ** 2


def test_rows_that_were_never_trained_on_make_room_first():
    question = CountingSpec()
    table = DistanceTable(question)
    train, first, second = (
        hashed_rows(Histograms(ROWS[x])) for x in (slice(0, 4), slice(4, 9), slice(9, 14))
    )
    limit = 8 * 4 * 9 + 150 * 13
    table.distances(train, train, limit, None)
    table.distances(first, train, limit, None)
    table.distances(second, train, limit, None)
    before = len(question.solved)
    table.distances(train, train, limit, None)
    assert len(question.solved) == before  # the training set is still known
