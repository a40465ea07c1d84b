"""Newton for unequal masses: right where sweeps are, and where they cannot be."""

import math

import numpy as np
import pytest

from sinkdist.interrupts import Stop
from sinkdist.solvers.compiled.relaxation import CONVERGED, RUNNING
from sinkdist.solvers.compiled.unbalanced_newton import climb
from tests.oracles import masses as oracle

RNG = np.random.default_rng(2)
POINTS, OTHERS = RNG.normal(size=(9, 2)), RNG.normal(size=(13, 2))
M = np.sqrt(((POINTS[:, None] - OTHERS) ** 2).sum(axis=-1))
R, C = RNG.dirichlet(np.ones(9)), RNG.dirichlet(np.full(13, 0.4))


def plan(end, M, lam, r, c):
    return np.exp((np.log(r) + end.x)[:, None] + np.log(c) + end.y - lam * M)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("rho", [(1.0, 1.0), (0.05, 4.0), (math.inf, 1.0), (1.0, math.inf)])
@pytest.mark.parametrize("lam", [2.0, 60.0])
def test_the_plan_is_the_oracles(lam, rho, transposed):
    r, c, costs = (C, R, M.T.copy()) if transposed else (R, C, M)
    end = climb(costs, lam, rho, r, c, 0.3, 1e-11, 10_000, Stop())
    assert end.act == CONVERGED and end.error <= 1e-11
    t = math.exp(0.3)
    wanted = oracle.plan(r * t, c / t, costs, lam, rho)
    np.testing.assert_allclose(plan(end, costs, lam, r, c), wanted, atol=1e-9)


@pytest.mark.parametrize("lam", [1e3, 1e6])
@pytest.mark.parametrize("rho", [(1e-3, 1e-3), (1.0, 1.0), (1e6, 1e6), (math.inf, 0.1)])
def test_large_lam(lam, rho):
    end = climb(M, lam, rho, R, C, -0.7, 1e-8, 10_000, Stop())
    assert end.act == CONVERGED
    P = plan(end, M, lam, R, C)
    pulls = R * np.exp(end.tau[0] - end.x / (lam * rho[0]))
    others = C * np.exp(end.tau[1] - end.y / (lam * rho[1]))
    error = abs(P.sum(axis=1) - pulls).sum() + abs(P.sum(axis=0) - others).sum()
    assert error == pytest.approx(end.error, abs=1e-9) and error <= 1e-8


def test_an_allowance_is_kept():
    end = climb(M, 1e5, (1.0, 1.0), R, C, 0.0, 1e-9, 5, Stop())
    assert end.act == RUNNING and end.n_iter < 30 and np.isfinite(end.error)
