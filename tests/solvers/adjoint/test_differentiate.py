"""Derivatives of a solved block, against differences of plans by log-sum-exp in plain loops."""

import array_api_strict as xp
import numpy as np
import pytest

from sinkdist.solvers.adjoint.differentiate import gradients
from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.operators import Potentials
from sinkdist.solvers.arrays.transport import BlockSpec, Domain, Parameters
from tests import naive
from tests.small_pairs import small_pair

PAIRS = [small_pair(4, 3, seed, lam=3.0) for seed in (1, 2)]
M, LAM = PAIRS[0].M, 3.0
R, C = np.stack([p.r for p in PAIRS]), np.stack([p.c for p in PAIRS])


def solved(costs, r, c):
    plan = naive.log_sinkhorn(costs.tolist(), LAM, r.tolist(), c.tolist(), tol=1e-13)
    return plan, plan.value, plan.value - naive.entropy(plan.P) / LAM


def loss(costs, first, second, by_value, by_objective):
    """A weighted sum of values and objectives."""
    total = 0.0
    for k in range(2):
        _, value, objective = solved(costs, first[k], second[k])
        total += by_value[k] * value + by_objective[k] * objective
    return total


def difference(function, x, direction, step=1e-5):
    return (function(x + step * direction) - function(x - step * direction)) / (2 * step)


@pytest.mark.parametrize("domain", [Domain.SCALING, Domain.LOG])
@pytest.mark.parametrize(
    ("by_value", "by_objective"),
    [([1.0, 0.0], [0.0, 0.0]), ([0.0, 0.0], [1.0, 2.0]), ([0.5, -2.0], [1.5, 0.3])],
)
def test_gradients_are_differences(domain, by_value, by_objective):
    plans = [solved(M, r, c)[0] for r, c in zip(R, C, strict=True)]
    potentials = Potentials(*(xp.asarray(np.array([getattr(p, x) for p in plans])) for x in "fg"))
    asked = BlockSpec(domain, iterations=None, relax=True, keep=True, learns=True)
    found = gradients(
        xp, Control(), asked, Parameters(LAM, 1e-12, 10_000), xp.asarray(R), xp.asarray(C),
        xp.asarray(M), potentials, xp.asarray(np.full(2, LAM)), xp.asarray(by_value),
        xp.asarray(by_objective),
    )  # fmt: skip
    weights = by_value, by_objective
    rng = np.random.default_rng(0)
    for _ in range(3):
        d = rng.normal(size=R.shape)
        d -= d.mean(axis=1, keepdims=True)  # histograms stay histograms
        right = difference(lambda x: loss(M, x, C, *weights), R, d)
        assert (np.asarray(found.R) * d).sum() == pytest.approx(right, rel=1e-5, abs=1e-8)
        d = rng.normal(size=C.shape)
        d -= d.mean(axis=1, keepdims=True)
        right = difference(lambda x: loss(M, R, x, *weights), C, d)
        assert (np.asarray(found.C) * d).sum() == pytest.approx(right, rel=1e-5, abs=1e-8)
        d = rng.normal(size=M.shape)
        right = difference(lambda x: loss(x, R, C, *weights), M, d)
        assert (np.asarray(found.M) * d).sum() == pytest.approx(right, rel=1e-5, abs=1e-8)
