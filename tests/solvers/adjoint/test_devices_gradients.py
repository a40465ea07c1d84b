"""Gradients by torch and JAX against central differences, and how they fit the two libraries."""

import numpy as np
import pytest

import sinkdist as sd
from tests.problems import grid_costs, random_metric, simplex, sparse_histograms

M = np.random.default_rng(0).uniform(0.1, 1.0, (5, 6))
R, C = simplex(3, 5, 1), simplex(3, 6, 2)
WEIGHTS = np.array([0.7, -1.3, 0.4])
TIGHT = {"tol": 1e-13}

#: What is differentiated: options of `solve`, and the attribute.
LOSSES = {
    "value": ({"lam": 6, **TIGHT}, "value"),
    "objective": ({"lam": 6, **TIGHT}, "objective"),
    "entropy": ({"lam": 6, **TIGHT}, "entropy"),
    "value, log domain": ({"lam": 6, **TIGHT, "solver": "log"}, "value"),
    "value, large lam": ({"lam": 700, "tol": 1e-12}, "value"),
    "objective, large lam": ({"lam": 700, "tol": 1e-12}, "objective"),
    "constrained": ({"alpha": 0.2, "tol": 1e-12}, "value"),
    "exact": ({"lam": np.inf}, "value"),
    "independence": ({"lam": 0}, "value"),
}


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with jax.enable_x64(True):
        yield jax


def tangents(r, c, m, seed=0):
    """Directions that keep histograms on the simplex."""
    rng = np.random.default_rng(seed)
    directions = [rng.standard_normal(x.shape) for x in (r, c, m)]
    for x, direction in zip((r, c), directions, strict=False):
        direction *= x > 0
        direction -= x * direction.sum(-1, keepdims=True)  # rows of x sum to 1
    return directions


def differences(name, r, c, m, h=1e-6):
    """Central differences of the weighted loss along tangents, by the NumPy path."""
    options, attribute = LOSSES[name]

    def loss(*arrays):
        return WEIGHTS @ getattr(sd.solve(*arrays, **options), attribute)

    out, arrays = [], [r, c, m]
    for k, direction in enumerate(tangents(r, c, m)):
        up, down = list(arrays), list(arrays)
        up[k], down[k] = arrays[k] + h * direction, arrays[k] - h * direction
        out.append((loss(*up) - loss(*down)) / (2 * h))
    return out


def agrees(gradients, name, r=R, c=C, m=M):
    """Gradients along tangents agree with central differences to 1e-6."""
    along = [(np.asarray(g) * t).sum() for g, t in zip(gradients, tangents(r, c, m), strict=True)]
    np.testing.assert_allclose(along, differences(name, r, c, m), rtol=1e-6, atol=1e-6)


def torch_gradients(torch, name, *arrays):
    options, attribute = LOSSES[name]
    leaves = [torch.tensor(x, requires_grad=True) for x in arrays]
    s = sd.solve(*leaves, **options)
    (getattr(s, attribute) @ torch.tensor(WEIGHTS)).backward()
    return [leaf.grad for leaf in leaves]


def jax_loss(jax, name):
    options, attribute = LOSSES[name]
    return lambda r, c, m: getattr(sd.solve(r, c, m, **options), attribute) @ WEIGHTS


# ------------------------------------------------------------------------- central differences


@pytest.mark.parametrize("name", LOSSES)
def test_torch_agrees_with_differences(torch, name):
    agrees(torch_gradients(torch, name, R, C, M), name)


@pytest.mark.parametrize("name", ["value", "objective", "constrained", "exact", "independence"])
def test_jax_agrees_with_differences(jax, name):
    agrees(jax.grad(jax_loss(jax, name), (0, 1, 2))(R * jax.numpy.ones(1), C, M), name)


