"""Sums of weights against a table of ``exp(-sharp x^2)``: the inner loops of all work on lines."""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import (
    INT,
    VECTOR,
    Array,
    one_version,
    shared,
)

__all__ = ["add_sums", "add_sums_back"]


@shared(VECTOR, INT, INT, VECTOR, INT, INT, VECTOR, INT)
def add_sums(
    weights: Array, at: int, count: int, table: Array, x: int, block: int, out: Array, to: int
) -> None:
    """``out[to + i] += sum_b weights[at + b] table[x - b + i]`` for ``i`` in a block.

    Blocks of 16 and 8 are kept in registers: sums that have names become vectors, and those in an
    array would be stored after every source.
    """
    one_version()
    if block < 8:
        for b in range(count):
            e = weights[at + b]
            for i in range(block):
                out[to + i] += e * table[x - b + i]
        return

    j = np.uint64(x)
    k = np.uint64(at)
    one = np.uint64(1)
    if block == 8:
        a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
        for _ in range(count):
            e = weights[k]
            a0 += e * table[j]
            a1 += e * table[j + np.uint64(1)]
            a2 += e * table[j + np.uint64(2)]
            a3 += e * table[j + np.uint64(3)]
            a4 += e * table[j + np.uint64(4)]
            a5 += e * table[j + np.uint64(5)]
            a6 += e * table[j + np.uint64(6)]
            a7 += e * table[j + np.uint64(7)]
            j -= one
            k += one
        out[to] += a0
        out[to + 1] += a1
        out[to + 2] += a2
        out[to + 3] += a3
        out[to + 4] += a4
        out[to + 5] += a5
        out[to + 6] += a6
        out[to + 7] += a7
        return
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    a8 = a9 = a10 = a11 = a12 = a13 = a14 = a15 = 0.0
    for _ in range(count):
        e = weights[k]
        a0 += e * table[j]
        a1 += e * table[j + np.uint64(1)]
        a2 += e * table[j + np.uint64(2)]
        a3 += e * table[j + np.uint64(3)]
        a4 += e * table[j + np.uint64(4)]
        a5 += e * table[j + np.uint64(5)]
        a6 += e * table[j + np.uint64(6)]
        a7 += e * table[j + np.uint64(7)]
        a8 += e * table[j + np.uint64(8)]
        a9 += e * table[j + np.uint64(9)]
        a10 += e * table[j + np.uint64(10)]
        a11 += e * table[j + np.uint64(11)]
        a12 += e * table[j + np.uint64(12)]
        a13 += e * table[j + np.uint64(13)]
        a14 += e * table[j + np.uint64(14)]
        a15 += e * table[j + np.uint64(15)]
        j -= one
        k += one
    out[to] += a0
    out[to + 1] += a1
    out[to + 2] += a2
    out[to + 3] += a3
    out[to + 4] += a4
    out[to + 5] += a5
    out[to + 6] += a6
    out[to + 7] += a7
    out[to + 8] += a8
    out[to + 9] += a9
    out[to + 10] += a10
    out[to + 11] += a11
    out[to + 12] += a12
    out[to + 13] += a13
    out[to + 14] += a14
    out[to + 15] += a15


@shared(VECTOR, INT, VECTOR, INT, INT, VECTOR, INT)
def add_sums_back(
    values: Array, block: int, table: Array, x: int, count: int, out: Array, to: int
) -> None:
    """The adjoint: ``out[to + b] += sum_i values[i] table[x - b + i]``, the table being even."""
    one_version()
    y = table.size - 1 - x  # where -(x - middle) lies
    source = out[to : to + count]
    for i in range(block):
        e = values[i]
        row = table[y - i : y - i + count]
        for b in range(count):
            source[b] += e * row[b]
