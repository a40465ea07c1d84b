"""Very large lam: when the exact plan answers, and that it is the exact one."""

import numpy as np
import pytest

from sinkdist.interrupts import Stop
from sinkdist.solution.status import Status
from sinkdist.solvers.compiled.limit import LOST, at_the_limit, is_lost, reconsidered
from sinkdist.solvers.outcome import Outcome
from tests.small_pairs import highs, off, small_pair

P = small_pair(6, 5, 3)
ENTROPY = min(-(x @ np.log(x)) for x in (P.r, P.c))


def test_lost_is_a_matter_of_lam_times_the_mean_cost():
    edge = LOST / (P.r @ P.M @ P.c)
    assert not is_lost(P.M, 0.99 * edge, P.r, P.c)
    assert is_lost(P.M, 1.01 * edge, P.r, P.c)


@pytest.mark.parametrize("tol", [1e-3, 1e-6])
def test_the_exact_plan_answers_where_the_entropy_hardly_counts(tol):
    """The distance at lam lies at most the smaller entropy over lam above the exact one."""
    right = highs(P.M, P.r, P.c)
    edge = ENTROPY / (0.5 * tol * right)
    for lam, status in ((1.01 * edge, Status.CONVERGED), (0.99 * edge, Status.STALLED)):
        found = at_the_limit(P.M, lam, P.r, P.c, tol, Stop())
        assert found.value == pytest.approx(right, rel=1e-9)
        assert found.status == status and found.lam == lam
        plan = found.plan.dense(P.M, lam)
        assert off(plan, P.r, P.c) == pytest.approx(found.error, abs=1e-15) and found.error < 1e-12


def outcome(status, error, lam):
    return Outcome(0.7, error, 11, int(status), 0, lam=lam)


def test_what_is_solved_stays():
    solved = outcome(Status.CONVERGED, 1e-9, 1e9)
    assert reconsidered(solved, P.M, P.r, P.c, 1e-6, Stop()) is solved


def test_what_is_not_solved_stays_where_the_entropy_counts():
    short = outcome(Status.MAX_ITER, 0.1, 10.0)
    assert reconsidered(short, P.M, P.r, P.c, 1e-6, Stop()) is short


def test_what_rounding_hides_is_answered_by_the_exact_plan():
    found = reconsidered(outcome(Status.STALLED, 0.1, 1e9), P.M, P.r, P.c, 1e-6, Stop())
    assert found.status == Status.CONVERGED and found.n_iter == 12
    assert found.value == pytest.approx(highs(P.M, P.r, P.c), rel=1e-9)


def test_where_there_is_no_plan_at_all_an_exact_one_is_better_than_nothing():
    """Its status stays that of the attempt."""
    found = reconsidered(outcome(Status.MAX_ITER, np.inf, 10.0), P.M, P.r, P.c, 1e-6, Stop())
    assert found.status == Status.MAX_ITER and found.error < 1e-12
