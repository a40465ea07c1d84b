"""Derivatives with unequal masses against central differences of `solve`."""

import math

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.solvers.adjoint.masses import gradients, objective

rng = np.random.default_rng(0)
M = rng.uniform(0.1, 1.0, (5, 6))
R, C = rng.uniform(0.1, 2.0, (3, 5)), rng.uniform(0.1, 1.0, (3, 6))
R[0, 1] = C[2, 4] = 0.0
LAM, WEIGHTS = 6.0, np.array([0.7, -1.3, 0.4])
PENALTIES = [(0.5, 2.0), (3.0, 3.0), (math.inf, 0.4), (0.4, math.inf)]


def solved(arrays, rho, tol=1e-13):
    return sd.solve(*arrays, lam=LAM, mass_penalty=rho, tol=tol)


@pytest.mark.parametrize("rho", PENALTIES)
def test_the_dual_is_the_least_objective(rho):
    s = solved((R, C, M), rho)
    f, g = s.potentials
    for k in range(3):
        i, j = R[k] > 0, C[k] > 0
        found = objective(R[k, i], C[k, j], f[k, i], g[k, j], LAM, rho)
        assert found == pytest.approx(s.objective[k], rel=1e-11)


@pytest.mark.parametrize("name", ["value", "objective"])
@pytest.mark.parametrize("rho", PENALTIES)
def test_gradients_are_central_differences(rho, name):
    s, none = solved((R, C, M), rho), np.zeros(3)
    by = (WEIGHTS, none) if name == "value" else (none, WEIGHTS)
    found = gradients(R, C, M, *s.potentials, LAM, rho, *by)
    arrays, h = (R, C, M), 1e-6
    for k, gradient in enumerate(found):
        direction = rng.standard_normal(arrays[k].shape) * (arrays[k] > 0)
        sides = []
        for sign in (1, -1):
            moved = list(arrays)
            moved[k] = arrays[k] + sign * h * direction
            sides.append(WEIGHTS @ getattr(solved(moved, rho), name))
        wanted = (sides[0] - sides[1]) / (2 * h)
        assert np.vdot(gradient, direction) == pytest.approx(wanted, rel=1e-6, abs=1e-7)
        assert (gradient[arrays[k] == 0] == 0).all()


def test_a_shared_histogram_collects_the_gradients_of_all_pairs():
    s = sd.solve(R[1], C, M, lam=LAM, mass_penalty=1.0, tol=1e-12)
    shared = gradients(R[1:2], C, M, *s.potentials, LAM, (1.0, 1.0), WEIGHTS, WEIGHTS)
    each = gradients(np.tile(R[1], (3, 1)), C, M, *s.potentials, LAM, (1.0, 1.0), WEIGHTS, WEIGHTS)
    np.testing.assert_allclose(shared.R[0], each.R.sum(axis=0), rtol=1e-12)
    np.testing.assert_allclose(shared.C, each.C, rtol=1e-12)
