"""Every compiled pass against its readable twin, and what passes do at the edges of their range."""

import ast
import inspect
import pkgutil
from decimal import Decimal, localcontext
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
import pytest
from scipy.sparse.csgraph import shortest_path

from sinkdist import kernels as passes
from sinkdist.kernels import block, exponential, hessian, near_entries, pair, triangles
from sinkdist.solvers.compiled import relaxation, scaling
from tests import twins
from tests.kernels.comparison import twin

#: Compared through the passes, or the plan of a grid, that call them; in their module's test file.
THROUGH_OTHERS = {
    "grid.tiles.gather_tiles",
    "cloud.moments.plan_moments", "cloud.sweeps.sweep_rows", "cloud.sweeps.largest_terms",
    "grid.averages.averages", "grid.averages.spread", "grid.averages.costs_of_moves",
    "grid.cityblock.recursive_log_sums", "grid.cityblock.recursive_averages",
    "grid.cityblock.recursive_spread", "grid.cityblock.costs_of_steps", "masses._exact_update",
    "spanning_tree.heaviest_tree", "spanning_tree._hang", "spanning_tree.weigh_tree",
    "spanning_tree.solve_by_tree", "spanning_tree._along_the_tree", "spanning_tree._laplacian",
}  # fmt: skip

#: Twins that are not called like their pass, because they do not work in place.
RENAMED = {"exp_in_place": "bounded_exp"}


def sizes(*shapes, marks=()):
    """Parameters called like ``64x67``."""
    return [pytest.param(shape, id="x".join(map(str, shape)), marks=marks) for shape in shapes]


SMALL = [(1, 1), (1, 2), (5, 1), (2, 3), (3, 5), (5, 3)]
SHAPES = sizes(*SMALL, marks=pytest.mark.nojit)
SHAPES += sizes((1, 67), (64, 64), (64, 67), (67, 64), (67, 5))
#: Pairs, rows, columns.
BLOCKS = sizes(*((k, *shape) for k in (1, 3) for shape in SMALL), marks=pytest.mark.nojit)
BLOCKS += sizes((2, 64, 67), (5, 67, 64), (67, 5, 64))
OMEGA = 1.6

ROUNDING = 1e-13  #: relative, for sums of positive float64 terms
ROUNDING32 = 2e-6


@pytest.fixture(params=[np.float64, np.float32], ids=["float64", "float32"])
def dtype(request):
    """The kernel's dtype."""
    return request.param


def same(actual, expected, rtol=ROUNDING, atol=0.0):
    """Equal up to rounding, with no NaN anywhere."""
    assert np.all(np.isfinite(expected))
    np.testing.assert_allclose(actual, expected, rtol=rtol, atol=atol, equal_nan=False)


def random_pair(shape, dtype=np.float64, seed=0):
    """A random pair on random costs, with scalings that do not solve it."""
    rng = np.random.default_rng([seed, *shape])
    m, n = shape
    M = rng.uniform(0.0, 2.0, shape)
    lam = 7.0
    return SimpleNamespace(
        M=M,
        lam=lam,
        K=np.exp(-lam * M).astype(dtype),
        r=rng.dirichlet(np.ones(m)),
        c=rng.dirichlet(np.ones(n)),
        u=rng.lognormal(size=m),
        v=rng.lognormal(size=n),
        f=rng.normal(size=m),
        g=rng.normal(size=n),
        w=rng.normal(size=n),
        rng=rng,
    )


def random_block(shape, dtype, shared):
    """Random pairs with bins without mass, near enough to a solution for relaxation to matter."""
    pairs, m, n = shape
    rng = np.random.default_rng([pairs, m, n])
    K = np.exp(-3.0 * rng.uniform(size=(m, n)))
    R, C = (_with_gaps(rng, k, d) for k, d in ((1 if shared else pairs, m), (pairs, n)))
    V = rng.uniform(0.8, 1.2, (pairs, n)) * (C > 0)
    U = rng.uniform(0.7, 1.4, (pairs, m)) * R / (V @ K.T)
    omega = rng.permutation(np.resize([OMEGA, 1.0, 0.0], pairs))
    return *(a.astype(dtype) for a in (K, R, C, U, V)), omega


