"""Barycentres of device arrays against those of NumPy, their gradients, and what is refused."""

import warnings

import numpy as np
import pytest

import sinkdist as sd

rng = np.random.default_rng(0)
GROUND = sd.Ground.grid(3, 4)
X, W = rng.dirichlet(np.ones(12), 4), rng.dirichlet(np.ones(4), 2)
OPTIONS = {"ground": GROUND, "lam": 3.0, "tol": 1e-11}
NAMES = ("histogram", "marginal_error", "self_error", "status", "n_iter", "objective", "converged")


@pytest.fixture(params=["torch", "jax", "strict"])
def put(request):
    """Makes an array of a library."""
    if request.param == "torch":
        yield pytest.importorskip("torch", reason="torch is not installed").tensor
    elif request.param == "jax":
        jax = pytest.importorskip("jax", reason="jax is not installed")
        with jax.enable_x64(True):
            yield jax.numpy.asarray
    else:
        reason = "array-api-strict is not installed"
        yield pytest.importorskip("array_api_strict", reason=reason).asarray


@pytest.mark.parametrize("debiased", [True, False])
@pytest.mark.parametrize("weights", [None, W[0], W])
def test_all_that_is_known_is_that_of_numpy(put, debiased, weights):
    more = OPTIONS | {"debiased": debiased}
    wanted = sd.solve_barycenter(X, weights=weights, **more)
    given = [weights] if weights is None else [weights, put(weights)]
    for w in given:
        found = sd.solve_barycenter(put(X), weights=w, **more)
        for name in NAMES:
            value = getattr(found, name)
            assert type(value) is type(put(np.ones(2)))
            np.testing.assert_allclose(np.asarray(value), getattr(wanted, name), rtol=1e-12)
        assert found.lam == wanted.lam and "Barycenter(" in repr(found)
        found = sd.barycenter(put(X), weights=w, **more)
        np.testing.assert_allclose(np.asarray(found), wanted.histogram, rtol=1e-12)


def test_single_precision_stays():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.softmax(torch.tensor(X, dtype=torch.float32), dim=1)
    found = sd.barycenter(x, ground=GROUND, lam=3.0)
    assert found.dtype == torch.float32 and float(found.sum()) == pytest.approx(1.0, abs=1e-5)


def test_gradients_of_torch_and_jax_also_compiled():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    jax = pytest.importorskip("jax", reason="jax is not installed")
    L, options = rng.normal(size=(2, 12)), OPTIONS | {"debiased": False}
    x, w = (torch.tensor(a, requires_grad=True) for a in (X, W))
    (sd.barycenter(x, weights=w, **options) * torch.tensor(L)).sum().backward()
    direction, h = rng.standard_normal(X.shape), 1e-6
    more = options | {"weights": W, "normalize": True}
    sides = [(sd.barycenter(X + s * h * direction, **more) * L).sum() for s in (1, -1)]
    wanted = (sides[0] - sides[1]) / (2 * h)
    assert np.vdot(x.grad.numpy(), direction) == pytest.approx(wanted, rel=1e-5)
    with jax.enable_x64(True):
        slope = jax.grad(
            lambda x, w: (sd.barycenter(x, weights=w, **options) * L).sum(), argnums=(0, 1)
        )
        for wrap in (lambda f: f, jax.jit):
            by_x, by_w = wrap(slope)(jax.numpy.asarray(X), jax.numpy.asarray(W))
            np.testing.assert_allclose(by_x, x.grad.numpy(), rtol=1e-8, atol=1e-10)
            np.testing.assert_allclose(by_w, w.grad.numpy(), rtol=1e-8, atol=1e-10)


def test_what_has_no_gradient_says_so():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x = torch.tensor(X, requires_grad=True)
    found = sd.barycenter(x, **OPTIONS)  # which is fine
    with pytest.raises(TypeError, match="pass debiased=False"):
        found.sum().backward()
    costs = torch.tensor(np.array(GROUND.matrix), requires_grad=True)
    with pytest.raises(TypeError, match="with respect to costs"):
        sd.barycenter(x, ground=costs, lam=3.0)
    constant = sd.barycenter(torch.tensor(X), ground=costs.detach(), lam=3.0)
    np.testing.assert_allclose(constant, sd.barycenter(X, ground=GROUND, lam=3.0), rtol=1e-12)


def test_messages_and_warnings_are_those_of_numpy(put):
    bad = X.copy()
    bad[1, 3] = -1.0
    with pytest.raises(ValueError, match=r"\(1, 3\)"):
        sd.barycenter(put(bad), **OPTIONS)
    with pytest.raises(ValueError, match="sums to"):
        sd.barycenter(put(X), weights=put(2 * W), **OPTIONS)
    with pytest.raises(TypeError, match="one kind"):
        sd.barycenter(X, weights=put(W), **OPTIONS)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        sd.barycenter(put(X), **(OPTIONS | {"max_iter": 2}))
    short = [x for x in seen if issubclass(x.category, sd.ConvergenceWarning)]
    assert len(short) == 1 and short[0].filename == __file__
