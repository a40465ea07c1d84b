"""Gaps as blocks: each gap once, and nothing else."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sinkdist.learn.missing_blocks import rectangles, triangles


def masks(n, m, seed):
    """Patterns with few kinds of rows, as folds leave them."""
    rng = np.random.default_rng([n, m, seed])
    kinds = rng.random((3, m)) < 0.5
    return kinds[rng.integers(0, 3, n)]


@given(st.builds(masks, st.integers(1, 12), st.integers(1, 12), st.integers(0, 10**6)))
def test_rectangles_hold_every_gap_once(missing):
    covered = np.zeros(missing.shape, int)
    blocks = list(rectangles(missing))
    for rows, columns in blocks:
        covered[np.ix_(rows, columns)] += 1
    np.testing.assert_array_equal(covered, missing)
    assert len(blocks) <= 3  # as few as there are kinds of rows


@given(st.integers(1, 12), st.integers(0, 10**6))
def test_triangles_hold_every_pair_once(n, seed):
    """Rows of a fold miss each other, and those of some other folds, and so do these."""
    rng = np.random.default_rng([n, seed])
    folds = rng.integers(0, 4, n)
    wanted = rng.random((4, 4)) < 0.5
    wanted |= wanted.T
    missing = wanted[np.ix_(folds, folds)]
    covered = np.zeros((n, n), int)
    for rows, columns in triangles(missing):
        if columns is None:
            covered[np.ix_(rows, rows)] += 1
        else:
            covered[np.ix_(rows, columns)] += 1
            covered[np.ix_(columns, rows)] += 1
    np.testing.assert_array_equal(covered, missing)