def _with_gaps(rng, pairs, bins):
    """Histograms of which about a third of the bins, but never all, are empty."""
    weights = rng.uniform(0.5, 1.0, (pairs, bins)) * (rng.uniform(size=(pairs, bins)) > 0.3)
    weights[np.arange(pairs), rng.integers(bins, size=pairs)] = 1.0
    return weights / weights.sum(axis=1, keepdims=True)


# ------------------------------------------------------------------------- nothing is left out


KERNELS = Path(passes.__path__[0])


def compiled_names():
    """The functions of `passes` that are compiled on their own, by their modules' source."""
    for path in sorted(KERNELS.rglob("*.py")):
        module = ".".join(path.relative_to(KERNELS).with_suffix("").parts)
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and any(
                ast.unparse(decorator).startswith(("compiled", "shared"))
                for decorator in node.decorator_list
            ):
                yield f"{module}.{node.name}"


@pytest.mark.nojit
def test_the_search_for_compiled_passes_finds_them():
    found = set(compiled_names())
    assert {"pair.row_pass", "exponential.exp_in_place", "block.row_step"} <= found
    assert {"triangles.worst_triangle", "triangles.shortest_paths"} <= found
    if numba.config.DISABLE_JIT:
        return
    inside = f"{passes.__name__}."
    dispatchers = {
        f"{module.__name__.removeprefix(inside)}.{name}"
        for _, path, _ in pkgutil.walk_packages(passes.__path__, inside)
        for module in [import_module(path)]
        for name, value in vars(module).items()
        if isinstance(value, numba.core.dispatcher.Dispatcher)
        and value.py_func.__module__ == module.__name__
        and value.targetoptions.get("inline", "never") == "never"  # else a part of another
    }
    assert found == dispatchers


@pytest.mark.nojit
@pytest.mark.parametrize("full_name", list(compiled_names()))
def test_every_compiled_pass_is_compared(full_name):
    """With its twin in `tests.twins`, or with a formula in the test file of its own module."""
    module, _, name = full_name.rpartition(".")
    name = RENAMED.get(name, name)
    if inspect.isfunction(getattr(twins, name, None)):
        calls = [
            call
            for path in Path(__file__).parent.rglob("test_*.py")
            for call in ast.walk(ast.parse(path.read_text("utf-8")))
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "twin"
        ]
        compared = {x.args[1].value for x in calls if isinstance(x.args[1], ast.Constant)}
    else:
        *folders, stem = module.split(".")
        own = Path(__file__).parent.joinpath(*folders, f"test_{stem}.py")
        if full_name in THROUGH_OTHERS:
            assert own.is_file()
            return
        tree = ast.parse(own.read_text("utf-8"))
        compared = {x.id for x in ast.walk(tree) if isinstance(x, ast.Name)}
        compared |= {x.attr for x in ast.walk(tree) if isinstance(x, ast.Attribute)}
    assert name in compared, f"{full_name} is not compared with a twin"


# ------------------------------------------------------------------------------------ one pair


