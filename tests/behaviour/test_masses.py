"""Unequal masses as users see them: values, limits, laws, certificates, stores, refusals."""

import math
import pickle
import warnings

import numpy as np
import ot
import pytest
import scipy.sparse as sparse

import sinkdist as sd
from sinkdist.errors import ConvergenceWarning, InputError, InputTypeError
from sinkdist.solution.status import Status
from tests.oracles import masses as oracle

RNG = np.random.default_rng(0)
D = 15
GROUND = sd.Ground.points(RNG.normal(size=(D, 2))).scaled()
M = GROUND.matrix
X = RNG.dirichlet(np.full(D, 0.7), 12) * RNG.uniform(0.2, 20.0, 12)[:, None]
X[1, :4], X[2, -5:] = 0.0, 0.0
r, c = X[0], X[1]
LAM, RHO = 9.0, 1.0
PENALTIES = [(1.0, 1.0), (0.02, 0.02), (30.0, 30.0), (0.1, 4.0), (math.inf, 0.5), (0.5, math.inf)]


@pytest.mark.parametrize("rho", PENALTIES)
@pytest.mark.parametrize("lam", [1.0, 9.0, 40.0])
def test_against_the_oracle(lam, rho):
    s = sd.solve(r, c, GROUND, lam=lam, mass_penalty=rho, tol=1e-12)
    wanted = oracle.plan(r, c, M, lam, rho)
    np.testing.assert_allclose(s.plan, wanted, rtol=1e-7, atol=1e-10)
    assert s.value == pytest.approx((wanted * M).sum(), rel=1e-9)
    assert s.objective == pytest.approx(oracle.objective(wanted, r, c, M, lam, rho), rel=1e-10)
    rows, columns = s.marginals
    np.testing.assert_allclose(rows, wanted.sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(columns, wanted.sum(axis=0), atol=1e-9)
    assert s.converged and s.status is Status.CONVERGED


@pytest.mark.parametrize("rho", PENALTIES)
def test_agrees_with_pot(rho):
    """POT takes ``r c^T`` as its reference, of mass ``m n``: ours is handed to it."""
    Q = oracle.reference(r, c)
    some, others = r > 0, c > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        P = ot.unbalanced.sinkhorn_unbalanced(
            r[some], c[others], M[np.ix_(some, others)].copy(), 1 / LAM, rho,
            c=Q[np.ix_(some, others)], numItermax=200_000, stopThr=1e-15,
        )  # fmt: skip
    s = sd.solve(r, c, GROUND, lam=LAM, mass_penalty=rho, tol=1e-12)
    np.testing.assert_allclose(s.plan[np.ix_(some, others)], P, atol=1e-8)
    assert s.value == pytest.approx((P * M[np.ix_(some, others)]).sum(), abs=1e-8)


def test_the_reference_of_pot_is_ours_for_masses_of_1():
    a, b = r / r.sum(), X[3] / X[3].sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = ot.unbalanced.sinkhorn_unbalanced2(
            a, b, M.copy(), 1 / LAM, RHO, reg_type="kl", numItermax=100_000, stopThr=1e-15
        )
    found = sd.distance(a, b, GROUND, lam=LAM, mass_penalty=RHO, tol=1e-12)
    assert found == pytest.approx(float(wanted), abs=1e-8)


def test_large_penalties_tend_to_the_balanced_distance():
    a, b = r / r.sum(), c / c.sum()
    wanted = sd.solve(a, b, GROUND, lam=LAM, tol=1e-10)
    off = [
        abs(sd.distance(a, b, GROUND, lam=LAM, mass_penalty=rho, tol=1e-10) - wanted.value)
        for rho in (1e1, 1e3, 1e5, 1e7)
    ]
    assert off == sorted(off, reverse=True) and off[-1] < 1e-6 * wanted.value
    far = sd.solve(a, b, GROUND, lam=LAM, mass_penalty=1e8, tol=1e-10)
    entropies = -sum(float((x[x > 0] * np.log(x[x > 0])).sum()) for x in (a, b))
    assert far.objective == pytest.approx(wanted.objective + entropies / LAM, rel=1e-6)


def test_two_infinite_penalties_are_the_balanced_problem():
    a, b = r / r.sum(), c / c.sum()
    for penalty in (math.inf, (math.inf, math.inf)):
        s, t = (sd.solve(a, b, GROUND, lam=LAM, **k) for k in ({}, {"mass_penalty": penalty}))
        assert s.value == t.value and s.solver == t.solver
        with pytest.raises(InputError, match="sum to 1"):
            sd.solve(r, c, GROUND, lam=LAM, mass_penalty=penalty)
        far = sd.distance(a, b, GROUND, lam=math.inf, mass_penalty=penalty)
        assert far == sd.distance(a, b, GROUND, lam=math.inf)


def test_small_penalties_leave_the_reference():
    """Without a pull to the masses the plan is ``Q exp(-lam M)``: little, where lam is large."""
    Q = oracle.reference(r, c)
    s = sd.solve(r, c, GROUND, lam=LAM, mass_penalty=1e-9)
    np.testing.assert_allclose(s.plan, Q * np.exp(-LAM * M), rtol=1e-6, atol=1e-12)
    for lam in (9.0, 100.0, 1e4):
        value = sd.distance(r, c, GROUND, lam=lam, mass_penalty=1e-9)
        assert 0.0 <= value <= np.sqrt(r.sum() * c.sum()) / (math.e * lam)


@pytest.mark.parametrize(("m", "n"), [(1.0, 1.0), (2.0, 5.0), (1e-3, 40.0)])
def test_one_bin_each(m, n):
    """One mass ``p``: ``cost + log(p / s) / lam + rho log(p / m) + rho log(p / n) = 0``."""
    cost, lam, one, two = 0.7, 3.0, 0.4, 1.5
    s = sd.solve([m, 0], [0, n], [[0, cost], [1, 0]], lam=lam, mass_penalty=(one, two), tol=1e-12)
    logs = 0.5 * np.log(m * n) / lam + one * np.log(m) + two * np.log(n) - cost
    mass = np.exp(logs / (1 / lam + one + two))
    assert s.plan[0, 1] == pytest.approx(mass, rel=1e-10)
    assert s.value == pytest.approx(cost * mass, rel=1e-10)
    held = sd.solve([m, 0], [0, n], [[0, cost], [1, 0]], lam=lam, mass_penalty=(math.inf, two))
    assert held.value == pytest.approx(cost * m, rel=1e-6)


def test_units_of_cost_and_mass():
    base = sd.solve(r, c, GROUND, lam=LAM, mass_penalty=(1.0, 3.0), tol=1e-11)
    for unit in (8.0, 1e-3, 1e35, 1e-40):
        s = sd.solve(
            r, c, sd.Ground(M * unit), lam=LAM / unit, mass_penalty=(unit, 3 * unit), tol=1e-11
        )
        assert s.value == pytest.approx(base.value * unit, rel=1e-9)
        assert s.objective == pytest.approx(base.objective * unit, rel=1e-9)
        low, high = s.objective_bounds
        assert low <= s.objective * (1 + 1e-9) and s.objective <= high * (1 + 1e-9)
    for unit in (1e-12, 7.0, 1e12):
        s = sd.solve(unit * r, unit * c, GROUND, lam=LAM, mass_penalty=(1.0, 3.0), tol=1e-11)
        assert s.value == pytest.approx(base.value * unit, rel=1e-9)
        np.testing.assert_allclose(s.plan, base.plan * unit, rtol=1e-7, atol=1e-12 * unit)


def test_transposed_and_rectangular():
    costs = RNG.random((D, 6))
    q = RNG.dirichlet(np.ones(6)) * 3
    s = sd.solve(r, q, costs, lam=LAM, mass_penalty=(0.3, 2.0), tol=1e-11)
    t = sd.solve(q, r, costs.T, lam=LAM, mass_penalty=(2.0, 0.3), tol=1e-11)
    np.testing.assert_allclose(s.plan, t.plan.T, atol=1e-9)
    np.testing.assert_allclose(s.plan, oracle.plan(r, q, costs, LAM, (0.3, 2.0)), atol=1e-9)


def test_bins_without_mass_and_forbidden_nothing():
    wide = np.zeros((D + 3, D + 3))
    wide[:D, :D] = M
    a, b = np.append(r, [0, 0, 0]), np.append(c, [0, 0, 0])
    s = sd.solve(a, b, wide, lam=LAM, mass_penalty=RHO)
    assert s.value == pytest.approx(sd.distance(r, c, GROUND, lam=LAM, mass_penalty=RHO), rel=1e-9)
    assert not s.plan[D:].any() and not s.plan[:, D:].any()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, lambda x: x.astype(np.float32)])
