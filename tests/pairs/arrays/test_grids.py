"""Arrays of other libraries on grids without a matrix: their numbers are those of NumPy."""

import pickle

import numpy as np
import pytest

import sinkdist as sd
from tests.pairs.arrays.test_devices_values import Library, host

GRIDS = {
    "plane": ((7, 5), "sqeuclidean", 1.0),
    "voxels": ((3, 4, 5), "sqeuclidean", (1.0, 0.5, 2.0)),
    "line": ((23,), "sqeuclidean", 0.3),
    "streets": ((6, 7), "cityblock", (1.0, 0.7)),
    "line of lengths": ((1, 19), "euclidean", 1.0),
}
#: Strengths for costs whose largest is 1: scalings, the log domain in few runs, and in many.
LAMS = (3.0, 60.0, 900.0, 1e5)


@pytest.fixture(params=("array_api_strict", "torch", "jax"))
def xp(request):
    library = Library(request.param)
    if request.param != "jax":
        yield library
        return
    import jax

    with jax.enable_x64(True):
        yield library


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with jax.enable_x64(True):
        yield jax


@pytest.fixture(autouse=True)
def no_matrix(monkeypatch):
    """No grid has a matrix: beyond 32 bins not even for those who ask; an axis of 32 pixels has."""
    nothing = dict.fromkeys(("sqeuclidean", "cityblock", "euclidean"), 0)
    monkeypatch.setattr("sinkdist.ground.ground.DENSE_UP_TO", nothing)
    monkeypatch.setattr("sinkdist.ground.grid._LARGEST_MATRIX", 8 * 32 * 32)


def grid(name):
    shape, metric, spacing = GRIDS[name]
    ground = sd.Ground.grid(*shape, metric=metric, spacing=spacing).scaled("max")
    assert not ground.is_dense
    return ground


def dense(ground):
    return sd.Ground(ground.block())


