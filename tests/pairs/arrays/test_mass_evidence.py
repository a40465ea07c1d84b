"""Certificates of unequal masses on devices: proven with float32 input too, refused under jit."""

import numpy as np
import pytest

import sinkdist as sd

GROUND = sd.Ground.grid(6)
X = np.array([[2.0, 1.0, 0.0, 0.5, 0.0, 0.0], [0.1, 0.0, 0.3, 0.0, 0.0, 0.2]])
Y = np.array([[0.0, 1.0, 0.0, 0.5, 1.0, 0.0], [0.0, 0.0, 0.3, 0.3, 0.0, 0.2]])
OPTIONS = {"lam": 4.0, "mass_penalty": 0.5}


def test_bounds_hold_in_single_precision():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, y = (torch.tensor(a, dtype=torch.float32) for a in (X, Y))
    s = sd.solve(x, y, GROUND, **OPTIONS)
    assert s.value.dtype == torch.float32
    true = sd.solve(x.double().numpy(), y.double().numpy(), GROUND, tol=1e-12, **OPTIONS)
    low, high = (a.double().numpy() for a in s.objective_bounds)
    assert (low <= true.objective + 1e-12).all() and (true.objective <= high + 1e-12).all()
    low, high = (a.double().numpy() for a in s.bounds) if hasattr(s, "bounds") else (0.0, np.inf)
    assert (low <= true.value + 1e-12).all() and (true.value <= high + 1e-12).all()


def test_certificates_need_numbers_that_are_known():
    jax = pytest.importorskip("jax", reason="jax is not installed")

    def gap(x):
        return sd.solve(x, jax.numpy.asarray(Y), GROUND, **OPTIONS).gap

    with pytest.raises(TypeError, match="known"):
        jax.jit(gap)(jax.numpy.asarray(X))