@pytest.mark.parametrize("shape", SHAPES)
def test_gather(xp, dtype, shape):
    p = random_pair(shape, dtype)
    rows = p.rng.permutation(shape[0])[: (shape[0] + 1) // 2]
    columns = p.rng.permutation(shape[1])[: (shape[1] + 1) // 2]
    out = np.full((rows.size, columns.size), np.nan, dtype)
    pair.gather(p.K, rows, columns, out)
    expected = twin(xp, "gather", p.K, rows, columns)
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(out, p.K[np.ix_(rows, columns)])


@pytest.mark.parametrize("shape", SHAPES)
def test_column_sums(xp, dtype, shape):
    p = random_pair(shape, dtype)
    acc = np.full(shape[1], np.nan)
    pair.column_sums(p.K, p.u, acc)
    same(acc, twin(xp, "column_sums", p.K, p.u))


@pytest.mark.nojit
def test_representable(xp):
    sums = np.array([0.0, 1e-300, 1e-280, 1.1e-280, 1.0, 0.9e280, 1e280, np.inf, np.nan, -1.0])
    expected = np.array([False, False, False, True, True, True, False, False, False, False])
    np.testing.assert_array_equal(twin(xp, "representable", sums), expected)
    np.testing.assert_array_equal([pair.representable(s) for s in sums], expected)


@pytest.mark.parametrize("shape", SHAPES)
def test_row_pass(xp, dtype, shape):
    p = random_pair(shape, dtype)
    u, acc = np.full(shape[0], np.nan), np.full(shape[1], np.nan)
    assert pair.row_pass(p.K, p.r, p.v, u, acc)
    expected_u, expected_acc, ok = twin(xp, "row_pass", p.K, p.r, p.v)
    assert ok
    same(u, expected_u)
    same(acc, expected_acc)
    same(u * (p.K @ p.v), p.r)  # rows are exact


@pytest.mark.nojit
@pytest.mark.parametrize("x", [0.2, 0.4999, 0.51, 0.9, 1.0, 1.1, 1.4999, 1.51, 30.0])
@pytest.mark.parametrize("w", [0.5, 1.0, 1.3, 1.9])
def test_power(xp, x, w):
    expected = twin(xp, "power", np.array(x), w)
    same(pair.power(x, w), expected)
    if abs(x - 1.0) > 0.5:
        assert pair.power(x, w) == x
    else:  # Taylor's remainder; for w < 2 the third derivative is below 2 w on [0.5, 1.5]
        assert abs(expected - x**w) <= 3.0 * abs(x - 1.0) ** 3


@pytest.mark.nojit
@pytest.mark.parametrize("have", [0.1, 0.3, 0.5])
def test_relaxed_row(xp, have):
    expected = twin(xp, "relaxed_row", np.array(have), 0.3, 2.0, OMEGA)
    same(pair.relaxed_row(have, 0.3, 2.0, OMEGA), expected)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("near", [False, True], ids=["far", "near"])
def test_relaxed_row_pass(xp, dtype, shape, near):
    p = random_pair(shape, dtype)
    if near:  # within the range of the second-order formula
        p.u = p.r / (p.K @ p.v) * p.rng.uniform(0.8, 1.3, shape[0])
    u, acc = p.u.copy(), np.full(shape[1], np.nan)
    error = pair.relaxed_row_pass(p.K, p.r, p.v, u, acc, OMEGA)
    expected_u, expected_acc, expected_error = twin(
        xp, "relaxed_row_pass", p.K, p.r, p.v, p.u, OMEGA
    )
    same(u, expected_u, rtol=1e-12)
    same(acc, expected_acc, rtol=1e-12)
    same(error, expected_error, rtol=1e-12)
    if near:  # what is compared is not the plain step
        assert not np.allclose(u, p.r / (p.K @ p.v), rtol=1e-3)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("near", [False, True], ids=["far", "near"])
def test_relaxed_column_step(xp, shape, near):
    p = random_pair(shape)
    acc = p.K.T @ p.u
    if near:
        p.v = p.c / acc * p.rng.uniform(0.8, 1.3, shape[1])
    v = p.v.copy()
    error = pair.relaxed_column_step(p.c, v, acc, OMEGA)
    expected_v, expected_error = twin(xp, "relaxed_column_step", p.c, p.v, acc, OMEGA)
    same(v, expected_v, rtol=1e-12)
    same(error, expected_error, rtol=1e-12)


@pytest.mark.parametrize("shape", SHAPES)
def test_costs(xp, dtype, shape):
    p = random_pair(shape, dtype)
    cost, mean = pair.plan_cost(p.K, p.M, p.u, p.v), pair.mean_cost(p.M, p.r, p.c)
    same(cost, twin(xp, "plan_cost", p.K, p.M, p.u, p.v))
    same(mean, twin(xp, "mean_cost", p.M, p.r, p.c))


@pytest.mark.nojit
@pytest.mark.parametrize("m", [1, 4, 5, 7])  # in the unrolled rows and in those after them
@pytest.mark.parametrize("bad_sum", [0.0, 1e-290, 1e290, np.inf, np.nan])
def test_row_sums_that_are_not_representable_are_flagged(xp, m, bad_sum):
    for bad in range(m):
        K, v, r = np.ones((m, 2)), np.full(2, 0.5), np.full(m, 1.0 / m)
        K[bad] = bad_sum
        u, acc = np.ones(m), np.empty(2)
        with np.errstate(all="ignore"):
            assert not pair.row_pass(K, r, v, u, acc)
            assert not twin(xp, "row_pass", K, r, v)[2]
            u[:] = 1.0
            assert pair.relaxed_row_pass(K, r, v, u, acc, OMEGA) == np.inf
            assert twin(xp, "relaxed_row_pass", K, r, v, np.ones(m), OMEGA)[2] == np.inf


@pytest.mark.nojit
@pytest.mark.parametrize("bad_sum", [0.0, 1e290, np.inf, np.nan])
def test_column_sums_that_are_not_representable_are_flagged(xp, bad_sum):
    for bad in range(5):
        c, v, acc = np.full(5, 0.2), np.ones(5), np.full(5, 0.25)
        acc[bad] = bad_sum
        with np.errstate(all="ignore"):
            assert twin(xp, "relaxed_column_step", c, v, acc, OMEGA)[1] == np.inf
            assert pair.relaxed_column_step(c, v, acc, OMEGA) == np.inf


# ---------------------------------------------------------------- exponentials and the log domain


def exp_in_place(x):
    """The compiled exponential of an array that stays as it is."""
    out = np.array(x, np.float64)
    exponential.exp_in_place(out)
    return out


def exact_exp(x):
    """The exponential of floats to 30 digits."""
    with localcontext() as context:
        context.prec = 30
        return [Decimal(float(t)).exp() for t in x]


@pytest.mark.nojit
def test_exponential_is_accurate(xp):
    rng = np.random.default_rng(7)
    x = np.concatenate(
        [rng.uniform(exponential.FLOOR, exponential.CEILING, 3000), rng.normal(size=1000),
         rng.normal(size=500) * 1e-9, np.log(2.0) * (np.arange(-900, 900, 20) + 0.5), [0.0]]
    )  # fmt: skip
    ours = exp_in_place(x)
    with localcontext() as context:
        context.prec = 30
        errors = [abs(Decimal(float(a)) / b - 1) for a, b in zip(ours, exact_exp(x), strict=True)]
    assert max(errors) < Decimal("4e-16")
    same(ours, twin(xp, "bounded_exp", x), rtol=1e-15)
    assert ours[-1] == 1.0


@pytest.mark.nojit
def test_exponential_ends_at_floor_and_ceiling(xp):
    low, high = exponential.FLOOR, exponential.CEILING
    x = np.array([-np.inf, -1e300, -745.0, low - 1e-9, low, high, high + 1e-9, 1e300, np.inf])
    ours = exp_in_place(x)
    expected = np.where(x < 0.0, np.exp(low), np.exp(high))
    same(ours, expected, rtol=1e-15)
    same(ours, twin(xp, "bounded_exp", x), rtol=1e-15)
    assert np.all(ours >= np.finfo(np.float64).tiny)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="Python has no integer for NaN")
def test_exponential_of_nan_is_nan(xp):
    x = np.array([1.0, np.nan, -1.0])
    assert np.array_equal(np.isnan(exp_in_place(x)), [False, True, False])
    assert np.array_equal(np.isnan(twin(xp, "bounded_exp", x)), [False, True, False])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lam", [1e-9, 7.0, 40.0, 1e9])
def test_gibbs_kernel(xp, dtype, shape, lam):
    p = random_pair(shape)
    K = np.full(shape, np.nan, dtype)
    exponential.gibbs_kernel(p.M, lam, K)
    expected = twin(xp, "gibbs_kernel", p.M, lam)
    same(K, expected.astype(dtype), rtol=1e-15 if dtype == np.float64 else 1.2e-7)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lam", [0.1, 7.0, 1000.0])
def test_stabilised_kernel(xp, shape, lam):
    p = random_pair(shape)
    K = np.full(shape, np.nan)
    exponential.stabilised_kernel(p.M, lam, p.f, p.g, K)
    # The argument's own rounding is lam eps, so that much is the exponential's.
    same(K, twin(xp, "stabilised_kernel", p.M, lam, p.f, p.g), rtol=1e-14 * max(lam, 1.0))


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lam", [0.1, 7.0, 1e5])
def test_log_row_update(xp, shape, lam):
    p = random_pair(shape)
    f, row = np.full(shape[0], np.nan), np.empty(shape[1])
    exponential.log_row_update(p.M, lam, p.r, f, p.g, row)
    expected = twin(xp, "log_row_update", p.M, lam, p.r, p.g)
    same(f, expected, atol=1e-14)
    K = twin(xp, "stabilised_kernel", p.M, lam, expected, p.g)
    same(K.sum(axis=1), p.r, rtol=1e-14 * max(lam, 10.0))  # rows are exact


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("lam", [0.1, 7.0, 1e5])
@pytest.mark.parametrize("wanted", [True, False], ids=["update", "below tol"])
def test_log_column_update(xp, shape, lam, wanted):
    p = random_pair(shape)
    p.g = p.M.min(axis=0) - 1.0 / lam  # of the right order for f = 0, so that the error is finite
    p.f[:] = 0.0
    g, row = p.g.copy(), np.empty(shape[1])
    tol = 0.0 if wanted else np.inf
    error = exponential.log_column_update(p.M, lam, p.c, p.f, g, row, tol)
    expected_g, expected_error = twin(xp, "log_column_update", p.M, lam, p.c, p.f, p.g, tol)
    same(g, expected_g, atol=1e-14)
    same(error, expected_error, rtol=1e-14 * max(lam, 10.0))
    assert np.array_equal(g, p.g) != wanted
    K = twin(xp, "stabilised_kernel", p.M, lam, p.f, p.g)
    same(error, np.abs(K.sum(axis=0) - p.c).sum(), rtol=1e-14 * max(lam, 10.0))


@pytest.mark.nojit
def test_log_updates_agree_with_the_scalings(xp):
    p = random_pair((5, 3))
    u, acc, _ = twin(xp, "row_pass", p.K, p.r, p.v)
    f = twin(xp, "log_row_update", p.M, p.lam, p.r, np.log(p.v) / p.lam)
    same(np.exp(p.lam * f), u, rtol=1e-12)
    g, error = twin(xp, "log_column_update", p.M, p.lam, p.c, f, np.log(p.v) / p.lam, -1.0)
    same(np.exp(p.lam * g), p.c / acc, rtol=1e-12)
    same(error, np.abs(p.v * acc - p.c).sum(), rtol=1e-12)


# ----------------------------------------------------------------------------- Newton's method


@pytest.mark.parametrize("shape", SHAPES)
def test_dense_product(xp, dtype, shape):
    p = random_pair(shape, dtype)
    scale, acc = p.u**2 / p.r, np.full(shape[1], np.nan)
    hessian.dense_product(p.K, p.w, scale, acc)
    terms = p.K.T @ (scale * (p.K @ np.abs(p.w)))  # signs cancel, so rounding is measured by these
    expected = twin(xp, "dense_product", p.K, p.w, scale)
    assert np.all(np.abs(acc - expected) <= ROUNDING * terms)


@pytest.mark.parametrize("shape", SHAPES)
def test_dense_diagonal(xp, dtype, shape):
    p = random_pair(shape, dtype)
    acc = np.full(shape[1], np.nan)
    hessian.dense_diagonal(p.K, p.u, acc)
    same(acc, twin(xp, "dense_diagonal", p.K, p.u))


def sparse_rows(p, cut, room=None):
    """Compressed rows of a pair's plan, and their number."""
    m, n = p.K.shape
    room = m * n if room is None else room
    starts, columns = np.full(m + 1, -1, np.int32), np.full(room, -1, np.int32)
    values = np.full(room, np.nan)
    acc = p.K.T @ p.u
    count = hessian.sparsify(p.K, p.u, p.v, acc, p.r, p.c, cut, starts, columns, values)
    return count, starts, columns, values


def with_exact_rows(p):
    """The pair after a few sweeps, the last half of which made rows exact."""
    for _ in range(5):
        p.u = p.r / (p.K @ p.v)
        p.v = p.c / (p.K.T @ p.u)
    p.u = p.r / (p.K @ p.v)
    return p


@pytest.mark.parametrize("shape", [*SHAPES, *sizes((3, 128), (2, 200))])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.9], ids=["all", "some", "few"])
def test_sparse_passes(xp, dtype, shape, share):
    p = with_exact_rows(random_pair(shape, dtype))
    cut = share / max(shape)
    count, starts, columns, values = sparse_rows(p, cut)
    expected = twin(xp, "sparsify", p.K, p.u, p.v, p.K.T @ p.u, p.r, p.c, cut)
    P = dense(shape, starts, columns, values)
    assert count == starts[-1] == np.count_nonzero(expected)
    np.testing.assert_array_equal(P > 0, expected > 0)
    same(P, expected)
    same(P.sum(axis=1), p.r)

    y, acc, sums = p.w, np.full(shape[1], np.nan), np.full(shape[1], np.nan)
    hessian.sparse_product(starts, columns, values, p.r, y, acc)
    terms = P.T @ (P @ np.abs(y) / p.r)
    assert np.all(np.abs(acc - twin(xp, "sparse_product", P, p.r, y)) <= ROUNDING * terms)
    hessian.sparse_diagonals(starts, columns, values, p.r, sums, acc)
    expected_sums, expected_diagonal = twin(xp, "sparse_diagonals", P, p.r)
    same(sums, expected_sums)
    same(acc, expected_diagonal)


