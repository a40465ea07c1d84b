"""Linear systems by a spanning tree: SciPy's tree, and dense solves."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import minimum_spanning_tree

from sinkdist.kernels import spanning_tree
from sinkdist.kernels.spanning_tree import ENTRY, ORDER, PARENT, ROW


def plan(m, n, seed, density=0.3):
    """A sparse plan between all bins, and its compressed rows."""
    rng = np.random.default_rng(seed)
    P = rng.lognormal(sigma=2.0, size=(m, n)) * (rng.random((m, n)) < density)
    P[np.arange(m), rng.integers(n, size=m)] += rng.random(m)
    P[rng.integers(m, size=n), np.arange(n)] += rng.random(n)
    rows = csr_matrix(P / P.sum())
    return rows.toarray(), rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data


def joined(m, n, seed):
    """A plan that hangs together."""
    P, *rows = plan(m, n, seed)
    P[0] += 1e-6
    rows = csr_matrix(P)
    return P, rows.indptr.astype(np.int32), rows.indices.astype(np.int32), rows.data


def tree_of(starts, columns, values, u, v):
    tree = np.full(4 * (u.size + v.size), -9, np.int32)
    made = spanning_tree.heaviest_tree(starts, columns, values, u, v, tree)
    return made, tree.reshape(4, -1), tree


def laplacian(P):
    """Of the graph between rows and columns."""
    m, weights = len(P), np.zeros((sum(P.shape), sum(P.shape)))
    weights[:m, m:], weights[m:, :m] = P, P.T
    return np.diag(weights.sum(axis=0)) - weights


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (6, 9), (30, 20)], ids=str)
@pytest.mark.parametrize("seed", range(3))
def test_the_tree_is_the_heaviest(shape, seed):
    (m, n), rng = shape, np.random.default_rng(seed)
    P, starts, columns, values = joined(m, n, seed)
    u, v = rng.lognormal(size=m), rng.lognormal(size=n)
    made, parts, tree = tree_of(starts, columns, values, u, v)
    assert made
    order, parent, entry, row = parts[ORDER], parts[PARENT], parts[ENTRY], parts[ROW]
    assert sorted(order) == list(range(m + n)) and parent[order[0]] == -1
    place = np.argsort(order)
    weights = np.full(m + n, np.nan)
    spanning_tree.weigh_tree(columns, values, u, v, tree, weights)
    scaled = u[:, None] * P * v
    for x in order[1:]:
        assert place[parent[x]] < place[x]
        i, j = row[x], columns[entry[x]]
        assert {x, parent[x]} == {i, m + j}
        assert weights[x] == pytest.approx(scaled[i, j], rel=1e-13)
    # The same as the least of the negative weights; a shift changes no tree.
    whole = np.zeros((m + n, m + n))
    whole[:m, m:] = np.where(scaled > 0, 1.0 + scaled.max() - scaled, 0.0)
    best = minimum_spanning_tree(csr_matrix(whole))
    expected = (1.0 + scaled.max()) * best.nnz - best.sum()
    assert weights[order[1:]].sum() == pytest.approx(expected, rel=1e-10)


def test_parts_that_do_not_hang_together_have_no_tree():
    P = np.kron(np.eye(2), np.ones((3, 2)))
    rows = csr_matrix(P)
    starts, columns = rows.indptr.astype(np.int32), rows.indices.astype(np.int32)
    assert not tree_of(starts, columns, rows.data, np.ones(6), np.ones(4))[0]


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1), (6, 9), (30, 20)], ids=str)
def test_the_step_solves_the_system(shape):
    m, n = shape
    P, starts, columns, values = joined(m, n, 4)
    _, _, tree = tree_of(starts, columns, values, np.ones(m), np.ones(n))
    weights = np.empty(m + n)
    spanning_tree.weigh_tree(columns, values, np.ones(m), np.ones(n), tree, weights)
    gradient = np.random.default_rng(1).normal(size=n) * P.sum(axis=0)
    gradient -= gradient.mean()
    y = np.full(n, np.nan)
    steps = spanning_tree.solve_by_tree(
        starts, columns, values, P.sum(axis=1), P.sum(axis=0), gradient, weights, tree, 1e-12, 500,
        y,
    )  # fmt: skip
    expected = (np.linalg.pinv(laplacian(P)) @ np.concatenate([np.zeros(m), gradient]))[m:]
    spread = max(float(np.ptp(expected)), 1e-300)
    np.testing.assert_allclose(y - y.mean(), expected - expected.mean(), atol=1e-7 * spread)
    assert steps <= m + n


def test_a_tree_is_solved_in_one_step():
    P = np.zeros((4, 4))
    P[[0, 0, 1, 1, 2, 2, 3], [0, 1, 1, 2, 2, 3, 3]] = [1.0, 1e-9, 2.0, 1e-3, 3.0, 4.0, 1e-6]
    rows = csr_matrix(P)
    starts, columns = rows.indptr.astype(np.int32), rows.indices.astype(np.int32)
    _, _, tree = tree_of(starts, columns, rows.data, np.ones(4), np.ones(4))
    weights, y = np.empty(8), np.empty(4)
    spanning_tree.weigh_tree(columns, rows.data, np.ones(4), np.ones(4), tree, weights)
    steps = spanning_tree.solve_by_tree(
        starts, columns, rows.data, P.sum(axis=1), P.sum(axis=0),
        np.array([1e-9, -1e-9, 1e-6, -1e-6]), weights, tree, 1e-6, 500, y,
    )  # fmt: skip
    assert steps <= 2
