"""Sinkhorn's sweeps by log-sum-exp on the bins with mass, in floats: plain, and for many bins.

Sums are of positive terms, so a number's relative error is that of its exponents: some units of
rounding times ``lam * max(M)``. That is part of every answer.
"""

from fractions import Fraction

import numpy as np

from tests.oracles.exact import Enclosure, on_support

EPS = 2.0**-52
SWEEPS = 3000


def _floats(r, c, M, lam):
    """Logarithms of both histograms, the exponents of the kernel, and the error of exponents."""
    r, c, M = on_support(r, c, M)
    r, c = np.array(r, float), np.array(c, float)
    N = lam * M
    size = float(N.max()) + float(-np.log(r).min() - np.log(c).min())
    return np.log(r), np.log(c), M, N, 32 * EPS * (1 + size) + 4 * EPS * (r.size + c.size)


def algorithm1(r, c, M, lam, iterations):
    """``<P, M>`` after that many updates of Algorithm 1, and a bound on its relative error."""
    log_r, log_c, M, N, error = _floats(r, c, M, lam)
    u = np.full(log_r.size, np.log(log_r.size))
    for _ in range(iterations):
        v = log_c - np.logaddexp.reduce(u[:, None] - N, axis=0)
        u = log_r - np.logaddexp.reduce(v - N, axis=1)
    v = log_c - np.logaddexp.reduce(u[:, None] - N, axis=0)
    return float((np.exp(u[:, None] + v - N) * M).sum()), error * (iterations + 1)


def penalised(r, c, M, lam):
    """Where ``d^lam`` lies, as near as some thousand sweeps and floats allow."""
    log_r, log_c, M, N, error = _floats(r, c, M, lam)
    r, c = np.exp(log_r), np.exp(log_c)
    v = np.zeros(c.size)
    for sweep in range(SWEEPS):
        u = log_r - np.logaddexp.reduce(v - N, axis=1)
        new = log_c - np.logaddexp.reduce(u[:, None] - N, axis=0)
        if sweep % 10 == 0 and np.abs(np.expm1(new - v)) @ c < 1e-14:
            break
        v = new
    logs = u[:, None] + v - N  # rows are exact
    P = np.exp(logs)
    G = P * np.minimum(1.0, c / P.sum(axis=0))
    left, missing = r - G.sum(axis=1), c - G.sum(axis=0)
    left, missing = np.maximum(left, 0.0), np.maximum(missing, 0.0)
    if left.sum() > 0.0 and missing.sum() > 0.0:
        G = G + np.outer(left, missing / missing.sum())
    used = G > 0.0
    divergence = float((G[used] * (np.log(G[used]) - logs[used])).sum())
    divergence = max(divergence, 0.0) + 2 * error
    value = float((G * M).sum())
    # G fits both sides up to rounding, which moves a value by at most that part of the range.
    slack = 0.5 * float(np.ptp(M)) * (np.sqrt(2 * divergence) + 4 * error) + 4 * error * value
    return Enclosure(Fraction(value) - Fraction(slack), Fraction(value) + Fraction(slack))
