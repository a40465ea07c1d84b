"""Triangles of a cost matrix against three plain loops, shortest paths against SciPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse.csgraph import floyd_warshall

from sinkdist.kernels.triangles import shortest_paths, worst_triangle

costs = st.builds(
    lambda d, seed: np.random.default_rng([d, seed]).random((d, d)),
    st.integers(1, 8),
    st.integers(0, 10**6),
)


@given(costs)
def test_the_worst_triangle(M):
    d = range(len(M))
    found, i, j, k = worst_triangle(M)
    worst = max(M[a, b] - (M[a, via] + M[via, b]) for a in d for b in d for via in d)
    assert found == pytest.approx(worst, abs=1e-15)
    assert M[i, j] - (M[i, k] + M[k, j]) == pytest.approx(worst, abs=1e-15)


@given(costs)
def test_shortest_paths(M):
    wanted = floyd_warshall(M)
    found = M.copy()
    np.fill_diagonal(found, 0.0)
    shortest_paths(found)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    assert worst_triangle(found)[0] <= 1e-15
