"""Plans from flows: no dust, no mass lost, the same in floats and in integers."""

import numpy as np
import pytest

from sinkdist.solvers.closed_forms import coupling
from tests.problems import simplex, sparse_histograms
from tests.solvers.closed_forms.grounds import extreme

PATH = np.array([0, 0, 1, 2, 3, 4, 5, 6, 7, 8])
BUSH = np.array([0, 0, 0, 1, 1, 2, 2, 2, 5, 5])
WAYS = {
    "in order": (coupling.in_order, coupling.in_order_exactly),
    "path": tuple(
        lambda a, b, way=way: way(PATH, a, b)
        for way in (coupling.from_the_leaves, coupling.from_the_leaves_exactly)
    ),
    "bush": tuple(
        lambda a, b, way=way: way(BUSH, a, b)
        for way in (coupling.from_the_leaves, coupling.from_the_leaves_exactly)
    ),
}


def dense(entries):
    P = np.zeros((10, 10))
    rows, columns, mass = entries
    P[rows, columns] = mass
    assert np.count_nonzero(P) == mass.size and P.min() >= 0  # no entry twice
    return P


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [simplex, sparse_histograms])
def test_couplings_in_floats_and_in_integers(way, make):
    for r, c in zip(make(5, 10, 0), make(5, 10, 1), strict=True):
        P, Q = (dense(couple(r, c)) for couple in WAYS[way])
        np.testing.assert_allclose(P, Q, rtol=0, atol=1e-15)
        np.testing.assert_allclose(Q.sum(axis=1), r, rtol=1e-14)
        np.testing.assert_allclose(Q.sum(axis=0), c, rtol=1e-14)
        assert not P[r == 0].any() and not P[:, c == 0].any()


@pytest.mark.parametrize("way", WAYS)
def test_integers_lose_no_mass(way):
    for seed in range(5):
        r, c = extreme(10, seed)
        P = dense(WAYS[way][1](r, c))
        np.testing.assert_allclose(P.sum(axis=1), r, rtol=1e-14)
        np.testing.assert_allclose(P.sum(axis=0), c, rtol=1e-14)


def test_mass_stays_where_both_have_it():
    r, c = simplex(2, 10, 3)
    P = dense(coupling.from_the_leaves(BUSH, r, c))
    np.testing.assert_array_equal(P.diagonal(), np.minimum(r, c))
