"""Histograms projected onto lines: cumulative masses, and one-dimensional transport between them.

Single precision: a bound is a sum of differences of numbers up to 1, and its margin is computed by
the caller from the number of terms (`search.projections`).
"""

from __future__ import annotations

from sinkdist.kernels.compiled import Array, compiled
from sinkdist.kernels.minimum import lesser

__all__ = ["cumulate", "projected"]


@compiled
def cumulate(
    rows: Array, places: Array, first: Array, length: Array, sums: Array, out: Array
) -> None:
    """Masses of each histogram up to each place of each direction.

    Parameters
    ----------
    rows : ndarray, shape (n, d)
        Histograms.
    places : ndarray of int, shape (directions, d)
        Where each bin lies along each direction, from 0 on.
    first, length : ndarray of int, shape (directions,)
        Where a direction begins in ``out``, and how many gaps between places it has.
    sums : ndarray
        Scratch, one entry more than the longest direction.
    out : ndarray of float32, shape (n, entries)
        Zero where no direction writes.
    """
    d = rows.shape[1]
    for k in range(rows.shape[0]):
        for a in range(first.size):
            gaps = length[a]
            for t in range(gaps + 1):
                sums[t] = 0.0
            for j in range(d):
                sums[places[a, j]] += rows[k, j]
            total = 0.0
            for t in range(gaps):
                total += sums[t]
                out[k, first[a] + t] = total


@compiled
def projected(
    Q: Array, blocks: Array, first: Array, W: Array, sums: Array, least: Array, out: Array
) -> None:
    """``out_qk = max_l sum_a W_la |Q_q - Y_k|_1`` over the entries of direction ``a``.

    Histograms lie side by side, so that loops run over many of them at once.

    Parameters
    ----------
    Q : ndarray of float32, shape (queries, entries)
        Cumulative masses, as by `cumulate`.
    blocks : ndarray of float32, shape (blocks, entries, width)
        Those of the histograms, ``width`` of them in a block.
    first : ndarray of int, shape (directions + 1,)
        Where each direction begins, multiples of 4; the last one is the number of entries.
    W : ndarray of float32, shape (bounds, directions)
        Weights; the number of directions is a multiple of 4.
    sums, least : ndarray of float32, shapes (directions, width) and (width,)
        Scratch.
    out : ndarray of float32, shape (queries, blocks, width)
        The largest bound for each pair.
    """
    width = blocks.shape[2]
    for k in range(blocks.shape[0]):
        Y = blocks[k]
        for q in range(Q.shape[0]):
            x = Q[q]
            for a in range(W.shape[1]):
                total = sums[a]
                for i in range(width):
                    total[i] = 0.0
                for t in range(first[a], first[a + 1], 4):
                    x0, x1, x2, x3 = x[t], x[t + 1], x[t + 2], x[t + 3]
                    y0, y1, y2, y3 = Y[t], Y[t + 1], Y[t + 2], Y[t + 3]
                    for i in range(width):
                        total[i] += (abs(x0 - y0[i]) + abs(x1 - y1[i])) + (
                            abs(x2 - y2[i]) + abs(x3 - y3[i])
                        )
            best = out[q, k]
            for i in range(width):
                least[i] = 0.0
            for w in range(W.shape[0]):
                for i in range(width):
                    best[i] = 0.0
                for a in range(0, W.shape[1], 4):
                    w0, w1, w2, w3 = W[w, a], W[w, a + 1], W[w, a + 2], W[w, a + 3]
                    b0, b1, b2, b3 = sums[a], sums[a + 1], sums[a + 2], sums[a + 3]
                    for i in range(width):
                        best[i] += (w0 * b0[i] + w1 * b1[i]) + (w2 * b2[i] + w3 * b3[i])
                for i in range(width):
                    least[i] = lesser(least[i], -best[i])
            for i in range(width):
                best[i] = -least[i]