def families(ground, count=3):
    """Histograms with bins without mass; the last two begin with a whole line of them."""
    rng = np.random.default_rng(3)
    d = ground.shape[0]
    X, Y = (rng.random((count, d)) * (rng.random((count, d)) < 0.7) for _ in range(2))
    X[:, d // 2] += 0.1
    Y[:, d // 3] += 0.1
    X[1:, : max(1, d // 7)] = 0.0
    return X / X.sum(1, keepdims=True), Y / Y.sum(1, keepdims=True)


# -------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("name", GRIDS)
@pytest.mark.parametrize("lam", LAMS)
def test_solutions_are_those_of_numpy(torch, name, lam):
    ground, tol = grid(name), 1e-12 if lam < 1e4 else 1e-10
    X, Y = families(ground)
    s = sd.solve(torch.tensor(X), torch.tensor(Y), ground, lam=lam, tol=tol)
    wanted = sd.solve(X, Y, dense(ground), lam=lam, tol=tol)
    assert s.converged.all()
    np.testing.assert_allclose(s.value, wanted.value, rtol=0, atol=5 * tol)
    np.testing.assert_allclose(s.objective, wanted.objective, rtol=1e-9, atol=5 * tol)
    np.testing.assert_allclose(s.entropy, wanted.entropy, rtol=1e-5, atol=1e-9 * lam)
    f, g = map(host, s.potentials)
    assert (np.isfinite(f) == (X > 0)).all() and (np.isfinite(g) == (Y > 0)).all()
    P = np.exp(lam * (f[:, :, None] + g[:, None, :] - ground.block()))
    error = abs(P.sum(2) - X).sum(1) + abs(P.sum(1) - Y).sum(1)
    np.testing.assert_allclose(s.marginal_error, error, atol=1e-14 * (10 + lam))
    np.testing.assert_allclose(s.value, (P * ground.block()).sum((1, 2)), atol=1e-15 * (10 + lam))


@pytest.mark.parametrize("lam", [3.0, 900.0])
def test_every_library(xp, lam):
    ground = grid("plane")
    X, Y = families(ground)
    wanted = sd.solve(X, Y, ground, lam=lam, tol=1e-11)
    s = sd.solve(xp(X), xp(Y), ground, lam=lam, tol=1e-11)
    np.testing.assert_allclose(host(s.value), wanted.value, rtol=1e-10)
    np.testing.assert_allclose(host(s.objective), wanted.objective, rtol=1e-10)
    assert host(s.converged).all()
    assert all(xp.owns(x) for x in (s.value, s.objective, *s.potentials, *s.emd_bounds))
    if xp.name == "jax" and lam > 100.0:  # JAX compiles for every shape
        return
    D = sd.pairwise(xp(X), ground=ground, lam=lam, tol=1e-11)
    assert xp.owns(D)
    np.testing.assert_allclose(
        host(D), sd.pairwise(X, ground=ground, lam=lam, tol=1e-11), rtol=1e-9, atol=1e-11
    )
    one = sd.distance(xp(X[0]), xp(Y), ground, lam=lam, tol=1e-11)
    np.testing.assert_allclose(
        host(one), sd.distance(X[0], Y, ground, lam=lam, tol=1e-11), rtol=1e-9, atol=1e-11
    )


@pytest.mark.parametrize("name", GRIDS)
def test_solvers_that_are_asked_for(torch, name):
    ground = grid(name)
    X, Y = families(ground)
    r, c = torch.tensor(X), torch.tensor(Y)
    wanted = sd.distance(X, Y, dense(ground), lam=20, tol=1e-12)
    for solver in ("plain", "log"):
        s = sd.solve(r, c, ground, lam=20, tol=1e-12, solver=solver)
        np.testing.assert_allclose(s.value, wanted, rtol=1e-10)
        assert set(s.solver) <= {solver, "newton"}


@pytest.mark.parametrize("steps", [1, 20])
@pytest.mark.parametrize("lam", [3.0, 900.0])
def test_iterations_to_the_letter(xp, lam, steps):
    ground = grid("streets")
    X, Y = families(ground)
    s = sd.solve(xp(X), xp(Y), ground, lam=lam, iterations=steps)
    wanted = sd.solve(X, Y, dense(ground), lam=lam, iterations=steps)
    np.testing.assert_allclose(host(s.value), wanted.value, rtol=1e-10)
    np.testing.assert_allclose(host(s.marginal_error), wanted.marginal_error, rtol=1e-7, atol=1e-11)
    assert (host(s.n_iter) == steps).all() and (host(s.status) == wanted.status).all()


@pytest.mark.parametrize("name", ["voxels", "streets"])
@pytest.mark.parametrize("lam", [0, 3.0, 900.0])
def test_divergences(torch, name, lam):
    ground = grid(name)
    X, Y = families(ground)
    r, c = torch.tensor(X), torch.tensor(Y)
    wanted = sd.divergence(X, Y, dense(ground), lam=lam, tol=1e-10)
    np.testing.assert_allclose(sd.divergence(r, c, ground, lam=lam, tol=1e-10), wanted, atol=1e-9)
    assert float(sd.divergence(r[0], r[0], ground, lam=lam)) == 0.0
    D = sd.pairwise(r, ground=ground, lam=lam, tol=1e-10, debiased=True)
    wanted = sd.pairwise(X, ground=dense(ground), lam=lam, tol=1e-10, debiased=True)
    np.testing.assert_allclose(D, wanted, atol=1e-9)


@pytest.mark.parametrize("name", GRIDS)
def test_independence(torch, name):
    ground = grid(name)
    X, Y = families(ground)
    s = sd.solve(torch.tensor(X), torch.tensor(Y), ground, lam=0)
    wanted = sd.solve(X, Y, dense(ground), lam=0)
    np.testing.assert_allclose(s.value, wanted.value, rtol=1e-12)
    D = sd.pairwise(torch.tensor(X), torch.tensor(Y), ground=ground, lam=0)
    np.testing.assert_allclose(D, sd.pairwise(X, Y, ground=ground, lam=0), rtol=1e-12)


@pytest.mark.parametrize("lam", [3.0, 60.0, 900.0])
def test_single_precision(torch, lam):
    ground = grid("plane")
    X, Y = (H.astype("f4") for H in families(ground))
    s = sd.solve(torch.tensor(X), torch.tensor(Y), ground, lam=lam, tol=1e-5)
    wanted = sd.solve(X.astype("f8"), Y.astype("f8"), ground, lam=lam, normalize=True)
    assert s.value.dtype == torch.float32 and s.converged.all()
    np.testing.assert_allclose(s.value, wanted.value, rtol=1e-4)
    low, high = s.emd_bounds
    exact = sd.distance(X, Y, ground.block(), lam=np.inf, normalize=True)
    assert (low.numpy() <= exact).all() and (exact <= high.numpy()).all()


def test_jax_in_single_precision_only():
    """Without float64, logarithms are summed in float32, and bounds are rounded outwards."""
    jax = pytest.importorskip("jax", reason="jax is not installed")
    ground = grid("plane")
    X, Y = families(ground)
    with jax.enable_x64(False):
        r, c = (jax.numpy.asarray(H.astype("f4")) for H in (X, Y))
        for lam in (3.0, 300.0):
            s = sd.solve(r, c, ground, lam=lam, tol=1e-4)
            assert s.value.dtype == np.float32
            np.testing.assert_allclose(s.value, sd.distance(X, Y, ground, lam=lam), rtol=3e-4)
            exact = sd.distance(X, Y, ground.block(), lam=np.inf)
            low, high = map(host, s.emd_bounds)
            assert (low <= exact * (1 + 1e-6)).all() and (exact <= high * (1 + 1e-6)).all()


def test_many_blocks_are_one_answer(torch, monkeypatch):
    ground = grid("plane")
    X, Y = (torch.tensor(H) for H in families(ground, 7))
    for lam in (3.0, 900.0):
        whole = sd.distance(X, Y, ground, lam=lam, tol=1e-12)
        with monkeypatch.context() as m:
            m.setattr("sinkdist.pairs.arrays.pairs._SMALL", 3 * 35)
            parts = sd.distance(X, Y, ground, lam=lam, tol=1e-12)
        np.testing.assert_allclose(parts, whole, rtol=1e-11)


def test_empty_histograms(torch):
    ground = grid("plane")
    X, Y = families(ground)
    X[1] = 0.0
    s = sd.solve(torch.tensor(X), torch.tensor(Y), ground, lam=30, on_empty="nan")
    wanted = sd.solve(X, Y, ground, lam=30, on_empty="nan")
    np.testing.assert_allclose(s.value, wanted.value, rtol=1e-6)
    np.testing.assert_allclose(s.emd_bounds[0], wanted.emd_bounds[0], rtol=1e-6)


# ---------------------------------------------------------------------- plans and certificates


@pytest.mark.parametrize("lam", [0, 3.0, 900.0])
def test_bounds_and_plans_are_those_of_the_host(xp, lam):
    ground = grid("plane")
    X, Y = families(ground)
    ours = sd.solve(X, Y, ground, lam=lam, tol=1e-10)
    s = sd.solve(xp(X), xp(Y), ground, lam=lam, tol=1e-10)
    for theirs, wanted in ((s.emd_bounds, ours.emd_bounds), (s.bracket, ours.bracket)):
        for one, other in zip(theirs, wanted, strict=True):
            np.testing.assert_allclose(host(one), other, atol=2e-4)
    exact = sd.distance(X, Y, ground.block(), lam=np.inf)
    low, high = map(host, s.emd_bounds)
    assert (low <= exact).all() and (exact <= high).all()
    low, high = map(host, s.bracket)
    assert (low <= ours.value + 1e-9).all() and (ours.value - 1e-9 <= high).all()
    np.testing.assert_allclose(host(s.alpha), ours.alpha, rtol=1e-5, atol=1e-8)
    for theirs, wanted in zip(s.plan_rows([0, 20]), ours.plan_rows([0, 20]), strict=True):
        assert xp.owns(theirs)
        np.testing.assert_allclose(host(theirs), wanted, atol=1e-9)
    for theirs, wanted in zip(s.transport_map(), ours.transport_map(), strict=True):
        np.testing.assert_allclose(theirs, wanted, atol=1e-6)
    assert len(s.moves(top=3)[0]) == 3 and s.sparse_plan[0].nnz == ours.sparse_plan[0].nnz
    with pytest.raises(sd.InputError, match="entries of the plan would take"):
        _ = s.plan


def test_one_pair(xp):
    ground = grid("line")  # small enough for a plan
    X, Y = families(ground)
    s, ours = sd.solve(xp(X[0]), xp(Y[0]), ground, lam=9), sd.solve(X[0], Y[0], ground, lam=9)
    assert s.value.shape == s.emd_bounds[0].shape == s.alpha.shape == ()
    assert xp.owns(s.plan)
    np.testing.assert_allclose(host(s.plan), ours.plan, atol=1e-6)
    np.testing.assert_allclose(host(s.emd_bounds[1]), ours.emd_bounds[1], rtol=1e-5)
    assert repr(s).split("marginal")[0] == repr(ours).split("marginal")[0]
    assert s.ground is ground


# ----------------------------------------------------------------------------------- gradients


def tangents(*families):
    """Directions that keep histograms on the simplex, and their bins without mass empty."""
    rng = np.random.default_rng(0)
    for x in families:
        direction = rng.standard_normal(x.shape) * (x > 0)
        yield direction - x * direction.sum(-1, keepdims=True)


def differences(loss, X, Y, h=1e-6):
    """Central differences of a function of both families, along tangents of either."""
    out = []
    for k, direction in enumerate(tangents(X, Y)):
        up, down = [X, Y], [X, Y]
        up[k], down[k] = up[k] + h * direction, down[k] - h * direction
        out.append((loss(*up) - loss(*down)) / (2 * h))
    return out


WEIGHTS = np.array([0.7, -1.3, 0.4])


@pytest.mark.parametrize("name", ["plane", "voxels", "line", "streets"])
@pytest.mark.parametrize("lam", [6.0, 60.0, 900.0])
@pytest.mark.parametrize("what", ["value", "objective"])
def test_torch_gradients_are_differences(torch, name, lam, what):
    ground = grid(name)
    X, Y = families(ground)
    X, Y = 0.98 * X + 0.02 * (X > 0) / (X > 0).sum(1, keepdims=True), Y

    def loss(x, y):
        return WEIGHTS @ getattr(sd.solve(x, y, M, lam=lam, tol=1e-13), what)

    M, leaves = dense(ground), [torch.tensor(x, requires_grad=True) for x in (X, Y)]
    s = sd.solve(*leaves, ground, lam=lam, tol=1e-12)
    (getattr(s, what) @ torch.tensor(WEIGHTS)).backward()
    assert all((leaf.grad[leaf == 0] == 0).all() for leaf in leaves)
    along = [
        float((leaf.grad.numpy() * t).sum()) for leaf, t in zip(leaves, tangents(X, Y), strict=True)
    ]
    np.testing.assert_allclose(along, differences(loss, X, Y), rtol=3e-5, atol=1e-6)


@pytest.mark.parametrize("lam", [6.0, 900.0])
def test_gradients_are_those_with_a_matrix(torch, lam):
    """One shared histogram, and both numbers at once."""
    ground = grid("plane")
    X, Y = families(ground)
    found = []
    for costs in (ground, dense(ground)):
        leaves = [torch.tensor(x, requires_grad=True) for x in (X[0], Y)]
        s = sd.solve(*leaves, costs, lam=lam, tol=1e-12)
        (s.value.sum() + (s.objective**2).sum()).backward()
        found.append([leaf.grad for leaf in leaves])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-7 * float(abs(b).max()))


@pytest.mark.parametrize("lam", [6.0, 900.0])
def test_gradients_of_divergences(torch, lam):
    ground = grid("streets")
    X, Y = families(ground)
    found = []
    for costs in (ground, dense(ground)):
        leaves = [torch.tensor(x, requires_grad=True) for x in (X, Y)]
        sd.divergence(*leaves, costs, lam=lam, tol=1e-10).sum().backward()
        found.append([leaf.grad for leaf in leaves])
    for a, b in zip(*found, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-7 * float(abs(b).max()))


@pytest.mark.parametrize("lam", [6.0, 900.0])
def test_jax_gradients_under_jit_and_vmap(jax, torch, lam):
    ground = grid("plane")
    X, Y = families(ground)

    def loss(x, y):
        s = sd.solve(x, y, ground, lam=lam, tol=1e-12)
        return s.value + 0.5 * s.objective

    leaves = [torch.tensor(x, requires_grad=True) for x in (X, Y)]
    s = sd.solve(*leaves, ground, lam=lam, tol=1e-12)
    (s.value + 0.5 * s.objective).sum().backward()
    by_x, by_y = jax.jit(jax.grad(lambda x, y: loss(x, y).sum(), (0, 1)))(X, Y)
    np.testing.assert_allclose(by_x, leaves[0].grad, atol=1e-7)
    np.testing.assert_allclose(by_y, leaves[1].grad, atol=1e-7)
    if lam > 100.0:  # JAX compiles for every function
        return
    each = jax.vmap(loss)(jax.numpy.asarray(X), jax.numpy.asarray(Y))
    np.testing.assert_allclose(each, (s.value + 0.5 * s.objective).detach(), rtol=1e-9)


def test_torch_vmap(torch):
    ground = grid("plane")
    X, Y = map(torch.tensor, families(ground))

    def loss(x, y):
        return sd.distance(x, y, ground, lam=30, tol=1e-12)

    np.testing.assert_allclose(torch.func.vmap(loss)(X, Y), loss(X, Y), rtol=1e-10)
    each = torch.func.vmap(torch.func.grad(loss))(X, Y)
    leaf = X.clone().requires_grad_()
    loss(leaf, Y).sum().backward()
    np.testing.assert_allclose(each, leaf.grad, atol=1e-9)


@pytest.mark.parametrize("debiased", [True, False])
def test_losses(torch, debiased):
    from sinkdist.torch import SinkhornLoss

    ground = grid("plane")
    X, Y = (torch.tensor(H) for H in families(ground))
    options = {"lam": 9.0, "debiased": debiased, "reduction": "sum", "tol": 1e-10}
    loss = SinkhornLoss(ground, **options)
    assert loss.costs is None and not loss.state_dict() and "35 x 35" in repr(loss)
    loss = pickle.loads(pickle.dumps(loss))
    by_matrix = SinkhornLoss(dense(ground), dtype=torch.float64, **options)
    np.testing.assert_allclose(loss(X, Y), by_matrix(X, Y), rtol=1e-9)
    logits, bins = torch.zeros(3, 35, requires_grad=True), torch.tensor([0, 34, 7])
    SinkhornLoss(ground, logits=True)(logits, bins).backward()
    assert (logits.grad[torch.arange(3), bins] < 0).all()


def test_the_loss_of_jax(jax):
    from sinkdist.jax import sinkhorn_loss

    ground = grid("plane")
    X, Y = map(jax.numpy.asarray, families(ground))
    loss = jax.jit(lambda x: sinkhorn_loss(x, Y, ground, tol=1e-10))
    wanted = sinkhorn_loss(X, Y, dense(ground), tol=1e-10)
    np.testing.assert_allclose(loss(X), wanted, rtol=1e-9)


# ------------------------------------------------------------------------------------ refusals


@pytest.mark.parametrize(
    "options", [{"lam": np.inf}, {"alpha": 0.1}, {"lam": 3.0, "mass_penalty": 1.0}]
)
def test_what_takes_a_matrix_is_refused_with_what_to_do(torch, options):
    ground = grid("plane")
    r, c = (torch.tensor(x[0]) for x in families(ground))
    with pytest.raises(sd.InputError, match="at a finite lam or reg, and equal masses") as error:
        sd.solve(r, c, ground, **options)
    assert "by numpy.asarray." in str(error.value)


def test_euclidean_distances_are_refused_with_what_to_do(torch):
    r = torch.full((35,), 1 / 35)
    with pytest.raises(sd.InputError, match="use metric='sqeuclidean' or 'cityblock'"):
        sd.distance(r, r, sd.Ground.grid(7, 5), lam=3)


def test_an_axis_that_is_too_long_is_refused(torch):
    r = torch.full((40,), 1 / 40)
    with pytest.raises(sd.InputError, match="an axis of 40 pixels take a matrix of 40 x 40"):
        sd.distance(r, r, sd.Ground.grid(40, metric="cityblock"), lam=3)


def test_what_takes_a_matrix_is_solved_where_there_is_room(torch):
    ground = grid("line")
    X, Y = families(ground)
    for options in ({"lam": np.inf}, {"alpha": 0.1}):
        found = sd.distance(torch.tensor(X), torch.tensor(Y), ground, **options)
        np.testing.assert_allclose(found, sd.distance(X, Y, dense(ground), **options), rtol=1e-5)


def test_plans_under_jit_are_refused(jax):
    ground = grid("plane")
    X, Y = families(ground)

    def low(x, y):
        return sd.solve(x, y, ground, lam=3).emd_bounds[0]

    with pytest.raises(TypeError, match=r"ask for them outside of jit"):
        jax.jit(low)(X[0], Y[0])
