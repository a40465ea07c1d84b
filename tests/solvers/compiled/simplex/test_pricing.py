import numpy as np
import pytest

from sinkdist.solvers.compiled.simplex import pricing
from tests.solvers.compiled.simplex.problems import SHAPES, problem

pytestmark = pytest.mark.nojit


def with_potentials(shape, seed=1):
    p = problem(*shape)
    p.potential[:] = np.random.default_rng(seed).normal(size=p.potential.size)
    p.potential[p.m : p.first] = 0.0
    p.reduced = p.C + p.potential[p.first :] - p.potential[: p.first, None]
    return p


@pytest.mark.parametrize("shape", SHAPES)
def test_minima_are_those_of_numpy(shape):
    p = with_potentials(shape)
    w, least = p.potential[p.first :], np.empty(4)
    for i in range(0, p.m, 4):
        pricing.row_minima(p.C, w, i, least)
        assert least.tolist() == (p.C[i : i + 4] + w).min(axis=1).tolist()


@pytest.mark.parametrize("shape", SHAPES)
def test_the_best_move_of_four_rows(shape):
    p = with_potentials(shape)
    for i in range(0, p.m, 4):
        four = p.reduced[i : i + 4]
        row, column, reduced = pricing.best_move(p.C, p.potential, i, np.inf)
        assert (row - i, column) == np.unravel_index(four.argmin(), four.shape)
        assert reduced == pytest.approx(four.min(), abs=1e-15)


def test_single_precision():
    p = with_potentials((8, 40))
    C, potential = p.C.astype("f4"), p.potential.astype("f4")
    four = C[4:8] + potential[p.first :] - potential[4:8, None]
    row, column, reduced = pricing.best_move_single(C, potential, 4, np.float32(np.inf))
    assert (row - 4, column) == np.unravel_index(four.argmin(), four.shape)
    assert reduced == pytest.approx(four.min(), abs=1e-6)


def test_no_move_below_a_bound_and_the_last_of_equal_ones():
    C, potential = np.ones((16, 32)), np.zeros(48)
    assert pricing.best_move(C, potential, 0, 1.0)[1] == -1
    assert pricing.best_move(C, potential, 0, 1.5) == (0, 31, 1.0)
    assert pricing.best_move_single(C.astype("f4"), potential.astype("f4"), 0, np.float32(1.5)) == (
        0, 31, 1.0,
    )  # fmt: skip
