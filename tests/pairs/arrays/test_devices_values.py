"""The verbs on arrays of torch, JAX and array-api-strict: the numbers of the NumPy path, there."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.solution.status import Status
from tests.problems import digits, grid_costs, random_metric, simplex, sparse_histograms

KINDS = ("array_api_strict", "torch", "jax")
M = grid_costs(3, 4)
X, Y = sparse_histograms(6, 12, 0), sparse_histograms(6, 12, 1)
DIRACS = np.eye(12)[[0, 3, 3]], np.eye(12)[[11, 3, 7]]

#: Every member of the family; tolerances that leave the comparison to the numbers.
MEMBERS = {
    "penalised": {"lam": 5, "tol": 1e-12},
    "by reg": {"reg": 0.5, "tol": 1e-12},
    "plain": {"lam": 2, "tol": 1e-12, "solver": "plain"},
    "log": {"lam": 2, "tol": 1e-12, "solver": "log"},
    "large lam": {"lam": 300, "tol": 1e-12},
    "very large lam": {"lam": 3e3, "tol": 1e-11},
    "constrained": {"alpha": 0.1, "tol": 1e-11},
    "constrained, some vacuous": {"alpha": 0.5, "tol": 1e-11},
    "exact": {"lam": np.inf},
    "independence": {"alpha": 0},
    "one step": {"lam": 5, "iterations": 1},
    "twenty steps": {"lam": 9, "iterations": 20},
    "steps at a large lam": {"lam": 500, "iterations": 20},
}


class Library:
    """How to make arrays of a library and how to look at them."""

    def __init__(self, name):
        self.name = name
        self.module = pytest.importorskip(name, reason=f"{name} is not installed")

    def __call__(self, array, dtype=None):
        array = np.array(array, dtype=dtype)
        if self.name == "torch":
            return self.module.tensor(array)
        return (self.module.numpy if self.name == "jax" else self.module).asarray(array)

    def owns(self, array):
        classes = {"torch": "Tensor", "jax": "Array"}
        if self.name in classes:
            return isinstance(array, getattr(self.module, classes[self.name]))
        return type(array).__module__.startswith(self.name)


@pytest.fixture(params=KINDS)
def xp(request):
    library = Library(request.param)
    if request.param != "jax":
        yield library
        return
    import jax

    with jax.enable_x64(True):
        yield library


def host(array):
    return np.asarray(array)


def both(xp, r, c, ground, **options):
    """A solution by the NumPy path and one by the library's arrays."""
    return sd.solve(r, c, ground, **options), sd.solve(xp(r), xp(c), ground, **options)


# -------------------------------------------------------------------------------------- values


