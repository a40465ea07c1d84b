"""The same code without compilation: every solver and both kinds of passes, interpreted.

These run compiled in the ordinary suite and interpreted under ``make test-nojit``; the last one
sees to it that interpreting is what that asks for.
"""

import os
import subprocess
import sys

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.solvers.table import SOLVERS
from tests.problems import (
    EXACT,
    emd,
    grid_costs,
    plan_error,
    random_metric,
    simplex,
    solved,
    sparse_histograms,
    steps_by_logarithms,
)

pytestmark = pytest.mark.nojit


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize(
    ("name", "L"), [("two bins", 3), ("circle", 20), ("cube, zero bins", 8), ("permutation", 1000)]
)
def test_exact_answers(name, L, solver, dtype):
    p = EXACT[name](L)
    tol, close = {"float64": (1e-9, 1e-8), "float32": (1e-5, 2e-5)}[dtype]
    s = solved(
        p.r.astype(dtype), p.c.astype(dtype), p.M, lam=p.lam, solver=solver, tol=tol, max_iter=300
    )
    assert s.converged
    assert s.value == pytest.approx(p.value, abs=close * p.M.max())
    assert plan_error(s, p.r, p.c) <= 2 * tol


@pytest.mark.parametrize("L", [2, 12, 60])
def test_a_family(L):
    M = grid_costs(3, 4)
    r, C = sparse_histograms(1, 12, 0)[0], sparse_histograms(10, 12, 1)
    lam = L / M.max()
    s = solved(r, C, M, lam=lam, tol=1e-9)
    truth = [steps_by_logarithms(M, lam, r, c, 5000) for c in C]
    np.testing.assert_allclose(s.value, truth, rtol=1e-6)
    np.testing.assert_allclose(
        sd.pairwise(r[None], C, ground=M, lam=lam, tol=1e-9, workers=2)[0], s.value, rtol=1e-12
    )


def test_a_family_beyond_what_a_kernel_can_hold():
    M = grid_costs(3, 4)
    r, C = sparse_histograms(1, 12, 0)[0], sparse_histograms(5, 12, 1)
    lam = 1000 / M.max()
    s = solved(r, C, M, lam=lam)
    exact = np.array([emd(r, c, M) for c in C])
    assert s.converged.all() and (s.solver == "newton").any()
    assert (s.value >= exact - 1e-5).all() and (s.value <= exact + np.log(144) / lam + 1e-5).all()


def test_a_block_of_matrix_products():
    """Large enough for pairs to be solved together."""
    M, X = random_metric(100, 2), simplex(9, 100, 3).astype("f4")
    together = sd.distance(X[0], X, M, lam=3, workers=1, iterations=3)
    np.testing.assert_allclose(
        together, [sd.distance(X[0], x, M, lam=3, iterations=3) for x in X], rtol=1e-5
    )
    s = sd.solve(X[0], X, M, lam=3, workers=1)
    assert s.converged.all() and (plan_error(s, X[0], X) <= 1.1e-4).all()


def test_unconverged_pairs_are_reported():
    M, X = random_metric(20, 4), simplex(3, 20, 5)
    with pytest.warns(sd.ConvergenceWarning, match="3 of 3 pairs"):
        sd.distance(X[0], X, M, lam=20, max_iter=1, solver="plain")


def test_the_switch_switches_compilation_off():
    script = (
        "import numpy as np; from sinkdist.kernels import pair; print(type(pair.row_pass).__name__)"
    )
    out = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert out.split() == ["function"]
