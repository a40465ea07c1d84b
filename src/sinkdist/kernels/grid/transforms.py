"""Least costs along lines: ``min_b a_b + unit (i - b)^2``, an exact distance transform.

The line ``i -> a_b + unit (i - b)^2 - unit i^2`` has the slope ``-2 unit b`` and the height
``a_b + unit b^2``; the least of them is found on the lower hull of the points ``(b, height)``.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array, compiled

__all__ = ["least_squares"]


@compiled
def least_squares(a: Array, unit: float, start: int, stop: int, out: Array) -> None:
    """For some lines of ``a``, of shape (lines, n); ``out`` is (n, lines). Sources may be inf."""
    n = a.shape[1]
    hull, height, row = np.empty(n, np.int64), np.empty(n), np.empty((8, n))
    for group in range(start, stop, 8):
        lines = min(8, stop - group)
        for k in range(lines):
            line = group + k
            top = 0
            for b in range(n):
                if a[line, b] == np.inf:
                    continue
                h = a[line, b] + unit * (b * b)
                while top >= 2:
                    p, q = hull[top - 2], hull[top - 1]
                    rise = height[top - 1] - height[top - 2]
                    if rise * (b - q) < (h - height[top - 1]) * (q - p):
                        break
                    top -= 1
                hull[top] = b
                height[top] = h
                top += 1
            at = 0
            for i in range(n):
                if top == 0:
                    row[k, i] = np.inf
                    continue
                slope = 2.0 * unit * i
                while at + 1 < top and (
                    height[at + 1] - slope * hull[at + 1] <= height[at] - slope * hull[at]
                ):
                    at += 1
                far = float(i - hull[at])
                row[k, i] = a[line, hull[at]] + unit * (far * far)
        for i in range(n):
            for k in range(lines):
                out[i, group + k] = row[k, i]
