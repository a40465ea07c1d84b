"""What every solver owes: the exact answer, or a status that says it fell short."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.solution.status import Status
from sinkdist.solvers.table import SOLVERS
from tests.naive import log_sinkhorn
from tests.problems import (
    EXACT,
    emd,
    grid_costs,
    plan_error,
    random_metric,
    simplex,
    solved,
    sparse_histograms,
)

STRENGTHS = [1e-3, 0.3, 3.0, 30.0, 300.0, 1e5]
TOL = {"float64": 1e-11, "float32": 1e-5}
# On the distance, in units of the largest cost: a plan off by tol, or the rounding of float32.
CLOSE = {"float64": 1e-9, "float32": 2e-5}
#: Solvers that must get there at every strength; the others may stop short, and say so.
SURE = {"auto", "newton"}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("L", STRENGTHS)
@pytest.mark.parametrize("name", EXACT)
@pytest.mark.parametrize("solver", SOLVERS)
def test_exact_answers(solver, name, L, dtype):
    p = EXACT[name](L)
    r, c, tol = p.r.astype(dtype), p.c.astype(dtype), TOL[dtype]
    s = solved(r, c, p.M, lam=p.lam, solver=solver, tol=tol, max_iter=3000)
    unit = p.M.max()
    lower, upper = s.emd_bounds
    assert lower <= upper + 1e-12 * unit
    # What is said about the plan is true of the plan, up to the rounding of lam times potentials.
    rounding = 1e-12 + 1e-15 * L if dtype == "float64" else 2e-6
    assert plan_error(s, r, c) == pytest.approx(s.marginal_error, abs=rounding)
    if s.converged:
        assert s.marginal_error <= tol
        assert s.value == pytest.approx(p.value, abs=CLOSE[dtype] * unit)
    else:
        assert solver not in SURE
        assert s.status in (Status.MAX_ITER, Status.STALLED)
        assert s.marginal_error > tol
    if s.converged or p.value == 0.0:
        assert lower <= p.value + CLOSE[dtype] * unit


RANDOM = {
    "random metric": (random_metric(30, 0), *simplex(2, 30, 1)),
    "grid, sparse": (grid_costs(5, 6), *sparse_histograms(2, 30, 2)),
    "rectangular": (
        np.random.default_rng(0).random((9, 14)),
        simplex(1, 9, 3)[0],
        simplex(1, 14, 4)[0],
    ),
    "asymmetric": (np.random.default_rng(1).random((12, 12)), *simplex(2, 12, 5)),
}


@pytest.mark.parametrize("L", [0.1, 1, 9, 50])
@pytest.mark.parametrize("name", RANDOM)
def test_solvers_agree_with_the_oracle(name, L):
    M, r, c = RANDOM[name]
    lam = L / np.median(M)
    truth = log_sinkhorn(M.tolist(), lam, r.tolist(), c.tolist(), tol=1e-12)
    for solver in SOLVERS:
        s = solved(r, c, M, lam=lam, solver=solver, tol=1e-11, max_iter=50_000)
        assert s.converged, solver
        assert s.value == pytest.approx(truth.value, rel=1e-9), solver
        np.testing.assert_allclose(s.plan, truth.P, atol=1e-10, err_msg=solver)


@pytest.mark.parametrize("L", [1, 9, 50])
@pytest.mark.parametrize("name", RANDOM)
def test_agrees_with_pot_at_convergence(name, L):
    import ot

    M, r, c = RANDOM[name]
    lam = L / np.median(M)
    rows, columns = r > 0, c > 0
    sub = M[np.ix_(rows, columns)]
    P = ot.bregman.sinkhorn_log(
        r[rows], c[columns], sub, 1 / lam, numItermax=100_000, stopThr=1e-13
    )
    ours = sd.distance(r, c, M, lam=lam, tol=1e-12, max_iter=100_000)
    assert ours == pytest.approx(float((P * sub).sum()), rel=1e-9)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("L", [1e-3, 1e-2, 1, 30, 1e3, 1e4, 1e5])
@pytest.mark.parametrize("name", RANDOM)
def test_right_from_the_weakest_to_the_strongest(name, L, dtype):
    """At any strength d^lam lies between the EMD and what the largest entropy can add to it."""
    M, r, c = RANDOM[name]
    lam = L / np.median(M)
    r, c = r.astype(dtype), c.astype(dtype)
    s = solved(r, c, M, lam=lam, dtype=dtype)
    tol = 1e-6 if dtype == "float64" else 1e-4
    exact, spread = emd(r, c, M), np.ptp(M) * tol + 1e-12
    assert s.converged
    assert plan_error(s, r, c) <= 1.1 * tol
    slack = np.log(np.count_nonzero(r) * np.count_nonzero(c)) / lam
    assert exact - spread <= s.value <= min(exact + slack, float(r @ M @ c)) + spread
    lower, upper = s.emd_bounds
    assert lower <= exact + 1e-6 * (dtype == "float32") + 1e-12 and exact <= upper + 1e-6
