"""Means along lines under the weights of `log_sums`, and the adjoint.

For fixed weights a target's mean of values at the sources is a sum of products and no exponential.
One after another, the axes give the conditional means of a transport plan whose rows are exact; the
adjoint sends masses at the targets to the sources.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.grid.toeplitz import add_sums, add_sums_back

__all__ = ["averages", "costs_of_moves", "spread"]


@compiled
def averages(
    values: Array, out: Array, table: Array, block: int, start: int, stop: int, low: Array,
    width: Array, size: Array, place: Array, weights: Array, inverse: Array,
) -> None:  # fmt: skip
    """``out``, of shape (n, lines): the mean of ``values`` for every target, for some lines."""
    n, nothing = out.shape[0], block - block  # a literal 0 has a type of its own
    blocks, middle = low.shape[1], table.size // 2
    row, product = np.empty((8, blocks * block)), np.empty(values.shape[1])
    for group in range(start, stop, 8):
        lines = min(8, stop - group)
        for k in range(lines):
            line = group + k
            for t in range(blocks):
                w, b0, at, i0 = width[line, t], low[line, t], place[line, t], t * block
                for i in range(i0, i0 + block):
                    row[k, i] = 0.0
                if size[line, t] == w and block > 1:
                    for b in range(w):
                        product[b] = weights[at + b] * values[line, b0 + b]
                    x = middle - block // 2 + w // 2
                    add_sums(product, nothing, w, table, x, block, row[k], i0)
                else:
                    for b in range(w):
                        v = values[line, b0 + b]
                        for i in range(block):
                            row[k, i0 + i] += v * weights[at + b * block + i]
        for i in range(n):
            for k in range(lines):
                out[i, group + k] = row[k, i] * inverse[i, group + k]


@compiled
def spread(
    masses: Array, out: Array, table: Array, block: int, start: int, stop: int, low: Array,
    width: Array, size: Array, place: Array, weights: Array, inverse: Array,
) -> None:  # fmt: skip
    """The adjoint of `averages`: ``masses``, of shape (n, lines), go to ``out``, (lines, n)."""
    n, nothing = masses.shape[0], block - block
    blocks, middle = low.shape[1], table.size // 2
    row, back = np.empty((8, blocks * block)), np.empty(out.shape[1])
    for group in range(start, stop, 8):
        lines = min(8, stop - group)
        for k in range(lines):
            for i in range(n, blocks * block):
                row[k, i] = 0.0
        for i in range(n):
            for k in range(lines):
                row[k, i] = masses[i, group + k] * inverse[i, group + k]
        for k in range(lines):
            line = group + k
            for b in range(out.shape[1]):
                out[line, b] = 0.0
            for t in range(blocks):
                w, b0, at, i0 = width[line, t], low[line, t], place[line, t], t * block
                if size[line, t] == w and block > 1:
                    for b in range(w):
                        back[b] = 0.0
                    x = middle - block // 2 + w // 2
                    add_sums_back(row[k, i0 : i0 + block], block, table, x, w, back, nothing)
                    for b in range(w):
                        out[line, b0 + b] += weights[at + b] * back[b]
                else:
                    for b in range(w):
                        s = 0.0
                        for i in range(block):
                            s += row[k, i0 + i] * weights[at + b * block + i]
                        out[line, b0 + b] += s


@compiled
def costs_of_moves(
    costs: Array, share: Array, unit: float, out: Array, table: Array, block: int, start: int,
    stop: int, low: Array, width: Array, size: Array, place: Array, weights: Array, inverse: Array,
) -> None:  # fmt: skip
    """Means of ``costs_b + unit (i - b)^2 share_b``: what has been paid, and what this axis adds.

    With the offset D of a window from its targets, ``(i - b)^2 = D^2 + 2 D x + x^2``: three tables.
    """
    n, nothing = out.shape[0], block - block  # a literal 0 has a type of its own
    blocks, middle = low.shape[1], table.size // 2
    once, twice = np.empty(table.size), np.empty(table.size)
    for k in range(table.size):
        once[k] = (k - middle) * table[k]
        twice[k] = (k - middle) * once[k]
    row, paid, part = np.empty((8, blocks * block)), np.empty(n), np.empty(n)
    ones, twos, zeros = np.empty(block), np.empty(block), np.empty(block)
    for group in range(start, stop, 8):
        lines = min(8, stop - group)
        for k in range(lines):
            line = group + k
            for t in range(blocks):
                w, b0, at, i0 = width[line, t], low[line, t], place[line, t], t * block
                for i in range(block):
                    row[k, i0 + i] = zeros[i] = ones[i] = twos[i] = 0.0
                if size[line, t] == w and block > 1:
                    for b in range(w):
                        paid[b] = weights[at + b] * costs[line, b0 + b]
                        part[b] = weights[at + b] * share[line, b0 + b] * unit
                    x = middle - block // 2 + w // 2
                    add_sums(paid, nothing, w, table, x, block, row[k], i0)
                    add_sums(part, nothing, w, table, x, block, zeros, nothing)
                    add_sums(part, nothing, w, once, x, block, ones, nothing)
                    add_sums(part, nothing, w, twice, x, block, twos, nothing)
                    off = float(i0 + block // 2 - b0 - w // 2)
                    for i in range(block):
                        row[k, i0 + i] += off * (off * zeros[i] + 2.0 * ones[i]) + twos[i]
                else:
                    for b in range(w):
                        before, more = costs[line, b0 + b], unit * share[line, b0 + b]
                        for i in range(block):
                            far = float(i0 + i - b0 - b)
                            e = weights[at + b * block + i]
                            row[k, i0 + i] += e * (before + more * (far * far))
        for i in range(n):
            for k in range(lines):
                out[i, group + k] = row[k, i] * inverse[i, group + k]
