"""Half sweeps of unequal masses against plain formulas, far from the optimum and close to it."""

import numpy as np
import pytest

from sinkdist.kernels import masses
from sinkdist.solvers.compiled.unbalanced import law_of

RNG = np.random.default_rng(0)


def test_logarithms_of_whole_vectors():
    x = np.concatenate(
        [np.exp(RNG.uniform(-600, 600, 1000)), 1 + RNG.normal(size=1000) * 1e-3, [0.5, 1.0, 2.0]]
    )
    out = np.empty(x.size)
    masses.log_of(x, out, np.empty(x.size, np.int64))
    np.testing.assert_allclose(out, np.log(x), rtol=4e-16, atol=2e-16)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (8, 4), (9, 7)])
def test_sums_of_rows_and_columns(shape):
    K, v, u = RNG.random(shape), RNG.random(shape[1]), RNG.random(shape[0])
    rows, columns = np.empty(shape[0]), np.empty(shape[1])
    masses.row_sums(K, v, rows)
    masses.sums_of_columns(K, u, columns)
    np.testing.assert_allclose(rows, K @ v, rtol=1e-14)
    np.testing.assert_allclose(columns, K.T @ u, rtol=1e-14)


def side(close, k, n=9):
    """A side in a state that is consistent, with one bin without mass."""
    p = RNG.dirichlet(np.ones(n))
    p[2] = 0.0
    x = RNG.normal(size=n) * min(k, 1.0)  # as large as penalties let potentials grow
    u, e, tau = p * np.exp(x), np.exp(-x / k), 0.3
    s = np.exp(tau - x / k - x) * (1 + close * RNG.uniform(-1, 1, n))
    return p, x, u, e, tau, s


def test_violation():
    p, _, u, e, tau, s = side(0.5, 2.0)
    ratio, have, pull = np.empty(p.size), u * s, p * e * np.exp(tau)
    error, far = masses.violation(s, p, u, e, tau, ratio)
    assert error == pytest.approx(abs(have - pull).sum(), rel=1e-13) and far == 2.0
    some = p > 0
    np.testing.assert_allclose(ratio[some], pull[some] / have[some], rtol=1e-14)
    assert ratio[2] == 1.0  # a bin without mass
    for lost in (0.0, np.inf, np.nan):
        s[0] = lost
        assert masses.violation(s, p, u, e, tau, ratio) == (np.inf, 2.0)
    s[0], s[2] = 1.0, 0.0
    assert np.isfinite(masses.violation(s, p, u, e, tau, ratio)[0])


@pytest.mark.parametrize("k", [1e-3, 0.5, 7.0, 1e9, np.inf])
@pytest.mark.parametrize("w", [1.0, 1.7])
@pytest.mark.parametrize(("close", "far"), [(0.9, 2.0), (0.02, 1.0), (5e-4, 0.0)])
def test_update_is_the_formula(close, far, w, k):
    p, x, u, e, tau, s = side(close, k)
    power = 1.0 if k == np.inf else k / (1 + k)
    optimum = power * (tau - np.log(s))
    wanted = x + w * (optimum - x)
    work = np.empty(p.size)
    assert masses.violation(s, p, u, e, tau, work)[1] == far
    pull, mass = masses.update(
        s, p, x, e, u, power, 1.0 / k, tau, w, far, work, np.empty(p.size, np.int64)
    )
    some = p > 0
    np.testing.assert_allclose(x[some], wanted[some], rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(u, p * np.exp(wanted), rtol=1e-13)
    np.testing.assert_allclose(e[some], np.exp(-wanted / k)[some], rtol=1e-13)
    assert pull == pytest.approx(p @ e, rel=1e-13)
    assert mass == pytest.approx(u @ s, rel=1e-13)
    if w == 1.0:  # marginals are what they are pulled to
        assert masses.violation(s, p, u, e, tau, work)[0] < 1e-13


@pytest.mark.parametrize("rho", [(1.0, 1.0), (0.2, 3.0), (np.inf, 0.5), (2.0, np.inf)])
def test_constants_are_the_best(rho):
    """Both sides are pulled to the mass of the plan: the dual is flat in both constants."""
    law, log_t, n = law_of(1.0, rho), 0.4, 6
    k1, k2 = rho
    r, c = RNG.dirichlet(np.ones(n)), RNG.dirichlet(np.ones(n))
    x, y, K = RNG.normal(size=n), RNG.normal(size=n), RNG.random((n, n))
    u, v, e, h = r * np.exp(x), c * np.exp(y), np.exp(-x / k1), np.exp(-y / k2)
    tau = np.empty(2)
    masses.settle(law, log_t, r @ e, c @ h, u @ K @ v, y, v, h, tau)
    mass = u @ K @ v
    assert r @ e * np.exp(tau[0]) == pytest.approx(mass, rel=1e-12)
    assert c @ h * np.exp(tau[1]) == pytest.approx(mass, rel=1e-12)
    np.testing.assert_allclose(v, c * np.exp(y), rtol=1e-13)
    np.testing.assert_allclose(h, np.exp(-y / k2), rtol=1e-13)
    inverse = 1 / k1, 1 / k2  # the two constants cancel in the plan
    shifts = (log_t - tau[0]) * inverse[1] + (-log_t - tau[1]) * inverse[0]
    assert shifts == pytest.approx(0.0, abs=1e-12)
