"""Transport of histograms to themselves, against `solve`."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.interrupts import Stop
from sinkdist.means.self_transport import self_objectives
from sinkdist.means.smoothing import smoothing_of


@pytest.mark.parametrize("lam", [0.3, 5.0, 400.0])
def test_objectives_are_those_of_solve(lam):
    rng = np.random.default_rng(0)
    X = rng.dirichlet(np.ones(9), 4)
    X[1, :6] = 0.0
    X[2] = np.eye(9)[3]
    X /= X.sum(axis=1, keepdims=True)
    ground = sd.Ground.grid(3, 3)
    found = self_objectives(smoothing_of(ground, lam, np.dtype(float)), X, lam, 1e-9, Stop())
    wanted = sd.solve(X, X, ground, lam=lam, tol=1e-10).objective
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)
