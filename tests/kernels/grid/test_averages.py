"""Means, their adjoint and costs under the plan of a potential, against the dense plan."""

import numpy as np
import pytest
from scipy.special import softmax

from sinkdist.ground.grid_plan import Kernel, plan_of

CASES = {
    "line": ((40,), (0.3,)),
    "plane": ((9, 20), (0.05, 0.8)),
    "sharp": ((8, 9), (5.0, 300.0)),
    "cube": ((5, 4, 6), (0.5, 2.0, 0.1)),
    "wide": ((33, 18), (1e-4, 1e-3)),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("steep", [1.0, 50.0])
@pytest.mark.parametrize("metric", ["sqeuclidean", "cityblock", "euclidean"])
def test_all_answers_are_those_of_one_plan(name, steep, metric):
    shape, sharpness = CASES[name]
    rng = np.random.default_rng(3)
    psi = rng.normal(size=shape) * steep
    psi[rng.random(shape) < 0.3] = -np.inf
    places = np.stack(np.unravel_index(np.arange(psi.size), shape), -1)
    apart, sharp = np.abs(places[:, None] - places), np.array(sharpness)
    costs = {
        "sqeuclidean": lambda: (sharp * apart**2.0).sum(-1),
        "cityblock": lambda: (sharp * apart).sum(-1),
        "euclidean": lambda: np.sqrt(((sharp * apart) ** 2.0).sum(-1)),
    }[metric]()
    rows = softmax(psi.ravel() - costs, axis=1)
    plan = plan_of(psi, Kernel(metric, sharpness))
    v, m, share = rng.normal(size=shape), rng.random(shape), rng.random(shape)
    for found, wanted in (
        (plan.average(v), rows @ v.ravel()),
        (plan.spread(m), m.ravel() @ rows),
        (plan.exponents()[1], (rows * costs).sum(1)),
        (plan.exponents(share)[0], rows @ share.ravel()),
        (plan.exponents(share)[1], (rows * costs) @ share.ravel()),
    ):
        np.testing.assert_allclose(found.ravel(), wanted, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(np.vdot(plan.average(v), m), np.vdot(v, plan.spread(m)), rtol=1e-12)


@pytest.mark.parametrize("metric", ["sqeuclidean", "cityblock", "euclidean"])
def test_lines_may_be_done_in_any_pieces(metric):
    rng = np.random.default_rng(0)
    psi, m = rng.normal(size=(20, 30)), rng.random((20, 30))

    def in_pieces(lines, work):
        for start in range(0, lines, 7):
            work(start, min(start + 7, lines))

    kernel = Kernel(metric, (0.3, 0.4))
    whole, pieces = plan_of(psi, kernel), plan_of(psi, kernel, in_pieces)
    np.testing.assert_array_equal(whole.log_sums, pieces.log_sums)
    np.testing.assert_array_equal(whole.spread(m), pieces.spread(m))
    np.testing.assert_array_equal(whole.average(m), pieces.average(m))
