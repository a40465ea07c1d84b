"""Grounds with a structure, histograms that are hard for floats, and what answers must prove."""

import math
from fractions import Fraction

import numpy as np
from scipy.sparse import coo_array

import sinkdist as sd
from tests.oracles import linear_program
from tests.oracles.exact import normalised

INF = float("inf")


def tree(d, seed, zeros=0.2, spread=0.0):
    """A random tree with shuffled names; some lengths are 0, or span orders of magnitude."""
    rng = np.random.default_rng([seed, d])
    parent = [int(rng.integers(0, k)) for k in range(1, d)]
    names = rng.permutation(d)
    lengths = (rng.random(d - 1) + 0.1) * (rng.random(d - 1) >= zeros)
    lengths *= 10.0 ** rng.uniform(-spread, spread, d - 1)
    return sd.Ground.graph(coo_array((lengths, (names[1:], names[parent])), (d, d)))


def cycle(d, seed, zeros=0.2, dominating=False):
    """A circle with shuffled names; one edge may be longer than all others together."""
    rng = np.random.default_rng([seed, d])
    names = rng.permutation(d)
    lengths = (rng.random(d) + 0.1) * (rng.random(d) >= zeros)
    if dominating:
        lengths[0] = 2.0 * d
    return sd.Ground.graph(coo_array((lengths, (names, np.roll(names, 1))), (d, d)))


def star(d, seed):
    """``M_ij = w_i + w_j``; one weight is 0."""
    w = np.random.default_rng([seed, d]).random(d)
    w[d // 2] = 0.0
    M = w[:, None] + w
    np.fill_diagonal(M, 0.0)
    return sd.Ground(M)


def uniform(d, seed):
    return sd.Ground((0.5 + seed) * (1.0 - np.eye(d)))


def constant(d, seed):
    return sd.Ground(np.full((d, d + seed % 3), 1.7))


MAKE = {"tree": tree, "cycle": cycle, "star": star, "uniform": uniform, "constant": constant}


def extreme(d, seed):
    """Two histograms whose masses span 40 orders of magnitude, some bins empty."""
    rng = np.random.default_rng([seed, d])
    r, c = 10.0 ** rng.uniform(-40, 0, (2, d)) * (rng.random((2, d)) < 0.8)
    r[rng.integers(d)] += 1.0
    c[rng.integers(d)] += 1.0
    return r / r.sum(), c / c.sum()


def barely_apart(d, seed, mass):
    """A histogram and one that differs by a little mass in two bins, all else being the same."""
    rng = np.random.default_rng([seed, d])
    r = rng.random(d) + 0.5
    r /= r.sum()
    c = r.copy()
    i, j = rng.choice(d, 2, replace=False)
    c[i], c[j] = c[i] + mass, c[j] - mass
    return r, c


def truth(r, c, M):
    """The exact distance of the exactly normalised histograms, as a fraction."""
    return Fraction(linear_program.emd(normalised(r), normalised(c), np.asarray(M)))


def assert_proven(end, r, c, ground):
    """An `Exact` whose value, plan, potentials and bounds hold against exact arithmetic."""
    M, plan = np.array(ground.matrix), end.plan
    exact = truth(r, c, M)
    assert Fraction(end.lower) <= exact <= Fraction(end.upper)
    assert end.lower <= end.value <= end.upper and end.solved
    assert end.value == float(exact) or abs(end.value / float(exact) - 1.0) <= 1e-12
    assert (plan.mass > 0).all()
    assert plan.mass.size <= np.count_nonzero(r) + np.count_nonzero(c) - 1
    cells = plan.rows * M.shape[1] + plan.columns
    assert np.unique(cells).size == cells.size
    assert plan.marginal_error(r, c) <= 1e-14
    cost = math.fsum(plan.mass * M[plan.rows, plan.columns])
    assert abs(cost - end.value) <= 1e-12 * end.value
    rows, columns = r > 0, c > 0
    assert (end.f[~rows] == -INF).all() and (end.g[~columns] == -INF).all()
    f, g = end.f[rows], end.g[columns]
    scale = max(M.max(), abs(f).max(), abs(g).max())
    assert (f[:, None] + g - M[np.ix_(rows, columns)]).max() <= 1e-13 * scale
    dual = math.fsum([*(f * r[rows]), *(g * c[columns])])
    assert abs(dual - end.value) <= 1e-13 * scale
