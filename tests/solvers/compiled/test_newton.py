"""Newton's method on one pair, against sweeps by log-sum-exp in plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings

from sinkdist.solvers.compiled import newton
from sinkdist.solvers.compiled.relaxation import CONVERGED, OVERFLOW, RUNNING
from tests.small_pairs import off, shapes, small_pair


def run(p, tol=1e-12, reads=10_000.0, v=None, K=None):
    K = p.K if K is None else K
    u, acc, control = np.ones(p.r.size), np.empty(p.c.size), np.empty(newton.FIELDS)
    v = np.ones(p.c.size) if v is None else v
    newton.begin(control)
    scratch = newton.scratch_for(*p.K.shape)
    act, error = newton.newton_pair(
        K, *newton.NO_ENTRIES, p.r, p.c, u, v, acc, control, tol, reads, *scratch
    )
    return act, error, u, v, control


def near(p):
    """The start that callers give: after three plain sweeps."""
    v = np.ones(p.c.size)
    for _ in range(3):
        v = p.c / (p.K.T @ (p.r / (p.K @ v)))
    return v


@settings(max_examples=40)
@given(shapes)
def test_newton_ends_with_the_plan(shape):
    p = small_pair(*shape, lam=10.0)
    act, error, u, v, _ = run(p, v=near(p))
    P = u[:, None] * p.K * v
    assert act == CONVERGED
    assert off(P, p.r, p.c) == pytest.approx(error, abs=1e-14)
    np.testing.assert_allclose(P.sum(axis=1), p.r, rtol=1e-13)
    np.testing.assert_allclose(P, p.truth[0], atol=1e-9)


def on_a_line(d, lam):
    """Costs between places on a line: at a large lam most of the plan is negligible."""
    x = np.linspace(0.0, 1.0, d)
    p = small_pair(d, d, 3, lam=lam)
    return type(p)(abs(x[:, None] - x), p.r, p.c, p.lam)


def test_a_larger_pair():
    p = on_a_line(90, 200.0)
    act, _, u, v, control = run(p, tol=1e-11)
    assert act == CONVERGED
    assert off(u[:, None] * p.K * v, p.r, p.c) <= 2e-11
    assert control[newton.READS] < 1000  # plain sweeps take 5000 to 1e-8


@pytest.mark.parametrize(
    "p", [small_pair(1, 3, 0, lam=10.0), on_a_line(150, 600.0)], ids=["1x3", "line"]
)
def test_columns_that_hold_hardly_any_of_their_mass(p):
    """The sparse copy of the plan keeps their largest entries: without one, no step is a number."""
    v, K = np.ones(p.c.size) if p.r.size == 1 else near(p), p.K
    for _ in range(6):
        act, _, u, v, control = run(p, tol=1e-9, v=v, K=K)
        if act == CONVERGED:
            break
        assert act == RUNNING and newton.needs_absorption(v)  # and never handed over
        K, v = u[:, None] * K * v, np.ones(p.c.size)
    assert act == CONVERGED and control[newton.READS] < 1000


def test_it_converges_in_few_reads_where_sweeps_take_many():
    p = small_pair(9, 9, 1, lam=60.0)
    act, _, _, _, control = run(p, tol=1e-10)
    assert act == CONVERGED and control[newton.READS] < 300


def test_reads_are_counted_and_limited():
    p = small_pair(9, 9, 1, lam=60.0)
    act, error, u, v, control = run(p, reads=3.0)
    assert act == RUNNING and error > 1e-12 and 3.0 <= control[newton.READS] < 60.0
    P = u[:, None] * p.K * v
    np.testing.assert_allclose(P.sum(axis=1), p.r, rtol=1e-13)
    assert error == pytest.approx(abs(P.sum(axis=0) - p.c).sum(), rel=1e-9)


def test_a_kernel_that_is_lost_is_told():
    with np.errstate(all="ignore"):
        assert run(small_pair(5, 5, 0, lam=1e6))[0] == OVERFLOW


def test_scalings_that_have_gone_far_want_to_be_absorbed():
    assert not newton.needs_absorption(np.array([1e79, 1e-79]))
    assert newton.needs_absorption(np.array([1.0, 1e81]))
    assert newton.needs_absorption(np.array([1e-81, 1.0]))
    p = small_pair(4, 4, 0)
    act, error, *_ = run(p, tol=1e-16, v=np.array([1e81, 1e80, 1e81, 1e80]))
    assert act == RUNNING and error > 1e-16
