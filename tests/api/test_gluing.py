"""The gluing lemma by itself: sums written out, and what is no coupling."""

import numpy as np
import pytest
from hypothesis import given

from sinkdist.api.gluing import glue
from sinkdist.errors import InputError
from tests import naive
from tests.small_pairs import shapes


def coupling(rng, shape):
    P = rng.random(shape) * (rng.random(shape) < 0.7)
    P[0] += 0.01
    return P / P.sum()


@given(shapes)
def test_a_way_by_way_of_the_middle(shape):
    m, n, seed = shape
    rng = np.random.default_rng(seed)
    P = coupling(rng, (m, n))
    x, y = P.sum(axis=1), P.sum(axis=0)
    parts = rng.dirichlet(np.ones(4), n)  # where each middle bin sends its mass
    Q = y[:, None] * parts
    S = glue(P, Q)
    np.testing.assert_allclose(S, P @ parts, atol=1e-15)
    np.testing.assert_allclose(S.sum(axis=1), x, atol=1e-14)
    z = S.sum(axis=0)
    np.testing.assert_allclose(z, Q.sum(axis=0), atol=1e-14)
    rows = x > 0
    information = naive.kl_from_independence(S[rows].tolist(), x[rows].tolist(), z.tolist())
    assert (
        information
        <= naive.kl_from_independence(P[rows].tolist(), x[rows].tolist(), y.tolist()) + 1e-12
    )


@pytest.mark.parametrize(
    ("P", "Q", "sentence"),
    [
        ([0.5, 0.5], [[1.0]], "'P' must be a matrix. Got shape (2,)"),
        ([[1.0]], [[0.5], [0.5]], "'P' has 1 columns and 'Q' has 2 rows"),
        ([[1.5, -0.5]], [[1.0]], "Entry (0, 1) of 'P' is -0.5; couplings are non-negative."),
        ([[np.nan]], [[1.0]], "Entry (0, 0) of 'P' is nan"),
        ([[0.7]], [[1.0]], "'P' sums to 0.7, but a coupling sums to 1."),
        ([[0.5, 0.5]], [[0.25], [0.75]], "must sum to the same histogram. They differ by 0.5."),
    ],
)
def test_refusals(P, Q, sentence):
    with pytest.raises(InputError) as caught:
        glue(P, Q)
    assert sentence in str(caught.value)
