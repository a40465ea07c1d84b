"""Means under a plan between two clouds, and its adjoint, against the matrix."""

import numpy as np
import pytest

from sinkdist.ground.cloud_plan import CloudPlan
from sinkdist.kernels.cloud import METRICS
from tests.kernels.cloud.test_sweeps import problem


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("lam", [0.5, 50.0])
def test_a_plan(metric, lam):
    clouds, M, psi, r = problem(metric, 3)
    plan = CloudPlan.of(clouds, lam, psi)
    A = np.exp(psi - lam * M - plan.log_sums[:, None])
    np.testing.assert_allclose(A.sum(axis=1), 1.0, rtol=1e-12)
    rng = np.random.default_rng(0)
    values, masses = rng.normal(size=psi.size), rng.random(r.size)
    np.testing.assert_allclose(plan.average(values), A @ values, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(plan.spread(masses), masses @ A, rtol=1e-10, atol=1e-14)
    for share in (None, rng.random(psi.size)):
        means, exponents = plan.exponents(share)
        weights = np.ones(psi.size) if share is None else share
        np.testing.assert_allclose(means, A @ weights, rtol=1e-10)
        np.testing.assert_allclose(exponents, (A * lam * M) @ weights, rtol=1e-10, atol=1e-13)


@pytest.mark.parametrize("metric", METRICS)
def test_mean_costs(metric):
    clouds, M, psi, _ = problem(metric, 4)
    np.testing.assert_allclose(clouds.mean_costs(psi), M @ psi, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(
        clouds.swapped.mean_costs(psi[: len(M)]), psi[: len(M)] @ M, rtol=1e-11, atol=1e-12
    )