@pytest.mark.parametrize("name", ["value", "objective", "value, large lam", "constrained"])
def test_bins_without_mass_have_gradient_0(torch, name):
    r, c = R.copy(), C.copy()
    r[0, 2] = c[0, 1] = c[2, 5] = 0
    r, c = r / r.sum(1, keepdims=True), c / c.sum(1, keepdims=True)
    by_r, by_c, by_m = torch_gradients(torch, name, r, c, M)
    assert all(torch.isfinite(g).all() for g in (by_r, by_c, by_m))
    assert (by_r[torch.tensor(r == 0)] == 0).all() and (by_c[torch.tensor(c == 0)] == 0).all()
    agrees([by_r, by_c, by_m], name, r, c)


def test_gradients_have_no_part_along_the_histogram(torch):
    """The distance depends on r / sum(r) alone."""
    by_r, by_c, _ = torch_gradients(torch, "value", R, C, M)
    assert abs((by_r.numpy() * R).sum(1)).max() < 1e-12
    assert abs((by_c.numpy() * C).sum(1)).max() < 1e-12


def test_objective_gradients_are_potentials_and_plan(torch):
    leaves = [torch.tensor(x, requires_grad=True) for x in (R[0], C[0], M)]
    s = sd.solve(*leaves, lam=6, tol=1e-13)
    s.objective.backward()
    for leaf, x, potential in zip(leaves, (R[0], C[0]), s.potentials, strict=False):
        np.testing.assert_allclose(leaf.grad, potential - (potential.numpy() @ x), atol=1e-10)
    np.testing.assert_allclose(leaves[2].grad, s.plan, atol=1e-12)


def test_single_precision_gradients(torch):
    """float32 gives float32 gradients, also where the kernel has to be held in float64."""
    for lam in (6, 300):
        double = [torch.tensor(x, requires_grad=True) for x in (R, C, M)]
        single = [torch.tensor(x, dtype=torch.float32, requires_grad=True) for x in (R, C, M)]
        for leaves in (double, single):
            sd.distance(*leaves, lam=lam, tol=1e-6).sum().backward()
        for a, b in zip(double, single, strict=True):
            assert b.grad.dtype == torch.float32
            np.testing.assert_allclose(a.grad, b.grad, atol=2e-3 * float(a.grad.abs().max()))


# ------------------------------------------------------------------------------------- torch


@pytest.mark.parametrize("options", [{"lam": 4.0}, {"alpha": 0.2}, {"lam": np.inf}])
def test_gradcheck_in_double(torch, options):
    r, c, m = (torch.tensor(x, requires_grad=True) for x in (R[:2, :3], C[:2, :4], M[:3, :4]))
    tol = {} if options.get("lam") == np.inf else {"tol": 1e-13}

    def value(r, c, m):
        return sd.distance(r, c, m, normalize=True, **options, **tol)

    assert torch.autograd.gradcheck(value, (r, c, m), atol=1e-6)
    assert torch.autograd.gradcheck(value, (r[0].detach().requires_grad_(), c, m), atol=1e-6)


def test_a_shared_histogram_collects_its_pairs(torch):
    r = torch.tensor(R[0], requires_grad=True)
    sd.distance(r, torch.tensor(C), M, lam=6, tol=1e-13).sum().backward()
    one_by_one = torch.zeros(5, dtype=torch.float64)
    for c in C:
        leaf = torch.tensor(R[0], requires_grad=True)
        sd.distance(leaf, torch.tensor(c), M, lam=6, tol=1e-13).backward()
        one_by_one += leaf.grad
    np.testing.assert_allclose(r.grad, one_by_one, atol=1e-11)


