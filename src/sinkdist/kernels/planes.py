"""Dual planes over many histograms: the largest of some bounds ``constant + <g, c>`` for each.

One read of a histogram serves all planes of a call. Rows are looked up by their index, so that
histograms that are no longer of interest cost nothing.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.exponential import stabilised_kernel
from sinkdist.kernels.minimum import lesser

COLUMNS = 1024  #: of a transform that are computed together

__all__ = ["hard_transforms", "raise_dense", "raise_sparse", "soft_transform"]


@compiled
def raise_dense(Y: Array, index: Array, G: Array, constants: Array, bound: Array) -> None:
    """``bound_k <- max(bound_k, max_p constants_p + <G_p, Y_index_k>)``; an even number of planes.

    Parameters
    ----------
    Y : ndarray, shape (n, d)
        Histograms.
    index, bound : ndarray, shape (kept,)
        Which of them, and what is known of each.
    G, constants : ndarray, shapes (planes, d) and (planes,)
        The planes.
    """
    planes, d = G.shape
    for k in range(index.size):
        c, best = Y[index[k]], bound[k]
        for p in range(0, planes, 2):
            g, h = G[p], G[p + 1]
            first = second = 0.0
            for j in range(d):
                first += g[j] * c[j]
                second += h[j] * c[j]
            best = max(best, max(constants[p] + first, constants[p + 1] + second))
        bound[k] = best


@compiled
def raise_sparse(
    start: Array, bins: Array, mass: Array, label: Array, index: Array, T: Array, constants: Array,
    sums: Array, bound: Array,
) -> None:  # fmt: skip
    """The same for compressed rows; ``T`` are planes transposed, ``sums`` scratch, one for each.

    ``label`` has the place of every bin in a plane.
    """
    planes = constants.size
    for k in range(index.size):
        for p in range(planes):
            sums[p] = constants[p]
        for e in range(start[index[k]], start[index[k] + 1]):
            t, x = T[label[bins[e]]], mass[e]
            for p in range(planes):
                sums[p] += x * t[p]
        for p in range(planes):
            bound[k] = max(bound[k], sums[p])


@compiled
def hard_transforms(M: Array, F: Array, G: Array) -> None:
    """``G_pj = min_i M_ij - F_pi``; some columns at a time, which stay in the nearest cache."""
    for start in range(0, G.shape[1], COLUMNS):
        for p in range(F.shape[0]):
            part = G[p, start : start + COLUMNS]
            for j in range(part.size):
                part[j] = np.inf
            for i in range(F.shape[1]):
                line, x = M[i, start : start + COLUMNS], F[p, i]
                for j in range(part.size):
                    part[j] = lesser(part[j], line[j] - x)


@compiled
def soft_transform(M: Array, mu: float, F: Array, r: Array, g: Array, K: Array) -> None:
    """``g_j = -log(sum_i r_i exp(mu (F_i - M_ij))) / mu``, from ``g_j = min_i M_ij - F_i``.

    ``K`` is scratch of the shape of ``M``. Tiny exponentials are rounded up, which makes ``g``
    smaller: what it bounds from below stays bounded.
    """
    stabilised_kernel(M, mu, F, g, K)
    m, n = M.shape
    for i in range(1, m):
        for j in range(n):
            K[i, j] *= r[i]
    for j in range(n):
        K[0, j] *= r[0]
    for i in range(1, m):
        for j in range(n):
            K[0, j] += K[i, j]
    for j in range(n):
        g[j] -= math.log(K[0, j]) / mu
