"""Sums over bins for all pairs of two blocks of histograms, where no matrix product gives them.

The second block comes transposed, bins on axis 0: one bin of a first histogram then meets all
second ones in a loop over contiguous memory, which is vectorised, and the bins where the first
histogram has no mass are left out altogether.
"""

from __future__ import annotations

from sinkdist.kernels.compiled import Array, compiled, part

__all__ = ["excess", "harmonic"]


@part
def _occupied(x: Array, least: float, bins: Array) -> int:
    """Write down the bins with more than the `least` mass; how many there are."""
    count = 0
    for k in range(x.size):
        if x[k] > least:
            bins[count] = k
            count += 1
    return count


@compiled
def excess(X: Array, T: Array, least: float, bins: Array, out: Array) -> None:
    """``out_ij = sum_k max(X_ik - T_kj, 0)`` over ``X_ik > least``; `bins` is scratch.

    Four bins at a time, for a quarter of the traffic of ``out``.
    """
    for i in range(X.shape[0]):
        x, o = X[i], out[i]
        count = _occupied(x, least, bins)
        whole = count - count % 4
        for j in range(o.size):
            o[j] = 0.0
        for a in range(0, whole, 4):
            k0, k1, k2, k3 = bins[a], bins[a + 1], bins[a + 2], bins[a + 3]
            x0, x1, x2, x3 = x[k0], x[k1], x[k2], x[k3]
            y0, y1, y2, y3 = T[k0], T[k1], T[k2], T[k3]
            for j in range(o.size):  # max(x, y) - y needs no zero of the right dtype
                o[j] += ((max(x0, y0[j]) - y0[j]) + (max(x1, y1[j]) - y1[j])) + (
                    (max(x2, y2[j]) - y2[j]) + (max(x3, y3[j]) - y3[j])
                )
        for a in range(whole, count):
            x0, y0 = x[bins[a]], T[bins[a]]
            for j in range(o.size):
                o[j] += max(x0, y0[j]) - y0[j]


@compiled
def harmonic(X: Array, T: Array, least: float, bins: Array, out: Array) -> None:
    """``out_ij = sum_k X_ik T_kj / (X_ik + T_kj)`` over ``X_ik > least``; `bins` is scratch.

    Two bins share one division, which is what this costs; ``least`` keeps the product of their
    denominators representable.
    """
    for i in range(X.shape[0]):
        x, o = X[i], out[i]
        count = _occupied(x, least, bins)
        whole = count - count % 2
        for j in range(o.size):
            o[j] = 0.0
        for a in range(0, whole, 2):
            x0, x1 = x[bins[a]], x[bins[a + 1]]
            y0, y1 = T[bins[a]], T[bins[a + 1]]
            for j in range(o.size):
                s0, s1 = x0 + y0[j], x1 + y1[j]
                o[j] += (x0 * y0[j] * s1 + x1 * y1[j] * s0) / (s0 * s1)
        for a in range(whole, count):
            x0, y0 = x[bins[a]], T[bins[a]]
            for j in range(o.size):
                o[j] += x0 * y0[j] / (x0 + y0[j])
