"""What structure is seen in edges and in matrices, and what is not."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array

from sinkdist import Ground
from sinkdist.ground.structure import found_in
from tests.problems import grid_costs, random_metric


def kind(ground):
    return None if ground.structure is None else ground.structure.kind


def graph(d, edges, lengths=None):
    i, j = np.array(edges).T
    return Ground.graph(coo_array((lengths or np.ones(len(edges)), (i, j)), (d, d)))


def paths(structure):
    """Distances between bins along the structure's edges, by walking up from both."""
    up = structure.parent
    depth, root = [], []
    for k in range(up.size):
        above = [k]
        while above[-1]:
            above.append(int(up[above[-1]]))
        root.append(above)
        depth.append(sum((Fraction(structure.lengths[j]) for j in above[:-1]), Fraction(0)))
    M = np.zeros((up.size, up.size))
    for i in range(up.size):
        for j in range(up.size):
            meet = next(k for k in root[i] if k in root[j])
            M[i, j] = depth[i] + depth[j] - 2 * depth[meet]
    named = structure.bins >= 0
    order = np.argsort(structure.bins[named])
    return M[np.ix_(named, named)][np.ix_(order, order)]


@pytest.mark.parametrize(
    ("ground", "expected"),
    [
        (Ground.grid(5), "line"),
        (Ground.grid(5, metric="cityblock"), "line"),
        (Ground.grid(1), "line"),
        (Ground.points([3.0, 0.0, 1.0]), "line"),
        (Ground.points([[3.0], [0.0], [1.0]], metric="chebyshev"), "line"),
        (Ground.grid(5, metric="sqeuclidean"), None),
        (Ground.grid(2, 3), None),
        (Ground.points([0.0, 1.0, 3.0], [0.0, 1.0, 2.5]), None),
        (Ground.points([0.0, 1.0, 3.0, 3.5], metric="hamming"), "uniform"),
        (Ground.graph(np.zeros((1, 1))), "tree"),
        (graph(2, [(0, 1)]), "tree"),
        (graph(4, [(0, 1), (1, 2), (1, 3)]), "tree"),
        (graph(4, [(0, 1), (1, 0), (1, 2), (1, 3), (2, 2)]), "tree"),  # an edge twice, and a loop
        (graph(3, [(0, 1), (1, 2), (2, 0)]), "cycle"),
        (graph(5, [(0, 3), (3, 1), (1, 4), (4, 2), (2, 0)]), "cycle"),
        (graph(4, [(0, 1), (1, 2), (2, 0), (2, 3)]), None),  # as many edges as nodes, no circle
        (graph(4, [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)], [1.0, 2.0, 3.0, 4.0, 2.5]), None),
        (graph(4, [(i, j) for i in range(4) for j in range(i)]), "uniform"),
        (Ground([[0, 2], [2, 0]]), "uniform"),
        (Ground([[0, 2], [3, 0]]), None),
        (Ground([[0, 2, 3], [2, 0, 4], [3, 4, 0]]), "star"),
        (Ground([[0, 1, 3], [1, 0, 1], [3, 1, 0]]), None),  # no triangle inequality
        (Ground(np.full((3, 5), 2.0)), "constant"),
        (Ground(np.zeros((3, 3))), "constant"),
        (Ground([[4.0]]), "constant"),
        (Ground(random_metric(20, 0)), None),
        (Ground(grid_costs(6)), None),
        (Ground(np.ones((4, 4)) - 0.5 * np.eye(4)), None),
    ],
)
def test_what_is_seen(ground, expected):
    assert kind(ground) == expected
    assert kind(ground.scaled(2.0)) == expected


def test_lengths_of_edges_are_the_costs():
    rng = np.random.default_rng(0)
    for ground in (
        Ground.points(rng.random(7)),
        graph(6, [(3, 0), (0, 5), (5, 1), (5, 2), (2, 4)], list(rng.random(5))),
        graph(3, [(0, 1), (2, 1)], [0.0, 2.0]),
        Ground([[0, 2, 3], [2, 0, 4], [3, 4, 0]]),
    ):
        for scaled in (ground, ground.scaled(3.0)):
            np.testing.assert_allclose(paths(scaled.structure), scaled.matrix, rtol=1e-14)


def test_the_edges_of_a_circle():
    ground = graph(4, [(2, 0), (0, 3), (3, 1), (1, 2)], [1.0, 2.0, 0.0, 9.0])
    s = ground.structure
    around = {
        frozenset((int(s.bins[k]), int(s.bins[k - 1]))): float(s.lengths[k]) for k in range(4)
    }
    assert around == {
        frozenset((2, 0)): 1.0, frozenset((0, 3)): 2.0, frozenset((3, 1)): 0.0,
        frozenset((1, 2)): 9.0,
    }  # fmt: skip


def test_of_two_edges_between_two_nodes_the_shorter_counts():
    ground = graph(3, [(0, 1), (1, 0), (1, 2)], [5.0, 2.0, 1.0])
    assert kind(ground) == "tree" and sorted(ground.structure.lengths) == [0.0, 1.0, 2.0]
    stored = csr_array(([0.0, 1.0], ([0, 1], [1, 2])), shape=(3, 3))  # a stored 0 is an edge
    assert sorted(Ground.graph(stored).structure.lengths) == [0.0, 0.0, 1.0]


@pytest.mark.parametrize("change", [1e-14, -1e-14, 1e-3])
def test_one_cost_that_is_off_is_no_star(change):
    w = np.random.default_rng(1).random(300) + 0.5
    M = w[:, None] + w
    np.fill_diagonal(M, 0.0)
    assert found_in(M, 0.0, M.max()).kind == "star"
    M[290, 280] *= 1 + change
    assert found_in(M, 0.0, M.max()) is None
    M = np.ones((9, 9)) - np.eye(9)
    M[7, 7] = 1e-300
    assert found_in(M, 0.0, 1.0) is None


def test_a_matrix_is_looked_at_once(monkeypatch):
    ground, looks = Ground(random_metric(10, 1)), []
    monkeypatch.setattr("sinkdist.ground.ground.found_in", lambda *x: looks.append(1))
    assert ground.structure is None and ground.structure is None and len(looks) == 1
