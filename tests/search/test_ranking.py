"""What is wanted of candidates: the k-th upper end decides, ties by index."""

import numpy as np

from sinkdist.search.candidates import Survivors
from sinkdist.search.ranking import Ranking, Rule


def test_the_limit_is_the_upper_end_of_the_kth():
    ranking = Ranking(Rule(2))
    assert ranking.limit[0] == np.inf
    ranking.put(4, 1.0, 1.5)
    assert ranking.limit[0] == np.inf
    assert ranking.upper_ends().tolist() == [1.5, np.inf]
    ranking.put(7, 1.2, 1.3)
    assert ranking.limit == (1.5, 7)
    assert ranking.upper_ends().tolist() == [1.3, 1.5]
    ranking.put(9, 1.4, 1.4)
    assert ranking.limit == (1.4, 9)


def test_bounds_at_the_limit_are_dropped_by_index():
    ranking = Ranking(Rule(1))
    ranking.put(5, 2.0, 2.0)
    left = Survivors(np.array([1, 3, 8, 9]), np.array([2.0, 2.1, 2.0, 1.9]))
    ranking.drop(left)
    assert left.index.tolist() == [1, 9]


def test_what_is_proven_is_what_no_other_can_beat():
    ranking = Ranking(Rule(3))
    for index, value in ((2, 0.5), (1, 0.5), (6, 0.9)):
        ranking.put(index, value, value)
    index, value, proven = ranking.best(0.7)
    assert index.tolist() == [1, 2, 6] and value.tolist() == [0.5, 0.5, 0.9]
    assert proven.tolist() == [True, True, False]


def test_a_radius_keeps_its_edge():
    ranking = Ranking(Rule(None, 1.0))
    ranking.put(0, 1.0, 1.0)
    assert ranking.upper_ends().size == 0
    ranking.put(1, 1.1, 1.1)
    assert ranking.best(np.inf)[0].tolist() == [0]
    left = Survivors(np.array([3, 4]), np.array([1.0, 1.0 + 1e-12]))
    ranking.drop(left)
    assert left.index.tolist() == [3]
