"""Unequal masses on devices against the NumPy path: values, certificates, gradients, refusals."""

import math

import numpy as np
import pytest

import sinkdist as sd

rng = np.random.default_rng(0)
GROUND = sd.Ground.grid(3, 4)
X = rng.dirichlet(np.ones(12), 3) * np.array([[2.0], [1.0], [0.5]])
Y = rng.dirichlet(np.ones(12), 3) * 1.3
X[0, 2:4] = Y[1, 5] = 0.0
LAM = 3.0
OPTIONS = {"lam": LAM, "mass_penalty": (0.7, 1.5), "tol": 1e-11}
SAME = OPTIONS | {"mass_penalty": 2.0}


@pytest.fixture(params=["torch", "jax", "strict"])
def put(request):
    """Makes an array of a library."""
    if request.param == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        yield torch.tensor
    elif request.param == "jax":
        jax = pytest.importorskip("jax", reason="jax is not installed")
        with jax.enable_x64(True):
            yield jax.numpy.asarray
    else:
        xp = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
        yield xp.asarray


def close(found, wanted, rtol=1e-10):
    assert type(found) is not np.ndarray
    np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=1e-12)


@pytest.mark.parametrize("rho", [(0.7, 1.5), 2.0, (math.inf, 0.8)])
def test_solutions_are_those_of_numpy(put, rho):
    options = OPTIONS | {"mass_penalty": rho}
    found, wanted = sd.solve(put(X), put(Y), GROUND, **options), sd.solve(X, Y, GROUND, **options)
    for name in ("value", "objective", "plan", "entropy", "marginal_error", "gap", "status"):
        close(getattr(found, name), getattr(wanted, name), rtol=1e-9)
    for name in ("objective_bounds", "emd_bounds", "potentials"):
        for one, other in zip(getattr(found, name), getattr(wanted, name), strict=True):
            close(one, other, rtol=1e-9)
    low, high = found.objective_bounds
    assert (np.asarray(low) <= wanted.objective).all()
    assert (wanted.objective <= np.asarray(high)).all()


def test_distances_and_matrices(put):
    x, y = put(X), put(Y)
    close(sd.distance(x, y, GROUND, **OPTIONS), sd.distance(X, Y, GROUND, **OPTIONS))
    close(sd.distance(x[0, ...], y, GROUND, **OPTIONS), sd.distance(X[0], Y, GROUND, **OPTIONS))
    one = sd.distance(x[0, ...], y[0, ...], GROUND, **OPTIONS)
    assert one.ndim == 0
    for rho in ((0.7, 1.5), 2.0):  # the first is not symmetric, so neither is the matrix
        options = OPTIONS | {"mass_penalty": rho}
        for more in ((), (1,)):
            found = sd.pairwise(x, *(y for _ in more), ground=GROUND, **options)
            close(found, sd.pairwise(X, *(Y for _ in more), ground=GROUND, **options))


def test_divergences(put):
    x, y = put(X), put(Y)
    close(sd.divergence(x, y, GROUND, **SAME), sd.divergence(X, Y, GROUND, **SAME), rtol=1e-9)
    found = sd.pairwise(x, ground=GROUND, debiased=True, **SAME)
    close(found, sd.pairwise(X, ground=GROUND, debiased=True, **SAME), rtol=1e-9)
    assert (np.diag(np.asarray(found)) == 0).all()
    with pytest.raises(ValueError, match="for both sides"):
        sd.divergence(x, y, GROUND, **OPTIONS)


def test_infinite_penalties_are_the_balanced_problem(put):
    balanced = X / X.sum(axis=1, keepdims=True)
    options = {"lam": LAM, "mass_penalty": math.inf, "tol": 1e-10}
    found = sd.distance(put(balanced), put(balanced[::-1].copy()), GROUND, **options)
    close(found, sd.distance(balanced, balanced[::-1], GROUND, lam=LAM, tol=1e-10), rtol=1e-8)
    with pytest.raises(ValueError, match="sums to"):
        sd.distance(put(X), put(Y), GROUND, **options)


def test_what_is_no_histogram_is_named(put):
    bad = X.copy()
    bad[1, 3] = -1.0
    with pytest.raises(ValueError, match=r"\(1, 3\)"):
        sd.distance(put(bad), put(Y), GROUND, **OPTIONS)


LOSSES = {
    "value": lambda x, y, m: sd.distance(x, y, m, **OPTIONS),
    "objective": lambda x, y, m: sd.solve(x, y, m, **OPTIONS).objective,
    "divergence": lambda x, y, m: sd.divergence(x, y, m, **SAME),
    "all pairs": lambda x, y, m: sd.pairwise(x, y, ground=m, **SAME),
}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("library", ["torch", "jax", "jit"])
def test_gradients_are_differences_of_the_numpy_path(name, library):
    loss, arrays, h = LOSSES[name], (X, Y, np.array(GROUND.matrix)), 1e-6
    weights = rng.normal(size=np.shape(loss(*arrays)))
    directions = [rng.standard_normal(a.shape) * (a > 0) for a in arrays]
    directions[2] += directions[2].T  # the divergence needs a symmetric ground
    if library == "torch":
        torch = pytest.importorskip("torch", reason="torch is not installed")
        given = [torch.tensor(a, requires_grad=True) for a in arrays]
        (loss(*given) * torch.tensor(weights)).sum().backward()
        found = [a.grad.numpy() for a in given]
    else:
        jax = pytest.importorskip("jax", reason="jax is not installed")
        with jax.enable_x64(True):
            slope = jax.grad(lambda *a: (loss(*a) * weights).sum(), argnums=(0, 1, 2))
            slope = jax.jit(slope) if library == "jit" else slope
            found = [np.asarray(g) for g in slope(*map(jax.numpy.asarray, arrays))]
    for k, direction in enumerate(directions):
        sides = [
            (loss(*arrays[:k], arrays[k] + s * h * direction, *arrays[k + 1 :]) * weights).sum()
            for s in (1, -1)
        ]
        wanted = (sides[0] - sides[1]) / (2 * h)
        assert np.vdot(found[k], direction) == pytest.approx(wanted, rel=2e-5, abs=1e-6)
