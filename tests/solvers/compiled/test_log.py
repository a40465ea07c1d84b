"""Sweeps in the log domain, and the plan of what they end with."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings

from sinkdist.interrupts import Abandoned, Stop
from sinkdist.solution.plans import ScaledPlan
from sinkdist.solvers.compiled.log import log_sweeps, plan_of
from tests.problems import EXACT
from tests.small_pairs import off, shapes, small_pair


def sweep(p, tol, sweeps=100_000, stop=None):
    f, g = np.zeros(p.r.size), np.zeros(p.c.size)
    made, error = log_sweeps(p.M, p.lam, p.r, p.c, f, g, tol, sweeps, stop or Stop())
    return made, error, f, g


def plan(p, f, g):
    return np.exp(p.lam * (f[:, None] + g - p.M))


@settings(max_examples=40)
@given(shapes)
def test_sweeps_end_with_the_plan(shape):
    p = small_pair(*shape)
    made, error, f, g = sweep(p, 1e-11)
    P = plan(p, f, g)
    assert 1 <= made < 100_000 and error <= 1e-11
    assert off(P, p.r, p.c) == pytest.approx(error, abs=1e-13)
    np.testing.assert_allclose(P, p.truth[0], atol=1e-9)


@pytest.mark.parametrize("L", [1.0, 700.0, 5000.0])
def test_two_bins_where_the_kernel_underflows(L):
    problem = EXACT["two bins"](L)
    f, g = np.zeros(2), np.zeros(2)
    _, error = log_sweeps(
        problem.M, problem.lam, problem.r, problem.c, f, g, 1e-10, 100_000, Stop()
    )
    P = np.exp(problem.lam * (f[:, None] + g - problem.M))
    assert error <= 1e-10 and (P * problem.M).sum() == pytest.approx(problem.value, abs=1e-9)


def test_sweeps_that_are_used_up_end_with_exact_rows():
    p = small_pair(6, 5, 2, lam=30.0)
    made, error, f, g = sweep(p, 1e-13, sweeps=3)
    P = plan(p, f, g)
    assert made == 3 and error > 1e-13
    np.testing.assert_allclose(P.sum(axis=1), p.r, rtol=1e-12)
    assert abs(P.sum(axis=0) - p.c).sum() == pytest.approx(error, rel=1e-9)


def test_nobody_waits():
    stop = Stop()
    stop.set()
    with pytest.raises(Abandoned):
        sweep(small_pair(3, 3, 0), 1e-9, stop=stop)


def test_potentials_that_are_enough_need_no_other_plan():
    p = small_pair(6, 5, 2)
    _, _, f, g = sweep(p, 1e-12)
    found, value, error = plan_of(p.M, p.lam, f, g, p.r, p.c, 1e-6, resweep=True)
    P = plan(p, f, g)
    assert found is None
    assert value == pytest.approx((P * p.M).sum(), rel=1e-13)
    assert error == pytest.approx(off(P, p.r, p.c), abs=1e-14)


def test_rounding_of_large_potentials_is_mended():
    """Potentials of 1e8 in units of 1 / lam are known to 1e-8: their own plan misses by that."""
    p = small_pair(6, 5, 2)
    _, _, f, g = sweep(p, 1e-13)
    f, g = f + 1e7, g - 1e7
    assert off(plan(p, f, g), p.r, p.c) > 1e-9
    found, value, error = plan_of(p.M, p.lam, f, g, p.r, p.c, 1e-12, resweep=True)
    assert isinstance(found, ScaledPlan) and error <= 1e-12
    P = found.dense(p.M, p.lam)
    assert off(P, p.r, p.c) <= 2e-12
    assert value == pytest.approx((P * p.M).sum(), rel=1e-12)
    with mpmath.workdps(40):  # what the scalings add up to is the plan of exact potentials
        exact = mpmath.exp(p.lam * (mpmath.mpf(f[0]) + mpmath.mpf(g[0]) - mpmath.mpf(p.M[0, 0])))
        assert found.u[0] * found.v[0] * float(exact) == pytest.approx(P[0, 0], rel=1e-6)
