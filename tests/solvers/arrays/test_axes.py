"""Costs that are sums over axes, against the same costs as a matrix."""

import array_api_strict as xp
import numpy as np
import pytest

from sinkdist.ground.grid import GridCosts
from sinkdist.solvers.arrays.axes import Axes, AxesCosts, operator_of
from sinkdist.solvers.arrays.operators import MatrixCosts, Potentials

GRIDS = {
    "plane": ((4, 3), "sqeuclidean", (1.0, 0.5)),
    "cube": ((2, 3, 4), "cityblock", (1.0, 2.0, 0.3)),
    "line": ((7,), "sqeuclidean", (0.4,)),
    "strip": ((1, 6), "cityblock", (1.0, 1.0)),
}
RNG = np.random.default_rng(1)


@pytest.fixture(params=GRIDS)
def costs(request):
    """A grid by axes, in runs of two pixels at most, and as a matrix."""
    sides, metric, spacing = GRIDS[request.param]
    grid = GridCosts(sides, metric, spacing)
    axes = Axes(2 if metric == "sqeuclidean" else 1, sides, tuple(min(2, n) for n in sides))
    steps, matrix = xp.asarray(np.array(grid.steps)), xp.asarray(grid.block())
    return operator_of(xp, axes, steps), operator_of(xp, None, matrix)


def potentials(d):
    F, G = RNG.normal(size=(2, 3, d))
    F[0, 0] = G[1, d // 2] = -np.inf
    return Potentials(xp.asarray(F), xp.asarray(G))


def close(found, wanted, atol=1e-12):
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-12, atol=atol)


def test_which_operator(costs):
    assert isinstance(costs[0], AxesCosts) and isinstance(costs[1], MatrixCosts)
    assert costs[0].turned is costs[0]
    close(costs[0].largest, costs[1].largest)


def test_kernels(costs):
    d = costs[1].M.shape[0]
    V = xp.asarray(RNG.random((3, d)))
    for name, arguments in (("kernel", (2.0,)), ("priced", (2.0,)), ("priced", (2.0, 3.0))):
        found, wanted = (getattr(x, name)(*arguments) for x in costs)
        close(found.rows(V), wanted.rows(V))
        close(found.columns(V), wanted.columns(V))
    (found, half), (wanted, other) = (x.unit_kernel(2.0) for x in costs)
    close(found.columns(V), wanted.columns(V))
    close(half, other)
    close(costs[0].means(V), costs[1].means(V))


@pytest.mark.parametrize("floor", [0.0, 0.3])
def test_kernels_with_exact_rows(costs, floor):
    d = costs[1].M.shape[0]
    R, G, V = xp.asarray(RNG.random((3, d))), potentials(d).G, xp.asarray(RNG.random((3, d)))
    lam = xp.asarray(np.array([[1.0], [3.0], [40.0]]))
    (found, F), (wanted, other) = (x.row_update(lam, R, G, floor) for x in costs)
    close(F, other)
    close(found.rows(V), wanted.rows(V))
    close(found.columns(V), wanted.columns(V))


def test_plans_of_potentials(costs):
    d, lam = costs[1].M.shape[0], xp.asarray(np.array([[1.0], [3.0], [9.0]]))
    pair, Y = potentials(d), xp.asarray(RNG.normal(size=(3, d)))
    found, wanted = (x.measured(lam, pair) for x in costs)
    for a, b in zip(found, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-11)
    found, wanted = (x.system(lam, pair, 2.0) for x in costs)
    for a, b in ((found.rows, wanted.rows), (found.columns, wanted.columns)):
        np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-11)
    scale = float(xp.max(wanted.rows))
    close(found.plans.rows(Y), wanted.plans.rows(Y), 1e-11 * scale)
    close(found.plans.columns(Y), wanted.plans.columns(Y), 1e-11 * scale)


@pytest.mark.parametrize("power", [1, 2])
def test_runs_are_as_long_as_exponents_allow(power):
    for sharp in (1e-300, 1e-3, 0.7, 30.0, 1e9):
        for side in (1, 2, 100, 1000):
            (width,) = Axes.of(power, (side,), (sharp,), 500.0).widths
            assert 1 <= width <= side and sharp * (width - 1) ** power <= 500.0 * (1 + 1e-12)
            runs = -(-side // width)
            assert runs == 1 or sharp * (-(-side // (runs - 1)) - 1) ** power > 500.0 * 0.2


def test_what_sums_keep():
    assert Axes(2, (4, 6), (4, 3)).kept == 2 * 24 * (1 + 2)
