"""What a chunk of rows makes, against the same in NumPy."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sinkdist.kernels import chunks
from sinkdist.kernels.chunks import COLUMNS, COST, FILL, FINISH, GOOD, MADE, ROWS, SQUARES, SWEEP
from tests.small_pairs import small_pair


def made(what, p, first, last, seed=0):
    """A chunk's output, the kernel, and the vectors that it read."""
    rng, (m, n) = np.random.default_rng(seed), p.M.shape
    rows, columns = rng.uniform(0.1, 1.0, (ROWS, m)), rng.uniform(0.1, 1.0, (COLUMNS, n))
    K = p.K.astype(np.float32)
    out = np.full(chunks.width_of(last - first, n), np.nan)
    chunks.chunk_of_rows(what, p.lam, first, last, p.M, K, rows, columns, out)
    u, acc = out[MADE : MADE + last - first], out[MADE + last - first : MADE + last - first + n]
    return out, K, rows[:, first:last], columns, u, acc


parts = st.tuples(st.integers(1, 11), st.integers(1, 9), st.integers(0, 2**20))


@given(parts)
def test_a_sweep(shape):
    p = small_pair(*shape)
    first, last = shape[0] // 3, shape[0]
    out, K, rows, columns, u, acc = made(SWEEP, p, first, last)
    K = K[first:last].astype(float)
    expected = rows[chunks.R] / (K @ columns[chunks.V])
    np.testing.assert_allclose(u, expected, rtol=1e-13)
    np.testing.assert_allclose(acc, expected @ K, rtol=1e-13)
    assert out[GOOD] == 1.0


@given(parts)
def test_squares(shape):
    p = small_pair(*shape)
    _, K, rows, _, _, acc = made(SQUARES, p, 0, shape[0])
    weights = rows[chunks.U] ** 2 / rows[chunks.R]
    np.testing.assert_allclose(acc, weights @ K.astype(float) ** 2, rtol=1e-13)


@given(parts)
def test_filling_writes_only_its_rows(shape):
    p = small_pair(*shape)
    first = shape[0] // 2
    _, K, rows, columns, _, _ = made(FILL, p, first, shape[0])
    exponent = rows[chunks.FILLED_F][:, None] + columns[chunks.FILLED_G] - p.M[first:]
    np.testing.assert_allclose(K[first:], np.exp(p.lam * exponent), rtol=2e-7)
    assert np.array_equal(K[:first], p.K[:first].astype(np.float32))


@given(parts)
def test_the_last_sweep_is_in_float64(shape):
    p = small_pair(*shape)
    out, _, rows, columns, u, acc = made(FINISH, p, 0, shape[0])
    P = np.exp(p.lam * (rows[chunks.F][:, None] + columns[chunks.G] - p.M))
    P *= (rows[chunks.R] / P.sum(axis=1))[:, None]
    np.testing.assert_allclose(acc, P.sum(axis=0), rtol=1e-12)
    assert out[COST] == pytest.approx((P * p.M).sum(), rel=1e-12)
    np.testing.assert_allclose(u.size, shape[0])


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
@pytest.mark.parametrize("row", [0, 4])
def test_sums_that_are_not_representable(bad, row):
    p = small_pair(5, 3, 0)
    rows, columns = np.ones((ROWS, 5)), np.ones((COLUMNS, 3))
    K = p.K.astype(np.float32)
    K[row] = bad
    out = np.empty(chunks.width_of(5, 3))
    with np.errstate(all="ignore"):
        chunks.chunk_of_rows(SWEEP, 1.0, 0, 5, p.M, K, rows, columns, out)
    assert out[GOOD] == 0.0