@pytest.mark.parametrize("rho", [(1.0, 1.0), (0.5, 2.0)])
def test_batches_are_pairs(kind, rho):
    family = kind(X)
    D_ = sd.pairwise(family, ground=GROUND, lam=LAM, mass_penalty=rho)
    rows = sd.distance(X[4], family, GROUND, lam=LAM, mass_penalty=rho)
    for i in (0, 4, 7):
        for j in range(len(X)):
            alone = sd.distance(X[i], X[j], GROUND, lam=LAM, mass_penalty=rho)
            assert D_[i, j] == pytest.approx(alone, rel=2e-5)
    np.testing.assert_allclose(rows, D_[4], rtol=2e-5)


def test_large_blocks_are_pairs():
    """Kernels of more than 160 x 160 entries are swept as matrix products."""
    d = 170
    ground = sd.Ground.points(RNG.normal(size=(d, 2))).scaled()
    Y = RNG.dirichlet(np.ones(d), 9) * RNG.uniform(1, 5, 9)[:, None]
    found = sd.solve(Y[0], Y, ground, lam=LAM, mass_penalty=RHO)
    for k, row in enumerate(Y):
        alone = sd.solve(Y[0], row, ground, lam=LAM, mass_penalty=RHO)
        assert found.value[k] == pytest.approx(alone.value, rel=1e-11)
        assert found.n_iter[k] == alone.n_iter
        np.testing.assert_allclose(found.plan[k], alone.plan, atol=1e-12)


