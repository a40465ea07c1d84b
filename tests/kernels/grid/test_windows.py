"""Windows hold every source that matters, and are narrow where they can be."""

import numpy as np
import pytest

from sinkdist.kernels.grid.windows import NEGLIGIBLE, block_of, find_windows


@pytest.mark.parametrize("sharp", [1e-3, 0.2, 2.0, 5.0, 100.0])
@pytest.mark.parametrize("seed", range(5))
def test_nothing_that_matters_is_left_out(sharp, seed):
    rng = np.random.default_rng(seed)
    n, block = 70, block_of(sharp)
    x = np.arange(n)
    bend = rng.choice([-3.0, -1.0, 0.0, 0.9, 1.0])
    phi = rng.normal(size=(6, n)) * rng.choice([1, 30]) + bend * sharp * (x - 20) ** 2
    phi[:, rng.random(n) < 0.3] = -np.inf
    phi[2] = -np.inf
    low, width, size = (np.empty((6, -(-n // block)), np.int64) for _ in range(3))
    find_windows(phi, sharp, block, 0, 6, low, width, size)
    assert not width[2].any() and not size[2].any()
    for line in (0, 1, 3, 4, 5):
        terms = phi[line] - sharp * (x[:, None] - x) ** 2
        matters = terms > terms.max(axis=1, keepdims=True) - NEGLIGIBLE
        for i in range(n):
            first, count = low[line, i // block], width[line, i // block]
            assert not matters[i, :first].any() and not matters[i, first + count :].any()
        assert np.all((size[line] == width[line]) | (size[line] == block * width[line]))


def test_windows_of_a_flat_line_are_as_wide_as_the_kernel():
    n, sharp = 400, 0.5
    low, width, size = (np.empty((1, n // 16), np.int64) for _ in range(3))
    find_windows(np.zeros((1, n)), sharp, 16, 0, 1, low, width, size)
    reach = np.sqrt((NEGLIGIBLE + 0.5 * np.log(n)) / sharp)
    assert width.max() <= 17 + 2 * reach + 2
