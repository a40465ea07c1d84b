"""Log-sum-exp along lines under squared distances: ``log sum_b exp(phi_b - sharp (i - b)^2)``.

A run of targets and its window of sources (`windows`) are seen from their middles. With ``i_c`` and
``b_c`` in the middle, ``D = i_c - b_c``, ``i' = i - i_c`` and ``b' = b - b_c``,

    phi_b - s (i - b)^2 = (phi_b + 2 s D b') - s (i' - b')^2 - (s D^2 + 2 s D i'),

so one exponential per source and a table of ``exp(-s x^2)`` make all sums of the run. Where the
table would underflow, the block keeps a weight for every source and target instead.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.exponential import exp_in_place
from sinkdist.kernels.grid.toeplitz import add_sums

__all__ = ["log_sums", "table_of"]


def table_of(sharp: float, n: int) -> Array:
    """``exp(-sharp x^2)`` for differences of places on a line, and more; x = 0 is its middle."""
    x = np.arange(-n - 40.0, n + 41.0)
    exponent = -sharp * x * x
    return np.where(exponent > -700.0, np.exp(np.maximum(exponent, -700.0)), 0.0)


@compiled
def log_sums(
    phi: Array, sharp: float, block: int, table: Array, start: int, stop: int, low: Array,
    width: Array, size: Array, place: Array, weights: Array, base: Array, sums: Array,
) -> None:  # fmt: skip
    """``base + log(sums)``, of shape (n, lines), is the answer; for some lines.

    ``place`` is where the weights of each block begin, ``weights`` their memory.
    """
    n = phi.shape[1]
    blocks, middle = low.shape[1], table.size // 2
    work = np.empty(n * max(block, 1))
    row, shift = np.empty((8, blocks * block)), np.empty((8, blocks * block))
    for group in range(start, stop, 8):
        lines = min(8, stop - group)
        for k in range(lines):
            line = group + k
            for t in range(blocks):
                w = width[line, t]
                i0 = t * block
                if w == 0:
                    for i in range(i0, i0 + block):
                        row[k, i] = 1.0
                        shift[k, i] = -np.inf
                    continue
                b0, at = low[line, t], place[line, t]
                if size[line, t] == w and block > 1:  # by the table
                    ic, bc = i0 + block // 2, b0 + w // 2
                    twice = 2.0 * sharp * (ic - bc)
                    m = -np.inf
                    for b in range(w):
                        x = phi[line, b0 + b] + twice * (b0 + b - bc)
                        work[b] = x
                        m = max(m, x)
                    for b in range(w):
                        work[b] -= m
                    exp_in_place(work[:w])
                    for b in range(w):
                        weights[at + b] = work[b] if phi[line, b0 + b] > -np.inf else 0.0
                    m -= 0.5 * twice * (ic - bc)
                    for i in range(block):
                        row[k, i0 + i] = 0.0
                        shift[k, i0 + i] = m - twice * (i0 + i - ic)
                else:  # a weight for every source and target
                    for i in range(block):
                        m = -np.inf
                        for b in range(w):
                            x = i0 + i - b0 - b
                            m = max(m, phi[line, b0 + b] - sharp * (x * x))
                        shift[k, i0 + i] = m
                        row[k, i0 + i] = 0.0
                    for b in range(w):
                        for i in range(block):
                            x = i0 + i - b0 - b
                            work[b * block + i] = (
                                phi[line, b0 + b] - sharp * (x * x) - shift[k, i0 + i]
                            )
                    many = w * block
                    exp_in_place(work[:many])
                    for b in range(w):
                        for i in range(block):
                            x = work[b * block + i] if phi[line, b0 + b] > -np.inf else 0.0
                            weights[at + b * block + i] = x
                            row[k, i0 + i] += x
            for t in range(blocks):
                w = width[line, t]
                if w == 0 or size[line, t] != w or block == 1:
                    continue
                i0, b0, at = t * block, low[line, t], place[line, t]
                # i' - b' for the first target and the first source
                x = middle - block // 2 + w // 2
                add_sums(weights, at, w, table, x, block, row[k], i0)
        for i in range(n):
            for k in range(lines):
                base[i, group + k] = shift[k, i]
                sums[i, group + k] = row[k, i]
