"""The cache of a process: one table for each question, the oldest forgotten first."""

import warnings

import numpy as np
import pytest

from sinkdist.inputs.histograms import Histograms
from sinkdist.learn.cache import DistanceCache
from sinkdist.learn.hashed_rows import hashed_rows
from tests.learn.test_distance_table import CountingSpec

ROWS_OF_TEN = hashed_rows(Histograms(np.random.default_rng(0).dirichlet(np.ones(3), 10)))
ONE = 8 * 100 + 150 * 20  # bytes of ten rows against each other


def question(key):
    asked = CountingSpec()
    asked.key = key
    return asked


def test_what_is_known_is_not_solved_again():
    cache, first = DistanceCache(10 * ONE), question("a")
    values = cache.distances(first, ROWS_OF_TEN, ROWS_OF_TEN)
    again = question("a")  # a clone of an estimator asks the same
    np.testing.assert_array_equal(cache.distances(again, ROWS_OF_TEN, ROWS_OF_TEN), values)
    assert again.solved == [] and cache.info().solved == 55
    cache.distances(question("b"), ROWS_OF_TEN, ROWS_OF_TEN)
    info = cache.info()
    assert (info.solved, info.tables, info.questions, info.nbytes) == (110, 2, 2, 2 * ONE)
    cache.clear()
    assert cache.info() == type(info)(0, 0, 10 * ONE, 0)


def test_callers_may_write_on_what_they_get():
    cache = DistanceCache(10 * ONE)
    values = cache.distances(question("a"), ROWS_OF_TEN, ROWS_OF_TEN)
    kept = values.copy()
    values[:] = -1.0
    np.testing.assert_array_equal(cache.distances(question("a"), ROWS_OF_TEN, ROWS_OF_TEN), kept)


def test_the_question_asked_least_recently_is_forgotten():
    cache = DistanceCache(2 * ONE)
    for key in "abac":
        cache.distances(question(key), ROWS_OF_TEN, ROWS_OF_TEN)
    assert cache.info().tables == 2
    for key, known in (("a", True), ("c", True), ("b", False)):
        asked = question(key)
        cache.distances(asked, ROWS_OF_TEN, ROWS_OF_TEN)
        assert (asked.solved == []) == known, key


def test_a_smaller_limit_forgets_at_once():
    cache = DistanceCache("1MB")
    cache.distances(question("a"), ROWS_OF_TEN, ROWS_OF_TEN)
    cache.allow(ONE // 2)
    assert cache.info().nbytes == 0


def test_a_training_set_that_does_not_fit_is_told_once_for_each_fit():
    cache = DistanceCache(ONE // 2)
    with pytest.warns(UserWarning, match=r"10 x 10 distances of the training set do not fit"):
        cache.distances(question("a"), ROWS_OF_TEN, ROWS_OF_TEN)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cache.distances(
            question("a"), ROWS_OF_TEN.take(np.arange(9)), ROWS_OF_TEN
        )  # no training set
        DistanceCache(0).distances(question("a"), ROWS_OF_TEN, ROWS_OF_TEN)  # asked for
