"""Passes for Newton's method: the Hessian against differences of the gradient, sparse or not."""

import numpy as np
import pytest
from hypothesis import given

from sinkdist.kernels import hessian
from tests.small_pairs import shapes, small_pair


def columns_of(p, logs):
    """The column sums of the plan with exact rows."""
    v = np.exp(logs)
    return v * (p.K.T @ (p.r / (p.K @ v)))


def state(p, seed):
    v = np.exp(np.random.default_rng(seed).normal(size=p.c.size))
    return p.r / (p.K @ v), v


def sparse_copy(p, u, v, cut, room=None):
    m, n = p.K.shape
    room = m * n + n if room is None else room
    starts, columns, values = np.empty(m + 1, np.int32), np.empty(room, np.int32), np.empty(room)
    count = hessian.sparsify(p.K, u, v, p.K.T @ u, p.r, p.c, cut, starts, columns, values)
    return count, starts, columns, values


def dense_copy(shape, starts, columns, values):
    P = np.zeros(shape)
    for i in range(shape[0]):
        P[i, columns[starts[i] : starts[i + 1]]] = values[starts[i] : starts[i + 1]]
    return P


@given(shapes)
def test_the_dense_hessian_is_the_derivative_of_the_column_sums(shape):
    p = small_pair(*shape)
    u, v = state(p, shape[2])
    y = np.random.default_rng(1).normal(size=p.c.size)
    acc = np.empty(p.c.size)
    hessian.dense_product(p.K, v * y, u * u / p.r, acc)
    found = v * (p.K.T @ u) * y - v * acc
    step = 1e-6
    ahead, behind = (columns_of(p, np.log(v) + s * step * y) for s in (1, -1))
    np.testing.assert_allclose(found, (ahead - behind) / (2 * step), atol=1e-9)


@given(shapes)
def test_the_diagonal_is_that_of_the_product(shape):
    p = small_pair(*shape)
    scale = np.random.default_rng(0).random(p.r.size)
    found, column = np.empty(p.c.size), np.empty(p.c.size)
    hessian.dense_diagonal(p.K, scale, found)
    for j in range(p.c.size):
        hessian.dense_product(p.K, np.eye(p.c.size)[j], scale, column)
        assert found[j] == pytest.approx(column[j], rel=1e-13)


@given(shapes)
def test_products_with_a_whole_sparse_copy_are_those_with_the_plan(shape):
    p = small_pair(*shape)
    u, v = state(p, shape[2])
    P = u[:, None] * p.K * v
    count, *rows = sparse_copy(p, u, v, 0.0)
    assert count == P.size
    np.testing.assert_allclose(dense_copy(P.shape, *rows), P, rtol=1e-13)
    y, acc, sums = np.random.default_rng(2).normal(size=v.size), np.empty(v.size), np.empty(v.size)
    hessian.sparse_product(*rows, p.r, y, acc)
    np.testing.assert_allclose(acc, P.T @ (P @ y / p.r), atol=1e-14)
    hessian.sparse_diagonals(*rows, p.r, sums, acc)
    np.testing.assert_allclose(sums, P.sum(axis=0), rtol=1e-13)
    np.testing.assert_allclose(acc, (P * P / p.r[:, None]).sum(axis=0), rtol=1e-13)


@pytest.mark.parametrize("n", [7, 64, 150])
def test_a_sparse_copy_leaves_out_what_is_small_and_keeps_the_rows_sums(n):
    """Wide enough for several chunks of columns."""
    p = small_pair(9, n, 5, lam=60.0)
    u, v = state(p, 0)
    cut = 1e-2
    count, *rows = sparse_copy(p, u, v, cut)
    P, kept = u[:, None] * p.K * v, dense_copy(p.K.shape, *rows)
    wanted = cut * np.minimum.outer(p.r, np.minimum(p.c, P.sum(axis=0))) < P
    np.testing.assert_array_equal(kept > 0, wanted)
    assert 0 < count == wanted.sum() < P.size
    np.testing.assert_allclose(kept.sum(axis=1), p.r, rtol=1e-13)
    factors = kept[wanted] / P[wanted]
    assert (factors >= 1.0 - 1e-13).all()


def test_no_row_and_no_column_is_left_without_entries():
    """Not even a column that holds a millionth of its mass so far."""
    p = small_pair(9, 30, 5, lam=60.0)
    u, v = state(p, 0)
    v[::3] *= 1e-6
    u = p.r / (p.K @ v)
    _, *rows = sparse_copy(p, u, v, 1e-2 / 30)
    kept = dense_copy(p.K.shape, *rows) > 0
    assert kept.any(axis=0).all() and kept.any(axis=1).all()
    P = u[:, None] * p.K * v
    alone = 1e-2 / 30 * np.minimum.outer(p.r, p.c) < P
    assert not alone.any(axis=0).all()  # by their masses alone, some columns would be


def test_a_copy_that_does_not_fit_is_refused():
    p = small_pair(6, 5, 1)
    u, v = state(p, 0)
    assert sparse_copy(p, u, v, 0.0, room=6 * 5)[0] == 30
    assert sparse_copy(p, u, v, 0.0, room=6 * 5 - 1)[0] == -1
