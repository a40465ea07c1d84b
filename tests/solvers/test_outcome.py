"""What solvers hand back: in other units, and pair by pair into a tile."""

import numpy as np
import pytest

from sinkdist.solution.plans import ScaledPlan
from sinkdist.solution.status import Status
from sinkdist.solvers.outcome import RAN, STATUS_OF, Answers, Outcome, potential


def outcome(**other):
    f, g = np.array([1.0, 2.0]), np.array([3.0])
    plan = ScaledPlan(f, g, np.ones(2), np.ones(1))
    return Outcome(0.5, 1e-9, 7, 1, 2, f, g, 4.0, plan, (0.4, 0.6), **other)


def test_another_unit_of_cost_scales_costs_and_divides_lam():
    found = outcome()
    found.in_units_of(10.0, None)
    assert (found.value, found.lam, found.bracket) == (5.0, 0.4, (4.0, 6.0))
    np.testing.assert_array_equal(found.f, [10.0, 20.0])
    np.testing.assert_array_equal(found.plan.g, [30.0])
    np.testing.assert_array_equal(found.plan.u, [1.0, 1.0])
    assert (found.error, found.n_iter) == (1e-9, 7)


def test_the_lam_that_was_asked_for_is_told_to_the_letter():
    found = outcome()
    found.in_units_of(3.0, 0.1)
    assert found.lam == 0.1


@pytest.mark.parametrize("keep", [False, True])
def test_a_tile_is_filled_pair_by_pair(keep):
    tile = Answers.blank(3, (4, 2), 9.0, keep)
    assert np.isnan(tile.value).all() and (tile.status == Status.EMPTY).all()
    assert (tile.f is None) == (not keep)
    tile.put(1, outcome())
    tile.put_potentials(1, np.array([0, 3]), np.array([1]), [1.0, 2.0], [3.0])
    assert (tile.value[1], tile.lam[1], tile.n_iter[1]) == (0.5, 4.0, 7)
    assert tile.lam[0] == 9.0 and np.isnan(tile.value[[0, 2]]).all()
    if keep:
        np.testing.assert_array_equal(tile.f[1], [1.0, -np.inf, -np.inf, 2.0])
        np.testing.assert_array_equal(tile.g[1], [-np.inf, 3.0])
        assert (tile.f[0] == -np.inf).all()


def test_tiles_are_put_into_a_larger_one():
    part, whole = Answers.blank(2, (1, 1), 5.0, True), Answers.blank(4, (1, 1), 5.0, True)
    part.value[:], part.plans, part.brackets = [1.0, 2.0], [None, "plan"], [None, (1.0, 3.0)]
    part.f[:] = [[7.0], [8.0]]
    whole.put_tile(np.array([3, 1]), part)
    np.testing.assert_array_equal(whole.value, [np.nan, 2.0, np.nan, 1.0])
    assert whole.plans == [None, "plan", None, None] and whole.brackets[1] == (1.0, 3.0)
    np.testing.assert_array_equal(whole.f[[3, 1], 0], [7.0, 8.0])


def test_a_scaling_as_a_potential():
    np.testing.assert_allclose(potential(np.array([0.0, 1.0, np.e]), 2.0), [-np.inf, 0.0, 0.5])


def test_every_end_of_a_loop_has_a_status_and_every_solver_its_own_name():
    assert set(STATUS_OF) == {0, 1, 2, 3} and len(set(RAN)) == len(RAN)
