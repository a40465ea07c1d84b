import numpy as np
import pytest

from sinkdist.solvers.compiled.simplex import tree
from sinkdist.solvers.compiled.simplex.start import take_cheapest, whole_masses
from tests.solvers.compiled.simplex.problems import SHAPES, problem

pytestmark = pytest.mark.nojit


def begun(shape, seed=0):
    p = problem(*shape, seed)
    whole_masses(p.r, p.m + 1, 1, 0, p.flow[: p.m])
    whole_masses(p.c, p.m + 1, 0, p.m, p.flow[p.first : p.first + p.n])
    p.given = p.flow.copy()
    p.root = take_cheapest(p.C, p.m, p.n, p.mass, p.flow, p.potential, p.links, p.order, p.scratch)
    tree.build(p.links, p.order, p.m + p.n - 1, p.root)
    tree.set_potentials(p.links, p.C, p.first, p.root, p.potential)
    return p


def check(p):
    """Every link says what the parents say, flows carry the masses, edges have reduced cost 0."""
    parent, following, preceding, last, size = (x.astype(int) for x in p.links[:5])
    nodes = [*range(p.m), *range(p.first, p.first + p.n)]
    children = {x: [] for x in nodes}
    for x in nodes:
        if x != p.root:
            children[parent[x]].append(x)
    walk, x = [], p.root
    while True:  # the preorder is a circle through all nodes
        walk.append(x)
        assert preceding[following[x]] == x
        x = following[x]
        if x == p.root:
            break
    assert sorted(walk) == nodes
    place = {x: k for k, x in enumerate(walk)}

    def below(x):
        return [x, *(y for child in children[x] for y in below(child))]

    for x in nodes:
        run = sorted(place[y] for y in below(x))
        assert run == list(range(place[x], place[x] + len(run)))
        assert size[x] == len(run) and last[x] == walk[run[-1]]
    sums = np.zeros_like(p.given)
    for x in nodes:
        if x != p.root:
            i, j = (x, parent[x]) if x < p.first else (parent[x], x)
            reduced = p.C[i, j - p.first] + p.potential[j] - p.potential[i]
            assert abs(reduced) <= 1e-13
            sums[x] += p.flow[x]
            sums[parent[x]] += p.flow[x]
    assert (sums == p.given).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_links_of_the_first_basis(shape):
    check(begun(shape))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(2, 3), (5, 7), (12, 9)])
def test_links_stay_true_over_many_exchanges(shape, seed):
    p, rng = begun(shape, seed), np.random.default_rng(seed)
    single = p.potential.astype("f4") if seed == 2 else np.empty(0, "f4")
    parent, done = p.links[0], 0
    for _ in range(60):
        i, j = int(rng.integers(p.m)), p.first + int(rng.integers(p.n))
        if parent[i] == j or parent[j] == i:
            continue
        reduced = p.C[i, j - p.first] + p.potential[j] - p.potential[i]
        tree.exchange(
            p.links, p.flow, p.potential, single, p.first, p.m + p.n, i, j, reduced, done + 1
        )
        check(p)
        done += 1
    assert done > 5
    if single.size:
        used = [*range(p.m), *range(p.first, p.first + p.n)]
        assert np.abs(single[used] - p.potential[used]).max() < 1e-6


@pytest.mark.parametrize("shape", SHAPES)
def test_flows_of_the_masses_themselves(shape):
    p = begun(shape)
    flow = np.zeros_like(p.potential)
    value, top = tree.flows(p.links, p.C, p.root, p.mass, flow)
    P = np.zeros((p.m, p.n))
    for x in [*range(p.m), *range(p.first, p.first + p.n)]:
        if x != p.root:
            y = int(p.links[0, x])
            P[min(x, y), max(x, y) - p.first] = flow[x]
    assert np.abs(P.sum(1) - p.r).max() < 1e-15 and np.abs(P.sum(0) - p.c).max() < 1e-15
    assert abs(value - (P * p.M).sum()) < 1e-14 and flow[top] == P.max()