@pytest.mark.nojit
def test_cutting_leaves_something_out():
    p = with_exact_rows(random_pair((67, 64)))
    assert sparse_rows(p, 0.9 / 67)[0] < sparse_rows(p, 0.01 / 67)[0] < sparse_rows(p, 0.0)[0]
    assert sparse_rows(p, 0.0)[0] == 67 * 64


@pytest.mark.nojit
def test_sparsify_says_when_the_entries_do_not_fit():
    p = with_exact_rows(random_pair((5, 67)))
    assert sparse_rows(p, 0.0, room=5 * 67)[0] == 5 * 67
    assert sparse_rows(p, 0.0, room=5 * 67 - 1)[0] == -1
    assert sparse_rows(p, 0.0, room=0)[0] == -1


@pytest.mark.parametrize("shape", [*SHAPES, *sizes((3, 128), (2, 200))])
@pytest.mark.parametrize("depth", [700.0, 6.0, 0.5], ids=["all", "some", "few"])
def test_passes_over_near_entries(xp, shape, depth):
    p, (m, n) = random_pair(shape), shape
    f = (p.M - p.g).min(axis=1)  # the largest exponent of every row is 0
    low = np.full(m, -depth), p.rng.uniform(-depth, 0.0, n)
    near = (
        np.full(m + 1, -1, np.int32),
        np.full(m * n + n, -1, np.int32),
        np.full(m * n + n, np.nan),
    )
    count = near_entries.near_entries(p.M, p.lam, f, p.g, *low, *near)
    K = dense(shape, *near)
    expected = twin(xp, "near_entries", p.M, p.lam, f, p.g, *low)
    assert count == near[0][-1] == np.count_nonzero(expected)
    same(K, expected, rtol=1e-12)

    u, acc = np.full(m, np.nan), np.full(n, np.nan)
    ok = near_entries.near_row_pass(*near, p.r, p.v, u, acc)
    expected_u, expected_acc, expected_ok = twin(xp, "near_row_pass", K, p.r, p.v)
    assert ok == expected_ok
    same(u, expected_u)
    same(acc, expected_acc)

    part = np.full(m + 1, -1, np.int32), np.full(m * n, -1, np.int32), np.full(m * n, np.nan)
    cut = 0.5 / max(shape)
    count = near_entries.large_part(*near, u, p.v, acc, p.r, p.c, cut, *part)
    expected = twin(xp, "large_part", K, u, p.v, acc, p.r, p.c, cut)
    assert count == np.count_nonzero(expected) <= np.count_nonzero(K)
    same(dense(shape, *part), expected)