def test_certificates_and_errors_are_those_of_the_plan():
    cases = (
        (9.0, (1.0, 1.0), None), (9.0, (0.1, 50.0), 1e-3), (600.0, (1.0, 1.0), None),
        (9.0, (math.inf, 1.0), 1e-2),
    )  # fmt: skip
    for lam, rho, tol in cases:
        s = sd.solve(r, c, GROUND, lam=lam, mass_penalty=rho, tol=tol)
        P = s.plan
        f, g = s.potentials
        rows, columns = r > 0, c > 0
        mean = math.sqrt(r.sum() * c.sum())
        f = f[rows] - np.log(r[rows] / math.sqrt(r.sum())) / lam
        g = g[columns] - np.log(c[columns] / math.sqrt(c.sum())) / lam
        error = abs(P.sum(axis=1)[rows] - r[rows] * np.exp(-f / rho[0])).sum()
        error += abs(P.sum(axis=0)[columns] - c[columns] * np.exp(-g / rho[1])).sum()
        assert s.marginal_error == pytest.approx(error / mean, abs=1e-10)
        assert s.marginal_error <= (tol or 1e-6)
        assert s.value == pytest.approx((P * M).sum(), rel=1e-9)
        best = sd.solve(r, c, GROUND, lam=lam, mass_penalty=rho, tol=1e-11)
        low, high = s.objective_bounds
        assert low <= best.objective * (1 + 1e-12) and best.objective <= high * (1 + 1e-12)
        low, high = s.bracket
        assert low <= best.value * (1 + 1e-12) and best.value <= high * (1 + 1e-12)
        assert s.gap >= 0.0
        lower, upper = s.emd_bounds  # the same problem without entropy
        further = sd.solve(r, c, GROUND, lam=30 * lam, mass_penalty=rho)
        assert lower <= further.emd_bounds[1] and further.emd_bounds[0] <= upper


