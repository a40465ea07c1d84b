"""Windows: the sources of a line that matter to a run of targets, under squared distances.

Target ``i`` of a line sums ``exp(phi_b - sharp (i - b)^2)`` over the sources ``b``. Terms smaller
than ``exp(-tau)`` times the largest do not show in a double. As ``i`` grows, a source gains on
every source to its left; so once a source has fallen behind by ``tau`` against one to its right, it
stays behind for all later targets. The first and the last source that matter therefore only move to
the right, and two pointers find them for all runs of targets. The largest term of a target is found
on the upper hull of the points ``(b, phi_b - sharp b^2)``: a target is a slope.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import Array, compiled

__all__ = ["NEGLIGIBLE", "SAFE", "block_of", "find_windows"]

NEGLIGIBLE = 39.2  #: terms below exp(-this) of a sum, and of the root of their number, do not show
#: The exponent up to which a table of ``exp(-sharp x^2)`` and weights up to 1 give accurate sums.
SAFE = 640.0


def block_of(sharp: float) -> int:
    """How many neighbouring targets share a window: fewer where kernels are narrow.

    Examples
    --------
    >>> [block_of(sharp) for sharp in (0.01, 2.0, 5.0, 100.0)]
    [16, 8, 4, 1]
    """
    return 16 if sharp <= 0.6 else 8 if sharp <= 3.5 else 4 if sharp <= 50.0 else 1


@compiled
def find_windows(
    phi: Array,
    sharp: float,
    block: int,
    start: int,
    stop: int,
    low: Array,
    width: Array,
    size: Array,
) -> None:
    """First source and number of sources of every block of targets, for some lines.

    ``size`` is how many weights the block keeps: one per source, or one per source and target where
    `SAFE` would be exceeded. A line without any mass has windows of width 0.
    """
    n = phi.shape[1]
    blocks = low.shape[1]
    tau = NEGLIGIBLE + 0.5 * math.log(n)
    hull, height, largest = np.empty(n, np.int64), np.empty(n), np.empty(blocks + 1)
    for line in range(start, stop):
        top = 0
        for b in range(n):
            if phi[line, b] == -np.inf:
                continue
            h = phi[line, b] - sharp * (b * b)
            while top >= 2:
                p, q = hull[top - 2], hull[top - 1]
                if (height[top - 1] - height[top - 2]) * (b - q) > (h - height[top - 1]) * (q - p):
                    break
                top -= 1
            hull[top] = b
            height[top] = h
            top += 1
        if top == 0:
            for t in range(blocks):
                low[line, t] = 0
                width[line, t] = 0
                size[line, t] = 0
            continue
        k = 0
        for t in range(blocks + 1):
            i = min(t * block, n - 1)
            slope = 2.0 * sharp * i
            here = height[k] + slope * hull[k]
            while k + 1 < top and height[k + 1] + slope * hull[k + 1] >= here:
                k += 1
                here = height[k] + slope * hull[k]
            largest[t] = here - sharp * (i * i)
        b = 0
        for t in range(blocks):
            i = t * block
            while b < n - 1 and phi[line, b] - sharp * ((i - b) * (i - b)) < largest[t] - tau:
                b += 1
            low[line, t] = b
        b = n - 1
        for t in range(blocks - 1, -1, -1):
            i = min((t + 1) * block, n - 1)
            while b > low[line, t] and (
                phi[line, b] - sharp * ((i - b) * (i - b)) < largest[t + 1] - tau
            ):
                b -= 1
            count = b + 1 - low[line, t]
            width[line, t] = count
            reach = 0.5 * (count + block) + 1.0
            size[line, t] = count if sharp * reach * reach <= SAFE else count * block
