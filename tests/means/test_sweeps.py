"""The iteration: what a plain sweep makes exact, against the conditions of the optimum."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.interrupts import Abandoned, Stop
from sinkdist.means import sweeps as module
from sinkdist.means.pairing import pairing_of
from sinkdist.means.smoothing import ByProducts
from sinkdist.means.sweeps import Sweeps
from sinkdist.scale.crew import Crew

rng = np.random.default_rng(0)
GROUND, LAM = sd.Ground.grid(3, 4), 2.0
B = rng.dirichlet(np.ones(12), 5)
B[0, :4] = 0.0
B[0] /= B[0].sum()
W = np.array([[0.2, 0.3, 0.1, 0.2, 0.2], [0.0, 0.5, 0.5, 0.0, 0.0]])
K = np.exp(-LAM * GROUND.matrix)


def start(debiased=True, workers=1, weights=W):
    smoothing = ByProducts(GROUND, LAM, np.dtype(float))
    pairs = pairing_of(weights)
    return Sweeps(smoothing, B, 12, pairs, debiased=debiased, crew=Crew(workers), stop=Stop())


def run(sweeps, count, omega=1.0):
    sweeps.columns()
    for _ in range(count):
        sweeps.sweep(np.full(sweeps.pairs.count, omega))
        error = sweeps.columns()
    return error


@pytest.mark.parametrize("debiased", [True, False])
def test_a_plain_sweep_leaves_exact_rows_and_known_columns(debiased):
    sweeps = start(debiased)
    error = run(sweeps, 3)
    for k in range(sweeps.pairs.size):
        P = np.exp(sweeps.log_u[k])[:, None] * K * np.exp(sweeps.log_v[k])
        a = sweeps.a[sweeps.pairs.barycenter[k]]
        np.testing.assert_allclose(P.sum(axis=1), a, rtol=1e-12)
        b = B[sweeps.pairs.histogram[k]]
        assert error[k] == pytest.approx(np.abs(P.sum(axis=0) - b).sum(), rel=1e-9)


@pytest.mark.parametrize("omega", [1.0, 1.4])
def test_the_conditions_of_the_debiased_optimum(omega):
    """``prod u_k^w_k`` is the scaling ``z`` of the barycentre to itself, up to a factor."""
    sweeps = start()
    run(sweeps, 400, omega)
    error = run(sweeps, 1)
    assert error.max() < 1e-9 and sweeps.self_error.max() < 1e-9
    for m in range(2):
        mine = sweeps.pairs.barycenter == m
        log_z = sweeps.pairs.weight[mine] @ sweeps.log_u[mine]
        plan = np.exp(log_z)[:, None] * K * np.exp(log_z)
        plan /= plan.sum()
        np.testing.assert_allclose(plan.sum(axis=1), sweeps.a[m], atol=1e-9)


@pytest.mark.parametrize("omega", [1.0, 1.6])
def test_the_conditions_of_the_plain_optimum(omega):
    sweeps = start(debiased=False)
    run(sweeps, 200, omega)
    assert run(sweeps, 1).max() < 1e-12
    for m in range(2):
        mine = sweeps.pairs.barycenter == m
        product = sweeps.pairs.weight[mine] @ sweeps.log_u[mine]
        assert np.ptp(product) < 1e-12  # 1, up to a factor


def test_relaxed_sweeps_need_fewer():
    def needed(omega):
        sweeps = start(debiased=False)
        sweeps.columns()
        for k in range(1, 1000):
            sweeps.sweep(np.full(2, omega))
            if sweeps.columns().max() < 1e-10:
                return k
        return 1000

    assert needed(1.3) < 0.8 * needed(1.0)


def test_chunks_and_threads_change_nothing(monkeypatch):
    whole = start()
    run(whole, 5, 1.2)
    monkeypatch.setattr(module, "_CHUNK", 1)
    monkeypatch.setattr(module, "_LEAST", 1)
    monkeypatch.setattr(module, "_SMALL", 1)
    parts = start(workers=2)
    run(parts, 5, 1.2)
    np.testing.assert_allclose(parts.log_a, whole.log_a, rtol=1e-12, atol=1e-13)


def test_some_go_on_as_if_alone():
    both, alone = start(), start(weights=W[1:])
    run(both, 3)
    run(alone, 3)
    both.take(np.array([False, True]))
    np.testing.assert_allclose(both.log_u, alone.log_u, rtol=1e-12, atol=1e-13)
    for sweeps in (both, alone):
        sweeps.sweep(np.array([1.3]))
        sweeps.columns()
    np.testing.assert_allclose(both.a, alone.a, rtol=1e-12)


def test_a_plain_sweep_reads_the_rows_scalings_alone():
    first = start()
    run(first, 6, 1.2)
    smoothing, pairs = ByProducts(GROUND, LAM, np.dtype(float)), pairing_of(W)
    second = Sweeps(
        smoothing, B, 12, pairs, debiased=True, crew=Crew(1), stop=Stop(),
        start=(first.log_u, first.log_z),
    )  # fmt: skip
    run(first, 1), run(second, 1)
    np.testing.assert_allclose(second.log_a, first.log_a, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(second.log_u, first.log_u, rtol=1e-12, atol=1e-13)


def test_it_stops_when_nobody_waits():
    sweeps = start()
    sweeps._stop.set()
    with pytest.raises(Abandoned):
        sweeps.columns()


def test_momentum_finds_fine_details_sooner():
    """Of two histograms on a fine line, smoothed much more widely than a bin."""
    ground = sd.Ground.grid(40, metric="sqeuclidean")
    X = np.zeros((2, 40))
    X[0, [5, 9]] = X[1, [25, 33]] = 0.5
    errors = []
    for has_momentum in (False, True):
        sweeps = Sweeps(
            ByProducts(ground, 0.05, np.dtype(float)), X, 40, pairing_of(np.full((1, 2), 0.5)),
            debiased=True, crew=Crew(1), stop=Stop(),
        )  # fmt: skip
        sweeps.has_momentum = has_momentum
        run(sweeps, 300)
        errors.append(sweeps.self_error[0])
    assert errors[1] < 0.3 * errors[0]