def test_a_cap_is_one_warning_and_bounds_that_hold():
    with pytest.warns(ConvergenceWarning, match="12 of 12 pairs") as caught:
        s = sd.solve(r, X, GROUND, lam=LAM, mass_penalty=5.0, max_iter=2)
    assert len(caught) == 1
    assert (s.status == Status.MAX_ITER).all() and (s.n_iter == 2).all()
    best = sd.solve(r, X, GROUND, lam=LAM, mass_penalty=5.0)
    low, high = s.objective_bounds
    assert (low <= best.objective * (1 + 1e-9)).all() and (best.objective <= high).all()
    assert np.isfinite(s.value).all() and (s.marginal_error > 1e-6).all()


@pytest.mark.parametrize("scale", [1e-20, 1.0, 1e20])
@pytest.mark.parametrize("lam", [1e-6, 1.0, 1e3, 1e8])
@pytest.mark.parametrize("rho", [1e-6, 1.0, 1e6])
def test_never_nan(scale, lam, rho):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        s = sd.solve(scale * r, X[3], GROUND, lam=lam, mass_penalty=rho)
    assert np.isfinite(s.value) and np.isfinite(s.plan).all() and np.isfinite(s.objective)
    assert np.isfinite(s.marginal_error) or not s.converged
    assert all(np.isfinite(x) for x in (*s.objective_bounds, *s.bracket, *s.emd_bounds))


def test_divergence():
    def objective(a, b):
        return sd.solve(a, b, GROUND, lam=LAM, mass_penalty=RHO, tol=1e-11).objective

    def wanted(a, b):
        masses = (math.sqrt(a.sum()) - math.sqrt(b.sum())) ** 2 / (2 * LAM)
        return objective(a, b) - 0.5 * objective(a, a) - 0.5 * objective(b, b) + masses

    S = sd.pairwise(X, ground=GROUND, lam=LAM, mass_penalty=RHO, debiased=True)
    np.testing.assert_array_equal(np.diag(S), 0.0)
    np.testing.assert_allclose(S, S.T, rtol=1e-12)
    assert (S + np.eye(len(X)) > 0.0).all()
    for i, j in ((0, 1), (2, 3), (1, 7)):
        assert S[i, j] == pytest.approx(wanted(X[i], X[j]), rel=1e-8)
        found = sd.divergence(X[i], X[j], GROUND, lam=LAM, mass_penalty=RHO)
        assert found == pytest.approx(S[i, j], rel=1e-10)
    matched = sd.divergence(X[0], X, GROUND, lam=LAM, mass_penalty=RHO)
    np.testing.assert_allclose(matched, S[0], rtol=1e-10, atol=1e-14)
    scaled = sd.divergence(5 * X[0], 5 * X, GROUND, lam=LAM, mass_penalty=RHO)
    np.testing.assert_allclose(scaled, 5 * S[0], rtol=1e-7, atol=1e-12)


def test_divergence_limits():
    a, b = r / r.sum(), c / c.sum()
    balanced = sd.divergence(a, b, GROUND, lam=LAM)
    near = sd.divergence(a, b, GROUND, lam=LAM, mass_penalty=1e6)
    assert near == pytest.approx(balanced, rel=1e-5)
    for bad in ((1.0, 2.0), (math.inf, 1.0)):
        with pytest.raises(InputError, match="both sides") as caught:
            sd.divergence(a, b, GROUND, lam=LAM, mass_penalty=bad)
        assert caught.value.option == "mass_penalty"


def test_costs_that_are_not_zero_at_home():
    """A diagonal moves into the potentials of self terms."""
    costs = sd.Ground(M + 0.5)
    found = sd.divergence(r, X[3], costs, lam=LAM, mass_penalty=RHO)

    def objective(a, b):
        return sd.solve(a, b, costs, lam=LAM, mass_penalty=RHO, tol=1e-11).objective

    masses = (math.sqrt(r.sum()) - math.sqrt(X[3].sum())) ** 2 / (2 * LAM)
    halves = 0.5 * objective(r, r) + 0.5 * objective(X[3], X[3])
    assert found == pytest.approx(objective(r, X[3]) - halves + masses, rel=1e-8)


