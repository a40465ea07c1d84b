"""Sweeps over a block on arrays of the standard, against plain loops over one pair."""

import array_api_strict as xp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinkdist.solvers.arrays import sweeps
from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.products import SharedKernel
from tests import naive
from tests.problems import sparse_histograms
from tests.small_pairs import small_pair

P = small_pair(6, 5, 1)
R, C = sparse_histograms(4, 6, 1, density=0.6), sparse_histograms(4, 5, 2, density=0.6)
PRODUCTS = SharedKernel(xp, xp.asarray(P.K))


def strict(*arrays):
    return [xp.asarray(a) for a in arrays]


def plans(s):
    U, V = np.asarray(s.U), np.asarray(s.V)
    return U[:, :, None] * P.K * V[:, None, :]


@pytest.mark.parametrize("steps", [1, 2, 9])
@pytest.mark.parametrize("shared", [True, False])
def test_a_fixed_number_of_steps_is_algorithm_1(steps, shared):
    first = R[:1] if shared else R
    U, V = sweeps.fixed(xp, Control(), PRODUCTS, *strict(first, C), steps)
    found = np.asarray(U)[:, :, None] * P.K * np.asarray(V)[:, None, :]
    for k in range(4):
        r = first[0 if shared else k]
        right = naive.algorithm1(P.M.tolist(), P.lam, r.tolist(), C[k].tolist(), steps)
        np.testing.assert_allclose(found[k], right.P, atol=1e-14)


def start(r, c):
    """From scalings of 1 on bins with mass."""
    V = xp.astype(c > 0, c.dtype)
    U = r / PRODUCTS.rows(V)
    return sweeps.Scalings(U, V, PRODUCTS.columns(U))


@pytest.mark.parametrize("omega", [None, 1.0, 1.5])
def test_rows_are_exact_after_every_round(omega):
    r, c = strict(R, C)
    s = start(r, c)
    w = None if omega is None else xp.asarray(np.full(4, omega))
    for count in (1, 3):
        s = sweeps.sweeps(Control(), PRODUCTS, r, c, s, w, count)
        np.testing.assert_allclose(plans(s).sum(axis=2), R, atol=1e-14)
        np.testing.assert_allclose(np.asarray(s.A), np.asarray(s.U) @ P.K, rtol=1e-13)
        assert not plans(s)[:, :, :][np.broadcast_to((C == 0)[:, None, :], (4, 6, 5))].any()


def test_a_relaxation_of_1_is_none():
    r, c = strict(R, C)
    s = start(r, c)
    plain = sweeps.sweeps(Control(), PRODUCTS, r, c, s, None, 4)
    relaxed = sweeps.sweeps(Control(), PRODUCTS, r, c, s, xp.ones(4), 4)
    np.testing.assert_allclose(plans(plain), plans(relaxed), rtol=1e-12)


@given(st.lists(st.floats(1e-9, 2.0), min_size=1, max_size=20), st.booleans())
def test_whatever_the_errors_are_relaxation_stays_where_it_converges(errors, relax):
    c = xp.asarray([[1.0]])
    convergence = sweeps.begin(xp, c)
    for error in errors:
        going = bool(convergence.going[0])
        s = sweeps.Scalings(None, xp.asarray([[1.0]]), xp.asarray([[1.0 + error]]))
        before, convergence = convergence, sweeps.decide(xp, convergence, s, c, 1e-6, 8, relax)
        assert 1.0 <= float(convergence.omega[0]) < 2.0
        assert relax or float(convergence.omega[0]) == 1.0
        assert int(convergence.n_iter[0]) == int(before.n_iter[0]) + 8 * going
        if going:
            assert float(convergence.error[0]) == pytest.approx(error, abs=1e-15)
        else:
            assert not bool(convergence.going[0]) and convergence.error[0] == before.error[0]
        if error <= 1e-6:
            assert not bool(convergence.going[0])


def test_a_pair_without_progress_has_stalled_unless_it_crosses_a_plateau():
    c = xp.asarray([[1.0], [1.0]])
    convergence = sweeps.begin(xp, c)
    s = sweeps.Scalings(None, c, xp.asarray([[1.0 + 1e-5], [1.5]]))
    for _ in range(12):
        convergence = sweeps.decide(xp, convergence, s, c, 1e-6, 8, relax=True)
    assert np.asarray(convergence.going).tolist() == [False, True]


def test_a_relaxed_update_is_a_power_of_the_plain_one_near_the_solution():
    r, c = strict(P.r[None], P.c[None])
    s = start(r, c)
    s = sweeps.sweeps(Control(), PRODUCTS, r, c, s, None, 500)
    off = 1.0 + 1e-4 * np.random.default_rng(0).uniform(-1, 1, 5)
    moved = s._replace(V=s.V * xp.asarray(off[None]))
    found = sweeps.sweeps(Control(), PRODUCTS, r, c, moved, xp.asarray([1.6]), 1)
    plain, old = P.c / np.asarray(s.A)[0], np.asarray(moved.V)[0]
    np.testing.assert_allclose(np.asarray(found.V)[0], plain**1.6 * old**-0.6, rtol=1e-9)
