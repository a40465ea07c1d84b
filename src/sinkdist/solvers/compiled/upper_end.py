"""A proven upper end of ``d_{M,alpha}`` from potentials at any lam: for searches.

They need one for every candidate that may be among the nearest.

`solution.certificates.bracket` proves more and takes ten times as long. Here the logarithms of the
plan are taken from its potentials. The plan ``P`` is scaled down to ``G`` of mass ``1 - e`` until
no marginal is exceeded; what is left of ``r`` and missing from ``c`` is added as a product measure
``E``, so that ``H = G + E`` is a coupling. The divergence is convex: ``KL(H) <= (1 - e) KL(G / (1 -
e)) + e KL(E / e)``, each against ``r c^T``. The first is a sum over the marginals of ``G`` and its
cost, the second one over the bins. Where the result exceeds alpha, ``H`` is mixed with ``r c^T`` as
far as that asks.

Rounding: sums of ``n`` terms are off by at most `rounding_of(n)` of the sum of their sizes;
marginals of ``H`` that are off by that part are mended by a product measure of three times that
mass, whose divergence is at most ``LARGEST_LOG`` and whose cost is at most the largest one.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.exponential import stabilised_kernel

__all__ = ["upper_end"]

LARGEST_LOG = 1e3  #: of the inverse of a mass, as in `solution.certificates`


@compiled
def upper_end(
    M: Array, lam: float, f: Array, g: Array, r: Array, c: Array, alpha: float, unit: float,
    top: float, P: Array, rows: Array, columns: Array,
) -> float:  # fmt: skip
    """At least ``d_{M,alpha}``; inf where floats cannot hold the plan.

    ``M, r, c`` are on bins with mass, ``top`` is the largest cost, ``unit`` the rounding of sums;
    ``P, rows, columns`` are scratch.
    """
    m, n = M.shape
    stabilised_kernel(M, lam, f, g, P)
    for j in range(n):
        columns[j] = 0.0
    info = sizes = 0.0
    for i in range(m):
        total = 0.0
        for j in range(n):
            total += P[i, j]
        x = min(1.0, r[i] / total)
        rows[i] = x
        for j in range(n):
            P[i, j] *= x
            columns[j] += P[i, j]
    for j in range(n):
        columns[j] = min(1.0, c[j] / columns[j])
    cost = mean = mass = 0.0
    left_log = left = 0.0
    for i in range(m):
        total = line = plain = 0.0
        for j in range(n):
            moved = P[i, j] * columns[j]
            P[i, j] = moved
            total += moved
            line += moved * M[i, j]
            plain += c[j] * M[i, j]
        cost += line
        mean += r[i] * plain
        mass += total
        term = lam * f[i] + math.log(rows[i]) - math.log(r[i])
        info += total * term
        sizes += total * (abs(lam * f[i]) + abs(math.log(rows[i])) + abs(math.log(r[i])))
        rows[i] = max(r[i] - total, 0.0)
        left += rows[i]
        if rows[i] > 0.0:
            left_log += rows[i] * math.log(rows[i] / r[i])
    missing_log = missing = 0.0
    for j in range(n):
        total, y = 0.0, columns[j]
        for i in range(m):
            total += P[i, j]
        term = lam * g[j] + math.log(y) - math.log(c[j])
        info += total * term
        sizes += total * (abs(lam * g[j]) + abs(math.log(y)) + abs(math.log(c[j])))
        columns[j] = max(c[j] - total, 0.0)
        missing += columns[j]
        if columns[j] > 0.0:
            missing_log += columns[j] * math.log(columns[j] / c[j])
    info -= lam * cost
    sizes += lam * cost + 2.0
    if not (mass > 0.5 and sizes < np.inf):
        return np.inf
    # (1 - e) KL(G / (1 - e) || q) = sum G log(G / q) - (1 - e) log(1 - e), as for E.
    info -= mass * math.log(mass)
    extra = 0.0
    if left > 0.0 and missing > 0.0:
        for i in range(m):
            if rows[i] > 0.0:
                line = 0.0
                for j in range(n):
                    line += columns[j] * M[i, j]
                extra += rows[i] * line
        extra /= missing
        info += max(left_log - left * math.log(left), 0.0)
        info += max(missing_log - missing * math.log(missing), 0.0) * left / missing
    info = max(info, 0.0) + unit * (4.0 * sizes + 3.0 * LARGEST_LOG)
    upper = cost + extra + 6.0 * unit * top
    if info > alpha:
        share = alpha / info
        upper = share * upper + (1.0 - share) * mean
    return min(upper, mean) * (1.0 + 8.0 * unit)
