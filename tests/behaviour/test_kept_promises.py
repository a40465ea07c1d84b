"""Silent wrong numbers that were found by trying to break the package; each failed once.

What concerns files, stores, clusters, input and devices is in the files of the same beginning.
"""

import os
import subprocess
import sys
import textwrap
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy.optimize import linprog

import sinkdist as sd
from sinkdist import Status
from tests.problems import grid_costs, plan_error, solved

INF = np.inf


def entropic(M, lam, r, c, sweeps=20_000):
    """``<P, M>`` by sweeps in the log domain, for small problems."""
    u, v = np.zeros(len(r)), np.zeros(len(c))
    log_r, log_c = np.log(r), np.log(c)
    for _ in range(sweeps):
        v = log_c - np.logaddexp.reduce(u[:, None] - lam * M, axis=0)
        u = log_r - np.logaddexp.reduce(v - lam * M, axis=1)
    return float((np.exp(u[:, None] + v - lam * M) * M).sum())


# ------------------------------------------------------------------- lam is what was asked for


OUTLIER = np.array([[0, 1, 2], [1, 0, 1], [1e12, 1, 0]])


@pytest.mark.parametrize("solver", ["auto", "plain", "relaxed", "newton", "log"])
@pytest.mark.parametrize("large", [1e12, 1e30, 1e200])
def test_one_large_cost_leaves_lam_alone(large, solver):
    M = np.where(OUTLIER == 1e12, large, OUTLIER)
    r, c = np.array([0.5, 0.3, 0.2]), np.array([0.2, 0.3, 0.5])
    truth = entropic(np.minimum(M, 1e3), 9.0, r, c)  # as good as forbidden
    s = solved(r, c, M, lam=9, solver=solver)
    assert s.converged and s.lam == 9
    assert s.value == pytest.approx(truth, abs=3e-6) and plan_error(s, r, c) <= 1.1e-6
    assert sd.distance(r, c, M, lam=9, solver=solver) == pytest.approx(truth, abs=3e-6)
    many = sd.distance(r, [c, c], M, lam=9, solver=solver)
    assert many == pytest.approx(truth, abs=3e-6)


def test_a_large_cost_that_cannot_be_avoided():
    """The only move there is costs 1e12: that is the distance, at any lam."""
    for lam in (1e-6, 9, 1e6):
        s = solved([1.0, 0.0], [0.0, 1.0], [[0, 1e12], [1e12, 0]], lam=lam)
        assert s.converged and s.value == pytest.approx(1e12) and s.lam == lam


@pytest.mark.parametrize("tol", [1e-6, 1e-9])
@pytest.mark.parametrize("lam", [1e6, 1e8, 1e10, 1e12, 1e15, 1e30, 1e300])
def test_any_lam_is_solved_or_says_so(lam, tol):
    rng = np.random.default_rng(0)
    M, (r, c) = rng.random((20, 20)), rng.dirichlet(np.ones(20), 2)
    s = solved(r, c, M, lam=lam, tol=tol)
    exact = sd.distance(r, c, M, lam=INF)
    assert s.lam == lam and s.converged
    assert exact - tol <= s.value <= exact + 3.0 / lam + tol
    low, high = s.bracket
    assert low <= exact + 3.0 / lam and exact <= high


# -------------------------------------------------------- the exact distance and small masses


def test_little_mass_that_goes_far():
    assert sd.distance([1, 1e-18], [1, 0], [[0, 1], [1e30, 0]], lam=INF) == pytest.approx(1e12)
    m = 1e-12
    s = sd.solve(
        [0.3, 0.7 - m, m], [0.3, 0.7, 0], [[0, 1, 1], [1, 0, 1], [1 / m] * 2 + [0]], lam=INF
    )
    assert s.status is Status.CONVERGED and s.value == pytest.approx(1.0, rel=1e-12)
    low, high = s.emd_bounds
    assert low <= s.value <= high and high - low <= 1e-9


@pytest.mark.parametrize("options", [{"lam": INF}, {"alpha": INF}, {"alpha": 5.0}])
def test_solved_means_that_bounds_agree(options):
    """Masses and costs over forty orders of magnitude, against linear programming in integers."""
    rng = np.random.default_rng(3)
    for _ in range(40):
        d = rng.integers(2, 6)
        r, c = (10.0 ** rng.uniform(-20, 0, (2, d))).tolist()
        M = 10.0 ** rng.uniform(-20, 20, (d, d))
        r, c = np.array(r) / sum(r), np.array(c) / sum(c)
        s = solved(r, c, M, **options)
        low, high = s.emd_bounds
        assert s.converged and low <= high and high - low <= 1e-9 * high
        assert low * (1 - 1e-11) <= s.value <= high * (1 + 1e-11)


# ------------------------------------------------------------------ bounds, with their rounding


