"""Scaling of unequal masses: alone, one by one and in blocks the same steps; few of them."""

import math

import numpy as np
import pytest

from sinkdist.interrupts import Stop
from sinkdist.solvers.compiled import unbalanced
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, OVERFLOW, RUNNING
from sinkdist.solvers.compiled.unbalanced_products import scale_block
from tests.oracles import masses as oracle

RNG = np.random.default_rng(1)
D = 12
POINTS = RNG.normal(size=(D, 2))
M = np.sqrt(((POINTS[:, None] - POINTS) ** 2).sum(axis=-1))
LAM = 4.0
K = np.exp(-LAM * M)
R = RNG.dirichlet(np.ones(D), 10)
C = RNG.dirichlet(np.ones(D), 10)
R[:, 3], C[:, 7] = 0.0, 0.0
R, C = (H / H.sum(axis=1, keepdims=True) for H in (R, C))
LOG_T = RNG.normal(size=10) * 0.5
PENALTIES = [(1.0, 1.0), (0.1, 30.0), (math.inf, 1.0), (2.0, math.inf)]


def one(k, law, tol, max_iter=10_000):
    rows, columns = np.flatnonzero(R[k]), np.flatnonzero(C[k])
    block = np.ascontiguousarray(K[np.ix_(rows, columns)])
    return unbalanced.scale_one(
        block, R[k][rows], C[k][columns], LOG_T[k], law, tol, max_iter, Stop(), 1e6
    )


@pytest.mark.parametrize("rho", PENALTIES)
def test_blocks_and_pairs_take_the_same_steps(rho):
    law = unbalanced.law_of(LAM, rho)
    block = scale_block(K, R, C, LOG_T, law, 1e-9, 10_000, Stop())
    each = unbalanced.Scaled.blank(len(C), D, D)
    value = np.empty(len(C))
    end = unbalanced.scale_each(
        K, M, R, C, LOG_T, law, 0, 1e9, 1e-9, unbalanced.PATIENCE, 10_000, True, value,
        each.error, each.n_iter, each.act, each.relaxed, each.tau, each.X, each.Y,
        *unbalanced.scratch_for(R, C),
    )  # fmt: skip
    assert end == len(C)
    for k in range(len(C)):
        x, y, u, v, tau, act, _, made, _ = one(k, law, 1e-9)
        assert act == block.act[k] == each.act[k] == CONVERGED
        assert made == block.n_iter[k] == each.n_iter[k]
        rows, columns = np.flatnonzero(R[k]), np.flatnonzero(C[k])
        for found in (block, each):
            np.testing.assert_allclose(found.X[k, rows], x, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(found.Y[k, columns], y, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(found.tau[k], tau, rtol=1e-10, atol=1e-12)
        cost = u @ (K * M)[np.ix_(rows, columns)] @ v
        assert value[k] == pytest.approx(cost, rel=1e-11)
        wanted = block.U[k] @ (K * M) @ block.V[k]
        assert wanted == pytest.approx(cost, rel=1e-11)


@pytest.mark.parametrize("rho", PENALTIES)
def test_the_plan_is_the_oracles(rho):
    law = unbalanced.law_of(LAM, rho)
    _, _, u, v, _, act, error, _, _ = one(0, law, 1e-12)
    assert act == CONVERGED and error <= 1e-12
    rows, columns = np.flatnonzero(R[0]), np.flatnonzero(C[0])
    P = np.zeros((D, D))
    P[np.ix_(rows, columns)] = u[:, None] * K[np.ix_(rows, columns)] * v
    t = math.exp(LOG_T[0])  # masses t and 1 / t have the mean 1
    wanted = oracle.plan(R[0] * t, C[0] / t, M, LAM, rho)
    np.testing.assert_allclose(P, wanted, rtol=1e-9, atol=1e-12)


def test_one_row_is_shared():
    law = unbalanced.law_of(LAM, (1.0, 1.0))
    shared = scale_block(K, R[:1], C, LOG_T, law, 1e-9, 10_000, Stop())
    own = scale_block(K, R[:1].repeat(10, 0), C, LOG_T, law, 1e-9, 10_000, Stop())
    for a, b in zip(shared, own, strict=True):
        np.testing.assert_array_equal(a, b)


def test_large_penalties_do_not_slow_sweeps_down():
    """Left alone, the constant between both potentials would take about k sweeps."""
    made = {}
    for rho in (1.0, 1e2, 1e4, 1e6):
        law = unbalanced.law_of(LAM, (rho, rho))
        *_, act, _, made[rho], _ = one(0, law, 1e-9)
        assert act == CONVERGED
    assert made[1e6] <= 2 * made[1.0] + 20


def test_what_is_short_of_sweeps_ends_with_exact_rows():
    law = unbalanced.law_of(LAM, (1.0, 1.0))
    block = scale_block(K, R, C, LOG_T, law, 1e-12, 2, Stop())
    assert (block.act == RUNNING).all() and (block.n_iter == 2).all()
    for k in range(len(C)):
        x, _, u, v, tau, act, error, _, _ = one(k, law, 1e-12, 2)
        rows, columns = np.flatnonzero(R[k]), np.flatnonzero(C[k])
        sums = u * (K[np.ix_(rows, columns)] @ v)
        pulled = R[k][rows] * np.exp(tau[0] - x / LAM)
        assert act == RUNNING and error == pytest.approx(block.error[k], rel=1e-9)
        np.testing.assert_allclose(sums, pulled, rtol=1e-12)


def test_what_floats_cannot_hold_is_handed_over():
    far = np.full((2, 2), 1e-300)
    half = np.array([0.5, 0.5])
    law = unbalanced.law_of(1.0, (1.0, 1.0))
    *_, act, error, _, _ = unbalanced.scale_one(far, half, half, 0.0, law, 1e-9, 99, Stop(), 1e6)
    assert act == OVERFLOW and error == np.inf
    block = scale_block(far, half[None], half[None], np.zeros(1), law, 1e-9, 99, Stop())
    assert block.act[0] == OVERFLOW


def test_what_is_slow_is_handed_over():
    law = unbalanced.law_of(100.0, (1e6, 1e6))
    slow = np.exp(-100.0 * M)
    block = scale_block(slow, R, C, LOG_T, law, 1e-9, 10_000, Stop())
    assert (block.act == HANDED_OVER).any()
    assert (block.act != RUNNING).all()
