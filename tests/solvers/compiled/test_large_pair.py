"""One large pair: what is returned is a plan of float64, whatever float32 held."""

import numpy as np
import pytest

from sinkdist.interrupts import Abandoned, Stop
from sinkdist.solvers.compiled.large_pair import FINEST, LargePair
from sinkdist.solvers.compiled.relaxation import CONVERGED, RUNNING
from tests.small_pairs import off, small_pair


def pair_of(p, **options):
    return LargePair(p.M, p.r, p.c, options.pop("max_iter", 1000), Stop(), 1, **options)


def test_the_end_is_measured_in_float64():
    p = small_pair(30, 40, 0, lam=12.0)
    pair = pair_of(p)
    assert pair.solve_at(p.lam, FINEST)[0] == CONVERGED
    end = pair.finish(p.lam)
    P = np.exp(p.lam * (end.f[:, None] + end.g - p.M))
    assert end.error == pytest.approx(off(P, p.r, p.c), rel=1e-6, abs=1e-13)
    assert end.value == pytest.approx((P * p.M).sum(), rel=1e-13)
    np.testing.assert_allclose(P.sum(axis=1), p.r, rtol=1e-12)
    np.testing.assert_allclose(end.plan.dense(p.M, p.lam), P, rtol=1e-12)
    np.testing.assert_allclose(P, p.truth[0], atol=1e-6)


def test_plain_steps_after_the_end_do_better_than_float32():
    p = small_pair(30, 40, 0, lam=3.0)
    pair = pair_of(p)
    pair.solve_at(p.lam, FINEST)
    errors = []
    for _ in range(4):
        errors.append(pair.finish(p.lam).error)
        pair.update_columns(p.lam)
    assert errors[-1] < 1e-3 * errors[0]


def test_a_kernel_that_is_there_is_only_read():
    p = small_pair(12, 9, 0)
    K = p.K.astype(np.float32)
    before = K.copy()
    pair = pair_of(p, K=K)
    assert pair.solve_at(p.lam, 1e-6, known=True)[0] == CONVERGED
    assert np.array_equal(K, before)


def test_reads_are_counted_and_bounded():
    p = small_pair(40, 40, 1, lam=60.0)
    pair = pair_of(p, max_iter=7)
    assert pair.solve_at(p.lam, FINEST)[0] == RUNNING
    assert 7 <= pair.made <= 9


def test_a_pair_that_nobody_waits_for():
    p = small_pair(9, 9, 0)
    pair = pair_of(p)
    pair.stop.set()
    with pytest.raises(Abandoned):
        pair.solve_at(p.lam, 1e-6)
