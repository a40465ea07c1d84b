"""Passes over all triangles of a square cost matrix: the worst violation, and shortest paths."""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.minimum import lesser


@compiled
def worst_triangle(M: Array) -> tuple[float, int, int, int]:
    """The largest ``M_ij - (M_ik + M_kj)`` and its ``i, j, k``; negative where none is violated."""
    d = M.shape[0]
    worst, at_i, at_j, at_k = -np.inf, 0, 0, 0
    for i in range(d):
        direct = M[i]
        for k in range(d):
            leg, onward = M[i, k], M[k]
            least = np.inf
            for j in range(d):
                least = lesser(least, onward[j] - direct[j])
            if -least - leg > worst:
                worst, at_i, at_k = -least - leg, i, k
    best = -np.inf
    for j in range(d):
        excess = M[at_i, j] - M[at_k, j]
        if excess > best:
            best, at_j = excess, j
    return worst, at_i, at_j, at_k


@compiled
def shortest_paths(M: Array) -> None:
    """``M_ij <- `` the length of the shortest path from i to j, in place (Floyd and Warshall)."""
    d = M.shape[0]
    for k in range(d):
        through = M[k]
        for i in range(d):
            leg, row = M[i, k], M[i]
            for j in range(d):
                row[j] = min(row[j], leg + through[j])
