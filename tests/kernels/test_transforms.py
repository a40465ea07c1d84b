"""Transforms of potentials against the formula, pair by pair."""

import numpy as np
import pytest

from sinkdist.kernels.transforms import beside_diagonal, transposed, two_transforms
from sinkdist.solvers.bins import sparse_rows


@pytest.mark.nojit
def test_two_transforms():
    rng = np.random.default_rng(2)
    Y = rng.dirichlet(np.full(6, 0.5), 8) * (rng.random((8, 6)) < 0.6)
    Y[2] = 0.0
    Y[2, 1] = 1.0
    r, M, G = Y[0], rng.random((6, 6)), rng.normal(size=(2, 6)).astype(np.float32)
    rows, index = np.flatnonzero(r), np.array([0, 2, 3, 7])
    columns = np.concatenate([rows, np.setdiff1d(np.arange(6), rows)])
    label = np.argsort(columns)
    T, margins = np.zeros((6, 8), np.float32), np.array([0.01, 0.02])
    T[:, : rows.size] = M[rows][:, columns].T
    for enough in (np.inf, -9.0):  # then the first potential alone is looked at
        bound = np.zeros(4)
        two_transforms(
            T, r[rows], *sparse_rows(Y), label, index, np.ascontiguousarray(G[:, columns]), margins,
            enough, np.empty(rows.size), np.empty(6, np.int64), np.empty(6),
            np.empty(8, np.float32), bound,
        )  # fmt: skip
        for k, c in enumerate(Y[index]):
            a, b = np.maximum(r - c, 0.0), np.maximum(c - r, 0.0)
            on, wanted = b > 0.0, [0.0]
            for g, margin in zip(G, margins, strict=True):
                if on.any() and (enough == np.inf or len(wanted) == 1):
                    wanted.append(a @ (M[:, on] - g[on]).min(axis=1) + b @ g - margin)
            assert bound[k] == pytest.approx(max(wanted), abs=1e-6)


@pytest.mark.nojit
def test_own_bins_are_left_out_of_the_first_transform():
    rng = np.random.default_rng(3)
    M, f = rng.random((4, 7)), rng.normal(size=4)
    g = (M - f[:, None]).min(axis=0)
    away = M[:, :4] - f[:, None] + np.diag(np.full(4, np.inf))
    wanted = np.concatenate([away.min(axis=0), g[4:]])
    beside_diagonal(M, f, g)
    np.testing.assert_array_equal(g, wanted)
    alone = np.array([0.5, 0.7])
    beside_diagonal(M[:1, :2].copy(), f[:1], alone)
    np.testing.assert_array_equal(alone, [0.5, 0.7])


@pytest.mark.nojit
def test_transposed():
    costs, T = np.arange(6.0, dtype=np.float32).reshape(2, 3), np.full((3, 4), 9.0, np.float32)
    transposed(costs, T)
    np.testing.assert_array_equal(T[:, :2], costs.T)
    assert (T[:, 2:] == 9.0).all()
