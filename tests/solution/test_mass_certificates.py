"""Certificates of unequal masses: at any iterate they hold, and they close at the optimum."""

import math

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.solution.mass_certificates import certify, pulled
from tests.oracles import masses as oracle

RNG = np.random.default_rng(3)
POINTS = RNG.normal(size=(7, 2))
M = np.sqrt(((POINTS[:, None] - POINTS[:6]) ** 2).sum(axis=-1))
r, c = RNG.dirichlet(np.ones(7)) * 3, RNG.dirichlet(np.ones(6)) * 0.7
PENALTIES = [(1.0, 1.0), (1e-2, 5.0), (1e7, 1e7), (math.inf, 0.5), (0.5, math.inf)]


def potentials(P, lam):
    """Potentials of a plan that has them."""
    logs = np.log(P) / lam + M
    f = logs[:, 0]
    return f, logs[0] - f[0]


@pytest.mark.parametrize("lam", [0.5, 8.0])
@pytest.mark.parametrize("rho", PENALTIES[:2] + PENALTIES[3:])
def test_bounds_close_at_the_optimum(lam, rho):
    P = oracle.plan(r, c, M, lam, rho)
    best, value = oracle.objective(P, r, c, M, lam, rho), float((P * M).sum())
    found = certify(P, M, lam, rho, *potentials(P, lam), r, c)
    assert found.objective == pytest.approx(best, rel=1e-12)
    assert found.value == pytest.approx(value, rel=1e-12)
    assert found.information == pytest.approx(
        oracle.divergence(P.ravel(), oracle.reference(r, c).ravel()), rel=1e-10
    )
    assert found.lower <= best * (1 + 1e-12) and best * (1 - 1e-12) <= found.upper
    assert found.upper - found.lower < 1e-10 * (1 + best)
    assert found.value_lower <= value <= found.value_upper


@pytest.mark.parametrize("lam", [0.5, 8.0])
@pytest.mark.parametrize("rho", PENALTIES)
@pytest.mark.parametrize("noise", [1e-6, 1e-2, 1.0])
def test_bounds_hold_anywhere(lam, rho, noise):
    """Whatever the potentials are, the least objective and its plan lie within the bounds."""
    reachable = tuple(min(side, 50.0) if side < math.inf else side for side in rho)
    P = oracle.plan(r, c, M, lam, reachable)
    best, value = oracle.objective(P, r, c, M, lam, reachable), float((P * M).sum())
    f, g = potentials(P, lam)
    for _ in range(20):
        F, G = f + noise * RNG.normal(size=f.size), g + noise * RNG.normal(size=g.size)
        near = np.exp(lam * (F[:, None] + G - M))
        found = certify(near, M, lam, reachable, F, G, r, c)
        assert 0.0 <= found.lower <= best * (1 + 1e-9)
        assert found.upper >= best * (1 - 1e-9)
        assert found.value_lower <= value * (1 + 1e-6) and value * (1 - 1e-6) <= found.value_upper
        assert found.exact_lower <= found.exact_upper
        assert all(math.isfinite(x) for x in found)


@pytest.mark.parametrize("rho", [(1.0, 1.0), (0.2, 3.0), (math.inf, 0.5)])
def test_bounds_without_entropy(rho):
    """They hold the optimum at a much larger lam, from potentials at a small one."""
    far, near = oracle.plan(r, c, M, 60.0, rho, 1e-12), oracle.plan(r, c, M, 5.0, rho)
    limit = oracle.objective(far, r, c, M, 1e30, rho)  # nearly the least of all
    found = certify(near, M, 5.0, rho, *potentials(near, 5.0), r, c)
    assert found.exact_lower <= limit <= found.exact_upper
    close = certify(far, M, 60.0, rho, *potentials(far, 60.0), r, c)
    assert close.exact_upper - close.exact_lower < found.exact_upper - found.exact_lower


def test_potentials_beyond_floats_prove_nothing_wrong():
    """A plan with entries beyond all numbers leaves the trivial bound."""
    f, g = np.full(7, 1e3), np.full(6, 1e3)
    with np.errstate(over="ignore"):
        found = certify(np.full(M.shape, 1e200), M, 1.0, (1.0, 1.0), f, g, r, c)
    assert found.lower == 0.0 and found.upper > 1e200


def test_what_marginals_are_pulled_to():
    lam, rho = 3.0, (0.5, 2.0)
    P = oracle.plan(r, c, M, lam, rho)
    f, g = potentials(P, lam)
    shift = np.linspace(-3, 3, 6001)
    errors = [
        sum(
            abs(x - y).sum()
            for x, y in zip(
                pulled(f + s, g - s, r, c, lam, rho), (P.sum(axis=1), P.sum(axis=0)), strict=True
            )
        )
        for s in shift
    ]
    assert min(errors) < 1e-2  # at one constant, both sides are what they should be


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="needs extended precision")
@pytest.mark.parametrize("case", range(24))
def test_bounds_hold_to_the_last_bit(case):
    """Against sweeps in extended precision, with no allowance for rounding."""
    rng = np.random.default_rng(case)
    m, n = rng.integers(1, 6, 2)
    costs = rng.random((m, n)) * 10.0 ** rng.integers(-2, 3)
    a = rng.dirichlet(np.ones(m)) * 10.0 ** rng.uniform(-3, 3)
    b = rng.dirichlet(np.ones(n)) * 10.0 ** rng.uniform(-3, 3)
    lam = 10.0 ** rng.uniform(-1, 1) / costs.max()
    rho = [10.0 ** rng.uniform(-1.5, 0.5) / lam for _ in range(2)]
    if case % 4 < 2:
        rho[case % 4] = math.inf
    exact = [np.asarray(x, np.longdouble) for x in (a, b, costs)]
    P = oracle.plan(*exact, lam, rho, 1e-19)
    best, value = oracle.objective(P, *exact, lam, rho), (P * exact[2]).sum()
    for tol in (1e-2, 1e-6, 1e-12):
        s = sd.solve(a, b, costs, lam=lam, mass_penalty=tuple(rho), tol=tol)
        low, high = s.objective_bounds
        assert low <= best <= high
        low, high = s.bracket
        assert low <= value * (1 + 1e-16) and value * (1 - 1e-16) <= high
