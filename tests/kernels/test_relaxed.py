"""Relaxed transport against the formula."""

import numpy as np
import pytest

from sinkdist.kernels.relaxed import least_costs, relaxed_alone, relaxed_transport
from sinkdist.kernels.vectors import LANES
from sinkdist.solvers.bins import sparse_rows


@pytest.mark.nojit
def test_least_costs_leave_a_column_out():
    rng = np.random.default_rng(0)
    M, rows, own = rng.random((6, 9)), np.array([1, 4, 5]), np.array([1, -1, 8])
    found = np.empty(9, np.float32)
    least_costs(M, rows, own, found)
    some = M[rows].copy()
    some[0, 1] = some[2, 8] = np.inf
    np.testing.assert_array_equal(found, some.min(axis=0).astype(np.float32))
    least_costs(M, rows[:1], own[:1], found)
    assert found[1] == 0.0 and (np.delete(found, 1) > 0.0).all()


@pytest.mark.nojit
def test_relaxed_transport_of_one_query_and_of_some():
    rng = np.random.default_rng(1)
    Y = rng.dirichlet(np.full(8, 0.4), 12) * (rng.random((12, 8)) < 0.7)
    start, bins, mass = sparse_rows(Y)
    rows = start, bins.astype(np.int32), mass.astype(np.float32)
    pays, free = rng.random((2, 8, LANES)).astype(np.float32)
    free *= rng.random((8, LANES)) < 0.4
    margins = 0.1 * rng.random(5)
    wanted = np.array([np.maximum(Y - f, 0.0) @ p for p, f in zip(pays.T, free.T, strict=True)])
    wanted = np.maximum(wanted[:5] - margins[:, None], 0.0)
    found = np.empty((5, 12))  # fewer queries than lanes
    relaxed_transport(
        *rows, np.hstack([pays, free]), margins, np.empty(LANES, np.float32), found
    )  # fmt: skip
    np.testing.assert_allclose(found, wanted, atol=1e-6)
    relaxed_alone(*rows, pays[:, 3].copy(), free[:, 3].copy(), margins[3], found[0])
    np.testing.assert_allclose(found[0], wanted[3], atol=1e-6)