@pytest.mark.parametrize("learn_costs", [False, True])
def test_pairwise_gradients(torch, learn_costs):
    N = grid_costs(5)
    X = torch.tensor(R, requires_grad=True)
    ground = torch.tensor(N, requires_grad=True) if learn_costs else N
    weights = torch.tensor(np.random.default_rng(3).standard_normal((3, 3)))
    (sd.pairwise(X, ground=ground, lam=3, tol=1e-13) * weights).sum().backward()
    rng, h = np.random.default_rng(4), 1e-6
    step = rng.standard_normal(R.shape)
    step -= R * step.sum(1, keepdims=True)
    loss = [
        (sd.pairwise(R + s * h * step, ground=N, lam=3, tol=1e-13) * weights.numpy()).sum()
        for s in (1, -1)
    ]
    np.testing.assert_allclose(
        (X.grad.numpy() * step).sum(), (loss[0] - loss[1]) / (2 * h), atol=1e-6
    )
    if learn_costs:
        step = rng.uniform(0, 1, N.shape)
        loss = [
            (
                sd.pairwise(R, ground=N + 1.0 + s * h * step, lam=3, tol=1e-13) * weights.numpy()
            ).sum()
            for s in (1, -1)
        ]
        np.testing.assert_allclose(
            (ground.grad.numpy() * step).sum(), (loss[0] - loss[1]) / (2 * h), atol=1e-6
        )


def test_torch_func(torch):
    r, c, m = map(torch.tensor, (R, C, M))
    expected = torch_gradients(torch, "value", R, C, M)

    def value(r, c, m):
        return sd.distance(r, c, m, lam=6, tol=1e-13)

    plain = value(r, c, m)
    np.testing.assert_allclose(torch.func.vmap(value, (0, 0, None))(r, c, m), plain, rtol=1e-12)
    np.testing.assert_allclose(
        torch.func.vmap(value, (None, None, 0))(r[0], c[0], torch.stack([m, m])),
        plain[:1].expand(2), rtol=1e-12,
    )  # fmt: skip
    by_r = torch.func.vmap(torch.func.grad(value), (0, 0, None))(r, c, m)
    np.testing.assert_allclose(by_r * torch.tensor(WEIGHTS)[:, None], expected[0], atol=1e-11)
    by_m = torch.func.vmap(torch.func.grad(value, argnums=2), (0, 0, None))(r, c, m)
    np.testing.assert_allclose(
        torch.einsum("k,kij->ij", torch.tensor(WEIGHTS), by_m), expected[2], atol=1e-11
    )


def test_the_exact_distance_says_why_it_cannot_be_mapped(torch):
    with pytest.raises(
        TypeError, match=r"torch\.func\.vmap does not allow: pass the batch as rows"
    ):
        torch.func.vmap(lambda r, c: sd.distance(r, c, M, lam=np.inf))(
            torch.tensor(R), torch.tensor(C)
        )


@pytest.mark.filterwarnings("ignore:The .grad attribute of a Tensor that is not a leaf")
def test_compiled_torch(torch):
    """The sweeps run between compiled graphs."""

    def loss(logits, c):
        return (sd.distance(torch.softmax(logits, -1), c, M, lam=6, tol=1e-13) ** 2).sum()

    results = []
    for function in (loss, torch.compile(loss, backend="eager")):
        logits = torch.tensor(np.log(R), requires_grad=True)
        value = function(logits, torch.tensor(C))
        value.backward()
        results.append((value.item(), logits.grad))
    assert results[0][0] == pytest.approx(results[1][0], rel=1e-12)
    np.testing.assert_allclose(results[0][1], results[1][1], rtol=1e-10)


def test_once_not_twice(torch):
    r = torch.tensor(R, requires_grad=True)
    (by_r,) = torch.autograd.grad(
        sd.distance(r, torch.tensor(C), M, lam=6).sum(), r, create_graph=True
    )
    with pytest.raises(NotImplementedError, match="differentiated once, not twice"):
        by_r.sum().backward()


def test_constrained_objective_has_no_gradient(torch):
    """Its lam moves with the histograms; only the value can be differentiated."""
    s = sd.solve(torch.tensor(R, requires_grad=True), torch.tensor(C), M, alpha=0.2)
    assert s.value.requires_grad and not s.objective.requires_grad


