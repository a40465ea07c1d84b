"""Sums against a table, and their adjoint, against plain loops."""

import numpy as np
import pytest

from sinkdist.kernels.grid.toeplitz import add_sums, add_sums_back


@pytest.mark.parametrize("block", [1, 4, 8, 16])
@pytest.mark.parametrize("count", [0, 1, 7, 30])
def test_sums_and_their_adjoint(block, count):
    rng = np.random.default_rng(count)
    half = rng.random(100)
    table = np.concatenate([half[:0:-1], half])  # even, as a table of squares is
    weights, x = rng.random(count + 3), 90 + count
    out = np.ones(block + 5)
    add_sums(weights, 3, count, table, x, block, out, 2)
    wanted = np.ones(block + 5)
    for i in range(block):
        wanted[2 + i] += sum(weights[3 + b] * table[x - b + i] for b in range(count))
    np.testing.assert_allclose(out, wanted, rtol=1e-14)
    values, back = rng.random(block), np.ones(count + 4)
    add_sums_back(values, block, table, x, count, back, 1)
    wanted = np.ones(count + 4)
    for b in range(count):
        wanted[1 + b] += sum(values[i] * table[x - b + i] for i in range(block))
    np.testing.assert_allclose(back, wanted, rtol=1e-14)