def dense(shape, starts, columns, values):
    """A matrix from compressed rows."""
    P = np.zeros(shape)
    for i in range(shape[0]):
        P[i, columns[starts[i] : starts[i + 1]]] = values[starts[i] : starts[i + 1]]
    return P


@pytest.mark.nojit
def test_near_entries_say_when_they_do_not_fit():
    p = random_pair((5, 67))
    f = (p.M - p.g).min(axis=1)
    for room, fits in ((5 * 67, True), (5 * 67 - 1, False), (0, False)):
        near = np.empty(6, np.int32), np.empty(room, np.int32), np.empty(room)
        low = np.full(5, -700.0), np.full(67, -700.0)
        count = near_entries.near_entries(p.M, p.lam, f, p.g, *low, *near)
        assert count == (5 * 67 if fits else -1)


@pytest.mark.nojit
def test_hessian_is_that_of_the_dual(xp):
    """``diag(P^T 1) - P^T diag(1/r) P`` by differences of the gradient ``c - P^T 1`` in log v."""
    p = with_exact_rows(random_pair((3, 5)))

    def columns(log_v):
        _, acc, _ = twin(xp, "row_pass", p.K, p.r, np.exp(log_v))
        return np.exp(log_v) * acc

    step = 1e-6 * p.w
    log_v = np.log(p.v)
    slope = (columns(log_v + step) - columns(log_v - step)) / 2e-6
    product = p.v * twin(xp, "dense_product", p.K, p.v * p.w, p.u**2 / p.r)
    same(columns(log_v) * p.w - product, slope, rtol=1e-6, atol=1e-9)
    sparse = twin(xp, "sparse_product", p.u[:, None] * p.K * p.v, p.r, p.w)
    same(sparse, product, rtol=1e-12, atol=1e-15)


