"""Bounds by exact sums, against rational arithmetic."""

from fractions import Fraction

import numpy as np
import pytest

from sinkdist.solution.plans import SparsePlan
from sinkdist.solvers.compiled.exact_proof import lower_bound, upper_bound


def problem(seed, d=40):
    rng = np.random.default_rng(seed)
    r, c = rng.dirichlet(np.full(d, 0.5), 2)
    r[::5] = 0.0
    return rng.uniform(size=(d, d)), r / r.sum(), c


def exact(rows):
    rows = [Fraction(x) for x in rows.tolist()]
    return [x / sum(rows) for x in rows]


@pytest.mark.parametrize("seed", range(5))
def test_the_lower_bound_is_below_the_dual_of_rationals(seed):
    M, r, c = problem(seed)
    f = np.where(r > 0, np.random.default_rng(seed).normal(size=r.size), -np.inf)
    R, C = exact(r), exact(c)
    rows = np.flatnonzero(r)
    F = {int(i): Fraction(float(f[i])) for i in rows}
    g = [min(Fraction(float(M[i, j])) - F[int(i)] for i in rows) for j in range(c.size)]
    dual = sum(F[int(i)] * R[i] for i in rows) + sum(x * y for x, y in zip(g, C, strict=True))
    found = lower_bound(M, r, c, f)
    assert Fraction(found) <= dual and float(dual - Fraction(found)) < 1e-14


@pytest.mark.parametrize("seed", range(5))
def test_the_upper_bound_is_above_a_mended_plan(seed):
    M, r, c = problem(seed)
    rows, columns = (x.ravel() for x in np.indices(M.shape))
    plan = SparsePlan(rows, columns, np.outer(r, c).ravel()).only(np.outer(r, c).ravel() > 0)
    R, C = exact(r), exact(c)
    cost = sum(
        R[i] * C[j] * Fraction(float(M[i, j])) for i in range(r.size) for j in range(c.size)
    )  # the independence table itself: a coupling, which the plan is up to rounding
    found = upper_bound(M, r, c, plan)
    assert Fraction(found) >= cost * (1 - Fraction(1, 10**15)) and found - float(cost) < 1e-13


def test_a_plan_that_no_move_can_mend():
    M, r, c = problem(0, 3)
    assert upper_bound(M, r, c, SparsePlan(np.array([1]), np.array([1]), np.array([0.1]))) == np.inf
