"""Plans in their forms: the same matrix, the same marginals, finite whatever comes."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinkdist.solution import plans
from tests.small_pairs import off, shapes, small_pair


@given(shapes)
def test_the_plan_of_potentials_and_its_numbers(shape):
    p = small_pair(*shape)
    P, value, f, g = p.truth
    found = plans.entropic_plan(p.M, p.lam, f, g)
    np.testing.assert_allclose(found, P, rtol=1e-13)
    cost, error = plans.value_and_error(found, p.M, p.r, p.c)
    assert cost == pytest.approx(value, rel=1e-12)
    assert error == pytest.approx(off(found, p.r, p.c), abs=1e-15)


def test_potentials_beyond_all_numbers_give_a_finite_plan_and_its_error():
    f, g = np.array([1e300, 0.0]), np.array([0.0, -np.inf])
    P = plans.entropic_plan(np.ones((2, 2)), 1e300, f, g)
    assert np.isfinite(P).all() and (P[:, 1] == 0.0).all()
    value, error = plans.value_and_error(P, np.ones((2, 2)), np.ones(2) / 2, np.ones(2) / 2)
    assert value > 1e200 and error > 1e200


@given(shapes, st.sampled_from([0.0, 0.5, 1.0]))
def test_a_sparse_plan_is_the_matrix_it_was_made_of(shape, density):
    m, n, seed = shape
    rng = np.random.default_rng(seed)
    P = rng.random((m, n)) * (rng.random((m, n)) < density)
    plan = plans.SparsePlan.of(P)
    np.testing.assert_array_equal(plan.dense(np.zeros((m, n)), 1.0), P)
    r, c = rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(n))
    assert plan.marginal_error(r, c) == pytest.approx(off(P, r, c), rel=1e-12)


def test_moves_that_are_named_twice_add_up():
    plan = plans.SparsePlan(np.array([0, 0]), np.array([1, 1]), np.array([0.25, 0.5]))
    assert plan.dense(np.zeros((2, 2)), 1.0)[0, 1] == 0.75


def test_plans_among_all_bins():
    """Rows 1 and 3 of four, column 2 of three."""
    M = np.arange(12.0).reshape(4, 3)
    rows, columns = np.array([1, 3]), np.array([2])
    inner = M[np.ix_(rows, columns)]
    sparse = plans.SparsePlan(np.array([0, 1]), np.array([0, 0]), np.array([0.4, 0.6]))
    scaled = plans.ScaledPlan(
        np.array([0.1, 0.2]), np.array([5.0]), np.array([1.5, 2.0]), np.ones(1)
    )
    for plan in (sparse, scaled):
        whole = plan.placed(rows, columns, M.shape).dense(M, 0.5)
        np.testing.assert_array_equal(whole[np.ix_(rows, columns)], plan.dense(inner, 0.5))
        assert np.count_nonzero(whole) == 2
        np.testing.assert_array_equal(plan.placed(None, None, (2, 1)).dense(inner, 0.5),
                                      plan.dense(inner, 0.5))  # fmt: skip


def test_a_scaled_plan_is_its_formula():
    p = small_pair(5, 4, 1)
    rng = np.random.default_rng(0)
    f, g, u, v = (rng.random(d) for d in (5, 4, 5, 4))
    P = plans.ScaledPlan(f, g, u, v).dense(p.M, p.lam)
    np.testing.assert_allclose(P, np.outer(u * np.exp(p.lam * f), v * np.exp(p.lam * g)) * p.K)


def test_another_unit_of_cost_moves_potentials_only():
    plan = plans.ScaledPlan(*(np.ones(2) for _ in range(4)))
    other = plans.in_units(plan, 10.0)
    np.testing.assert_array_equal(
        [other.f, other.g, other.u, other.v], [[10] * 2] * 2 + [[1] * 2] * 2
    )
    assert plans.in_units(None, 10.0) is None
    sparse = plans.SparsePlan.of(np.eye(2))
    assert plans.in_units(sparse, 10.0) is sparse


@pytest.mark.parametrize("size", [1.0, 1e3, 1e6, 1e9])
def test_blurred_are_potentials_whose_rounding_shows(size):
    """Held against the plan in 40 digits: where nothing is said, the marginals are right."""
    p = small_pair(5, 5, 2)
    _, _, f, g = p.truth
    f, g = f + size, g - size
    wide = np.vectorize(mpmath.mpf, otypes=[object])
    with mpmath.workdps(40):
        exponents = p.lam * (wide(f)[:, None] + wide(g) - wide(p.M))
        exact = np.vectorize(lambda x: float(mpmath.exp(x)))(exponents)
    found = plans.entropic_plan(p.M, p.lam, f, g)
    shown = abs(found - exact).sum()
    if not plans.is_blurred(p.lam, f, g, 1e-6):
        assert shown <= 1e-12
    assert plans.is_blurred(p.lam, f, g, 1e-6) == (size > 500)


def test_a_smaller_tolerance_sees_more():
    f = np.ones(2)
    assert plans.is_blurred(5.0, f, f, 1e-13) and not plans.is_blurred(5.0, f, f, 1e-6)
