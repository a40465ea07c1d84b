"""Two transforms bound the exact distance under a metric, from any potential."""

import numpy as np

import sinkdist as sd
from sinkdist.inputs.histograms import read
from sinkdist.search import candidates
from sinkdist.search.candidates import Candidates, Survivors
from sinkdist.search.transforms import Transforms


def test_never_above_the_exact_distance(monkeypatch):
    monkeypatch.setattr(candidates, "_SPARSE", 2.0)
    rng, every = np.random.default_rng(0), np.arange(15)
    for _ in range(20):
        d = int(rng.integers(2, 12))
        ground = sd.Ground.points(rng.random((d, 3)))
        X = rng.dirichlet(np.full(d, 0.3), 15) * (rng.random((15, d)) < 0.5)
        X[X.sum(axis=1) == 0.0] = 1.0
        X[7] = np.eye(d)[0]
        X /= X.sum(axis=1, keepdims=True)
        rows = Candidates.of(read(X, "X", dtype=np.dtype(float), bins=d)).sparse
        assert rows is not None
        D = sd.distance(X[0], X, ground, lam=np.inf)
        s = sd.solve(X[0], X[3], ground, lam=np.inf)
        bins = np.flatnonzero(X[0])
        bound = Transforms(ground, bins, X[0][bins], rows, rows.most, 0.0)
        some = Survivors(every[::3], np.zeros(5))  # whose columns are read first
        bound.begin(some, np.inf)
        known = Survivors(every, np.zeros(15))
        bound.begin(known, np.inf)
        assert (known.bound <= D).all() and known.bound.sum() > 0.5 * D.sum()
        np.testing.assert_array_equal(some.bound, known.bound[::3])
        tight = s.potentials[0][bins]
        for f in (tight, rng.normal(size=bins.size)):
            for enough in (-1.0, np.inf):  # by one transform, and by two
                known = Survivors(every, np.zeros(15))
                bound.raise_bounds(known, f[None], enough)
                assert (known.bound <= D).all()
        assert known.bound[0] == 0.0


def test_potentials_of_a_solve_prove_its_distance():
    """And at least what their plane proves for the others."""
    rng = np.random.default_rng(1)
    ground, every = sd.Ground.points(rng.random((30, 4))), np.arange(40)
    X = rng.dirichlet(np.full(30, 0.1), 40) * (rng.random((40, 30)) < 0.3)
    X[X.sum(axis=1) == 0.0, :4] = 1.0
    X /= X.sum(axis=1, keepdims=True)
    family = Candidates.of(read(X, "X", dtype=np.dtype(float), bins=30))
    from sinkdist.solvers.bins import sparse_rows
    from sinkdist.solvers.planes import hard_planes

    rows, bins = sparse_rows(X), np.flatnonzero(X[0])
    assert family.n == 40
    bound = Transforms(ground, bins, X[0][bins], rows, rows.most, 0.0)
    s = sd.solve(X[0], X[3], ground, lam=np.inf)
    f = s.potentials[0][bins][None]
    (plane,) = hard_planes(ground.matrix[bins], X[0][bins], f)
    single = Transforms(
        ground, bins, X[0][bins], rows, rows.most, 0.0, ground.dense.astype(np.float32)
    )
    bounds = []
    for enough in (-1.0, np.inf):
        known = Survivors(every, np.zeros(40))
        bound.raise_bounds(known, np.vstack([f] * 17), enough)  # more than stand side by side
        assert abs(known.bound[3] - s.value) < 1e-4 * ground.max
        same = Survivors(every, np.zeros(40))
        single.raise_bounds(same, np.vstack([f] * 17), enough)
        np.testing.assert_array_equal(same.bound, known.bound)
        assert (known.bound >= X @ plane.g + plane.constant - 1e-4 * ground.max).all()
        bounds.append(known.bound)
    assert (bounds[1] >= bounds[0] - 1e-4 * ground.max).all() and bounds[1].sum() > bounds[0].sum()
