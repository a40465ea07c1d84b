"""Scaling of pairs one by one, against sweeps by log-sum-exp in plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings

from sinkdist.solvers.compiled.relaxation import (
    CONVERGED,
    FIELDS,
    FOREVER,
    HANDED_OVER,
    OVERFLOW,
    PLAIN,
    RUNNING,
    SWEEPS,
    begin,
)
from sinkdist.solvers.compiled.scaling import (
    LONG,
    rows_exact,
    scale_each,
    scale_pair,
    scratch_for,
    support,
)
from tests.small_pairs import off, shapes, small_pair


def scaled(p, tol, limit, sweeps=10_000):
    u, v, acc, state = np.ones(p.r.size), np.ones(p.c.size), np.empty(p.c.size), np.empty(FIELDS)
    begin(state)
    act, error = scale_pair(p.K, p.r, p.c, u, v, acc, state, tol, limit, sweeps)
    return act, error, u, v, state


@settings(max_examples=40)
@given(shapes)
@pytest.mark.parametrize("limit", [PLAIN, FOREVER])
def test_a_pair_that_converged_is_the_plan(limit, shape):
    p = small_pair(*shape)
    act, error, u, v, _ = scaled(p, 1e-11, limit)
    P = u[:, None] * p.K * v
    assert act == CONVERGED and error <= 1e-11
    assert off(P, p.r, p.c) == pytest.approx(error, abs=1e-14)
    np.testing.assert_allclose(P.sum(axis=1), p.r, rtol=1e-13)
    np.testing.assert_allclose(P, p.truth[0], atol=1e-9)


def test_relaxation_saves_sweeps():
    p = small_pair(9, 9, 1, lam=40.0)
    plain, relaxed = (scaled(p, 1e-9, limit)[4][SWEEPS] for limit in (PLAIN, FOREVER))
    assert relaxed < 0.7 * plain


def test_sweeps_that_are_used_up():
    p = small_pair(9, 9, 1, lam=40.0)
    act, error, u, v, state = scaled(p, 1e-12, PLAIN, sweeps=5)
    assert act == RUNNING and error > 1e-12 and state[SWEEPS] == 5
    acc = np.empty(9)
    error = rows_exact(p.K, p.r, p.c, u, v, acc)
    P = u[:, None] * p.K * v
    assert error == pytest.approx(off(P, p.r, p.c), rel=1e-10)
    np.testing.assert_allclose(P.sum(axis=1), p.r, rtol=1e-13)


def test_a_slow_pair_is_handed_over_and_a_lost_one_is_told():
    assert scaled(small_pair(9, 9, 1, lam=60.0), 1e-12, 5.0)[0] == HANDED_OVER
    p = small_pair(5, 5, 0, lam=1e6)
    with np.errstate(all="ignore"):
        assert scaled(p, 1e-9, FOREVER)[0] == OVERFLOW


def test_the_bins_with_mass():
    out = np.zeros(6, np.int64)
    assert support(np.array([0.0, 0.2, 0.0, 1e-300, 0.8, 0.0]), out) == 3
    assert out[:3].tolist() == [1, 3, 4]


class Tile:
    """Five pairs on 8 bins, of which each leaves some empty; the third has all."""

    def __init__(self, shared):
        rng = np.random.default_rng(3)
        self.p = small_pair(8, 8, 2)
        self.R, self.C = (
            rng.dirichlet(np.ones(8), n) * (rng.random((n, 8)) > 0.4)
            for n in (1 if shared else 5, 5)
        )
        self.R[-1], self.C[2] = rng.dirichlet(np.ones(8), 2)
        for H in (self.R, self.C):
            H[:, 0] += 0.1
            H /= H.sum(axis=1, keepdims=True)
        self.value, self.error = np.full(5, np.nan), np.full(5, np.nan)
        self.n_iter, self.act = np.zeros(5, np.int64), np.full(5, -1)
        self.relaxed, self.U, self.V = np.zeros(5, bool), np.zeros((5, 8)), np.zeros((5, 8))

    def run(self, first=0, reads=1e9, tol=1e-11, max_iter=10_000):
        return scale_each(
            self.p.K, self.p.M, self.R, self.C, first, reads, tol, FOREVER, max_iter, True,
            self.value, self.error, self.n_iter, self.act, self.relaxed, self.U, self.V,
            *scratch_for(self.R, self.C),
        )  # fmt: skip


@pytest.mark.parametrize("shared", [False, True])
def test_a_tile_is_solved_pair_by_pair_on_its_own_bins(shared):
    t = Tile(shared)
    assert t.run() == 5 and (t.act == CONVERGED).all() and (t.n_iter > 0).all()
    for k in range(5):
        r, c = t.R[0 if shared else k], t.C[k]
        P = t.U[k][:, None] * t.p.K * t.V[k]
        assert off(P, r, c) <= 1e-11 + 1e-14
        assert not P[r == 0].any() and not P[:, c == 0].any()
        assert t.value[k] == pytest.approx((P * t.p.M).sum(), rel=1e-12)


def test_a_tile_is_left_after_so_many_reads_and_goes_on_there():
    t = Tile(False)
    first = t.run(reads=1e3)
    assert 0 < first < 5 and (t.act[first:] == -1).all()
    while first < 5:
        first = t.run(first, reads=1e4)
    whole = Tile(False)
    whole.run()
    done = t.act != LONG
    np.testing.assert_array_equal(t.value[done], whole.value[done])


def test_a_pair_that_alone_takes_more_than_all_reads_is_for_another():
    t = Tile(False)
    t.run(reads=1.0, tol=1e-15)
    assert t.act[0] == LONG and np.isnan(t.value[0])
