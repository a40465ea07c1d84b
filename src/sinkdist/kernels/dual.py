"""The dual of the exact distance at a potential of the rows, less its rounding: one pair.

The readable twin is that of `certificates.many_pairs`, for many pairs in arrays of any library.
Sums are not reordered: the bound on their rounding is of the terms as they are written.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import FLOAT, MATRIX, VECTOR, Array, one_version, shared
from sinkdist.kernels.minimum import lesser

__all__ = ["dual_value"]


@shared(MATRIX, VECTOR, VECTOR, VECTOR, FLOAT, VECTOR, VECTOR, reorder=False)
def dual_value(
    M: Array, f: Array, r: Array, c: Array, unit: float, below: Array, g: Array
) -> float:
    """``<f, r> + <g, c>`` with the c-transform ``g`` of ``f``, less ``unit`` times its size.

    Every bin has mass, and ``f`` is finite. ``below`` and ``g`` are scratch.
    """
    one_version()
    m, n = M.shape
    total = 0.0
    for i in range(m):
        below[i] = 0.0
        total += r[i]
    for k in range(m):
        for i in range(m):
            below[i] += r[k] if f[k] <= f[i] else 0.0
    median = np.inf  # near 0 where mass is, so that the transform loses little
    for i in range(m):
        if below[i] >= 0.5 * total and f[i] < median:
            median = f[i]
    for j in range(n):
        g[j] = np.inf
    for i in range(m):
        lowered = f[i] - median
        for j in range(n):
            g[j] = lesser(g[j], M[i, j] - lowered)
    left, right = 0.0, 0.0
    for i in range(m):
        left += (f[i] - median) * r[i]
    for j in range(n):
        right += g[j] * c[j]
    shift = 0.5 * (left - right)  # sides of one size
    value, size, other, far = 0.0, 0.0, 0.0, 0.0
    for i in range(m):
        term = (f[i] - median) - shift
        value += term * r[i]
        size += abs(term) * r[i]
    for j in range(n):
        term = g[j] + shift
        other += term * c[j]
        far += (abs(term) + abs(g[j])) * c[j]
    return value + other - unit * (size + far)