@pytest.mark.parametrize("lam", [1e-3, 1e-8, 1e-10, 1e-12, 1e-14, 1e-18, 1e-100])
def test_bounds_hold_at_small_lam(lam):
    r, M = [1, 0, 0], [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
    c = [0.7367437695046228, 0.05839188100407069, 0.20486434949130658]
    exact = c[1] + 2 * c[2]
    for s in (solved(r, c, M, lam=lam), solved(c, r, M, lam=lam)):
        assert s.emd_bounds[0] <= exact <= s.emd_bounds[1]
        assert s.bracket[0] <= s.value <= s.bracket[1]
        assert s.gap >= 0 and s.emd_bounds[1] - s.emd_bounds[0] <= 1e-12


def test_brackets_of_alpha_hold_their_value():
    rng = np.random.default_rng(1)
    for alpha in (1e-4, 0.01, 0.3, 1.0):
        for r, c in rng.dirichlet(np.ones(12), (10, 2)):
            s = sd.solve(r, c, grid_costs(3, 4), alpha=alpha)
            assert s.converged and s.bracket[0] <= s.value <= s.bracket[1]


# -------------------------------------- value, error and plan are of one and the same numbers


@pytest.mark.parametrize("lam", [1e2, 1e4, 1e6, 1e8, 1e10, 1e12])
def test_what_is_said_of_the_plan_is_true_of_the_plan(lam):
    rng = np.random.default_rng(2)
    M = rng.random((20, 20))
    R, C = rng.dirichlet(np.ones(20), (2, 4))
    for options in ({"tol": 1e-9}, {"tol": 1e-12}, {}, {"max_iter": 7}, {"iterations": 9}):
        many = solved(R, C, M, lam=lam, **options)
        ones = [solved(r, c, M, lam=lam, **options) for r, c in zip(R, C, strict=True)]
        for k, s in enumerate(ones):
            assert s.marginal_error == pytest.approx(plan_error(s, R[k], C[k]), abs=1e-13)
            assert s.value == pytest.approx((s.plan * M).sum(), rel=1e-12)
            assert not s.converged or s.marginal_error <= options.get("tol", 1e-6)
            assert many.value[k] == pytest.approx(s.value, rel=1e-12)
            assert many.status[k] == s.status
        np.testing.assert_allclose(plan_error(many, R, C), many.marginal_error, atol=1e-13)


def test_alpha_at_any_scale_of_costs():
    rng = np.random.default_rng(5)
    M, (r, c) = rng.random((6, 6)), rng.dirichlet(np.ones(6), 2)
    for alpha in (0.01, 0.1, 1.0):
        here = sd.solve(r, c, M, alpha=alpha)
        for scale in (1e-200, 1e-150, 1e150, 1e200):
            there = sd.solve(r, c, scale * M, alpha=alpha)
            assert there.converged and there.value == pytest.approx(scale * here.value, rel=1e-6)
            assert there.lam * scale == pytest.approx(here.lam, rel=1e-3)
            assert sd.pairwise([r, c], ground=scale * M, alpha=alpha)[0, 1] == pytest.approx(
                scale * here.value, rel=1e-6
            )


# ------------------------------------------------------- results do not depend on the history


HISTORIES = {
    "none": "",
    "alpha of one pair": "sd.distance(X[0], X[1], G, alpha=0.1)",
    "alpha of all": "sd.pairwise(X[:4], ground=G, alpha=0.5)",
    "one pair": "sd.distance(X[0], X[1], G, lam=9); sd.distance(X[0], X[1], G, lam=400)",
    "a path": "sd.path(X[0], X[1], G, [1, 10, 100])",
    "single precision": "sd.pairwise(X[:4].astype('f4'), ground=G, lam=9)",
    "steps": "sd.distance(X[0], X[1], G, lam=9, iterations=5)",
    "exact": "sd.pairwise(X[:4], ground=G, lam=np.inf)",
}

CALLS = """
import numpy as np, sinkdist as sd
rng = np.random.default_rng(0)
G = sd.Ground.grid(6, 6).scaled()
X = rng.dirichlet(np.ones(36), 24)
X[12:] = np.where(X[12:] > 0.03, X[12:], 0.0)
X /= X.sum(axis=1, keepdims=True)
{history}
results = [
    sd.pairwise(X, ground=G, alpha=0.5), sd.pairwise(X, ground=G, lam=9),
    sd.pairwise(X, ground=G, lam=200), sd.distance(X[0], X, G, alpha=0.1),
    np.array([sd.distance(X[0], x, G, lam=30) for x in X]),
    np.array([sd.distance(X[0], x, G, alpha=0.3) for x in X]),
    sd.distance(X[0], X, G, lam=9, iterations=20), sd.solve(X[0], X, G, lam=50).value,
    sd.pairwise(X, ground=G, lam=np.inf), sd.pairwise(X.astype("f4"), ground=G, lam=9),
]
import hashlib
print([hashlib.sha256(np.ascontiguousarray(x).tobytes()).hexdigest()[:16] for x in results])
"""


def test_the_same_call_gives_the_same_bits_after_any_history():
    """In fresh processes, which load compiled code in different orders."""
    said = {}
    for name, history in HISTORIES.items():
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(CALLS.format(history=history))],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        said[name] = run.stdout
    assert len(set(said.values())) == 1, said


