"""Sums over tiles of a grid, each with a logarithm as its unit, from their Fourier transforms.

A target tile takes from every source tile the product of two transforms: that of the sources and
that of the kernel between the two places. Sources of a tile are in the unit ``top`` of the tile,
the kernel between two tiles in that of its largest entry, ``-reach``; so a source tile counts
``exp(top - reach)``, and the sums of a target tile are in the unit of the largest of these. Tiles
that do not show beside it are left out. They are in groups, so that most are left out together.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import (
    INT,
    INTEGER_MATRIX,
    INTEGERS,
    VECTOR,
    Array,
    compiled,
    one_version,
    shared,
)  # fmt: skip

__all__ = ["gather_tiles", "least_reach"]


@shared(INTEGER_MATRIX, INT, INTEGER_MATRIX, INTEGER_MATRIX, INT, INTEGERS, VECTOR, allocates=False)
def least_reach(
    place: Array, tile: int, low: Array, high: Array, group: int, strides: Array, reach: Array
) -> float:
    """The least reach from a tile to any in the box of a group; ``reach`` is by offsets."""
    one_version()
    at = 0
    for axis in range(strides.size):
        x = place[tile, axis]
        gap = max(low[group, axis] - x, x - high[group, axis], 0)
        at += gap * strides[axis]
    least: float = reach[at]
    return least


@compiled
def gather_tiles(
    place: Array, top: Array, begin: Array, low: Array, high: Array, group_top: Array,
    strides: Array, reach: Array, cut: float, flips: Array, source: Array, kernel: Array,
    start: int, stop: int, unit: Array, out: Array,
) -> None:  # fmt: skip
    """Transforms of the sums of some target tiles, and the logarithm of their unit.

    Transforms are (tiles, 2, rows, columns): real and imaginary parts; ``kernel`` has them for
    offsets that are not negative along any axis. An axis is reflected by reading rows in the order
    of ``flips``; the last one by the complex conjugate, which reflects all.
    """
    axes, rows, columns = strides.size, source.shape[2], source.shape[3]
    last, groups = axes - 1, begin.size - 1
    for s in range(start, stop):
        most = top[s]  # from itself: most groups cannot give more
        for g in range(groups):
            if group_top[g] - least_reach(place, s, low, high, g, strides, reach) <= most:
                continue
            for t in range(begin[g], begin[g + 1]):
                at = 0
                for axis in range(axes):
                    at += abs(place[s, axis] - place[t, axis]) * strides[axis]
                most = max(most, top[t] - reach[at])
        unit[s] = most
        for part in range(2):
            for y in range(rows):
                for x in range(columns):
                    out[s, part, y, x] = 0.0
        if most == -np.inf:
            continue
        for g in range(groups):
            far = least_reach(place, s, low, high, g, strides, reach)
            if group_top[g] - far < most - cut:
                continue
            for t in range(begin[g], begin[g + 1]):
                at, flip = 0, 0
                mirrored = place[s, last] < place[t, last]
                for axis in range(axes):
                    o = place[s, axis] - place[t, axis]
                    at += abs(o) * strides[axis]
                    if axis < last and (o < 0) != mirrored:
                        flip += 1 << axis
                share = top[t] - reach[at] - most
                if share < -cut:
                    continue
                w = math.exp(share)
                sign = -w if mirrored else w
                for y in range(rows):
                    z = flips[flip, y]
                    for x in range(columns):
                        a, b = w * kernel[at, 0, z, x], sign * kernel[at, 1, z, x]
                        c, d = source[t, 0, y, x], source[t, 1, y, x]
                        out[s, 0, y, x] += a * c - b * d
                        out[s, 1, y, x] += a * d + b * c
