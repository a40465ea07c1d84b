"""Rows of a plan between two clouds, against the matrix of costs."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from scipy.special import logsumexp

from sinkdist.ground.cloud import Cloud, neighbours_together
from sinkdist.ground.cloud_plan import Clouds
from sinkdist.kernels.cloud import METRICS


def problem(metric, dimension, rows=150, columns=201):
    """Two clouds, the matrix of costs, a potential and masses."""
    rng = np.random.default_rng([dimension, METRICS[metric]])
    x, y = rng.normal(size=(rows, dimension)), rng.normal(size=(columns, dimension)) + 0.3
    x, y = x[neighbours_together(x)], y[neighbours_together(y)]
    r = rng.random(rows)
    clouds = Clouds(Cloud(x), Cloud(y), METRICS[metric], unit=2.0)
    return clouds, cdist(x, y, metric) / 2.0, rng.normal(size=columns) * 3.0, r / r.sum()


@pytest.mark.parametrize("dimension", [1, 2, 3, 4, 7])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("lam", [0.5, 30.0, 3e3])
def test_a_sweep(metric, dimension, lam):
    clouds, M, psi, r = problem(metric, dimension)
    log_r, exponents = np.log(r), psi - lam * M
    phi, columns, means = clouds.sweep(lam, psi, np.full(r.size, -np.inf), log_r)
    wanted = log_r - logsumexp(exponents, axis=1)
    largest = np.abs(exponents).max()
    np.testing.assert_allclose(phi, wanted, rtol=1e-12, atol=1e-15 * largest)
    P = np.exp(wanted[:, None] + exponents)
    np.testing.assert_allclose(columns, P.sum(axis=0), rtol=1e-11, atol=1e-17 + 1e-15 * largest)
    np.testing.assert_allclose(means * r, (lam * M * P).sum(axis=1), rtol=1e-11, atol=1e-13)


@pytest.mark.parametrize("metric", METRICS)
def test_a_relaxed_sweep_from_a_potential_that_is_nearly_right(metric):
    clouds, M, psi, r = problem(metric, 3)
    log_r, lam = np.log(r), 7.0
    exact = log_r - logsumexp(psi - lam * M, axis=1)
    before = exact + np.random.default_rng(0).normal(size=r.size) * 0.1
    phi, columns, _ = clouds.sweep(lam, psi, before, log_r, omega=1.6)
    np.testing.assert_allclose(phi, before + 1.6 * (exact - before), rtol=1e-12, atol=1e-13)
    P = np.exp(phi[:, None] + psi - lam * M)
    np.testing.assert_allclose(columns, P.sum(axis=0), rtol=1e-11)


def test_a_potential_that_is_far_off_is_replaced():
    clouds, M, psi, r = problem("euclidean", 2)
    log_r = np.log(r)
    exact = log_r - logsumexp(psi - 5.0 * M, axis=1)
    for off in (-300.0, 300.0):
        phi, _, _ = clouds.sweep(5.0, psi, exact + off, log_r, omega=1.5)
        np.testing.assert_allclose(phi, exact, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("metric", METRICS)
def test_single_precision_is_as_good_as_is_said(metric):
    clouds, _, psi, r = problem(metric, 3)
    log_r, unknown = np.log(r), np.full(r.size, -np.inf)
    phi, columns, _ = clouds.sweep(20.0, psi, unknown, log_r, single=True)
    exact, wanted, _ = clouds.sweep(20.0, psi, unknown, log_r)
    assert np.abs(columns - wanted).sum() < 2e-6
    np.testing.assert_allclose(phi, exact, atol=1e-4)


def test_sums_leave_out_no_more_than_they_may():
    clouds, _, psi, r = problem("euclidean", 2, 400, 900)
    log_r, unknown = np.log(r), np.full(r.size, -np.inf)
    _, wanted, _ = clouds.sweep(30.0, psi, unknown, log_r)
    _, found, _ = clouds.sweep(30.0, psi, unknown, log_r, error=1e-3)
    assert 0.0 < np.abs(found - wanted).sum() <= 2e-3  # something was left out, and not more


@pytest.mark.parametrize("metric", METRICS)
def test_largest_terms(metric):
    clouds, M, psi, _ = problem(metric, 2)
    np.testing.assert_allclose(
        clouds.largest(4.0, psi), (psi - 4.0 * M).max(axis=1), rtol=1e-13, atol=1e-13
    )