def test_a_look_at_the_metric_changes_no_exact_distance():
    rng = np.random.default_rng(3)
    places = rng.uniform(size=(60, 4))
    ground = sd.Ground(np.linalg.norm(places[:, None] - places, axis=2))
    X = rng.dirichlet(np.ones(60), 6)
    before = [sd.distance(X[0], x, ground, lam=np.inf) for x in X]
    assert ground.is_metric
    assert [sd.distance(X[0], x, ground, lam=np.inf) for x in X] == before


@pytest.mark.slow
def test_the_same_bits_when_everything_is_compiled_anew(tmp_path):
    """Whether kernels come from the cache or were compiled in this order or that."""
    said = set()
    for k, history in enumerate(["", HISTORIES["alpha of one pair"], HISTORIES["a path"]]):
        run = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(CALLS.format(history=history))],
            capture_output=True, text=True, check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / str(k))},
        )  # fmt: skip
        said.add(run.stdout)
    assert len(said) == 1


def test_a_pair_does_not_depend_on_its_company():
    """Dense or sparse, in a family or alone, with one worker or three."""
    from scipy.sparse import csr_array

    rng = np.random.default_rng(7)
    X = rng.dirichlet(np.ones(30), 12)
    X[X < 0.02] = 0.0
    X[0, :2] = 1e-188, 1.0  # a mass that counts as zero sends the family another way
    X /= X.sum(axis=1, keepdims=True)
    ground = sd.Ground.grid(30).scaled()
    for options in ({"lam": 9}, {"lam": 300}, {"alpha": 0.2}, {"lam": INF}):
        alone = np.array([sd.distance(X[3], x, ground, **options) for x in X])
        for family in (X, csr_array(X)):
            for workers in (1, 3):
                many = sd.distance(X[3], family, ground, workers=workers, **options)
                np.testing.assert_allclose(many, alone, rtol=1e-12, atol=0)


# ------------------------------------------------------------------- what cannot be represented


def test_a_lam_beyond_floats_is_refused():
    with pytest.raises(sd.InputError, match="divide the costs"):
        sd.distance([0.5, 0.5], [0.2, 0.8], [[0, 1e306], [1e306, 0]], lam=1e-306)


def test_single_precision_cannot_hold_every_cost():
    one = np.ones((2, 1), np.float32)
    for cost in (8e154, 3e-199):
        with pytest.raises(sd.InputError, match="float32"):
            sd.distance(one, one, [[cost]], lam=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", sd.ScaleWarning)
            assert sd.distance(one, one, [[cost]], lam=1.0, dtype="float64") == pytest.approx(cost)


def test_an_outlier_does_not_spoil_the_exact_distance():
    rng = np.random.default_rng(9)
    M, (r, c) = rng.random((7, 7)), rng.dirichlet(np.ones(7), 2)
    M[2, 3] = 1e25
    found = linprog(
        np.minimum(M, 10.0).ravel(),
        A_eq=np.vstack([np.kron(np.eye(7), np.ones(7)), np.kron(np.ones(7), np.eye(7))]),
        b_eq=np.concatenate([r, c]),
    )
    s = solved(r, c, M, lam=INF)
    assert s.converged and s.value == pytest.approx(found.fun, rel=1e-9)


# ----------------------------------------------------------------- found by a long run of the fuzz


def test_the_cap_holds_on_a_ladder_of_many_rungs():
    s = solved([1.0], [3e-50, 1.0], [[2e53, 3e-36]], lam=9e6)
    assert s.n_iter <= 10_060


def test_a_flat_cost_with_tiny_masses_is_proven_by_the_exact_distance():
    M = [[0.0, 1.0, 28.0], [27.0, 26.0, 1.0], [29.0, 28.0, 1.0]]
    r = np.array([4e-46, 0.6, 0.4])
    c = np.array([0.9999800003999921, 1.9999600007999844e-05, 2.9999400011999763e-50])
    s = sd.solve(r, c, M, alpha=5e-05)
    low, high = s.bracket
    assert s.converged and high - low <= 1e-6 * high


def test_the_mean_cost_bounds_from_above_with_its_rounding():
    """Every plan of this pair costs the same, so the bound is as tight as rounding lets it be."""
    M = np.add.outer([1.0819177251602747, 1.697318055057852], [0.0, -0.5957317129117077])
    r, c = np.array([0.9416088416414422, 0.0583911583585578]), np.array([0.7, 0.3])
    low, high = solved(r, c, M, alpha=0.01).bracket
    truth = sum(
        Fraction(x) * Fraction(y) * Fraction(M[i, j])
        for i, x in enumerate(r)
        for j, y in enumerate(c)
    ) / (sum(map(Fraction, r)) * sum(map(Fraction, c)))
    assert Fraction(low) <= truth <= Fraction(high)
