"""`Solution` of torch, JAX and strict arrays: the same class, and bounds that are proven there."""

import math
from fractions import Fraction

import numpy as np
import pytest

import sinkdist as sd
from tests.problems import emd, grid_costs, simplex, sparse_histograms

M = grid_costs(3, 4)
X, Y = sparse_histograms(5, 12, 0), simplex(5, 12, 1)
MEMBERS = {
    "penalised": {"lam": 5},
    "large lam": {"lam": 300},
    "constrained": {"alpha": 0.1},
    "vacuous": {"alpha": 50.0},
    "exact": {"lam": np.inf},
    "independence": {"lam": 0},
    "steps": {"lam": 9, "iterations": 3},
    "capped": {"lam": 40, "max_iter": 8},
}


@pytest.fixture(params=["array_api_strict", "torch", "jax"])
def xp(request):
    """A function from NumPy arrays to those of a library."""
    module = pytest.importorskip(request.param)
    if request.param == "torch":
        yield lambda x: module.tensor(np.array(x))
    elif request.param == "jax":
        import jax.numpy as jnp

        with module.enable_x64(True):
            yield jnp.asarray
    else:
        yield module.asarray


def host(x):
    return np.asarray(x, dtype=np.float64)


def solve(*args, **options):
    """Solve without the warning for pairs that stop short."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sd.errors.ConvergenceWarning)
        return sd.solve(*args, **options)


def as_given(H):
    """Histograms as the numbers of their dtype, divided by their sums."""
    H = np.asarray(H, dtype=np.float64)
    return H / H.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("member", MEMBERS)
def test_bounds_gap_and_bracket(xp, member, dtype):
    r, c, costs = X.astype(dtype), Y.astype(dtype), M.astype(dtype)
    s = solve(xp(r), xp(c), xp(costs), **MEMBERS[member])
    assert type(s) is sd.Solution
    exact = np.array(
        [emd(a, b, host(costs)) for a, b in zip(as_given(r), as_given(c), strict=True)]
    )
    rounding = 1e-12 * M.max()  # of the exact distances by POT
    lower, upper = map(host, s.emd_bounds)
    assert (lower <= exact + rounding).all() and (exact <= upper + rounding).all()
    assert (host(s.gap) >= 0).all()
    tight = {**MEMBERS[member], "tol": 1e-11, "max_iter": 100_000}
    if "iterations" in tight:
        tight = {"lam": tight["lam"], "tol": 1e-11}
    if member in ("exact", "independence"):
        tight = MEMBERS[member]
    truth = solve(as_given(r), as_given(c), host(costs), **tight)
    low, high = map(host, s.bracket)
    assert (low <= truth.bracket[1]).all() and (truth.bracket[0] <= high).all()
    assert (low <= host(truth.value) + 1e-9).all() and (host(truth.value) <= high + 1e-9).all()
    for number in (*s.emd_bounds, s.gap, *s.bracket):
        assert number.dtype == s.value.dtype and number.shape == s.value.shape


@pytest.mark.parametrize("member", MEMBERS)
def test_numbers_are_those_of_the_host(xp, member):
    options = MEMBERS[member] if member in ("exact", "independence", "steps", "capped") else {
        **MEMBERS[member], "tol": 1e-11
    }  # fmt: skip
    s, h = solve(xp(X), xp(Y), M, **options), solve(X, Y, M, **options)
    if member == "capped":  # the engines stop at different iterates
        return
    assert host(s.emd_bounds[0]) == pytest.approx(h.emd_bounds[0], abs=1e-8)
    if member != "steps":  # where the host looks for a cheaper repair
        assert host(s.emd_bounds[1]) == pytest.approx(h.emd_bounds[1], abs=1e-8)
        assert host(s.gap) == pytest.approx(h.gap, abs=1e-9)
        assert host(s.bracket) == pytest.approx(np.array(h.bracket), abs=2e-4)


def test_bounds_hold_in_rational_numbers(xp):
    """Two bins, where the exact distance is known without any rounding."""
    rng = np.random.default_rng(3)
    for dtype in ("float32", "float64"):
        first, second = rng.random((2, 40, 2)).astype(dtype)
        cost = np.array([[0, 0.7], [0.7, 0]], dtype)
        s = solve(xp(first), xp(second), xp(cost), lam=30, normalize=True)
        lower, upper = map(host, s.emd_bounds)
        low, high = map(
            host, solve(xp(first), xp(second), xp(cost), lam=np.inf, normalize=True).bracket
        )
        for k in range(40):
            a, b = ([Fraction(float(x)) for x in H[k]] for H in (first, second))
            true = abs(a[0] / sum(a) - b[0] / sum(b)) * Fraction(float(cost[0, 1]))
            assert Fraction(lower[k]) <= true <= Fraction(upper[k])
            assert Fraction(low[k]) <= true <= Fraction(high[k])


def test_one_pair_and_its_words(xp):
    s = sd.solve(xp(X[0]), xp(Y[0]), M, lam=5)
    low, high = s.bracket
    assert low.ndim == high.ndim == s.gap.ndim == 0
    assert low <= s.value <= high
    assert repr(s).startswith("Solution(value=") and "converged=True" in repr(s)
    assert s.plan.shape == M.shape and s.solver == "relaxed"
    assert isinstance(s.ground, sd.Ground)


def test_histograms_without_mass_have_no_bounds(xp):
    r = X.copy()
    r[1] = 0.0
    s = sd.solve(xp(r), xp(Y), M, lam=5, on_empty="nan")
    for numbers in (s.alpha, s.gap, *s.emd_bounds, *s.bracket):
        assert np.isnan(host(numbers)).tolist() == [False, True, False, False, False]


def test_single_precision_only():
    """Without float64 the margins are those of float32."""
    jax = pytest.importorskip("jax")
    with jax.enable_x64(False):
        r, c, costs = (jax.numpy.asarray(x, "float32") for x in (X, Y, M))
        s = solve(r, c, costs, lam=9)
        lower, upper = map(host, s.emd_bounds)
        low, high = map(host, s.bracket)
    pairs = zip(as_given(X.astype("float32")), as_given(Y.astype("float32")), strict=True)
    exact = np.array([emd(a, b, host(costs)) for a, b in pairs])
    assert (lower <= exact).all() and (exact <= upper).all()
    value = sd.solve(X, Y, M, lam=9, tol=1e-10).value
    assert (low <= value).all() and (value <= high).all()


def test_certificates_under_jit():
    jax = pytest.importorskip("jax")
    with jax.enable_x64(True):
        r, c = jax.numpy.asarray(X), jax.numpy.asarray(Y)

        @jax.jit
        def both(r, c):
            s = sd.solve(r, c, M, lam=5)
            assert repr(s) == "Solution(5 pairs, not computed yet)"
            return s.emd_bounds, s.bracket

        for compiled, plain in zip(both(r, c), (lambda s: (s.emd_bounds, s.bracket))(
            sd.solve(r, c, M, lam=5)), strict=True):  # fmt: skip
            assert host(compiled) == pytest.approx(host(plain), abs=1e-9)


def test_entropy_and_objective_keep_their_gradients():
    torch = pytest.importorskip("torch")
    r = torch.tensor(X[0], requires_grad=True)
    s = sd.solve(r, torch.tensor(Y[0]), M, lam=5)
    for number in (s.value, s.objective, s.entropy):
        (gradient,) = torch.autograd.grad(number, r, retain_graph=True)
        assert torch.isfinite(gradient).all() and gradient.abs().max() > 0
    assert not s.gap.requires_grad and not s.emd_bounds[1].requires_grad
    assert math.isfinite(float(s.gap))
