"""The simplex in integers, against another one in fractions and by the proof it ends with."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sinkdist.interrupts import Abandoned, Stop
from sinkdist.solvers.compiled import rational
from tests.oracles.exact import normalised
from tests.oracles.linear_program import emd
from tests.small_pairs import highs, shapes, small_pair


def cost(best, M):
    """The exact cost of the moves, as they were rounded."""
    moves = zip(best.rows, best.columns, best.mass, strict=True)
    return sum(Fraction(float(m)) * Fraction(float(M[i, j])) for i, j, m in moves)


@settings(max_examples=40)
@given(shapes, st.sampled_from([0, 10, 40]))
def test_plans_are_optimal_whatever_the_range_of_costs_and_masses(shape, orders):
    p = small_pair(*shape)
    rng = np.random.default_rng(shape[2])
    M = p.M * 10.0 ** rng.integers(-orders, orders + 1, p.M.shape)
    r, c = (x * 10.0 ** -rng.integers(0, orders + 1, x.size) for x in (p.r, p.c))
    r, c = r / r.sum(), c / c.sum()
    best = rational.transport(M, r, c, np.zeros(c.size), Stop())
    right = emd(normalised(r), normalised(c), M)
    assert abs(cost(best, M) - right) <= right * Fraction(1, 10**13)
    rows, columns = np.bincount(best.rows, best.mass), np.bincount(best.columns, best.mass)
    np.testing.assert_allclose(rows, r, rtol=1e-13)
    np.testing.assert_allclose(columns, c, rtol=1e-13)


def test_the_potentials_prove_it_and_a_wrong_guess_does_not_matter():
    p = small_pair(7, 6, 1)
    for guess in (np.zeros(6), np.random.default_rng(0).normal(size=6), np.full(6, 1e6)):
        best = rational.transport(p.M, p.r, p.c, guess, Stop())
        f = (p.M - best.g).min(axis=1)
        assert f @ p.r + best.g @ p.c == pytest.approx(highs(p.M, p.r, p.c), rel=1e-12)


def test_ties_do_not_cycle():
    M = np.array([[abs(i - j) for j in range(8)] for i in range(8)], float)
    even = np.full(8, 0.125)
    assert cost(rational.transport(M, even, even, np.zeros(8), Stop()), M) == 0
    flat = rational.transport(
        np.ones((5, 4)), np.full(5, 0.2), np.full(4, 0.25), np.zeros(4), Stop()
    )
    assert float(cost(flat, np.ones((5, 4)))) == pytest.approx(1.0, rel=1e-15)


def test_it_gives_up_where_it_would_take_too_long(monkeypatch):
    monkeypatch.setattr(rational, "LOOKS", 3)
    p = small_pair(9, 9, 2)
    assert (
        rational.transport(p.M, p.r, p.c, np.random.default_rng(1).normal(size=9), Stop()) is None
    )


def test_nobody_waits():
    stop = Stop()
    stop.set()
    p = small_pair(9, 9, 2)
    with pytest.raises(Abandoned):
        rational.transport(p.M, p.r, p.c, np.random.default_rng(1).normal(size=9), stop)


@given(st.lists(st.floats(1e-300, 1.0), min_size=2, max_size=6))
def test_two_histograms_on_one_total(masses):
    a, b = np.array(masses), np.array(masses[::-1]) * 0.3
    first, second, total = rational.on_one_total(a, b)
    assert sum(first) == sum(second) == total
    for ours, theirs in ((first, a), (second, b)):
        whole = sum(map(Fraction, theirs.tolist()))
        assert [Fraction(x, total) for x in ours] == [Fraction(y) / whole for y in theirs.tolist()]