# ---------------------------------------------------------------------------- a block of pairs


def close_for(dtype):
    """The rounding of one elementwise step in a dtype."""
    return 1e-12 if dtype == np.float64 else ROUNDING32


@pytest.mark.parametrize("shape", BLOCKS)
@pytest.mark.parametrize("shared", [False, True], ids=["own rows", "shared row"])
def test_block_steps(xp, dtype, shape, shared):
    K, R, C, U, V, omega = random_block(shape, dtype, shared)
    rtol = close_for(dtype)
    S, new_U, error = V @ K.T, U.copy(), np.full(shape[0], np.nan)
    block.row_step(S, R, new_U, omega, error)
    expected_U, expected_error = twin(xp, "row_step", S, R, U, omega)
    same(new_U, expected_U, rtol)
    same(error, expected_error, rtol, atol=rtol)
    assert np.all(new_U[np.broadcast_to(R == 0, U.shape)] == 0.0)

    A, new_V = U @ K, V.copy()
    block.column_error(A, C, V, error)
    same(error, twin(xp, "column_error", A, C, V, expected_error), rtol, atol=rtol)
    block.column_step(A, C, new_V, omega)
    expected_V = twin(xp, "column_step", A, C, V, omega)
    same(new_V, expected_V, rtol)
    assert expected_V.dtype == expected_U.dtype == dtype
    assert np.all(new_V[C == 0] == 0.0)
    np.testing.assert_array_equal(new_V[omega == 0.0], V[omega == 0.0])


