"""Lines under cityblock distances: ``exp(-sharp |i - b|)`` is summed by two recursions.

What comes from the left of a target is, but for its own term, what came to its left neighbour,
times ``exp(-sharp)``; from the right likewise. The recursions run on pairs (sum, logarithm of its
unit), so that nothing overflows. Their shares are kept: ``past`` is how much of the sum from the
left is not the target's own, ``future`` how much of the sum from the right is not its right
neighbour's, ``right`` how much of all comes from the right. Means under these shares are
recursions of convex combinations, without exponentials, and stable.
"""

from __future__ import annotations

import math

import numpy as np

from sinkdist.kernels.compiled import Array, compiled

__all__ = [
    "costs_of_steps", "least_distances", "recursive_averages", "recursive_log_sums",
    "recursive_spread",
]  # fmt: skip


@compiled
def recursive_log_sums(
    phi: Array, sharp: float, start: int, stop: int, past: Array, future: Array, right: Array,
    out: Array,
) -> None:  # fmt: skip
    """Log-sum-exp along some lines of (lines, n) to ``out`` (n, lines); shares as (lines, n)."""
    n = phi.shape[1]
    left_sum, left_unit, row = np.empty(n), np.empty(n), np.empty((8, n))
    for group in range(start, stop, 8):
        lines = min(8, stop - group)
        for k in range(lines):
            line = group + k
            # units are products of a number of steps: steps added up would round as often
            s, unit, peak, place = 0.0, -np.inf, -np.inf, 0
            for i in range(n):
                x = phi[line, i]
                if x <= unit - sharp:
                    unit = peak - sharp * (i - place)
                    own = math.exp(x - unit) if x > unit - 700.0 else 0.0
                    share = s / (s + own) if s > 0.0 else 0.0
                    s += own
                elif x > -np.inf:
                    kept = s * math.exp(unit - sharp - x) if unit > x - 700.0 else 0.0
                    s = kept + 1.0
                    share = kept / s
                    unit = peak = x
                    place = i
                else:
                    share = 0.0
                past[line, i] = share
                left_sum[i], left_unit[i] = s, unit
            s, unit, peak, place = 0.0, -np.inf, -np.inf, 0
            for i in range(n - 1, -1, -1):
                # from the right of i: what comes to its neighbour, and the neighbour itself
                share = 0.0
                if i + 1 < n:
                    x = phi[line, i + 1] - sharp
                    if x <= unit - sharp:
                        unit = peak - sharp * (place - i)
                        own = math.exp(x - unit) if x > unit - 700.0 else 0.0
                        share = s / (s + own) if s > 0.0 else 0.0
                        s += own
                    elif x > -np.inf:
                        kept = s * math.exp(unit - sharp - x) if unit > x - 700.0 else 0.0
                        s = kept + 1.0
                        share = kept / s
                        unit = x
                        peak, place = phi[line, i + 1], i + 1
                future[line, i] = share
                m = max(unit, left_unit[i])
                if m == -np.inf:
                    right[line, i] = 0.0
                    row[k, i] = -np.inf
                    continue
                a = left_sum[i] * math.exp(left_unit[i] - m) if left_unit[i] > m - 700.0 else 0.0
                b = s * math.exp(unit - m) if unit > m - 700.0 else 0.0
                right[line, i] = b / (a + b)
                row[k, i] = m + math.log(a + b)
        for i in range(n):
            for k in range(lines):
                out[i, group + k] = row[k, i]


@compiled
def recursive_averages(
    values: Array, out: Array, start: int, stop: int, past: Array, future: Array, right: Array
) -> None:
    """Means of ``values`` (lines, n) for every target, to ``out`` (n, lines)."""
    n = values.shape[1]
    row = np.empty((8, n))
    for group in range(start, stop, 8):
        lines = min(8, stop - group)
        for k in range(lines):
            line = group + k
            mean = 0.0
            for i in range(n):
                mean = values[line, i] + past[line, i] * (mean - values[line, i])
                row[k, i] = mean
            mean = 0.0
            for i in range(n - 2, -1, -1):
                mean = values[line, i + 1] + future[line, i] * (mean - values[line, i + 1])
                row[k, i] += right[line, i] * (mean - row[k, i])
        for i in range(n):
            for k in range(lines):
                out[i, group + k] = row[k, i]


@compiled
def recursive_spread(
    masses: Array, out: Array, start: int, stop: int, past: Array, future: Array, right: Array
) -> None:
    """The adjoint of `recursive_averages`: ``masses`` (n, lines) go to ``out`` (lines, n)."""
    n = masses.shape[0]
    row = np.empty((8, n))
    for group in range(start, stop, 8):
        lines = min(8, stop - group)
        for i in range(n):
            for k in range(lines):
                row[k, i] = masses[i, group + k]
        for k in range(lines):
            line = group + k
            carried = 0.0
            for i in range(n - 1, -1, -1):
                carried += (1.0 - right[line, i]) * row[k, i]
                out[line, i] = (1.0 - past[line, i]) * carried
                carried *= past[line, i]
            carried = 0.0
            for i in range(n - 1):
                carried += right[line, i] * row[k, i]
                out[line, i + 1] += (1.0 - future[line, i]) * carried
                carried *= future[line, i]


@compiled
def costs_of_steps(
    costs: Array, share: Array, unit: float, out: Array, start: int, stop: int, past: Array,
    future: Array, right: Array,
) -> None:  # fmt: skip
    """Means of ``costs_b + unit |i - b| share_b``: what has been paid, and what this axis adds."""
    n = costs.shape[1]
    row = np.empty((8, n))
    for group in range(start, stop, 8):
        lines = min(8, stop - group)
        for k in range(lines):
            line = group + k
            paid, part = 0.0, 0.0
            for i in range(n):
                far = past[line, i]
                paid = (1.0 - far) * costs[line, i] + far * (paid + unit * part)
                part = (1.0 - far) * share[line, i] + far * part
                row[k, i] = paid
            paid, part = 0.0, 0.0
            for i in range(n - 2, -1, -1):
                far = future[line, i]
                paid = (1.0 - far) * costs[line, i + 1] + far * paid
                part = (1.0 - far) * share[line, i + 1] + far * part
                paid += unit * part
                row[k, i] = (1.0 - right[line, i]) * row[k, i] + right[line, i] * paid
        for i in range(n):
            for k in range(lines):
                out[i, group + k] = row[k, i]


@compiled
def least_distances(a: Array, unit: float, start: int, stop: int, out: Array) -> None:
    """``min_b a_b + unit |i - b|`` along some lines of (lines, n), to ``out`` (n, lines)."""
    n = a.shape[1]
    row = np.empty((8, n))
    for group in range(start, stop, 8):
        lines = min(8, stop - group)
        for k in range(lines):
            least = np.inf
            for i in range(n):
                least = min(least + unit, a[group + k, i])
                row[k, i] = least
            for i in range(n - 1, -1, -1):
                least = min(least + unit, row[k, i])
                row[k, i] = least
        for i in range(n):
            for k in range(lines):
                out[i, group + k] = row[k, i]
