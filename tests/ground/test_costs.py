"""Cost matrices from descriptions, against loops over the bins and SciPy's shortest paths."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import floyd_warshall

from sinkdist.errors import InputError, InputTypeError
from sinkdist.ground import costs

LENGTHS = {
    "euclidean": lambda steps: math.sqrt(sum(x * x for x in steps)),
    "sqeuclidean": lambda steps: sum(x * x for x in steps),
    "cityblock": lambda steps: sum(map(abs, steps)),
}


@given(st.lists(st.integers(1, 4), min_size=1, max_size=3), st.sampled_from(sorted(LENGTHS)))
def test_grids(sides, metric):
    pixels = list(itertools.product(*map(range, sides)))
    wanted = [
        [LENGTHS[metric]([a - b for a, b in zip(p, q, strict=True)]) for q in pixels]
        for p in pixels
    ]
    np.testing.assert_allclose(
        costs.grid_costs(costs.grid_of(tuple(sides), metric, 1.0)), wanted, rtol=1e-15
    )


@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 10**6))
def test_points(n, dimension, seed):
    z = np.random.default_rng(seed).normal(size=(n, dimension))
    found = costs.points_costs(z, None, "euclidean")
    np.testing.assert_allclose(found, [[math.dist(a, b) for b in z] for a in z], atol=1e-14)
    np.testing.assert_array_equal(found, found.T)
    other = costs.points_costs(z, z[:1], "cityblock")
    np.testing.assert_allclose(other[:, 0], abs(z - z[0]).sum(axis=1), atol=1e-14)


@given(st.integers(2, 7), st.integers(0, 10**6), st.booleans())
def test_graphs(nodes, seed, sparse):
    rng = np.random.default_rng([nodes, seed])
    W = rng.random((nodes, nodes)) * (rng.random((nodes, nodes)) < 0.5)
    W[np.arange(nodes - 1), np.arange(1, nodes)] = rng.random(nodes - 1) + 0.1  # connected
    np.fill_diagonal(W, 0.0)
    both = np.where((W > 0) & (W.T > 0), np.minimum(W, W.T), np.maximum(W, W.T))
    wanted = floyd_warshall(np.where(both > 0, both, np.inf))
    found, _ = costs.graph_costs(csr_array(W) if sparse else W)
    np.testing.assert_allclose(found, wanted, rtol=1e-13)
    np.testing.assert_array_equal(found, found.T)


def test_parts_of_a_graph_that_no_path_joins_are_named():
    W = np.zeros((5, 5))
    W[0, 1] = W[3, 4] = W[1, 3] = 1.0
    with pytest.raises(
        InputError, match=r"2 components, of 4 nodes \(such as 0\), 1 node \(such as 2"
    ):
        costs.graph_costs(W)


@pytest.mark.parametrize(
    ("call", "error", "sentence"),
    [
        (lambda: costs.grid_of((), "euclidean", 1.0), InputError, "needs at least one side"),
        (lambda: costs.grid_of((0,), "euclidean", 1.0), InputError, "must be positive. Got 0"),
        (lambda: costs.grid_of((2.0,), "euclidean", 1.0), InputTypeError, "must be integers"),
        (lambda: costs.grid_of((2,), "cosine", 1.0), InputError, "must be one of 'euclidean'"),
        (lambda: costs.grid_of((10**6, 10**6), "euclidean", 1.0), InputError,
         "needs histograms of 7,450.6 GiB, but"),
        (lambda: costs.points_costs([[1.0, np.nan]], None, "euclidean"), InputError,
         "Coordinate 1 of point 0 of 'points' is nan"),
        (lambda: costs.points_costs([[1.0]], [[1.0, 2.0]], "euclidean"), InputError,
         "'points' are of dimension 1, but 'others' of dimension 2"),
        (lambda: costs.points_costs([1.0], None, "no such"), InputError, "cannot use metric"),
        (lambda: costs.points_costs(csr_array(np.eye(2)), None, "euclidean"), InputTypeError,
         "must be dense: pass its .toarray()"),
        (lambda: costs.graph_costs(np.array([[0, -1.0], [0, 0]])), InputError,
         "Weight (0, 1) of the adjacency matrix is -1.0"),
        (lambda: costs.graph_costs(np.array([[0, np.nan], [0, 0]])), InputError, "is nan"),
        (lambda: costs.graph_costs(np.ones((2, 3))), InputError, "must be square and not empty"),
    ],
)  # fmt: skip
def test_refusals(call, error, sentence):
    with pytest.raises(error) as caught:
        call()
    assert sentence in str(caught.value)


def test_edges_of_infinite_length_are_none_and_of_length_0_count_where_they_are_stored():
    W = np.array([[0, np.inf, 1.0], [0, 0, 1.0], [0, 0, 0]])
    assert costs.graph_costs(W)[0][0, 1] == 2.0
    free = csr_array((np.array([0.0, 1.0]), ([0, 1], [1, 2])), (3, 3))
    assert costs.graph_costs(free)[0][0, 2] == 1.0
