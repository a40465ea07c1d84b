"""Which lam is tried next: the policy against functions whose root is known."""

import math

import numpy as np
import pytest

from sinkdist.solvers.compiled import lam_policy as policy
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, OVERFLOW, RUNNING
from tests.small_pairs import small_pair

NOTHING, EVERYTHING = (0.0, 0.0, 2.0, 0.0), (math.inf, math.inf, 0.0, math.inf)


@pytest.mark.parametrize("unit", [1.0, 1e-200, 1e200])
def test_mean_and_spread_of_costs(unit):
    p = small_pair(6, 5, 4)
    mean, deviation, _ = policy.spread_of_costs(p.M * unit, p.r, p.c, np.empty(p.c.size))
    centred = p.M - (p.M @ p.c)[:, None] - p.r @ p.M + p.r @ p.M @ p.c
    assert mean == pytest.approx(unit * (p.r @ p.M @ p.c), rel=1e-13)
    assert deviation == pytest.approx(unit * math.sqrt(p.r @ centred**2 @ p.c), rel=1e-12)


def node(lam):
    """Of ``Phi = log(1 + lam)``: its slope, and ``I = Phi - lam Phi'``."""
    phi, slope = math.log1p(lam), 1.0 / (1.0 + lam)
    return lam, phi, slope, phi - lam * slope


@pytest.mark.parametrize(("there", "here"), [(1.0, 1.3), (4.0, 3.0), (20.0, 30.0)])
def test_the_cubic_finds_the_lam_of_an_information(there, here):
    aim = node(0.5 * (there + here))[3]
    found = policy.next_lam(node(there), node(here), aim, NOTHING, EVERYTHING)
    assert found == pytest.approx(0.5 * (there + here), rel=1e-3)


def test_the_next_lam_stays_inside_the_bracket_and_within_growth():
    low, high = node(1.0), node(1.1)
    assert 1.0 < policy.next_lam(low, high, 5.0, low, high) <= 1.1
    far = policy.next_lam(NOTHING, node(1.0), 50.0, node(1.0), EVERYTHING)
    assert far == pytest.approx(policy.GROWTH)


def test_steps_from_one_side_are_made_longer_and_then_halved():
    assert policy.unstuck(2.0, 1.9, 1.0, 9.0, 1) == 2.0
    assert policy.unstuck(2.0, 1.9, 1.0, 9.0, 2) == pytest.approx(2.1)
    assert policy.unstuck(2.0, 1.9, 1.0, 9.0, 3) == pytest.approx(3.0)


def search_for(alpha, tol=1e-8, solve=node):
    """A search whose solves are exact; the lams that it tried, and how it ended."""
    search, tried, act = np.zeros(policy.FIELDS), [], policy.SEARCHING
    p = small_pair(4, 4, 0)
    assert policy.begin_search(p.M, p.r, p.c, alpha, -np.inf, np.empty(4), search) == act
    search[policy.LOW + 2] = search[policy.LAST + 2] = search[policy.MEAN] = 1.0
    search[policy.LAM], nothing = 0.5, np.zeros(0)
    while act == policy.SEARCHING:
        lam, phi, value, information = solve(search[policy.LAM])
        tried.append(lam)
        search[policy.ACT], search[policy.MADE], search[policy.ERROR] = CONVERGED, 5.0, 1e-14
        search[policy.VALUE], search[policy.INFORMATION] = value, information
        search[policy.DUAL] = phi
        act = policy.next_step(search, alpha, tol, 1000, nothing, nothing, nothing, nothing)
    return search, tried, act


@pytest.mark.parametrize("alpha", [0.01, 0.3, 1.5])
def test_a_search_ends_below_alpha_within_the_tolerance(alpha):
    search, tried, act = search_for(alpha)
    value, information = search[policy.VALUE], search[policy.INFORMATION]
    assert act == CONVERGED and len(tried) < 12 and information <= alpha
    assert value - search[policy.LOWER] <= 1e-8 * value
    assert search[policy.READS] == 1 + 5 * len(tried) and search[policy.LAM] == tried[-1]


def test_a_search_that_finds_no_end():
    """The information saturates below alpha: lam grows until the exact distance is asked."""
    search, _, act = search_for(5.0, solve=lambda lam: (lam, 1.0, 1e-9, 1.0))
    assert act == policy.VACUOUS and search[policy.LAM] * 1.0 > policy.BEYOND


@pytest.mark.parametrize(("ended", "act"), [(OVERFLOW, HANDED_OVER), (RUNNING, HANDED_OVER)])
def test_a_solve_that_fails_ends_the_search(ended, act):
    search, nothing = np.zeros(policy.FIELDS), np.zeros(0)
    p = small_pair(4, 4, 0)
    policy.begin_search(p.M, p.r, p.c, 0.1, -np.inf, np.empty(4), search)
    search[policy.ACT], search[policy.MADE] = ended, 10.0
    ends = [nothing] * 4
    assert policy.next_step(search, 0.1, 1e-6, 1000, *ends) == act
    search[policy.ACT], search[policy.MADE] = RUNNING, 1000.0
    assert policy.next_step(search, 0.1, 1e-6, 1000, *ends) == RUNNING  # no more reads


def test_a_known_exact_distance_lets_the_search_go_on():
    """With its bound from below there is nothing to ask: lam grows on until values meet it."""
    search, nothing = np.zeros(policy.FIELDS), np.zeros(0)
    p = small_pair(4, 4, 0)
    policy.begin_search(p.M, p.r, p.c, 5.0, 0.999999, np.empty(4), search)
    mean, act = search[policy.MEAN], policy.SEARCHING
    while act == policy.SEARCHING:
        lam = search[policy.LAM]
        assert search[policy.HIGH] == np.inf
        search[policy.ACT], search[policy.MADE] = CONVERGED, 1.0
        search[policy.ERROR] = search[policy.INNER]
        search[policy.VALUE], search[policy.INFORMATION] = 1.0 + 1e3 / lam / mean, 1.0
        search[policy.DUAL] = 0.0
        act = policy.next_step(search, 5.0, 1e-1, 1000, nothing, nothing, nothing, nothing)
    assert act == CONVERGED and lam * mean > policy.BEYOND
