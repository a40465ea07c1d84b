"""Two transforms bound the exact distance under a metric, from any potential."""

import numpy as np

import sinkdist as sd
from sinkdist.inputs.histograms import read
from sinkdist.search import candidates
from sinkdist.search.candidates import Candidates, Survivors
from sinkdist.search.transforms import Transforms
from sinkdist.solvers.planes import hard_plane


def test_never_above_the_exact_distance(monkeypatch):
    monkeypatch.setattr(candidates, "_SPARSE", 2.0)
    rng = np.random.default_rng(0)
    for _ in range(20):
        d = int(rng.integers(2, 12))
        ground = sd.Ground.points(rng.random((d, 3)))
        X = rng.dirichlet(np.full(d, 0.3), 15) * (rng.random((15, d)) < 0.5)
        X[X.sum(axis=1) == 0.0] = 1.0
        X /= X.sum(axis=1, keepdims=True)
        rows = Candidates.of(read(X, "X", dtype=np.dtype(float), bins=d))
        D = sd.distance(X[0], X, ground, lam=np.inf)
        s = sd.solve(X[0], X[3], ground, lam=np.inf)
        bins = X[0] > 0.0
        costs = np.ascontiguousarray(ground.matrix[bins])
        bound = Transforms(costs, None, ground.max, X[0], rows, 0.0)
        known = Survivors(np.arange(15), np.zeros(15))
        bound.begin(known, hard_plane(costs, X[0][bins], np.zeros(bins.sum())))
        assert (known.bound <= D).all() and known.bound.sum() > 0.5 * D.sum()
        tight = hard_plane(costs, X[0][bins], s.potentials[0][bins])
        for g in (tight.g, rng.normal(size=d)):
            known = Survivors(np.arange(15), np.zeros(15))
            bound.raise_bounds(known, g)
            assert (known.bound <= D).all()
        assert known.bound[0] == 0.0
