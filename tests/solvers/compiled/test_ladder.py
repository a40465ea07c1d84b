"""The ladder of lam, against closed forms from a small lam to one far beyond the kernel's range."""

import numpy as np
import pytest

from sinkdist.interrupts import Abandoned, Stop
from sinkdist.solution.plans import entropic_plan
from sinkdist.solvers.compiled.ladder import climb, climb_through
from sinkdist.solvers.compiled.relaxation import CONVERGED, RUNNING
from tests.problems import EXACT
from tests.small_pairs import highs, off, small_pair


def plan(end, M, lam):
    return entropic_plan(M, lam, end.f, end.g) if end.plan is None else end.plan.dense(M, lam)


def positive(problem):
    rows, columns = problem.r > 0, problem.c > 0
    M = np.ascontiguousarray(problem.M[np.ix_(rows, columns)])
    return M, problem.r[rows], problem.c[columns]


@pytest.mark.parametrize("L", [0.1, 9.0, 300.0, 1e4, 1e6])
@pytest.mark.parametrize("name", EXACT)
def test_closed_forms(name, L):
    problem = EXACT[name](L)
    M, r, c = positive(problem)
    end = climb(M, problem.lam, r, c, 1e-9, 20_000, Stop())
    assert end.act == CONVERGED and end.error <= 1e-9
    assert off(plan(end, M, problem.lam), r, c) <= 2e-9
    assert end.value == pytest.approx(problem.value, abs=1e-8 * max(1.0, M.max()))


@pytest.mark.parametrize("lam", [2.0, 20.0])
def test_the_plan_and_its_numbers(lam):
    p = small_pair(7, 6, 4, lam=lam)
    P, value, *_ = p.truth
    end = climb(p.M, lam, p.r, p.c, 1e-11, 20_000, Stop())
    np.testing.assert_allclose(plan(end, p.M, lam), P, atol=1e-9)
    assert end.value == pytest.approx(value, abs=1e-9)


def test_a_cost_that_no_plan_can_use_changes_nothing_but_is_paid_where_it_must_be():
    p = small_pair(6, 6, 2, lam=1e3)
    dear = p.M.copy()
    dear[0, 0] = 1e9
    value = climb(dear, p.lam, p.r, p.c, 1e-9, 20_000, Stop()).value
    dear[0, 0] = 1e3
    assert value == pytest.approx(
        climb(dear, p.lam, p.r, p.c, 1e-9, 20_000, Stop()).value, rel=1e-6
    )
    dear[0] = 1e9  # row 0 has to pay it
    end = climb(dear, p.lam, p.r, p.c, 1e-9, 20_000, Stop())
    assert end.value == pytest.approx(1e9 * p.r[0], rel=1e-6)


def test_many_lams_in_turn_are_those_solved_apart():
    p = small_pair(8, 8, 5)
    lams = [1.0, 3.0, 9.0, 20.0, 200.0, 900.0, 5e4]
    ends = list(climb_through(p.M, lams, p.r, p.c, 1e-10, 20_000, Stop()))
    assert len(ends) == len(lams)
    for lam, end in zip(lams, ends, strict=True):
        apart = climb(p.M, lam, p.r, p.c, 1e-10, 20_000, Stop())
        assert end.act == apart.act == CONVERGED
        assert end.value == pytest.approx(apart.value, abs=1e-9)
    values = [end.value for end in ends]
    assert values == sorted(values, reverse=True)
    assert values[-1] == pytest.approx(highs(p.M, p.r, p.c), rel=1e-4)


@pytest.mark.parametrize("max_iter", [1, 5, 30])
def test_reads_are_limited_and_the_error_is_that_of_the_plan(max_iter):
    p = small_pair(9, 9, 1, lam=1e4)
    end = climb(p.M, p.lam, p.r, p.c, 1e-13, max_iter, Stop())
    assert end.act == RUNNING and end.n_iter <= 3 * max_iter + 10
    assert off(plan(end, p.M, p.lam), p.r, p.c) == pytest.approx(end.error, rel=1e-6, abs=1e-12)


def test_nobody_waits():
    stop = Stop()
    stop.set()
    with pytest.raises(Abandoned):
        climb(*(lambda p: (p.M, 1e3, p.r, p.c))(small_pair(4, 4, 0)), 1e-9, 1000, stop)
