"""Small random problems for searches: ties, duplicates, zero bins, costs of every kind."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

import sinkdist as sd

#: Members of the family; the last entry is the tolerance of their values.
MEMBERS = (
    ({"lam": np.inf}, 1e-9), ({"alpha": 0.05}, 1e-5), ({"alpha": 0.5}, 1e-5),
    ({"alpha": 3.0}, 1e-5), ({"lam": 0.0}, 1e-12), ({"lam": 3.0}, 1e-5), ({"lam": 50.0}, 1e-5),
)  # fmt: skip


def draw_ground(rng):
    """Metric or not, symmetric or not, square or not, with a structure or without."""
    m, n = rng.integers(1, 8, 2)
    kind = int(rng.integers(8))
    if kind == 0:
        return sd.Ground(rng.random((m, n)))
    if kind == 1:
        return sd.Ground(rng.integers(0, 3, (m, n)))
    if kind == 2:
        return sd.Ground.points(rng.random((m, 2)))
    if kind == 3:
        metric = str(rng.choice(["euclidean", "cityblock", "sqeuclidean"]))
        return sd.Ground.grid(2, int(rng.integers(2, 4)), metric=metric)
    if kind == 4:
        return sd.Ground(np.full((m, n), 2.5))
    if kind == 5:
        return sd.Ground.grid(m + 1)
    if kind == 6:
        return sd.Ground(rng.random((m, n)) * 10.0 ** rng.integers(-40, 40))
    return sd.Ground.points(rng.random((m + 2, 3)))


def draw_rows(rng, count, bins):
    """Histograms with zero bins; every other family consists of small whole numbers."""
    if rng.random() < 0.5:
        X = rng.integers(0, 3, (count, bins)).astype(float)
    else:
        X = rng.dirichlet(np.full(bins, 0.5), count) * (rng.random((count, bins)) < 0.6)
        X[X < 1e-3] = 0.0
    X[X.sum(axis=1) == 0.0] = 1.0
    return X / X.sum(axis=1, keepdims=True)


def draw(seed):
    """A ground, queries, candidates (None for the queries themselves), a member, its tolerance."""
    rng = np.random.default_rng(seed)
    ground = draw_ground(rng)
    square = ground.shape[0] == ground.shape[1]
    Y = draw_rows(rng, int(rng.integers(1, 25)), ground.shape[1])
    Y = np.vstack([Y, Y[rng.integers(len(Y), size=int(rng.integers(0, 4)))]])
    X = draw_rows(rng, 3, ground.shape[0])
    if square and rng.random() < 0.5:
        X[0] = Y[-1]
    member, tol = MEMBERS[int(rng.integers(len(MEMBERS)))]
    if "lam" in member and 0.0 < member["lam"] < np.inf:
        member = {"lam": member["lam"] / (ground.max or 1.0)}
    if square and rng.random() < 0.2:
        member = {**member, "coincidence": True}
    if square and rng.random() < 0.3:
        X, Y = Y, None
    k = int(rng.integers(1, 6))
    if rng.random() < 0.3:
        X, Y = csr_array(X), None if Y is None else csr_array(Y)
    return ground, X, Y, member, tol, k


def by_brute_force(ground, X, Y, member):
    """All distances; NaN from a row to itself."""
    D = np.array(sd.pairwise(X, X if Y is None else Y, ground=ground, **member))
    if Y is None:
        np.fill_diagonal(D, np.nan)
    return D