@pytest.mark.nojit
def test_one_pair_that_is_not_representable_is_flagged_alone(xp):
    A, C, V = np.ones((4, 3)), np.full((4, 3), 0.25), np.full((4, 3), 0.25)
    A[1, 2], A[2, 0], A[3, 1] = np.inf, np.nan, 1e35
    error = np.full(4, 0.5)
    expected = twin(xp, "column_error", A, C, V, error)
    block.column_error(A, C, V, error)
    np.testing.assert_array_equal(error, [0.5, np.inf, np.inf, np.inf])
    np.testing.assert_array_equal(expected, error)


# ----------------------------------------------------------------------------- one whole sweep


@pytest.mark.parametrize("shape", BLOCKS)
def test_a_sweep_of_a_block(xp, dtype, shape):
    K, R, C, U, V, omega = random_block(shape, dtype, shared=False)
    expected_U, expected_V, expected_error = twin(xp, "sweep", K, R, C, U, V, omega)
    error = np.empty(shape[0])
    block.row_step(V @ K.T, R, U, omega, error)
    A = U @ K
    block.column_error(A, C, V, error)
    block.column_step(A, C, V, omega)
    rtol = 1e-12 if dtype == np.float64 else 2e-5  # two matrix products in this dtype
    same(U, expected_U, rtol)
    same(V, expected_V, rtol)
    same(error, expected_error, rtol, atol=rtol)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_plain_sweep_of_one_pair(xp, dtype, shape):
    p = random_pair(shape, dtype)
    U, V, error = twin(xp, "sweep", p.K, p.r[None], p.c[None], p.u[None], p.v[None], np.ones(1))
    u, v, acc, state = p.u.copy(), p.v.copy(), np.empty(shape[1]), np.empty(relaxation.FIELDS)
    relaxation.begin(state)
    act, last = scaling.scale_pair(p.K, p.r, p.c, u, v, acc, state, 0.0, relaxation.PLAIN, 1)
    if act == relaxation.CONVERGED:  # a sweep that ends a run leaves out the column update
        v = p.c / acc
    same(u, U[0])
    same(v, V[0])
    same(last, error[0], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_relaxed_sweep_of_one_pair(xp, dtype, shape):
    p = random_pair(shape, dtype)
    p.u = p.r / (p.K @ p.v) * p.rng.uniform(0.8, 1.3, shape[0])
    U, V, expected = twin(
        xp, "sweep", p.K, p.r[None], p.c[None], p.u[None], p.v[None], np.array([OMEGA])
    )
    acc = np.empty(shape[1])
    error = pair.relaxed_row_pass(p.K, p.r, p.v, p.u, acc, OMEGA)
    error += pair.relaxed_column_step(p.c, p.v, acc, OMEGA)
    same(p.u, U[0], rtol=1e-12)
    same(p.v, V[0], rtol=1e-12)
    same(error, expected[0], rtol=1e-12)


# ------------------------------------------------------------------------------- all triangles


@pytest.mark.nojit
@pytest.mark.parametrize("d", [1, 2, 3, 8])
def test_worst_triangle(xp, d):
    M = np.random.default_rng(d).uniform(0.0, 1.0, (d, d))
    excess, i, j, k = triangles.worst_triangle(M)
    expected, *where = twin(xp, "worst_triangle", M)
    same(excess, expected)
    assert (i, j, k) == tuple(where)  # random costs have no ties
    assert excess == pytest.approx(M[i, j] - M[i, k] - M[k, j], abs=1e-15)


@pytest.mark.nojit
def test_worst_triangle_of_a_metric_is_not_positive(xp):
    points = np.random.default_rng(0).random(12)
    M = abs(points[:, None] - points)
    excess = triangles.worst_triangle(M)[0]
    assert abs(excess) <= 1e-15  # by way of an end of the side itself
    same(excess, twin(xp, "worst_triangle", M)[0], atol=1e-15)


@pytest.mark.parametrize(
    "d", [pytest.param(d, marks=pytest.mark.nojit) for d in (1, 2, 3, 8)] + [67]
)
def test_shortest_paths(xp, d):
    M = np.random.default_rng(d).uniform(0.1, 1.0, (d, d)) ** 4
    np.fill_diagonal(M, 0.0)
    expected, by_scipy = twin(xp, "shortest_paths", M), shortest_path(M)
    triangles.shortest_paths(M)
    same(M, expected)
    same(M, by_scipy)
    assert triangles.worst_triangle(M)[0] <= 1e-15
