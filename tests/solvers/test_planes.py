"""A plane bounds the distance to every histogram, whatever potential it is made of."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.solvers.planes import hard_planes, soft_plane

RNG = np.random.default_rng(3)


def problems(count):
    for _ in range(count):
        m, n = RNG.integers(1, 8, 2)
        M = RNG.random((m, n)) * 10.0 ** RNG.integers(-3, 4)
        C = RNG.dirichlet(np.full(n, 0.4), 6) * (RNG.random((6, n)) < 0.7)
        C[C.sum(axis=1) == 0.0] = 1.0
        f = RNG.normal(size=m) * M.max() * 10.0 ** RNG.integers(-3, 2)
        yield M, RNG.dirichlet(np.ones(m)), C / C.sum(axis=1, keepdims=True), f


def test_hard_planes_bound_the_exact_distance():
    for M, r, C, f in problems(60):
        D = sd.distance(r, C, M, lam=np.inf)
        planes = hard_planes(M, r, np.stack([f, 0.0 * f, -f]))
        assert len(planes) == 3
        for plane in planes:
            assert (C @ plane.g + plane.constant <= D).all()


@pytest.mark.filterwarnings("ignore::sinkdist.ConvergenceWarning")
def test_soft_planes_bound_the_constrained_distance():
    for M, r, C, f in problems(60):
        mu, alpha = 10.0 ** RNG.uniform(-1, 2) / M.max(), 10.0 ** RNG.uniform(-2, 0.5)
        plane = soft_plane(M, r, f, mu, alpha)
        values = sd.distance(r, C, M, alpha=alpha)
        assert (C @ plane.g + plane.constant <= values * (1.0 + 1e-6)).all()


def test_planes_are_tight_at_the_pair_they_come_from():
    for M, r, C, _ in problems(20):
        s = sd.solve(r, C[0], M, lam=np.inf)
        (plane,) = hard_planes(M, r, s.potentials[0][None])
        assert C[0] @ plane.g + plane.constant == pytest.approx(s.value, abs=1e-12 * M.max())
        lam = 5.0 / M.max()
        s = sd.solve(r, C[0], M, lam=lam, tol=1e-12)
        objective = s.value + s.alpha / lam
        plane = soft_plane(M, r, s.potentials[0], lam, 0.0)
        assert C[0] @ plane.g + plane.constant == pytest.approx(objective, abs=1e-9 * M.max())
