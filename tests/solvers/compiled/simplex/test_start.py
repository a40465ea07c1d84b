import numpy as np
import pytest

from sinkdist.solvers.compiled.simplex.start import BITS, take_cheapest, whole_masses
from tests.solvers.compiled.simplex.problems import SHAPES, problem

pytestmark = pytest.mark.nojit


def start(p):
    whole_masses(p.r, p.m + 1, 1, 0, p.flow[: p.m])
    whole_masses(p.c, p.m + 1, 0, p.m, p.flow[p.first : p.first + p.n])
    given = p.flow.copy()
    root = take_cheapest(p.C, p.m, p.n, p.mass, p.flow, p.potential, p.links, p.order, p.scratch)
    return given, root


@pytest.mark.parametrize("mass", [[1.0], [0.5, 0.5], [1.0, 1e-300], [1e-30, 0.3, 0.7, 1e-18]])
def test_whole_masses_are_positive_and_of_one_sum(mass):
    out = np.zeros(len(mass), np.int64)
    whole_masses(np.array(mass), 1, 0, 0, out)
    assert (out > 0).all() and out.sum() == 1 << BITS
    assert np.abs(out / out.sum() - mass).max() <= len(mass) * 2.0**-BITS


def test_fewer_bits_where_sums_would_overflow():
    out = np.zeros(3, np.int64)
    whole_masses(np.full(3, 1 / 3), 100_000, 1, 0, out)
    assert (out > 0).all() and sum(map(int, out)) < 2**63


@pytest.mark.parametrize("shape", SHAPES)
def test_the_first_basis_is_a_tree_that_carries_all_mass(shape):
    p = problem(*shape)
    given, root = start(p)
    nodes = [*range(p.m), *range(p.first, p.first + p.n)]
    closed = p.order[: p.m + p.n - 1].tolist()
    assert sorted([*closed, root]) == nodes
    sums = np.zeros_like(given)
    for x in closed:
        parent = int(p.links[0, x])
        assert (x < p.first) != (parent < p.first)  # a move joins a row and a column
        assert p.flow[x] > 0
        sums[x] += p.flow[x]
        sums[parent] += p.flow[x]
    assert (sums == given).all()
