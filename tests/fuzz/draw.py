"""Drawing costs and histograms: usual ones, and all that has been seen to break solvers."""

import math

import numpy as np

#: Masses here are neither surely counted nor surely counted as zero: never drawn.
TWILIGHT = {np.dtype("f8"): (2e-101, 5e-100), np.dtype("f4"): (1e-39, 1e-37)}


def power(rng, low, high):
    """Ten to a power uniform between two exponents."""
    return 10.0 ** rng.uniform(low, high)


def choose(rng, weights):
    """A key of a dictionary of weights."""
    names = list(weights)
    shares = np.array([weights[name] for name in names], float)
    return names[rng.choice(len(names), p=shares / shares.sum())]


# --------------------------------------------------------------------------------------- sizes


def sizes(rng):
    """Numbers of bins on both sides."""
    top = choose(rng, {4: 25, 7: 35, 12: 28, 40: 10, 150: 1.7, 190: 0.3})
    low = {4: 1, 7: 2, 12: 6, 40: 12, 150: 41, 190: 165}[top]
    d = int(rng.integers(low, top + 1))
    if rng.random() < 0.2 and top <= 40:
        return d, int(rng.integers(low, top + 1))
    return d, d


# --------------------------------------------------------------------------------------- costs


def _points(rng, d1, d2, exponent):
    z = rng.standard_normal((d1, rng.integers(1, 4)))
    w = z if d1 == d2 else rng.standard_normal((d2, z.shape[1]))
    return ((z[:, None] - w) ** 2).sum(axis=-1) ** exponent


def _duplicated(rng, d1, d2):
    """Bins that are the same place: equal rows, equal columns, zero costs off the diagonal."""
    M = _points(rng, d1, d2, 0.5)
    if d1 == d2:
        k = rng.integers(0, max(1, d1 // 2), d1)
        return M[np.ix_(k, k)]
    return M[np.ix_(rng.integers(0, d1, d1), rng.integers(0, d2, d2))]


def _outlier(rng, d1, d2):
    """One cost far above all others."""
    M = rng.random((d1, d2))
    M[rng.integers(d1), rng.integers(d2)] = power(rng, 3, rng.choice([6, 14, 120]))
    return M


COSTS = {
    "metric": (20, lambda rng, d1, d2: _points(rng, d1, d2, 0.5)),
    "squared": (8, lambda rng, d1, d2: _points(rng, d1, d2, 1.0)),
    "uniform": (16, lambda rng, d1, d2: rng.random((d1, d2))),
    "whole": (8, lambda rng, d1, d2: rng.integers(0, 4, (d1, d2)).astype(float)),
    "discrete": (4, lambda rng, d1, d2: 1.0 - np.eye(d1, d2)),
    "zero": (1, lambda rng, d1, d2: np.zeros((d1, d2))),
    "constant": (1.5, lambda rng, d1, d2: np.full((d1, d2), rng.random() + 0.1)),
    "nearly constant": (
        2,
        lambda rng, d1, d2: 1.0 + power(rng, -14, -3) * rng.random((d1, d2)),
    ),
    "separable": (2, lambda rng, d1, d2: rng.random(d1)[:, None] + rng.random(d2)),
    "spread": (6, lambda rng, d1, d2: 10.0 ** rng.uniform(-8, 8, (d1, d2))),
    "far spread": (3, lambda rng, d1, d2: 10.0 ** rng.uniform(-60, 60, (d1, d2))),
    "outlier": (6, _outlier),
    "duplicated": (6, _duplicated),
    "grid": (8, lambda rng, d1, d2: np.abs(np.subtract.outer(np.arange(d1), np.arange(d2))) + 0.0),
}


def costs(rng, d1, d2):
    """A cost matrix, at times of an unusual scale; no positive cost leaves 1e-250 to 1e250."""
    name = choose(rng, {name: weight for name, (weight, _) in COSTS.items()})
    M = COSTS[name][1](rng, d1, d2)
    if rng.random() < 0.3:
        M = M * power(rng, *choose(rng, {(-6, 6): 2, (-40, 40): 1, (-200, 200): 1}))
    return np.minimum(np.where(M < 1e-250, 0.0, M), 1e250)


# ---------------------------------------------------------------------------------- histograms


def _dirac(rng, d):
    x = np.zeros(d)
    x[rng.integers(d)] = 1.0
    return x


def _sparse(rng, d):
    x = rng.exponential(size=d) * (rng.random(d) < 0.4)
    x[rng.integers(d)] += 0.5
    return x


def _tiny(rng, d):
    """Ordinary masses, and a few that are next to nothing."""
    x = rng.exponential(size=d)
    few = rng.random(d) < 0.3
    x[few] *= 10.0 ** -rng.uniform(5, rng.choice([20, 100, 300]), few.sum())
    return x


HISTOGRAMS = {
    "simplex": (30, lambda rng, d: rng.exponential(size=d)),
    "uniform": (6, lambda rng, d: np.ones(d)),
    "sparse": (18, _sparse),
    "dirac": (6, _dirac),
    "peaked": (8, lambda rng, d: rng.gamma(0.05, size=d) + 1e-290),
    "wide": (6, lambda rng, d: 10.0 ** -rng.uniform(0, 300, d)),
    "spread": (8, lambda rng, d: 10.0 ** -rng.uniform(0, 18, d)),
    "tiny": (8, _tiny),
    "counts": (8, lambda rng, d: rng.integers(0, 5, d) + 0.0),
}


def histogram(rng, d):
    """Masses that sum to 1 up to rounding, without any in the twilight."""
    name = choose(rng, {name: weight for name, (weight, _) in HISTOGRAMS.items()})
    return tidy(HISTOGRAMS[name][1](rng, d))


def relative(rng, other):
    """A histogram that is almost, or exactly, another one."""
    if rng.random() < 0.3:
        return other.copy()
    return tidy(other * (1.0 + power(rng, -16, -2) * rng.standard_normal(other.size)))


def tidy(x):
    """Non-negative, normalised, and no mass that is neither zero nor not."""
    x = np.abs(x)
    if not x.max() > 0.0:
        x = np.ones(x.size)
    x = x / math.fsum(x / x.max()) / x.max()
    for low, high in TWILIGHT.values():
        x[(x > low) & (x < high)] = 0.0
    return x / math.fsum(x)
