"""Swaps of medoids, against all choices of medoids and against trying every swap."""

from itertools import combinations

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sinkdist.learn.swaps import _best_swap, _nearest, swapped


def matrix(seed, n, symmetric=True):
    rng = np.random.default_rng(seed)
    D = rng.random((n, n))
    D = (D + D.T) / 2 if symmetric else D
    np.fill_diagonal(D, 0.0)
    return D


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("symmetric", [True, False])
def test_what_a_swap_changes(seed, symmetric):
    """The change of every swap, by the definition: the total after it, less the total before."""
    D = matrix(seed, 9, symmetric)
    medoids = np.array([1, 4, 7])
    state = _nearest(D, medoids)
    for candidate in (0, 2, 3, 5, 6, 8):
        totals = []
        for place in range(3):
            others = medoids.copy()
            others[place] = candidate
            totals.append(D[:, others].min(axis=1).sum())
        place, change = _best_swap(D[:, candidate], state, 3)
        assert change == pytest.approx(min(totals) - D[:, medoids].min(axis=1).sum(), abs=1e-12)
        assert totals[place] == pytest.approx(min(totals), abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
def test_no_swap_is_left_that_gains(seed, k):
    D = matrix(seed, 12)
    found = swapped(D, np.arange(k), 100)
    assert found.inertia == pytest.approx(D[:, found.indices].min(axis=1).sum())
    np.testing.assert_array_equal(found.labels, D[:, found.indices].argmin(axis=1))
    for place in range(k):
        for candidate in set(range(12)) - set(found.indices.tolist()):
            others = found.indices.copy()
            others[place] = candidate
            assert D[:, others].min(axis=1).sum() >= found.inertia - 1e-12


def test_clear_clusters_are_found_from_any_start():
    rng = np.random.default_rng(0)
    x = np.concatenate([rng.normal(loc, 0.1, 10) for loc in (0, 10, 20)])
    D = np.abs(x[:, None] - x)
    best = min(
        D[:, list(m)].min(axis=1).sum() for m in combinations(range(30), 3) if len({*m}) == 3
    )
    for start in ([0, 1, 2], [27, 28, 29], [0, 10, 20]):
        assert swapped(D, np.array(start), 100).inertia == pytest.approx(best)


def test_passes_are_limited():
    assert swapped(matrix(0, 40), np.arange(5), 1).n_iter == 1
