"""Promises that hold on torch and JAX as they do on NumPy: clear refusals, honest results."""

import math
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.solution.status import Status
from tests.problems import random_metric, sparse_histograms

ROOT = Path(__file__).parents[2]
D = 10
M = random_metric(D, seed=0)
X = np.random.default_rng(1).dirichlet(np.ones(D), 6)
Y = np.random.default_rng(2).dirichlet(np.ones(D), 6)


@pytest.fixture
def torch():
    return pytest.importorskip("torch", reason="torch is not installed")


@pytest.fixture
def jax():
    jax = pytest.importorskip("jax", reason="jax is not installed")
    with jax.enable_x64(True):
        yield jax


@pytest.fixture(params=["torch", "jax"])
def array(request):
    """How to make an array of a library."""
    library = request.getfixturevalue(request.param)
    return library.tensor if request.param == "torch" else library.numpy.asarray


# ------------------------------------------------------------------------ subnormal numbers as 0

FLUSHED = """
import numpy as np, torch
import sinkdist as sd
from tests.problems import random_metric

ground = sd.Ground(np.array(sd.Ground.grid(3, 3).matrix))  # many costs are equal
X = np.random.default_rng(0).dirichlet(np.ones(9), 6)
X[:, ::2] = 0
X /= X.sum(axis=1, keepdims=True)
Y = np.random.default_rng(1).dirichlet(np.full(70, 0.3), 4)
other = sd.Ground(random_metric(70, seed=3))

def run():
    return [
        sd.pairwise(rows, ground=g, **member)
        for rows, g in ((X, ground), (Y, other))
        for member in ({"lam": np.inf}, {"lam": 9.0}, {"lam": 300.0}, {"alpha": 0.1})
    ]

expected = run()
torch.set_flush_denormal(True)
assert np.float64(1e-310) * np.float64(0.5) == 0  # it holds for NumPy as well
for one, two in zip(expected, run(), strict=True):
    np.testing.assert_allclose(two, one, rtol=1e-9, atol=1e-12)
"""


def test_a_processor_that_takes_subnormal_numbers_as_zero(torch):
    # `torch.set_flush_denormal` holds for a thread and those it starts: a process of its own.
    if not torch.set_flush_denormal(False):
        pytest.skip("this processor has no such mode")
    subprocess.run([sys.executable, "-c", FLUSHED], check=True, timeout=300, cwd=ROOT)


# ------------------------------------------------------------------------- arrays that are odd


