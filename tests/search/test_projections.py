"""Projections bound the exact distance, with their rounding."""

import numpy as np
import pytest

import sinkdist as sd
from sinkdist.inputs.histograms import read
from sinkdist.search.candidates import Candidates
from sinkdist.search.projections import Projections


def family(rng, n, d):
    X = rng.dirichlet(np.full(d, 0.2), n) * (rng.random((n, d)) < 0.7)
    X[X.sum(axis=1) == 0.0] = 1.0
    return X / X.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("shape", [(2, 2), (3, 5), (6, 6), (2, 3, 3)])
@pytest.mark.parametrize("metric", ["euclidean", "cityblock"])
def test_never_above_the_exact_distance(shape, metric):
    rng = np.random.default_rng(0)
    ground = sd.Ground.grid(*shape, metric=metric).scaled("max")
    X, d = family(rng, 30, int(np.prod(shape))), int(np.prod(shape))
    X[1] = X[0]
    bound = Projections.of(ground, Candidates.of(read(X, "X", dtype=np.dtype(float), bins=d)))
    assert bound is not None
    D = sd.pairwise(X, ground=ground, lam=np.inf)
    found = bound.bounds(X)
    assert (found <= D).all() and (found >= 0.0).all()
    assert found.sum() > 0.75 * D.sum()


def test_a_bound_that_is_tight_stays_below():
    """Moves along an axis cost what their projection costs: only the margin is between them."""
    ground = sd.Ground.grid(8, 8)
    rng = np.random.default_rng(1)
    X = np.zeros((40, 8, 8))
    X[:, 3, :] = rng.dirichlet(np.ones(8), 40)
    X = X.reshape(40, 64)
    bound = Projections.of(ground, Candidates.of(read(X, "X", dtype=np.dtype(float), bins=64)))
    assert bound is not None
    D = sd.pairwise(X, ground=ground, lam=np.inf)
    found = bound.bounds(X)
    assert (found <= D).all() and np.abs(found - D).max() < 1e-4
