"""Bins on a line: the closed form against the simplex, SciPy, and its own certificate."""

import math

import numpy as np
import pytest
from scipy.stats import wasserstein_distance

import sinkdist as sd
from sinkdist.interrupts import Stop
from sinkdist.solvers.closed_forms.line import exact_on_line
from sinkdist.solvers.compiled.exact import exact_pair
from tests.problems import emd, simplex, sparse_histograms
from tests.solvers.compiled.test_exact import assert_optimal

INF = float("inf")

LINES = {
    "sorted": np.sort(np.random.default_rng(0).random(20)),
    "unsorted": np.random.default_rng(1).normal(size=20),
    "repeated": np.random.default_rng(2).integers(0, 6, 20).astype(float),
    "far out": np.random.default_rng(3).standard_cauchy(20) * 1e6,
    "all in one place": np.full(20, 3.0),
}


@pytest.mark.parametrize("gaps", [False, True])
@pytest.mark.parametrize("name", LINES)
def test_the_closed_form_is_the_simplex(name, gaps):
    places = LINES[name]
    ground = sd.Ground.points(places)
    M = np.array(ground.matrix)
    make = sparse_histograms if gaps else simplex
    for r, c in zip(make(4, 20, 5), make(4, 20, 6), strict=True):
        closed, general = (
            exact_on_line(ground, ground.structure, r, c),
            exact_pair(M, r, c, metric=False, stop=Stop()),
        )
        scale = 1e-12 * max(M.max(), 1e-300)
        assert closed.upper == pytest.approx(general.upper, rel=1e-9, abs=scale)
        assert closed.upper == pytest.approx(wasserstein_distance(places, places, r, c), rel=1e-9)
        assert closed.solved and closed.plan.marginal_error(r, c) <= 1e-13
        cost = math.fsum(closed.plan.mass * M[closed.plan.rows, closed.plan.columns])
        assert cost == pytest.approx(closed.upper, rel=1e-9, abs=scale)
        assert (closed.f[:, None] + closed.g - M).max() <= scale
        assert (closed.plan.mass > 0).all() and closed.plan.mass.size <= 2 * 20 - 1


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "chebyshev", "minkowski"])
@pytest.mark.parametrize("shape", [(20,), (20, 1)])
def test_points_on_a_line_are_recognised(metric, shape):
    places = LINES["unsorted"]
    ground = sd.Ground.points(places.reshape(shape), metric=metric)
    for r, c in zip(simplex(3, 20, 7), sparse_histograms(3, 20, 8), strict=True):
        s = sd.solve(r, c, ground, lam=INF)
        assert s.solver == "line"
        assert_optimal(s, r, c, np.array(ground.matrix))
        assert s.value == pytest.approx(wasserstein_distance(places, places, r, c), rel=1e-9)
        scaled = sd.solve(r, c, ground.scaled(), lam=INF)
        assert scaled.solver == "line"
        assert scaled.value == pytest.approx(s.value / ground.median, rel=1e-12)


@pytest.mark.parametrize(
    "ground",
    [
        sd.Ground.points([0.0, 1.0, 3.0], metric="hamming"),
        sd.Ground.points([0.0, 1.0, 3.0], metric="sqeuclidean"),
        sd.Ground.points([0.0, 1.0, 3.0], [0.0, 1.0, 2.5]),
        sd.Ground.grid(3, metric="sqeuclidean"),
        sd.Ground.grid(3, 1),
    ],
    ids=repr,
)
def test_other_costs_between_points_on_a_line(ground):
    for r, c in zip(simplex(5, 3, 0), simplex(5, 3, 1), strict=True):
        truth = emd(r, c, ground.matrix)
        assert sd.distance(r, c, ground, lam=INF) == pytest.approx(truth, rel=1e-11)
        assert sd.distance(r, c, ground.scaled(2.0), lam=INF) == pytest.approx(truth / 2, rel=1e-11)
