import numpy as np
import pytest

from sinkdist.solvers.compiled.simplex import pricing
from tests.solvers.compiled.simplex.problems import SHAPES, problem

pytestmark = pytest.mark.nojit


@pytest.mark.parametrize("shape", SHAPES)
def test_minima_are_those_of_numpy(shape):
    p = problem(*shape)
    w = np.random.default_rng(1).normal(size=p.width)
    least = np.empty(4)
    for i in range(0, p.first, 4):
        pricing.row_minima(p.C, w, i, least)
        for k in range(4):
            assert least[k] == (p.C[i + k] + w).min()
            if i + k < p.m:
                assert pricing.row_minimum(p.C[i + k], w) == least[k]
                assert pricing.column_of(p.C[i + k], w, least[k]) == (p.C[i + k] + w).argmin()


def test_single_precision():
    p = problem(8, 40)
    C, w = p.C.astype("f4"), np.random.default_rng(1).normal(size=p.width).astype("f4")
    least = np.empty(4, np.float32)
    pricing.row_minima_single(C, w, 4, least)
    assert least.tolist() == [(C[i] + w).min() for i in range(4, 8)]
    assert pricing.column_of_single(C[5], w, least[1]) == (C[5] + w).argmin()


def test_no_column_below_a_bound():
    assert pricing.column_of(np.ones(32), np.zeros(32), 0.5) == -1
    assert pricing.column_of(np.ones(32), np.zeros(32), 1.0) == 31