def test_memory_does_not_grow_with_sweeps(torch):
    """What is kept for the backward pass has a size that sweeps do not change."""
    X, N = simplex(8, 40, 5), random_metric(40, 6)

    def kept(tol):
        sizes = []

        def keep(tensor):
            sizes.append(tensor.numel())
            return tensor

        r = torch.tensor(X[:4], requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            s = sd.solve(r, torch.tensor(X[4:]), N, lam=30, tol=tol)
        return sum(sizes), int(s.n_iter.max())

    few, many = kept(1e-2), kept(1e-12)
    assert many[1] > 3 * few[1] and many[0] == few[0]


def test_descent_by_softmax(torch):
    """A softmax learns a histogram: what gradients on the simplex are for."""
    target = torch.tensor(sparse_histograms(1, 12, 3)[0] * 0.9 + 0.1 / 12)
    ground = sd.Ground.grid(3, 4).scaled()
    logits = torch.zeros(12, dtype=torch.float64, requires_grad=True)
    optimiser = torch.optim.Adam([logits], lr=0.1)
    first = None
    for _ in range(80):
        optimiser.zero_grad()
        loss = sd.distance(torch.softmax(logits, 0), target, ground, lam=20)
        loss.backward()
        optimiser.step()
        first = loss.item() if first is None else first
    assert loss.item() < 0.05 * first
    np.testing.assert_allclose(torch.softmax(logits, 0).detach(), target, atol=0.02)


# --------------------------------------------------------------------------------------- JAX


def test_jax_transforms_agree(jax):
    jnp = jax.numpy
    r, c, m = map(jnp.asarray, (R, C, M))
    compiled = jax.jit(jax.grad(jax_loss(jax, "value"), (0, 1, 2)))(r, c, m)
    agrees(compiled, "value")

    def one(r, c):
        return sd.distance(r, c, M, lam=6, tol=1e-13)

    values, by_r = jax.jit(jax.vmap(jax.value_and_grad(one)))(r, c)
    np.testing.assert_allclose(by_r * WEIGHTS[:, None], compiled[0], atol=1e-11)
    np.testing.assert_allclose(values, sd.distance(R, C, M, lam=6, tol=1e-13), rtol=1e-10)


@pytest.mark.parametrize("lam", [6, 700])
def test_costs_unknown_while_compiling(jax, lam):
    """Scaling or the log domain is chosen when the compiled function runs."""
    found = jax.jit(lambda r, c, m: sd.distance(r, c, m, lam=lam, tol=1e-12))(
        R * jax.numpy.ones(1), C, M
    )
    np.testing.assert_allclose(found, sd.distance(R, C, M, lam=lam, tol=1e-12), rtol=1e-10)


@pytest.mark.parametrize(
    "options",
    [{"lam": np.inf}, {"alpha": 0.2, "tol": 1e-9}, {"lam": 0}, {"lam": 6, "iterations": 60}],
)
def test_every_member_compiles(jax, options):
    def total(r, c):
        return sd.distance(r, c, M, **options).sum()

    value, by_r = jax.jit(jax.value_and_grad(total))(jax.numpy.asarray(R), jax.numpy.asarray(C))
    np.testing.assert_allclose(value, total(R, C), rtol=1e-8)
    direction, h = tangents(R, C, M)[0], 1e-5
    change = (total(R + h * direction, C) - total(R - h * direction, C)) / (2 * h)
    np.testing.assert_allclose((np.asarray(by_r) * direction).sum(), change, rtol=1e-5, atol=1e-5)


def test_numbers_are_checked_under_grad_and_nan_under_jit(jax):
    def value(r):
        return sd.distance(r, C[0] * jax.numpy.ones(1), M, lam=6)

    with pytest.raises(ValueError, match="'r' sums to 2"):
        jax.grad(value)(2 * jax.numpy.asarray(R[0]))
    assert np.isnan(jax.jit(value)(2 * jax.numpy.asarray(R[0])))
    assert np.isnan(jax.jit(jax.grad(value))(2 * jax.numpy.asarray(R[0]))).all()
