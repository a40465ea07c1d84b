"""Functions of the host as functions of device arrays: values, gradients, dtypes."""

import numpy as np
import pytest

from sinkdist.inputs.array_context import context_of
from sinkdist.solvers.adjoint.on_host import HostFunction, call_on_host

#: ``(x y, x + 1, a whole number)``, of which the first has a gradient.
FUNCTION = HostFunction(
    lambda x, y: (x * y, x + 1.0, np.array([7])),
    lambda arrays, outputs, by: (arrays[1] * by[0], arrays[0] * by[0]),
    (((3,), np.dtype(np.float64)), ((3,), np.dtype(np.float64)), ((1,), np.dtype(np.int32))),
    1,
)
X, Y = np.array([1.0, 2.0, 3.0]), np.array([4.0, -1.0, 0.5])


def call(x, y):
    return call_on_host(context_of({"x": x, "y": y}, None), FUNCTION, x, y)


def test_torch():
    torch = pytest.importorskip("torch", reason="torch is not installed")
    x, y = (torch.tensor(a, requires_grad=True) for a in (X, Y))
    product, other, whole = call(x, y)
    assert whole.dtype == torch.int32 and not other.requires_grad
    (product * torch.tensor([1.0, 2.0, 3.0])).sum().backward()
    np.testing.assert_allclose(x.grad, Y * [1, 2, 3])
    np.testing.assert_allclose(y.grad, X * [1, 2, 3])


def test_jax_also_compiled():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with jax.enable_x64(True):
        x, y = map(jax.numpy.asarray, (X, Y))
        for wrap in (lambda f: f, jax.jit):
            found = wrap(jax.grad(lambda x, y: call(x, y)[0].sum(), argnums=(0, 1)))(x, y)
            np.testing.assert_allclose(found[0], Y)
            np.testing.assert_allclose(found[1], X)


def test_arrays_without_gradients():
    xp = pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")
    product, other, whole = call(xp.asarray(X), xp.asarray(Y))
    np.testing.assert_array_equal(np.asarray(product), X * Y)
    np.testing.assert_array_equal(np.asarray(other), X + 1)
    assert int(whole[0]) == 7
