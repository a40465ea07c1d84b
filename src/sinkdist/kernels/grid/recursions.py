"""Sums along lines under cityblock distances, where floats hold them: ``sum_b q^|i - b| v_b``.

With ``a_i = v_i + q a_(i-1)``, what comes from the left, all that comes to a target is
``t_i = q t_(i+1) + (1 - q^2) a_i``: two recursions of positive terms. One along a line cannot be
vectorised, so neighbouring lines are gone through side by side: rows are turned by eights, columns
are side by side already. Nothing is transposed, and what is done to the sums along the first axis,
the last of all, is done as they are made.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array, compiled, part
from sinkdist.kernels.exp import exp_of
from sinkdist.kernels.logarithm import log_of

__all__ = ["CHUNK", "STRIP", "relax", "sums_of_columns", "sums_of_rows"]

STRIP = 32  #: columns that are gone through together
CHUNK = 4096  #: numbers whose errors are added up together
_NEAR = 0.01  #: a relative change whose power is a series of eight terms, to a rounding
_LEAST, _MOST = 1e-280, 1e280  #: scalings between these are safe to multiply by a kernel


@compiled
def sums_of_rows(values: Array, q: float, gain: float, start: int, stop: int, out: Array) -> None:
    """Along some rows of (lines, n); ``gain`` is ``1 - q^2``."""
    n = values.shape[1]
    turned = np.empty((n, 8))
    for group in range(start, stop, 8):
        first = max(min(group, stop - 8), start)  # the last rows may be made twice
        lines = min(8, stop - first)
        for k in range(8):
            line = first + min(k, lines - 1)
            for i in range(n):
                turned[i, k] = values[line, i]
        s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
        for i in range(n):
            row = turned[i]
            s0, s1, s2, s3 = row[0] + q * s0, row[1] + q * s1, row[2] + q * s2, row[3] + q * s3
            s4, s5, s6, s7 = row[4] + q * s4, row[5] + q * s5, row[6] + q * s6, row[7] + q * s7
            row[0], row[1], row[2], row[3] = s0, s1, s2, s3
            row[4], row[5], row[6], row[7] = s4, s5, s6, s7
        for i in range(n - 2, -1, -1):
            row = turned[i]
            s0, s1 = q * s0 + gain * row[0], q * s1 + gain * row[1]
            s2, s3 = q * s2 + gain * row[2], q * s3 + gain * row[3]
            s4, s5 = q * s4 + gain * row[4], q * s5 + gain * row[5]
            s6, s7 = q * s6 + gain * row[6], q * s7 + gain * row[7]
            row[0], row[1], row[2], row[3] = s0, s1, s2, s3
            row[4], row[5], row[6], row[7] = s4, s5, s6, s7
        for k in range(lines):
            for i in range(n):
                out[first + k, i] = turned[i, k]


@compiled
def sums_of_columns(
    values: Array, q: float, gain: float, start: int, stop: int, out: Array
) -> None:
    """Along the middle axis of (blocks, n, columns), for some strips of columns of all blocks."""
    n, columns = values.shape[1:]
    strips = -(-columns // STRIP)
    left, s = np.empty((n, STRIP)), np.empty(STRIP)
    for strip in range(start, stop):
        block, first = strip // strips, strip % strips * STRIP
        width = min(STRIP, columns - first)
        for k in range(width):
            s[k] = 0.0
        for i in range(n):
            row = values[block, i, first : first + width]
            for k in range(width):
                s[k] = row[k] + q * s[k]
                left[i, k] = s[k]
        for i in range(n - 1, -1, -1):
            row = out[block, i, first : first + width]
            if i < n - 1:  # the last one has nothing to its right
                for k in range(width):
                    s[k] = q * s[k] + gain * left[i, k]
            for k in range(width):
                row[k] = s[k]


@compiled
def relax(
    sums: Array, mass: Array, omega: float, start: int, stop: int, scaling: Array, moved: Array
) -> None:
    """A relaxed update of some chunks of a scaling, whose product with the kernel is ``sums``.

    ``mass / sums`` is what has these masses, and ``scaling`` goes to ``scaling (mass / (scaling
    sums))^omega``; ``sums`` is lost. ``moved`` has for each chunk how much ``scaling * sums`` was
    off, NaN where a scaling is not safe any more. Bins without mass have the scaling 0.
    """
    for chunk in range(start, stop):
        first, last = chunk * CHUNK, min((chunk + 1) * CHUNK, mass.size)
        s, has, to = sums[first:last], mass[first:last], scaling[first:last]
        off, bad, most = 0.0, 0.0, 0.0
        for k in range(has.size):
            off += abs(to[k] * s[k] - has[k])
        if omega == 1.0:
            for k in range(has.size):
                to[k] = has[k] / s[k]
        else:
            for k in range(has.size):  # by what to multiply; 1 where there is no mass
                s[k] = has[k] / (to[k] * s[k]) if has[k] > 0.0 else 1.0
            for k in range(has.size):
                most = max(most, abs(s[k] - 1.0))
            if most < _NEAR:
                _near_power(s, omega, to)
            else:
                for k in range(has.size):
                    to[k] *= exp_of(omega * log_of(s[k]))
        for k in range(has.size):
            bad += 1.0 if has[k] > 0.0 and not (_LEAST < to[k] < _MOST) else 0.0
        moved[chunk] = off if bad == 0.0 else np.nan


@part
def _near_power(x: Array, omega: float, to: Array) -> None:
    """``to x^omega`` by the series at 1."""
    c1 = omega
    c2 = c1 * (omega - 1.0) / 2.0
    c3 = c2 * (omega - 2.0) / 3.0
    c4 = c3 * (omega - 3.0) / 4.0
    c5 = c4 * (omega - 4.0) / 5.0
    c6 = c5 * (omega - 5.0) / 6.0
    c7 = c6 * (omega - 6.0) / 7.0
    c8 = c7 * (omega - 7.0) / 8.0
    for k in range(x.size):
        y = x[k] - 1.0
        tail = c4 + y * (c5 + y * (c6 + y * (c7 + y * c8)))
        to[k] *= 1.0 + y * (c1 + y * (c2 + y * (c3 + y * tail)))
