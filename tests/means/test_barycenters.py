"""Stages, retiring and recovery: what `find` adds to the sweeps."""

from itertools import pairwise

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.interrupts import Stop
from sinkdist.means import barycenters
from sinkdist.means.barycenters import Request, find
from sinkdist.problem.stopping import Stopping
from sinkdist.solution.status import Status

GROUND = sd.Ground.grid(4, 5)
X = np.random.default_rng(0).dirichlet(np.full(20, 0.5), 6)


def request(lam=3.0, weights=None, debiased=True, tol=1e-7, max_iter=3000, **more):
    weights = np.full((1, 6), 1 / 6) if weights is None else weights
    return Request(
        GROUND, X, weights, lam, np.dtype(float), debiased, Stopping(tol, max_iter, None), 1, **more
    )


def test_barycentres_leave_as_they_converge():
    weights = np.random.default_rng(1).dirichlet(np.ones(6), 5)
    weights[3] = np.eye(6)[2]
    found = find(request(weights=weights), Stop())
    assert (found.status == Status.CONVERGED).all()
    assert len(set(found.n_iter.tolist())) > 2 and found.n_iter[3] == 0
    for k, row in enumerate(weights):
        alone = find(request(weights=row[None]), Stop())
        assert alone.n_iter[0] == found.n_iter[k]
        np.testing.assert_allclose(alone.histogram[0], found.histogram[k], atol=1e-12)


@pytest.mark.parametrize("debiased", [True, False])
def test_stages_lead_to_the_same_barycentre(debiased, monkeypatch):
    """A kernel that floats just hold, with stages and without."""
    direct = find(request(lam=30.0, debiased=debiased), Stop())
    stages = [barycenters._Stage(lam, np.dtype(float), 1e-2, 500) for lam in (7.5, 15.0)]
    last = barycenters._Stage(30.0, np.dtype(float), 1e-7, 3000)
    monkeypatch.setattr(barycenters, "_stages", lambda request, pairs: [*stages, last])
    staged = find(request(lam=30.0, debiased=debiased), Stop())
    assert direct.status[0] == staged.status[0] == Status.CONVERGED
    np.testing.assert_allclose(staged.histogram, direct.histogram, atol=2e-6)


def test_stages_begin_where_floats_hold_the_kernel():
    (only,) = barycenters._stages(request(lam=30.0), 6)
    assert only.lam == 30.0
    lams = [stage.lam for stage in barycenters._stages(request(lam=1e6), 6)]
    assert lams[-1] == 1e6 and lams[0] * GROUND.max <= 300.0
    assert all(b == 2 * a for a, b in pairwise(lams))


@pytest.fixture
def single_first(monkeypatch):
    """Products of any size begin in single precision."""
    monkeypatch.setattr(barycenters, "_LARGE", 0)


@pytest.mark.usefixtures("single_first")
def test_large_products_begin_in_single_precision_where_it_holds_the_kernel():
    first, last = barycenters._stages(request(lam=3.0), 6)
    assert first.dtype == np.float32 and last.dtype == np.float64
    assert first.lam == last.lam and first.tol > last.tol
    assert len(barycenters._stages(request(lam=90.0), 6)) == 1  # exp(-576) is beyond it


@pytest.mark.parametrize("debiased", [True, False])
def test_the_first_precision_does_not_show(debiased, single_first):
    weights = np.random.default_rng(2).dirichlet(np.ones(6), 4)
    weights[1] = np.eye(6)[2]
    options = {"weights": weights, "debiased": debiased, "tol": 1e-10, "max_iter": 5000}
    found = find(request(**options), Stop())
    assert (found.status == Status.CONVERGED).all() and found.error.max() <= 1e-10
    for k, row in enumerate(weights):  # nor the others of the call
        alone = find(request(**(options | {"weights": row[None]})), Stop())
        assert alone.n_iter[0] == found.n_iter[k]
        np.testing.assert_allclose(alone.histogram[0], found.histogram[k], atol=1e-9)


@pytest.mark.usefixtures("single_first")
@pytest.mark.parametrize("max_iter", [1, 2, 7])
def test_caps_count_all_stages(max_iter):
    found = find(request(tol=1e-12, max_iter=max_iter), Stop())
    assert found.n_iter[0] == max_iter and found.status[0] == Status.MAX_ITER
    assert np.isfinite(found.histogram).all() and found.error.max() < 2


def test_sweeps_that_diverge_are_begun_again(monkeypatch):
    """Whatever relaxation does, plain sweeps are left, and no NaN comes out."""
    good = find(request(debiased=False), Stop())
    decide = barycenters.relaxation.decide

    def reckless(state, error, tol, limit):
        act = decide(state, error, tol, limit)
        if limit != barycenters.relaxation.PLAIN:
            state[barycenters.relaxation.OMEGA] = 1e200
        return act

    monkeypatch.setattr(barycenters.relaxation, "decide", reckless)
    found = find(request(debiased=False), Stop())
    assert found.status[0] == Status.CONVERGED
    np.testing.assert_allclose(found.histogram, good.histogram, atol=1e-6)


def test_the_end_is_a_plain_sweep():
    """At `max_iter` the errors are those of what is returned, not of a relaxed state."""
    found = find(request(lam=20.0, debiased=False, tol=1e-12, max_iter=25), Stop())
    assert found.status[0] == Status.MAX_ITER and found.n_iter[0] == 25
    a = found.histogram[0]
    plans = sd.solve(np.tile(a, (6, 1)), X, GROUND, lam=20.0, tol=1e-12)
    # No plan between the barycentre and a histogram can be worse than its error says.
    assert 0 < found.error.max() < 1 and abs(a.sum() - 1) < 1e-12
    assert plans.converged.all()


def test_rounding_is_named_as_the_reason():
    found = find(request(lam=1e9, debiased=False, tol=1e-14, max_iter=300), Stop())
    assert found.status[0] == Status.STALLED
