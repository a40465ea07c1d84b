"""Transforms of potentials against the formula, pair by pair."""

import numpy as np
import pytest

from sinkdist.kernels.transforms import (
    UNUSED,
    costs_to_query,
    number_bins,
    one_transform,
    transform_all,
    two_transforms,
)
from sinkdist.kernels.vectors import HUGE, LANES
from sinkdist.solvers.bins import sparse_rows


@pytest.fixture
def pairs():
    """A query, candidates, costs and potentials; the tables that kernels take."""
    rng = np.random.default_rng(2)
    Y = rng.dirichlet(np.full(6, 0.5), 8) * (rng.random((8, 6)) < 0.6)
    Y[2] = 0.0
    Y[2, 1] = 1.0
    r, M, F = Y[0], rng.random((6, 6)), rng.normal(size=(2, 6))
    rows = np.flatnonzero(r)
    columns = np.concatenate([rows, np.setdiff1d(np.arange(6), rows)])
    T, G = np.zeros((6, LANES), np.float32), np.zeros((6 + rows.size, LANES), np.float32)
    T[:, : rows.size] = M[rows][:, columns].T
    T[np.arange(rows.size), np.arange(rows.size)] = HUGE
    F = F - F[:, rows] @ r[rows, None] / r.sum()
    transform_all(T, r[rows], F[:, rows].copy(), G, *np.empty((2, 2)))
    mass = np.zeros(6)
    mass[: rows.size] = r[rows]
    label = np.argsort(columns).astype(np.int32)
    index = np.array([0, 2, 3, 7])
    away = M + np.diag(np.full(6, np.inf))
    first = (away[None, rows] - F[:, rows, None]).min(axis=1)
    tables = T, mass, *sparse_rows(Y), label, index, G, rows.size
    return r, Y[index], M, F, first, tables


@pytest.mark.nojit
def test_one_transform(pairs):
    r, C, _, F, first, tables = pairs
    bound, margins, which = np.full(4, -9.0), np.array([0.01, 0.02]), np.empty(4, np.int64)
    rows = np.flatnonzero(r)
    one_transform(
        *tables, margins - F[:, rows] @ r[rows], np.empty(13, np.int64), np.empty(13, np.float32),
        np.empty(LANES, np.float32), which, bound,
    )  # fmt: skip
    for k, c in enumerate(C):
        a, b = np.maximum(r - c, 0.0), np.maximum(c - r, 0.0)
        proven = F @ a + first @ b - margins
        assert which[k] == proven.argmax()
        assert bound[k] == pytest.approx(proven.max(), abs=1e-6)


@pytest.mark.nojit
def test_two_transforms(pairs):
    r, C, M, _, first, tables = pairs
    margins, rows, which = np.array([0.01, 0.02]), np.flatnonzero(r), np.array([0, 1, 0, 1])
    for plain, enough in ((np.inf, np.inf), (0.03, np.inf), (0.03, -9.0)):
        bound = np.zeros(4)
        two_transforms(
            *tables, margins, which, plain, enough, np.empty(6), np.empty(7, np.int64), np.empty(7),
            np.empty(7, np.float32), np.empty(LANES, np.float32), bound,
        )  # fmt: skip
        for k, c in enumerate(C):
            a, b = np.maximum(r - c, 0.0), np.maximum(c - r, 0.0)
            on, wanted = b > 0.0, [0.0]
            tried = [*zip(first, margins, strict=True), (np.zeros(6), plain)]
            for g, margin in tried if on.any() and enough == np.inf else ():
                wanted.append(a[rows] @ (M[rows][:, on] - g[on]).min(axis=1) + b @ g - margin)
            assert bound[k] == pytest.approx(max(wanted), abs=1e-6)


@pytest.mark.nojit
def test_what_is_enough_ends_it(pairs):
    """With the potential that comes first."""
    r, C, M, _, first, tables = pairs
    rows, margins, c = np.flatnonzero(r), np.zeros(2), C[3]
    a, on = np.maximum(r - c, 0.0)[rows], c > r
    proven = [a @ (M[rows][:, on] - g[on]).min(axis=1) + (c - r)[on] @ g[on] for g in first]
    for q in (0, 1):
        bound = np.full(4, -9.0)
        two_transforms(
            *tables, margins, np.full(4, q), np.inf, -8.0, np.empty(6), np.empty(7, np.int64),
            np.empty(7), np.empty(7, np.float32), np.empty(LANES, np.float32), bound,
        )  # fmt: skip
        assert bound[3] == pytest.approx(proven[q], abs=1e-6)


@pytest.mark.nojit
def test_bins_are_numbered_in_order_and_once():
    Y = np.array([[0.5, 0.0, 0.0, 0.5], [0.0, 0.5, 0.5, 0.0], [0.0, 0.0, 0.5, 0.5]])
    start, bins, _ = sparse_rows(Y)
    label, columns = np.full(4, UNUSED, np.int32), np.empty(4, np.int64)
    label[3], columns[0] = 0, 3
    assert number_bins(start, bins, np.array([2, 0]), 1, label, columns) == 3
    assert columns[:3].tolist() == [3, 0, 2] and label.tolist() == [1, UNUSED, 2, 0]
    assert number_bins(start, bins, np.array([1, 2]), 3, label, columns) == 4
    assert columns.tolist() == [3, 0, 2, 1]


@pytest.mark.nojit
@pytest.mark.parametrize("own", [1, 6])
def test_costs_to_query(own):
    M, T = np.arange(70.0).reshape(7, 10), np.full((3, LANES), np.nan, np.float32)
    rows, columns = np.arange(own)[::-1].copy(), np.array([9, 0, 4])
    costs_to_query(M, rows, columns, T)
    np.testing.assert_array_equal(T[:, :own], M[rows][:, columns].T)
    assert np.isfinite(T).all()
