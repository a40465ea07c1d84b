"""Accelerated sweeps against sweeps by log-sum-exp in plain loops, and against plain sweeps."""

import numpy as np
import pytest
from hypothesis import given, settings

from sinkdist.kernels.chunks import FILL, C, R, U, V
from sinkdist.solvers.compiled import mixing
from sinkdist.solvers.compiled.relaxation import CONVERGED, HANDED_OVER, OVERFLOW, RUNNING
from sinkdist.solvers.compiled.team import LAM, arrays_for, lead
from tests.small_pairs import off, shapes, small_pair


def mixed(p, tol, longest=150.0, sweeps=10_000, spoil=None):
    arrays = arrays_for(p.M, np.zeros(p.M.shape, np.float32), 1)
    arrays.strength[LAM] = p.lam
    arrays.rows[R], arrays.columns[C], arrays.columns[V] = p.r, p.c, 1.0
    lead(FILL, *arrays)
    if spoil is not None:
        arrays.K[spoil] = 0.0
    control = np.zeros(mixing.FIELDS)
    control[mixing.AGE] = -1.0
    history = np.empty((mixing.VECTORS, p.c.size))
    act = mixing.mixed_sweeps(*arrays, history, control, tol, longest, sweeps)
    K = arrays.K.astype(float)
    return act, arrays.rows[U][:, None] * K * arrays.columns[V], K, control


@settings(max_examples=40)
@given(shapes)
def test_a_pair_that_converged_is_the_plan(shape):
    p = small_pair(*shape)
    act, P, _, control = mixed(p, 3e-7, longest=1e9)
    assert act == CONVERGED and control[mixing.MADE] > 0
    np.testing.assert_allclose(P.sum(axis=1), p.r, rtol=1e-12)
    assert off(P, p.r, p.c) <= 3e-7 * (1 + 1e-6)
    np.testing.assert_allclose(P, p.truth[0], atol=2e-6)


def metric_pair(d, lam, seed=0):
    rng = np.random.default_rng(seed)
    Z = rng.normal(size=(d, max(2, d // 10)))
    M = np.linalg.norm(Z[:, None] - Z, axis=2)
    p = small_pair(d, d, seed, lam)
    return type(p)(M / np.median(M), p.r, p.c, lam)


@pytest.mark.parametrize("lam", [9.0, 20.0, 40.0])
def test_mixing_takes_far_fewer_sweeps_than_plain_ones(lam):
    p = metric_pair(120, lam)
    act, _, K, control = mixed(p, 1e-6)
    assert act == CONVERGED
    v, plain, error = np.ones(120), 0, np.inf
    while error > 1e-6 and plain < 5000:
        u = p.r / (K @ v)
        error, plain = abs(v * (u @ K) - p.c).sum(), plain + 1
        v = p.c / (u @ K)
    assert control[mixing.MADE] < 0.6 * plain


def test_going_on_gives_what_one_call_gives():
    p = metric_pair(60, 20.0)
    whole = mixed(p, 1e-6)
    few = mixed(p, 1e-6, sweeps=4)
    assert whole[0] == CONVERGED and few[0] == RUNNING and few[3][mixing.MADE] <= 5


def test_slow_pairs_are_handed_over():
    p = metric_pair(60, 60.0)
    act, _, _, control = mixed(p, 1e-12, longest=2.0)
    assert act == HANDED_OVER and control[mixing.MADE] < 200


@pytest.mark.parametrize("spoil", [np.s_[2], np.s_[:, 3]])
def test_rows_and_columns_without_entries(spoil):
    with np.errstate(all="ignore"):
        assert mixed(small_pair(6, 6, 0), 1e-6, spoil=spoil)[0] == OVERFLOW


@pytest.mark.parametrize("repeated", [False, True])
def test_normal_equations(repeated):
    """Against least squares; of two equal differences one is enough."""
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(20, mixing.DEPTH)), rng.normal(size=20)
    if repeated:
        A[:, 3] = A[:, 1]
    gram = np.hstack([A.T @ A, (A.T @ b)[:, None]])
    mixing._solve(gram, mixing.DEPTH)
    expected = A @ np.linalg.lstsq(A, b, rcond=1e-10)[0]
    np.testing.assert_allclose(A @ gram[:, -1], expected, rtol=1e-9)
    assert (gram[3, -1] == 0.0) == repeated