def odd_tensors(torch):
    """Tensors that are no plain arrays of numbers, and what is said of them."""
    rows = torch.tensor(X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some of these are beta, or going to be removed
        return {
            "sparse": (rows.to_sparse(), r"is a sparse_coo tensor: pass its \.to_dense\(\)"),
            "CSR": (rows.to_sparse_csr(), r"is a sparse_csr tensor: pass its \.to_dense\(\)"),
            "CSC": (rows.to_sparse_csc(), r"is a sparse_csc tensor: pass its \.to_dense\(\)"),
            "BSR": (rows.to_sparse_bsr((2, 2)), r"sparse_bsr tensor: pass its \.to_dense\(\)"),
            "meta": (rows.to("meta"), "is a tensor without numbers"),
            "complex": (rows.to(torch.complex128), "must hold real numbers. Got dtype complex128"),
            "quantised": (
                torch.quantize_per_tensor(rows.float(), 0.01, 0, torch.quint8),
                r"Got dtype quint8 instead: pass its \.dequantize\(\)",
            ),
            "nested": (torch.nested.nested_tensor(list(rows)), "is a nested tensor"),
        }


def test_odd_tensors_are_refused(torch):
    plain, costs = torch.tensor(X), torch.tensor(M)
    for values, said in odd_tensors(torch).values():
        for call in (
            lambda v: sd.pairwise(v, ground=M, lam=9),
            lambda v: sd.distance(v, plain, M, lam=9),
            lambda v: sd.solve(plain, v, costs, alpha=0.1),
            lambda v: sd.divergence(v, v, M, lam=9),
            lambda v: sd.distance(plain, plain, v, lam=np.inf),
        ):
            with pytest.raises(sd.InputTypeError, match=said) as caught:
                call(values)
            assert str(caught.value).startswith(("'", "The ground matrix"))


def test_odd_arrays_of_jax_are_refused(jax):
    from jax.experimental import sparse

    plain = jax.numpy.asarray(X)
    stored = sparse.BCOO.fromdense(plain)
    with pytest.raises(sd.InputTypeError, match=r"type BCOO: pass its \.todense\(\)"):
        sd.pairwise(stored, ground=M, lam=9)
    with pytest.raises(sd.InputTypeError, match="'r' is BCOO and 'c' is jax"):
        sd.distance(stored, plain, M, lam=9)
    with pytest.raises(sd.InputTypeError, match=r"The ground matrix .* pass its \.todense\(\)"):
        sd.distance(plain, plain, sparse.BCOO.fromdense(jax.numpy.asarray(M)), lam=9)
    with pytest.raises(sd.InputTypeError, match="must hold real numbers"):
        sd.distance(plain * 1j, plain, M, lam=9)
    with pytest.raises(sd.InputTypeError, match="must hold real numbers"):
        sd.distance(jax.random.split(jax.random.key(0), D), plain[0], M, lam=9)


# ------------------------------------------------------------------------------------- options


def test_options_for_the_host_are_refused(array):
    with pytest.raises(ValueError, match="The 'overwrite' option is for NumPy arrays"):
        sd.pairwise(array(X), ground=M, lam=9, overwrite=True)


@pytest.mark.parametrize("wrong", ["no", 1, None], ids=repr)
def test_flags_are_true_or_false(array, wrong):
    r, c = array(X), array(Y)
    calls = {
        "normalize": [
            lambda o: sd.solve(r, c, M, lam=9, normalize=o),
            lambda o: sd.distance(r, c, M, lam=9, normalize=o),
            lambda o: sd.pairwise(r, ground=M, lam=9, normalize=o),
            lambda o: sd.divergence(r, c, M, lam=9, normalize=o),
        ],
        "coincidence": [
            lambda o: sd.solve(r, c, M, lam=9, coincidence=o),
            lambda o: sd.distance(r, c, M, lam=9, coincidence=o),
            lambda o: sd.pairwise(r, ground=M, lam=9, coincidence=o),
        ],
        "debiased": [lambda o: sd.pairwise(r, ground=M, lam=9, debiased=o)],
        "overwrite": [lambda o: sd.pairwise(r, ground=M, lam=9, overwrite=o)],
    }
    for name, verbs in calls.items():
        for verb in verbs:
            with pytest.raises(sd.InputTypeError, match=f"'{name}' option must be True or False"):
                verb(wrong)
    for verb in (sd.solve, sd.distance, sd.divergence):
        with pytest.raises(sd.InputTypeError, match="'progress' option must be"):
            verb(r, c, M, lam=9, progress="no")


def test_losses_take_flags(torch, jax):
    from sinkdist.jax import sinkhorn_loss
    from sinkdist.torch import SinkhornLoss

    for name in ("debiased", "logits"):
        with pytest.raises(sd.InputTypeError, match=f"'{name}' option must be True or False"):
            SinkhornLoss(M, **{name: "no"})
        with pytest.raises(sd.InputTypeError, match=f"'{name}' option must be True or False"):
            sinkhorn_loss(jax.numpy.asarray(X), jax.numpy.asarray(Y), M, **{name: "no"})


# ---------------------------------------------------------------- where numbers are not known yet

MEMBERS = {
    "lam": {"lam": 5.0},
    "large lam": {"lam": 2000.0},
    "log": {"lam": 5.0, "solver": "log"},
    "steps": {"lam": 5.0, "iterations": 10},
    "alpha": {"alpha": 0.1},
    "exact": {"lam": np.inf},
    "independence": {"lam": 0},
}


def spoil(rows):
    """Rows 1 to 4 are no histograms: mass 2, a negative, NaN, no mass; rows 0 and 5 are fine."""
    rows = rows.copy()
    rows[1] *= 2.0
    rows[2, :2] += [-0.9, 0.9]
    rows[3, 4] = np.nan
    rows[4] = 0.0
    return rows


BAD = np.array([False, True, True, True, True, False])


@pytest.mark.parametrize("member", MEMBERS)
def test_what_is_no_histogram_has_no_distance_under_jit(jax, member):
    options = MEMBERS[member]

    def told(r, c):
        s = sd.solve(r, c, M, **options)
        return s.value, s.objective, s.marginal_error, s.status, s.converged

    good = [np.asarray(x) for x in jax.jit(told)(X, Y)]
    assert np.isfinite(good[0]).all() and not (good[3] == Status.EMPTY).any()
    for arrays in ((spoil(X), Y), (X, spoil(Y))):
        value, objective, error, status, converged = (
            np.asarray(x) for x in jax.jit(told)(*map(jax.numpy.asarray, arrays))
        )
        for numbers, wanted in ((value, good[0]), (objective, good[1]), (error, good[2])):
            assert np.isnan(numbers[BAD]).all()
            np.testing.assert_array_equal(numbers[~BAD], wanted[~BAD])
        assert not converged[BAD].any()
        np.testing.assert_array_equal(status, np.where(BAD, Status.EMPTY, good[3]))


@pytest.mark.slow
def test_every_verb_is_honest_under_jit(jax):
    rows, others = jax.numpy.asarray(spoil(X)), jax.numpy.asarray(Y)
    for options in ({"lam": 5.0}, {"lam": 0}):
        for extra in ({}, {"debiased": True}):
            found = np.asarray(
                jax.jit(lambda a, b, o=options, e=extra: sd.pairwise(a, b, ground=M, **o, **e))(
                    rows, others
                )
            )
            assert np.isnan(found[BAD]).all()
            wanted = sd.pairwise(X, Y, ground=M, **options, **extra)
            np.testing.assert_allclose(found[~BAD], wanted[~BAD], rtol=1e-4)
    found = np.asarray(jax.jit(lambda a, b: sd.divergence(a, b, M, lam=5.0))(rows, others))
    np.testing.assert_array_equal(np.isnan(found), BAD)
    found = jax.vmap(lambda a: sd.distance(a, others[0], M, lam=5.0))(rows)
    np.testing.assert_array_equal(np.isnan(np.asarray(found)), BAD)


def test_costs_that_are_none_have_no_distance_under_jit(jax):
    value = jax.jit(
        lambda m: sd.solve(X * jax.numpy.ones(1), Y * jax.numpy.ones(1), m, lam=5.0).value
    )
    fine = value(jax.numpy.asarray(M))
    assert np.isfinite(np.asarray(fine)).all()
    for wrong in (-1.0, np.nan, np.inf):
        costs = M.copy()
        costs[2, 3] = wrong
        assert np.isnan(np.asarray(value(jax.numpy.asarray(costs)))).all()


def test_gradients_of_good_rows_are_as_ever_under_jit(jax):
    def each(r):
        return sd.distance(r, jax.numpy.asarray(Y), M, lam=5.0)

    pull = jax.jit(lambda r: jax.vjp(each, r)[1](jax.numpy.ones(6))[0])
    good, mixed = (np.asarray(pull(jax.numpy.asarray(rows))) for rows in (X, spoil(X)))
    eager = jax.grad(lambda r: each(r).sum())(jax.numpy.asarray(X))
    np.testing.assert_allclose(good, eager, rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(mixed[~BAD], good[~BAD])
    assert np.isnan(mixed[1]).all()  # mass 2: no gradient either


def test_mapped_tensors_that_are_no_histograms_have_no_distance(torch):
    costs = torch.tensor(M)
    found = torch.func.vmap(lambda a: sd.distance(a, torch.tensor(Y[0]), costs, lam=5.0))(
        torch.tensor(spoil(X))
    )
    np.testing.assert_array_equal(np.isnan(found.numpy()), BAD)


# ------------------------------------------------------------------------------ what ran, by pair


def test_each_pair_says_what_ran(array):
    """Uniform histograms and costs at random make sweeps so slow that Newton takes over."""
    rng = np.random.default_rng(0)
    costs, uniform, other = rng.random((8, 8)), np.full(8, 1 / 8), rng.dirichlet(np.ones(8))
    r, c = np.vstack([uniform, other]), np.vstack([uniform, other[::-1]])
    s = sd.solve(array(r), array(c), costs, lam=100.0)
    assert s.solver.tolist() == ["newton", "relaxed"]
    assert np.asarray(s.n_iter)[0] > 2000 > np.asarray(s.n_iter)[1]
    for k, ran in enumerate(s.solver):
        one = sd.solve(array(r[k]), array(c[k]), costs, lam=100.0)
        assert one.solver == ran
        assert f"solver={str(ran)!r}" in repr(one)


@pytest.mark.parametrize(
    ("options", "ran"),
    [
        ({"lam": 2.0, "solver": "plain"}, "plain"),
        ({"lam": 2.0}, "relaxed"),
        ({"lam": 1e4}, "newton"),
        ({"lam": 1e4, "solver": "plain", "tol": 0.5}, "log"),
        ({"lam": 2.0, "iterations": 3}, "algorithm1"),
        ({"lam": 1e4, "iterations": 3}, "algorithm1"),
        ({"alpha": 0.1}, "constrained"),
        ({"alpha": 50.0}, "simplex"),
        ({"lam": np.inf}, "simplex"),
        ({"lam": 0}, "independence"),
    ],
)
def test_the_name_of_what_ran(array, options, ran):
    assert sd.solve(array(X[0]), array(Y[0]), M, **options).solver == ran
    assert set(sd.solve(array(X), array(Y), M, **options).solver) == {ran}


def test_bins_on_a_line_and_empty_rows_say_so(array):
    line = sd.Ground.grid(D)
    assert sd.solve(array(X[0]), array(Y[0]), line, lam=np.inf).solver == "line"
    rows = X.copy()
    rows[2] = 0.0
    s = sd.solve(array(rows), array(Y), M, lam=2, on_empty="nan")
    assert s.solver[2] == "none" and s.solver[1] == "relaxed"


# ------------------------------------------------------------------------- costs of every size


def judged(s, r, c, costs, tol):
    """Hold a solution to its word; whether it says that it has converged."""
    value, error = float(s.value), float(s.marginal_error)
    P = np.asarray(s.plan, dtype=float)
    assert np.isfinite(P).all() and math.isfinite(value) and math.isfinite(error)
    off = np.abs(P.sum(1) - r).sum() + np.abs(P.sum(0) - c).sum()
    assert off == pytest.approx(error, rel=1e-3, abs=0.02 * tol)
    assert (P * costs).sum() == pytest.approx(value, rel=max(1e-9, tol))
    assert bool(s.converged) == (int(s.status) == Status.CONVERGED)
    if bool(s.converged):
        assert off <= 1.02 * tol
    return bool(s.converged)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("lam", [1e2, 1e4, 1e6, 1e8, 1e10, 1e12, 1e15])
def test_a_large_lam_is_right_or_honest(array, lam, dtype):
    r, c = X[0].astype(dtype), Y[0].astype(dtype)
    tol = 1e-6 if dtype == "float64" else 1e-4
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", sd.ScaleWarning)
        s = sd.solve(array(r), array(c), M, lam=lam)
    exact = sd.distance(X[0], Y[0], M, lam=np.inf)
    if judged(s, r.astype(float), c.astype(float), M, tol):
        assert not caught
        assert exact - tol <= float(s.value) <= exact + math.log(D * D) / lam + tol
    else:
        assert lam >= 1e10
        assert [w.category for w in caught] == [sd.ConvergenceWarning]


def test_one_cost_far_above_all_others(array):
    costs = np.array([[0, 1, 2], [1, 0, 1], [1e12, 1, 0]])
    r, c = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    assert float(sd.distance(array(r), array(c), costs, lam=9)) == pytest.approx(0.6, abs=3e-4)
    s = sd.solve(array(r), array(c), costs, lam=9)
    assert judged(s, r, c, costs, 1e-6)
    host = sd.solve(r, c, costs, lam=9, tol=1e-9)
    assert float(s.value) == pytest.approx(host.value, abs=2e-6)


@pytest.mark.parametrize("scale", [1e200, 1e-200, 1e30, 1e-30])
@pytest.mark.parametrize("options", [{"lam": 5.0}, {"lam": 2e3}, {"alpha": 0.1}, {"lam": 0},
                                     {"lam": np.inf}, {"lam": 5.0, "iterations": 7}],
                         ids=repr)  # fmt: skip
def test_only_lam_times_costs_counts(array, scale, options):
    r, c = X[0], Y[0]
    usual = sd.solve(array(r), array(c), M, **options)
    scaled = dict(options)
    if "lam" in options:
        scaled["lam"] = options["lam"] / scale
    s = sd.solve(array(r), array(c), scale * M, **scaled)
    assert float(s.value) / scale == pytest.approx(float(usual.value), rel=1e-6)
    assert int(s.status) == int(usual.status)
    np.testing.assert_allclose(np.asarray(s.plan), np.asarray(usual.plan), atol=1e-6)


@pytest.mark.parametrize("scale", [1e200, 1e-200])
@pytest.mark.parametrize("options", [{"lam": 5.0}, {"lam": 2e3}, {"alpha": 0.1}], ids=repr)
def test_gradients_too_take_costs_of_any_size(torch, scale, options):
    def gradient(factor):
        scaled = {k: v / factor if k == "lam" else v for k, v in options.items()}
        r, costs = torch.tensor(X[0], requires_grad=True), torch.tensor(M * factor)
        costs.requires_grad_()
        sd.distance(r, torch.tensor(Y[0]), costs, tol=1e-9, **scaled).backward()
        return r.grad.numpy() / factor, costs.grad.numpy()

    for found, wanted in zip(gradient(scale), gradient(1.0), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-7)


def test_costs_that_single_precision_cannot_hold_are_refused(array):
    r, c = array(X.astype("f4")), array(Y.astype("f4"))
    for scale in (1e200, 1e-200):
        for costs in (scale * M, array(scale * M)):
            for options in ({"lam": 5.0 / scale}, {"alpha": 0.1}, {"lam": np.inf}):
                with pytest.raises(sd.InputError, match="which float32 cannot hold"):
                    sd.distance(r, c, costs, **options)
    for scale in (1e32, 1e-32):  # within its range, computed in double precision
        found = sd.distance(r, c, sd.Ground(scale * M), lam=5.0 / scale)
        wanted = sd.distance(X, Y, M, lam=5.0)
        np.testing.assert_allclose(np.asarray(found) / scale, wanted, rtol=1e-3)
    found = sd.distance(r, c, 1e200 * M, lam=5e-200, dtype="float64")
    np.testing.assert_allclose(np.asarray(found) / 1e200, sd.distance(X, Y, M, lam=5.0), rtol=1e-5)


def test_a_tight_tolerance_in_single_precision_is_honest(array):
    rows = sparse_histograms(4, D, seed=4).astype("f4")
    for lam in (3.0, 20.0):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            s = sd.solve(array(rows[:2]), array(rows[2:]), M, lam=lam, tol=1e-6)
        P = np.asarray(s.plan, dtype=float)
        off = np.abs(P.sum(2) - rows[:2]).sum(1) + np.abs(P.sum(1) - rows[2:]).sum(1)
        assert (off[np.asarray(s.converged)] <= 2e-6).all()
        np.testing.assert_allclose(off, np.asarray(s.marginal_error), atol=1e-6)