def test_stores_resume_and_know_their_facts(tmp_path):
    pytest.importorskip("zarr")
    out = tmp_path / "D.zarr"
    asked = {"ground": GROUND, "lam": LAM, "mass_penalty": (1.0, 2.0)}
    stored = sd.pairwise(X, out=out, **asked)
    np.testing.assert_array_equal(stored[:], sd.pairwise(X, **asked))
    again = sd.pairwise(X, out=out, **asked)
    np.testing.assert_array_equal(again[:], stored[:])
    for other in ((2.0, 1.0), 1.0, None):
        with pytest.raises(ValueError):  # noqa: PT011  (stores have sentences of their own)
            sd.pairwise(
                X if other else X / X.sum(axis=1, keepdims=True), out=out, ground=GROUND, lam=LAM,
                mass_penalty=other,
            )  # fmt: skip


def test_penalties_that_differ_are_not_symmetric():
    D_ = sd.pairwise(X, ground=GROUND, lam=LAM, mass_penalty=(0.1, 5.0))
    assert abs(D_ - D_.T).max() > 0.1
    other = sd.pairwise(X, ground=GROUND, lam=LAM, mass_penalty=(5.0, 0.1))
    np.testing.assert_allclose(D_, other.T, atol=1e-5)


def test_nothing_is_normalised_silently():
    a, b = r / r.sum(), c / c.sum()
    off = a * (1 + 1e-9)  # would count as rounding elsewhere
    s = sd.solve(off, b, GROUND, lam=LAM, mass_penalty=(math.inf, 1.0), tol=1e-13)
    assert s.marginals[0].sum() - 1.0 == pytest.approx(1e-9, rel=1e-3)
    asked = sd.distance(r, c, GROUND, lam=LAM, mass_penalty=RHO, normalize=True)
    assert asked == pytest.approx(sd.distance(a, b, GROUND, lam=LAM, mass_penalty=RHO), rel=1e-9)
    single = (r.astype(np.float32), c.astype(np.float32))
    found = sd.solve(*single, GROUND, lam=LAM, mass_penalty=RHO, tol=1e-9)
    wanted = sd.distance(*(x.astype(float) for x in single), GROUND, lam=LAM, mass_penalty=RHO)
    assert found.value == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"alpha": 1.0}, "mass_penalty"), ({"lam": math.inf}, "mass_penalty"),
        ({"lam": 0}, "mass_penalty"), ({"lam": 9, "iterations": 5}, "iterations"),
        ({"lam": 9, "solver": "newton"}, "solver"),
    ],
)  # fmt: skip
def test_what_does_not_go_together(asked, named):
    with pytest.raises(InputError) as caught:
        sd.solve(r, c, GROUND, mass_penalty=1.0, **asked)
    assert caught.value.option == named


def test_masses_are_read_as_carefully_as_ever():
    asked = {"lam": LAM, "mass_penalty": RHO}
    with pytest.raises(InputError, match="Entry 0 of 'r' is -1"):
        sd.solve(np.append(-1.0, r[1:]), c, GROUND, **asked)
    with pytest.raises(InputError, match="Entry 1 of 'c' is inf"):
        sd.solve(r, np.where(np.arange(D) == 1, np.inf, c), GROUND, **asked)
    with pytest.raises(InputError, match="'r' has no mass"):
        sd.solve(np.zeros(D), c, GROUND, **asked)
    empty = sd.distance(np.array([r, 0 * r]), c, GROUND, on_empty="nan", **asked)
    assert np.isnan(empty[1]) and np.isfinite(empty[0])
    with pytest.raises(InputError, match=r"'c' sums to .*another unit"):
        sd.solve(r, 1e-40 * c, GROUND, **asked)
    with pytest.raises(InputError, match="Row 1 of 'X' sums to"):
        sd.pairwise(np.array([r, 1e50 * r]), ground=GROUND, **asked)


def test_other_arrays_get_the_same_numbers():
    xp = pytest.importorskip("array_api_strict")
    asked = {"lam": LAM, "mass_penalty": RHO, "tol": 1e-10}
    for verb in (sd.distance, sd.divergence):
        found = verb(*map(xp.asarray, (r, c, M)), **asked)
        assert type(found) is type(xp.asarray(0.0))
        assert float(found) == pytest.approx(verb(r, c, M, **asked), rel=1e-9)
    found, wanted = sd.solve(*map(xp.asarray, (r, c, M)), **asked), sd.solve(r, c, M, **asked)
    assert float(found.objective) == pytest.approx(wanted.objective, rel=1e-9)


