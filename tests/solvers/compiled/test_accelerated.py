"""Large pairs under ``solver="auto"``, as a user sees them: against Newton's method in float64."""

import threading
import tracemalloc

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.solvers.compiled.accelerated import _through
from sinkdist.solvers.policy import ACCELERATED_ENTRIES, SHARED_ENTRIES
from tests.small_pairs import off

SIDE = int(ACCELERATED_ENTRIES**0.5) + 6


def metric(d, seed=0):
    Z = np.random.default_rng(seed).normal(size=(d, max(2, d // 10)))
    return sd.Ground.points(Z).scaled().matrix


def histograms(d, seed=0, concentration=1.0):
    return np.random.default_rng([seed, d]).dirichlet(np.full(d, concentration), 2)


def check(s, r, c, ground, lam, tol=1e-6, rel=2e-5, slack=0.0):
    """A solution is what it says: judged on its plan, and by another solver."""
    P = np.asarray(s.plan)
    assert s.converged and s.marginal_error <= tol and s.lam == lam
    assert off(P, r, c) <= tol * (1 + 1e-6) + 1e-14
    assert off(P, r, c) == pytest.approx(s.marginal_error, rel=1e-3, abs=1e-12)
    M = np.asarray(ground.matrix if isinstance(ground, sd.Ground) else ground)
    assert s.value == pytest.approx((P * M).sum(), rel=1e-9)
    truth = sd.solve(r, c, ground, lam=lam, tol=min(1e-9, tol), solver="newton")
    assert s.value == pytest.approx(truth.value, rel=rel, abs=max(1e-12 * M.max(), slack))
    low, high = s.emd_bounds
    assert low <= high and low <= sd.distance(r, c, ground, lam=np.inf) * (1 + 1e-12) + 1e-300


@pytest.mark.parametrize("kind", ["metric", "grid"])
@pytest.mark.parametrize("lam", [1e-3, 1.0, 9.0, 50.0, 200.0])
def test_values_plans_and_bounds(kind, lam):
    M = metric(SIDE) if kind == "metric" else sd.Ground.grid(SIDE // 15, 15).scaled().matrix
    r, c = histograms(len(M))
    s = sd.solve(r, c, M, lam=lam)
    check(s, r, c, M, lam)
    assert s.solver in ("accelerated", "newton")
    if lam <= 50:
        assert len(M) ** 2 < ACCELERATED_ENTRIES or s.solver == "accelerated"


def test_smaller_pairs_are_left_to_the_other_sweeps():
    r, c = histograms(200)
    assert ACCELERATED_ENTRIES > 200**2
    assert sd.solve(r, c, metric(200), lam=9.0).solver in ("plain", "relaxed")
    for solver in ("plain", "relaxed"):
        assert sd.solve(*histograms(SIDE), metric(SIDE), lam=9.0, solver=solver).solver == solver


@pytest.mark.parametrize("tol", [1e-3, 1e-7, 1e-10])
def test_tolerances_on_both_sides_of_what_float32_can_tell(tol):
    r, c, M = *histograms(SIDE), metric(SIDE)
    check(sd.solve(r, c, M, lam=20.0, tol=tol), r, c, M, 20.0, tol, rel=max(2e-5, 2 * tol))


def test_bins_without_mass_and_rectangular_costs():
    rng = np.random.default_rng(2)
    M = rng.random((SIDE + 80, SIDE + 40))
    r, c = (np.where(rng.random(d) < 0.1, 0.0, rng.random(d)) for d in M.shape)
    r, c = r / r.sum(), c / c.sum()
    before = M.copy()
    s = sd.solve(r, c, M, lam=30.0)
    assert s.solver == "accelerated" and np.array_equal(M, before)
    check(s, r, c, M, 30.0)
    P = np.asarray(s.plan)
    assert not P[r == 0.0].any() and not P[:, c == 0.0].any()


@pytest.mark.parametrize(
    ("name", "lam"),
    [("huge cost", 9.0), ("huge cost", 200.0), ("huge everywhere", 3.0), ("tiny everywhere", 3.0),
     ("near equal", 50.0), ("concentrated", 30.0), ("far", 5.0), ("constant", 7.0)],
)  # fmt: skip
def test_scales_that_float32_does_not_hold(name, lam):
    r, c = histograms(SIDE, concentration=0.05 if name == "concentrated" else 1.0)
    r, c = (np.maximum(h, 1e-12) / np.maximum(h, 1e-12).sum() for h in (r, c))
    M = metric(SIDE)
    if name == "huge cost":
        M = M.copy()
        M[3, 5] = 1e12
    elif name == "huge everywhere":
        M, lam = M * 1e200, lam * 1e-200
    elif name == "tiny everywhere":
        M, lam = M * 1e-200, lam * 1e200
    elif name == "near equal":
        c = r * (1.0 + 1e-7 * np.random.default_rng(1).normal(size=SIDE))
        c /= c.sum()
    elif name == "far":
        x = np.linspace(0.0, 1.0, SIDE)
        M = (x[:, None] - x) ** 2 * 40.0
        r, c = (np.exp(-((x - a) ** 2) / 2e-4) + 1e-9 for a in (0.1, 0.9))
        r, c = r / r.sum(), c / c.sum()
    elif name == "constant":
        M = np.full((SIDE, SIDE), 2.5)
    # Nearly equal histograms: the value is smaller than what the tolerance leaves open.
    slack = 0.5e-6 * np.ptp(M) if name == "near equal" else 0.0
    check(sd.solve(r, c, M, lam=lam), r, c, M, lam, slack=slack)


def test_few_reads_are_an_honest_end():
    r, c, M = *histograms(SIDE), metric(SIDE)
    with pytest.warns(sd.ConvergenceWarning):
        s = sd.solve(r, c, M, lam=200.0, max_iter=3)
    assert not s.converged
    assert off(np.asarray(s.plan), r, c) == pytest.approx(s.marginal_error, rel=1e-6)


def test_alone_and_in_company_are_the_same():
    """One pair, a family, and any number of threads: to 1e-12, and most of them to the bit."""
    M = metric(SIDE)
    X = np.random.default_rng(5).dirichlet(np.ones(SIDE), 10)
    X[3, :20] = 0.0
    X[3] /= X[3].sum()
    alone = [sd.distance(X[0], x, M, lam=9.0) for x in X[1:]]
    for workers in (1, 2):
        together = sd.distance(X[0], X[1:], M, lam=9.0, workers=workers)
        np.testing.assert_allclose(together, alone, rtol=1e-12)
    D = sd.pairwise(X, ground=M, lam=9.0)
    np.testing.assert_allclose(D[0, 1:], alone, rtol=1e-12)


LARGE = int(SHARED_ENTRIES**0.5) + 4


def test_threads_share_a_large_pair_and_change_no_bit():
    r, c, ground = *histograms(LARGE), sd.Ground(metric(LARGE))
    for lam in (9.0, 60.0):
        found = [
            sd.solve(r, c, ground.forget(), lam=lam, workers=workers) for workers in (1, 2, 3, 2, 1)
        ]
        for s in found[1:]:
            assert s.value == found[0].value and s.marginal_error == found[0].marginal_error
            assert np.array_equal(s.potentials[0], found[0].potentials[0])
            assert np.array_equal(s.potentials[1], found[0].potentials[1])
        assert found[0].solver == "accelerated"


def test_calls_from_many_threads_at_once():
    r, c, ground = *histograms(LARGE), sd.Ground(metric(LARGE))
    expected = sd.distance(r, c, ground, lam=9.0)
    found = []

    def call():
        found.extend(sd.distance(r, c, ground, lam=9.0, workers=2) for _ in range(3))

    callers = [threading.Thread(target=call) for _ in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert found == [expected] * 12


@pytest.mark.parametrize("lam", [9.0, 50.0])
def test_memory_is_half_a_kernel(lam):
    """Beside the costs: at most 1.3 kernels of float64, as promised; a float32 one and vectors."""
    r, c, ground = *histograms(LARGE), sd.Ground(metric(LARGE))
    sd.distance(r, c, ground, lam=lam)
    ground.forget()
    tracemalloc.start()
    sd.distance(r, c, ground, lam=lam, workers=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 0.75 * ground.matrix.nbytes


def test_memory_where_newton_goes_on():
    r, c, ground = *histograms(LARGE), sd.Ground(metric(LARGE))
    sd.distance(r, c, ground, lam=9.0, tol=1e-9)
    ground.forget()
    tracemalloc.start()
    sd.distance(r, c, ground, lam=9.0, tol=1e-9, workers=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 1.3 * ground.matrix.nbytes


@pytest.mark.parametrize("lams", [[1.0, 2.0, 5.0, 9.0, 30.0], [9.0], [1.0, 1000.0], [3.0, 3.0001]])
def test_paths(lams):
    r, c, M = *histograms(SIDE), metric(SIDE)
    for lam, s in zip(lams, sd.path(r, c, M, lams), strict=True):
        check(s, r, c, M, lam)


def test_extrapolation_is_exact_for_a_quadratic_and_careful_with_close_ones():
    def at(lam):
        x = 1.0 / lam
        return lam, np.array([1.0 + 2.0 * x + 3.0 * x * x]), np.array([x])

    f, g = _through([at(1.0), at(2.0), at(4.0)], 6.0)
    np.testing.assert_allclose([f[0], g[0]], [at(6.0)[1][0], at(6.0)[2][0]], rtol=1e-12)
    f, _ = _through([at(1.0), at(4.0), at(4.0 + 1e-9)], 6.0)
    np.testing.assert_allclose(f, at(4.0)[1], rtol=1e-8)
