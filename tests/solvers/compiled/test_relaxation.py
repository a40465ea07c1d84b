"""The policy of one pair: what it does with errors, known and random."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinkdist.solvers.compiled import relaxation
from sinkdist.solvers.compiled.relaxation import (
    CONVERGED,
    COUNT,
    FIELDS,
    FOREVER,
    HANDED_OVER,
    OMEGA,
    PLAIN,
    RUNNING,
    SWEEPS,
    WINDOW,
    decide,
)

errors = st.lists(st.floats(1e-12, 2.0), min_size=1, max_size=60)


def fresh():
    state = np.empty(FIELDS)
    relaxation.begin(state)
    return state


@given(errors, st.sampled_from([PLAIN, 5.0, 40.0, FOREVER]))
def test_whatever_the_errors_are(observed, limit):
    """Relaxation stays where it converges, and only a plain sweep ends a run."""
    state, tol = fresh(), 1e-6
    for count, error in enumerate(observed, 1):
        before = state[OMEGA]
        act = decide(state, error, tol, limit)
        assert state[SWEEPS] == count
        assert 1.0 <= state[OMEGA] < 2.0
        assert (act == CONVERGED) == (error <= tol and before == 1.0)
        if error <= tol and before > 1.0:
            assert state[OMEGA] == 1.0  # verified by a plain sweep
        if limit == PLAIN:
            assert state[OMEGA] == 1.0 and act in (RUNNING, CONVERGED)
        if limit == FOREVER:
            assert act in (RUNNING, CONVERGED)
        if act in (CONVERGED, HANDED_OVER):
            break


@pytest.mark.parametrize("theta2", [0.1, 0.5, 0.9, 0.999])
def test_a_rate_that_is_seen_gives_the_best_relaxation(theta2):
    state = fresh()
    for k in range(WINDOW + 1):
        assert decide(state, 0.2 * theta2**k, 1e-12, FOREVER) == RUNNING
    assert state[OMEGA] == pytest.approx(2.0 / (1.0 + math.sqrt(1.0 - theta2)), rel=1e-9)
    assert state[COUNT] == 0.0


def test_a_relaxed_pair_goes_on_where_it_was_after_a_sweep_that_verified_nothing():
    state = fresh()
    state[OMEGA] = 1.7
    assert decide(state, 1e-9, 1e-6, FOREVER) == RUNNING and state[OMEGA] == 1.0
    assert decide(state, 1e-4, 1e-6, FOREVER) == RUNNING and state[OMEGA] == 1.7


def test_nothing_is_relaxed_far_from_the_solution():
    state = fresh()
    for k in range(12):
        decide(state, 1.0 * 0.99**k, 1e-9, FOREVER)
        assert state[OMEGA] == 1.0


@pytest.mark.parametrize(("limit", "act"), [(30.0, HANDED_OVER), (1e4, RUNNING)])
def test_a_pair_that_would_take_too_many_sweeps_is_handed_over(limit, act):
    """At theta2 = 0.999 a relaxed sweep gains 6 %: 300 of them for 1e-9."""
    state = fresh()
    acts = [decide(state, 0.2 * 0.999**k, 1e-9, limit) for k in range(WINDOW + 1)]
    assert acts == [RUNNING] * WINDOW + [act]


@pytest.mark.parametrize("limit", [40.0, FOREVER])
def test_a_pair_that_gets_nowhere_is_handed_over_unless_it_may_never_be(limit):
    state = fresh()
    acts = {decide(state, 0.1, 1e-9, limit) for _ in range(200)}
    assert (HANDED_OVER in acts) == (limit < FOREVER)
    assert state[OMEGA] == 1.0


@pytest.mark.parametrize("limit", [40.0, FOREVER])
def test_a_pair_that_stays_far_away_is_given_some_patience(limit):
    state, acts = fresh(), []
    for k in range(30):
        acts.append(decide(state, 1.5 * 0.99**k, 1e-9, limit))
        if acts[-1] == HANDED_OVER:
            break
    assert (acts[-1] == HANDED_OVER) == (limit < FOREVER)
    assert len(acts) > relaxation.PATIENCE