def test_bounds_of_the_objective_are_for_penalties():
    s = sd.solve(r / r.sum(), c / c.sum(), GROUND, lam=LAM)
    with pytest.raises(InputError, match="mass_penalty"):
        _ = s.objective_bounds
    np.testing.assert_allclose(s.marginals[0], r / r.sum(), atol=1e-6)


def test_command_line(tmp_path):
    from typer.testing import CliRunner

    from sinkdist.cli import app

    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "M.npy", M)
    run = CliRunner()
    files = [str(tmp_path / "X.npy"), "--ground", str(tmp_path / "M.npy"), "--lam", "9"]
    out = tmp_path / "D.npy"
    done = run.invoke(
        app, ["pairwise", *files, "--mass-penalty", "1,inf", "--out", str(out), "--no-progress"]
    )
    assert done.exit_code == 0, done.output
    wanted = sd.pairwise(X, ground=M, lam=9, mass_penalty=(1.0, math.inf))
    np.testing.assert_allclose(np.load(out), wanted, rtol=1e-12)
    both = [files[0], *files, "--mass-penalty", "2", "--all"]
    shown = run.invoke(app, ["distance", *both])
    assert shown.exit_code == 0 and "converged" in shown.output
    wrong = run.invoke(app, ["distance", *both[:-2], "x", "--all"])
    assert wrong.exit_code != 0


def test_types_are_named():
    with pytest.raises(InputTypeError) as caught:
        sd.distance(r, c, GROUND, lam=LAM, mass_penalty="2")
    assert caught.value.option == "mass_penalty"


def test_solutions_and_jobs_travel():
    from sinkdist.inputs.histograms import Histograms
    from sinkdist.pairs.all_pairs import AllPairs
    from sinkdist.pairs.debiasing import debiasing
    from sinkdist.pairs.reading import problem_of
    from sinkdist.problem.options import Options
    from sinkdist.scale.tiles import Tile

    s = sd.solve(r, c, GROUND, lam=LAM, mass_penalty=RHO)
    t = pickle.loads(pickle.dumps(s))
    assert t.objective_bounds == s.objective_bounds and t.value == s.value
    problem = problem_of(GROUND, Options(lam=LAM, mass_penalty=RHO), np.dtype(float))
    family = Histograms(X)
    pairs = AllPairs(
        problem, family, family, one_family=True, need_error=True,
        postprocess=debiasing(problem, family, family, 1),
    )  # fmt: skip
    tile = Tile((0, 0), slice(0, 5), slice(0, 5))
    there = pickle.loads(pickle.dumps(pairs))(tile)
    np.testing.assert_array_equal(there.values, pairs(tile).values)


def test_input_is_never_written_to():
    a, b = r.copy(), c.copy()
    for x in (a, b):
        x.flags.writeable = False
    sd.solve(a, b, GROUND, lam=LAM, mass_penalty=RHO)
    sd.divergence(a, b, GROUND, lam=LAM, mass_penalty=RHO)
    np.testing.assert_array_equal(a, r)
    np.testing.assert_array_equal(b, c)


def test_values_do_not_depend_on_the_company():
    """Threads, tiles and the order of rows: the same to 1e-12."""
    asked = {"ground": GROUND, "lam": LAM, "mass_penalty": RHO}
    wanted = sd.pairwise(X, workers=1, **asked)
    np.testing.assert_array_equal(sd.pairwise(X, workers=2, **asked), wanted)
    order = RNG.permutation(len(X))
    np.testing.assert_allclose(
        sd.pairwise(X[order], X, workers=2, **asked), wanted[order], rtol=1e-6
    )
    alone = [
        [sd.distance(a, b, GROUND, lam=LAM, mass_penalty=RHO) for b in X[i:]]
        for i, a in enumerate(X)
    ]
    for i, row in enumerate(alone):
        np.testing.assert_allclose(wanted[i, i:], row, rtol=1e-12)
