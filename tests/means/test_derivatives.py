"""Gradients of plain barycentres against central differences."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.means.derivatives import gradients
from sinkdist.means.reading import find_beside_main, read_request
from sinkdist.problem.options import Options

rng = np.random.default_rng(0)
GROUND, LAM = sd.Ground.grid(3, 4), 3.0
X = rng.dirichlet(np.ones(12), 4)
X[0, 2:4] = X[:, 7] = 0.0
X /= X.sum(axis=1, keepdims=True)
W = rng.dirichlet(np.ones(4), 2)
W[1, 2] = 0.0
W /= W.sum(axis=1, keepdims=True)
WEIGHTS = rng.normal(size=(2, 12))


def loss(X, W, ground=GROUND, weights=WEIGHTS):
    options = {"lam": LAM, "debiased": False, "tol": 1e-13, "normalize": True}
    return (sd.barycenter(X, ground=ground, weights=W, **options) * weights).sum()


def pulled(X, W, ground=GROUND, weights=WEIGHTS):
    options = Options(lam=LAM, debiased=False, tol=1e-13)
    request, _ = read_request(X, ground, W, options, False)
    keeping = type(request)(
        **{name: getattr(request, name) for name in request.__slots__} | {"keep": True}
    )
    return gradients(keeping, find_beside_main(keeping), weights)


def check(found, arrays, h=1e-6, **more):
    for k, gradient in enumerate(found):
        direction = rng.standard_normal(arrays[k].shape) * (arrays[k] > 0)
        sides = [
            loss(*arrays[:k], arrays[k] + sign * h * direction, *arrays[k + 1 :], **more)
            for sign in (1, -1)
        ]
        wanted = (sides[0] - sides[1]) / (2 * h)
        assert np.vdot(gradient, direction) == pytest.approx(wanted, rel=1e-6, abs=1e-8)
        assert (gradient[arrays[k] == 0] == 0).all()


def test_central_differences():
    check(pulled(X, W), (X, W))


def test_other_bins_than_those_of_the_histograms():
    ground, weights = sd.Ground(rng.uniform(0.1, 2.0, (5, 12))), rng.normal(size=(2, 5))
    more = {"ground": ground, "weights": weights}
    check(pulled(X, W, **more), (X, W), **more)


def test_a_constant_loss_has_no_gradient():
    for gradient in pulled(X, W, weights=np.ones((2, 12))):
        np.testing.assert_allclose(gradient, 0.0, atol=1e-9)
