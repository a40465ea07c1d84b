"""The hard constraint, against a root in lam of plans by log-sum-exp in plain loops."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq

import sinkdist as sd
from sinkdist.interrupts import Abandoned, Stop
from sinkdist.solution.plans import entropic_plan
from sinkdist.solvers.compiled.constrained import constrained_pair, is_vacuous
from sinkdist.solvers.compiled.relaxation import CONVERGED
from tests import naive
from tests.small_pairs import highs, off, small_pair


def entropy(x):
    return -math.fsum(x * np.log(x))


def truth(p, alpha):
    """Value and lam at which the information is alpha."""

    def at(lam):
        plan = naive.log_sinkhorn(p.M.tolist(), lam, p.r.tolist(), p.c.tolist(), tol=1e-11)
        return plan.value, naive.kl_from_independence(plan.P, p.r.tolist(), p.c.tolist())

    lam = math.exp(brentq(lambda x: at(math.exp(x))[1] - alpha, -8.0, 4.0, xtol=1e-12))
    return at(lam)[0], lam


@pytest.mark.parametrize("certify", [False, True])
@pytest.mark.parametrize("alpha", [1e-3, 0.05, 0.2])
@pytest.mark.parametrize("shape", [(4, 4), (5, 3)])
def test_the_value_and_the_plan_at_the_constraint(shape, alpha, certify):
    p, tol = small_pair(*shape, 2), 1e-7
    value, lam = truth(p, alpha)
    end = constrained_pair(p.M, p.r, p.c, alpha, tol, 20_000, Stop(), certify=certify)
    assert end.act == CONVERGED and end.exact is None
    assert end.value == pytest.approx(value, rel=2 * tol)
    assert end.lam == pytest.approx(lam, rel=1e-2)  # counts to second order only
    P = entropic_plan(p.M, end.lam, end.f, end.g)
    assert off(P, p.r, p.c) <= 2 * tol
    information = naive.kl_from_independence(P.tolist(), p.r.tolist(), p.c.tolist())
    assert information <= alpha * (1 + 1e-9) + 1e-12
    if certify:
        low, high = end.bracket
        rounding = 1e-10 * value  # of the plain loops
        assert low - rounding <= value <= high + rounding and high - low <= 2 * tol * value


@pytest.mark.parametrize("share", [1.0, 1.5])
def test_a_constraint_that_no_plan_can_break_gives_the_exact_distance(share):
    p = small_pair(5, 4, 3)
    alpha = share * min(entropy(p.r), entropy(p.c))
    assert is_vacuous(alpha, p.r, p.c) and not is_vacuous(0.99 * alpha / share, p.r, p.c)
    end = constrained_pair(p.M, p.r, p.c, alpha, 1e-6, 20_000, Stop(), certify=False)
    assert end.act == CONVERGED and end.lam == np.inf
    assert end.value == pytest.approx(highs(p.M, p.r, p.c), rel=1e-9)


def test_costs_that_are_the_same_for_every_plan():
    p = small_pair(4, 4, 1)
    M = np.add.outer(np.arange(4.0), np.arange(4.0))
    end = constrained_pair(M, p.r, p.c, 0.1, 1e-6, 1000, Stop(), certify=True)
    assert end.value == pytest.approx(p.r @ M @ p.c, rel=1e-12)
    assert end.bracket[0] <= end.value <= end.bracket[1]


def test_nobody_waits():
    p, stop = small_pair(4, 4, 0), Stop()
    stop.set()
    with pytest.raises(Abandoned):
        constrained_pair(p.M, p.r, p.c, 0.1, 1e-6, 1000, stop, certify=False)


def information(P, r, c):
    used = P > 0
    return float(np.sum(P[used] * np.log(P[used] / np.outer(r, c)[used])))


@pytest.mark.parametrize("share", [0.75, 0.85, 0.9, 1.0])
def test_balls_that_hold_nearly_all_plans(share):
    """Where the exact plan is inside it is the answer; where it is not, the search goes on."""
    rng = np.random.default_rng(5)
    ground = sd.Ground.points(rng.random((40, 2)))
    X = rng.dirichlet(np.ones(40), 12)
    X[:, ::7] = 0.0
    X /= X.sum(axis=1, keepdims=True)
    h = -np.sum(np.where(X > 0, X * np.log(np.where(X > 0, X, 1.0)), 0.0), axis=1)
    alpha = share * h.min()
    i, j = np.triu_indices(12, 1)
    D = sd.pairwise(X, ground=ground, alpha=alpha, tol=1e-5)
    s = sd.solve(X[i], X[j], ground=ground, alpha=alpha, tol=1e-5)
    exact = sd.solve(X[i], X[j], ground=ground, lam=np.inf)
    low, high = s.bracket
    slack = 1e-5 * s.value
    assert (
        (s.status == 0).all() and (D[i, j] >= low - slack).all() and (D[i, j] <= high + slack).all()
    )
    for k in range(i.size):
        held = information(exact.plan[k], X[i[k]], X[j[k]])
        if held <= alpha:
            assert s.solver[k] == "simplex" and D[i[k], j[k]] == pytest.approx(exact.value[k])
        elif s.solver[k] != "simplex":
            assert information(s.plan[k], X[i[k]], X[j[k]]) <= alpha * (1 + 1e-6)
        alone = sd.distance(X[i[k]], X[j[k]], ground, alpha=alpha, tol=1e-5)
        assert alone == pytest.approx(D[i[k], j[k]], rel=1e-10)