@pytest.mark.parametrize("member", MEMBERS)
def test_solutions_agree_with_numpy(xp, member):
    ours, theirs = both(xp, X, Y, M, **MEMBERS[member])
    lam = np.broadcast_to(ours.lam, 6)
    np.testing.assert_allclose(host(theirs.value), ours.value, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(host(theirs.objective), ours.objective, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(host(theirs.entropy), ours.entropy, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(host(theirs.alpha), ours.alpha, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(host(theirs.lam), lam, rtol=1e-4)
    if member != "exact":  # whose plans are not unique
        np.testing.assert_allclose(host(theirs.plan), ours.plan, atol=1e-8)
    low, high = map(host, theirs.emd_bounds)
    exact = sd.distance(X, Y, M, lam=np.inf)
    assert (low <= exact + 1e-9).all() and (high >= exact - 1e-9).all()
    assert (host(theirs.status) == ours.status).all()
    assert (host(theirs.converged) == ours.converged).all()
    assert all(
        xp.owns(x)
        for x in (theirs.value, theirs.objective, theirs.plan, *theirs.potentials, theirs.status)
    )


@pytest.mark.parametrize("member", ["penalised", "constrained", "exact", "twenty steps"])
def test_potentials_give_the_plan(xp, member):
    s = sd.solve(xp(X), xp(Y), M, **MEMBERS[member])
    f, g = map(host, s.potentials)
    assert (np.isfinite(f) == (X > 0)).all() and (np.isfinite(g) == (Y > 0)).all()
    lam, P = host(s.lam), host(s.plan)
    for k in range(6):
        if lam[k] == np.inf:  # the dual of the exact distance
            dual = f[k][X[k] > 0] @ X[k][X[k] > 0] + g[k][Y[k] > 0] @ Y[k][Y[k] > 0]
            np.testing.assert_allclose(dual, host(s.value)[k], rtol=1e-9, atol=1e-12)
        else:
            np.testing.assert_allclose(
                np.exp(lam[k] * (f[k][:, None] + g[k] - M)), P[k], atol=1e-13
            )


#: JAX compiles for every shape, so that it is asked for fewer.
SOME = [
    (kind, member)
    for kind in KINDS
    for member in ("penalised", "constrained", "exact", "independence", "one step")
    if kind != "jax" or member in ("exact", "one step")
]

SHAPES = {
    "one and one": (X[0], Y[0], ()),
    "one and many": (X[0], Y, (6,)),
    "many and one": (X, Y[0], (6,)),
    "row by row": (X, Y, (6,)),
    "one row is a family": (X[:1], Y[:1], (1,)),
}


@pytest.mark.parametrize(("xp", "member"), SOME, indirect=["xp"])
@pytest.mark.parametrize("case", SHAPES)
def test_shapes(xp, case, member):
    r, c, shape = SHAPES[case]
    options = MEMBERS[member]
    d, s = sd.distance(xp(r), xp(c), M, **options), sd.solve(xp(r), xp(c), M, **options)
    assert tuple(d.shape) == tuple(s.value.shape) == tuple(s.converged.shape) == shape
    assert tuple(s.plan.shape) == (*shape, 12, 12)
    assert [tuple(p.shape) for p in s.potentials] == [(*shape, 12)] * 2
    np.testing.assert_allclose(host(d), sd.distance(r, c, M, **options), rtol=1e-10, atol=1e-10)
    numbers = (s.objective, s.entropy, s.alpha, s.marginal_error, s.n_iter, *s.emd_bounds)
    assert all(tuple(x.shape) == shape for x in numbers)
    ours = repr(sd.solve(r, c, M, **options))
    assert repr(s).split("marginal")[0] == ours.split("marginal")[0]


@pytest.mark.parametrize(("xp", "member"), SOME, indirect=["xp"])
def test_all_pairs(xp, member):
    options = MEMBERS[member]
    D = sd.pairwise(xp(X), ground=M, **options)
    np.testing.assert_allclose(host(D), sd.pairwise(X, ground=M, **options), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(host(D), host(D).T, rtol=1e-14)
    assert xp.owns(D)
    E = sd.pairwise(xp(X), xp(Y[:2]), ground=xp(M), **options)
    expected = sd.pairwise(X, Y[:2], ground=M, **options)
    np.testing.assert_allclose(host(E), expected, rtol=1e-10, atol=1e-10)


def test_both_halves_under_an_asymmetric_ground(xp):
    N = np.random.default_rng(0).random((12, 12))
    expected = sd.pairwise(X, ground=N, lam=5, tol=1e-12)
    for ground in (N, xp(N)):
        D = sd.pairwise(xp(X), ground=ground, lam=5, tol=1e-12)
        np.testing.assert_allclose(host(D), expected, rtol=1e-10)


def test_many_blocks_are_one_answer(xp, monkeypatch):
    from sinkdist.pairs.arrays import pairs

    whole = host(sd.pairwise(xp(X), xp(Y), ground=M, lam=5, tol=1e-12))
    monkeypatch.setattr(pairs, "_SMALL", 12 * 5)
    np.testing.assert_allclose(
        host(sd.pairwise(xp(X), xp(Y), ground=M, lam=5, tol=1e-12)), whole, rtol=1e-12
    )
    np.testing.assert_allclose(
        host(sd.distance(xp(X), xp(Y), M, lam=5, tol=1e-12)), whole.diagonal(), rtol=1e-12
    )


def test_a_pair_does_not_depend_on_its_company(xp):
    A, B, N = simplex(9, 30, 0), simplex(9, 30, 1), random_metric(30, 2)
    together = host(sd.distance(xp(A), xp(B), N, lam=20))
    alone = [float(sd.distance(xp(a), xp(b), N, lam=20)) for a, b in zip(A, B, strict=True)]
    np.testing.assert_allclose(together, alone, rtol=1e-12)


def test_rectangular_ground(xp):
    N = np.random.default_rng(1).random((5, 12))
    r = simplex(4, 5, 3)
    expected = sd.distance(r, Y[:4], N, lam=8, tol=1e-12)
    np.testing.assert_allclose(
        host(sd.distance(xp(r), xp(Y[:4]), N, lam=8, tol=1e-12)), expected, rtol=1e-10
    )


@pytest.mark.parametrize("lam", [0.1, 400, 1e5])
def test_diracs_and_identical_histograms(xp, lam):
    r, c = DIRACS
    exact = (r @ M * c).sum(1)
    np.testing.assert_allclose(host(sd.distance(xp(r), xp(c), M, lam=lam)), exact, atol=1e-12)
    ours, theirs = both(xp, X[:2], X[:2], M, lam=lam, tol=1e-11)
    assert host(theirs.converged).all()
    np.testing.assert_allclose(host(theirs.value), ours.value, atol=1e-10)
    assert (host(sd.distance(xp(X), xp(X), M, lam=lam, coincidence=True)) == 0).all()


def test_pairs_that_scaling_finds_slow(xp):
    """A plateau of sweeps at a lam that fits the dtype: Newton goes on where scaling gives up."""
    ours, theirs = both(xp, X[:1], Y[5:], M, lam=120, tol=1e-12)
    assert host(theirs.converged).all()
    np.testing.assert_allclose(host(theirs.value), ours.value, rtol=1e-10)


@pytest.mark.parametrize("options", [{"lam": 3.0}, {"lam": 60.0}, {"alpha": 0.2}, {"lam": np.inf}])
def test_single_precision(xp, options):
    """1e-5, also where the kernel does not fit into float32."""
    r, c = (H.astype("f4") for H in (X, Y))
    tol = {} if options["lam" if "lam" in options else "alpha"] == np.inf else {"tol": 1e-6}
    s = sd.solve(xp(r), xp(c), M, **options, **tol)
    np.testing.assert_allclose(host(s.value), sd.distance(X, Y, M, **options), rtol=1e-5)
    assert all("float32" in str(x.dtype) for x in (s.value, s.objective, s.plan, *s.potentials))
    if options == {"lam": 3.0}:
        assert "float32" in str(sd.pairwise(xp(r), ground=M, **options, **tol).dtype)


def test_single_precision_of_many_steps(xp):
    r = digits(20).astype("f4")
    ground = sd.Ground.grid(8, 8).scaled()
    d = sd.distance(xp(r[0]), xp(r), ground, lam=9, iterations=20)
    expected = sd.distance(r[0].astype("f8"), r.astype("f8"), ground, lam=9, iterations=20)
    np.testing.assert_allclose(host(d), expected, rtol=1e-5)


def test_jax_in_single_precision_only():
    """Without jax_enable_x64 there is no float64 to fall back on: the log domain serves."""
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with jax.enable_x64(False):
        r, c = (jax.numpy.asarray(H.astype("f4")) for H in (X, Y))
        for options in ({"lam": 3}, {"lam": 30}, {"alpha": 0.2}):
            d = sd.distance(r, c, M, **options, tol=2e-5)
            assert d.dtype == np.float32
            np.testing.assert_allclose(d, sd.distance(X, Y, M, **options), rtol=2e-5)
        with pytest.warns(sd.ConvergenceWarning, match="stalled at the limit of rounding"):
            sd.distance(r, c, M, lam=30, tol=2e-6)
        with pytest.raises(ValueError, match="jax_enable_x64"):
            sd.distance(r, c, M, lam=3, dtype="float64")


def test_dtype_option_and_counts(xp):
    counts = np.array([[3, 1, 0], [1, 1, 1]])
    N = grid_costs(3)
    expected = sd.distance(counts[0], counts, N, lam=2, normalize=True, tol=1e-12)
    d = sd.distance(xp(counts[0]), xp(counts), N, lam=2, normalize=True, tol=1e-12)
    np.testing.assert_allclose(host(d), expected, rtol=1e-10)
    for dtype in ("float32", np.float32):
        d = sd.distance(xp(X[0]), xp(X), M, lam=2, dtype=dtype)
        assert "float32" in str(d.dtype)


def test_normalize_scales_huge_and_tiny_counts(xp):
    expected = sd.distance(X[0], Y[0], M, lam=4, tol=1e-12)
    for factor in (1e300, 1e-90, 7.0):
        d = sd.distance(xp(X[0] * factor), xp(Y[0]), M, lam=4, tol=1e-12, normalize=True)
        np.testing.assert_allclose(float(d), expected, rtol=1e-10)


def test_empty_histograms_on_request(xp):
    Z = X.copy()
    Z[2] = 0
    s = sd.solve(xp(Z), xp(Y), M, lam=5, on_empty="nan")
    assert np.isnan(host(s.value)).nonzero()[0].tolist() == [2]
    assert host(s.status)[2] == Status.EMPTY and host(s.converged).sum() == 5
    D = host(sd.pairwise(xp(Z), ground=M, lam=5, on_empty="nan"))
    assert np.isnan(D[2]).all() and np.isnan(D[:, 2]).all() and np.isnan(D).sum() == 11
    plain = np.delete(np.arange(6), 2)
    np.testing.assert_allclose(
        host(s.value)[plain], sd.distance(X[plain], Y[plain], M, lam=5), atol=1e-6
    )


# ------------------------------------------------------------------------- promises and errors


def test_stopping_short_warns_once_and_is_honest(xp):
    for call in (
        lambda: sd.solve(xp(X), xp(Y), M, lam=9, max_iter=2),
        lambda: sd.pairwise(xp(X), ground=M, lam=9, max_iter=2),
    ):
        with pytest.warns(sd.ConvergenceWarning, match="stopped at max_iter=2") as caught:
            call()
        assert len(caught) == 1 and caught[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        s = sd.solve(xp(X), xp(Y), M, lam=9, max_iter=2)
    P = host(s.plan)
    error = abs(P.sum(2) - X).sum(1) + abs(P.sum(1) - Y).sum(1)
    np.testing.assert_allclose(host(s.marginal_error), error, rtol=1e-10, atol=1e-14)
    assert (host(s.n_iter) <= 2).all()
    low, high = map(host, s.emd_bounds)
    exact = sd.distance(X, Y, M, lam=np.inf)
    assert (low <= exact + 1e-12).all() and (high >= exact - 1e-12).all()


BAD = {
    "negative": (lambda H: H - 0.1 * np.eye(6, 12), "Entry .* of 'r' is -?.*non-negative"),
    "not a number": (lambda H: np.where(H > 0, H, np.nan), "Entry .* of 'r' is nan"),
    "wrong sum": (lambda H: 2 * H, "Row 0 of 'r' sums to 2 .*normalize=True"),
    "no mass": (lambda H: H * (np.arange(6) != 3)[:, None], "Row 3 of 'r' has no mass"),
}


@pytest.mark.parametrize("case", BAD)
def test_histograms_are_checked_as_for_numpy(xp, case):
    spoil, message = BAD[case]
    with pytest.raises(ValueError, match=message) as theirs:
        sd.distance(xp(spoil(X)), xp(Y), M, lam=5)
    with pytest.raises(ValueError, match=message) as ours:
        sd.distance(spoil(X), Y, M, lam=5)
    assert str(ours.value) == str(theirs.value)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"lam": 1, "alpha": 1}, ValueError, "exactly one"),
        ({"lam": 1, "workers": 2}, ValueError, "'workers' option is for NumPy arrays"),
        ({"lam": 1, "solver": "newton"}, ValueError, "solver='newton' is for NumPy arrays"),
        ({"alpha": 1, "iterations": 3}, ValueError, "'iterations' counts steps of Algorithm 1"),
        ({"lam": 1, "on_empty": "drop"}, ValueError, "'on_empty' option must be"),
        ({"lam": 1, "dtype": "float16"}, ValueError, "'dtype' option must be float32 or float64"),
    ],
)
def test_options_are_checked(xp, options, error, message):
    with pytest.raises(error, match=message):
        sd.distance(xp(X), xp(Y), M, **options)


def test_shapes_are_checked(xp):
    with pytest.raises(ValueError, match="'r' has 11 bins per row, but the ground metric has 12"):
        sd.distance(xp(X[:, 1:]), xp(Y), M, lam=1)
    with pytest.raises(ValueError, match="'r' has 6 rows and 'c' has 5"):
        sd.distance(xp(X), xp(Y[1:]), M, lam=1)
    with pytest.raises(ValueError, match="'X' must be a family of histograms"):
        sd.pairwise(xp(X[0]), ground=M, lam=1)


def test_costs_of_the_device_are_checked(xp):
    N = M.copy()
    N[1, 2] = -1
    with pytest.raises(ValueError, match=r"Cost \(1, 2\) of the ground matrix is -1"):
        sd.distance(xp(X), xp(Y), xp(N), lam=1)
    with pytest.raises(ValueError, match="2-dimensional"):
        sd.distance(xp(X), xp(Y), xp(M[0]), lam=1)


def test_mixed_kinds_are_refused(xp):
    with pytest.raises(
        TypeError, match=f"'r' is {xp.name} and 'c' is numpy: all arrays .* one kind"
    ):
        sd.distance(xp(X), Y, M, lam=1)
    with pytest.raises(TypeError, match=f"'r' is numpy .*'ground' is {xp.name}"):
        sd.distance(X, Y, xp(M), lam=1)
    with pytest.raises(TypeError, match=f"'X' is {xp.name} and 'Y' is list"):
        sd.pairwise(xp(X), Y.tolist(), ground=M, lam=1)


def test_mixed_devices_are_refused():
    xs = pytest.importorskip("array_api_strict", reason="array_api_strict is not installed")
    r, c = xs.asarray(X), xs.asarray(Y, device=xs.Device("device1"))
    with pytest.raises(TypeError, match=r"'r' is on .*CPU.* and 'c' is on .*: all .* one device"):
        sd.distance(r, c, M, lam=1)


def test_other_devices_are_stayed_on():
    xs = pytest.importorskip("array_api_strict", reason="array_api_strict is not installed")
    device = xs.Device("device1")
    r, c = xs.asarray(X, device=device), xs.asarray(Y, device=device)
    for options in MEMBERS.values():
        s = sd.solve(r, c, M, **options)
        assert s.value.device == s.plan.device == s.potentials[0].device == device


def test_costs_are_moved_once(xp):
    ground = sd.Ground(M)
    sd.distance(xp(X), xp(Y), ground, lam=5)
    (moved,) = ground._moved.operators()
    sd.distance(xp(X), xp(Y), ground, lam=7)
    (again,) = ground._moved.operators()
    assert again is moved and ground.forget()._moved.operators() == []


def test_input_is_left_alone(xp):
    r, c, N = xp(X), xp(Y), xp(M)
    for member in ("penalised", "exact", "twenty steps"):
        sd.solve(r, c, N, **MEMBERS[member])
    assert all((host(a) == b).all() for a, b in ((r, X), (c, Y), (N, M)))


def test_import_is_light():
    code = (
        "import sys, numpy as np, sinkdist as sd; sd.distance([1, 0], [0, 1], np.eye(2), lam=1);"
        "print([m for m in ('torch', 'jax', 'array_api_compat') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


@pytest.mark.parametrize(
    "ground",
    [sd.Ground.grid(96, 96), sd.Ground.points(np.eye(9216, 2))],
    ids=["grid", "points"],
)
def test_grounds_without_a_matrix_are_refused_in_one_sentence(xp, ground):
    r = xp(np.full(9216, 1 / 9216))
    with pytest.raises(sd.InputError, match=r"is not formed. [A-Z][a-z ]* are for NumPy arrays"):
        sd.distance(r, r, ground, lam=1e-3)
