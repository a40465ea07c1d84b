"""Net mass over the edges of a tree, for many pairs of histograms, in twice the working precision.

Sums over subtrees lose a little mass beside much of it, and the difference of two histograms that
are nearly equal with it. So sums are kept as a number and what rounding took from it (`_add`).
"""

from __future__ import annotations

from sinkdist.kernels.compiled import INTEGERS, MATRIX, VECTOR, Array, one_version, part, shared

__all__ = ["edge_flows"]


@part
def _add(high: float, low: float, more: float, rest: float) -> tuple[float, float]:
    """``(high + low) + (more + rest)`` as a number and its rounding."""
    total = high + more
    seen = total - high
    lost = ((high - (total - seen)) + (more - seen)) + (low + rest)
    final = total + lost
    return final, lost - (final - total)


@shared(INTEGERS, MATRIX, MATRIX, MATRIX, MATRIX, VECTOR, MATRIX, reorder=False)
def edge_flows(
    parent: Array, A: Array, B: Array, X: Array, mass: Array, excess: Array, sums: Array
) -> None:
    """``X[p, k]``: the mass of ``A[p]`` in the subtree of node ``k``, less that of ``B[p]``.

    Nodes come after their parents, and node 0 is the root. ``A`` has one row, shared, or one per
    row of ``B``; rows sum to 1 up to rounding and stand for the exactly normalised ones.
    ``mass`` is the sum of both masses in place of the difference, 0 where two rows are the same;
    ``excess`` what the totals differ from 1 by at most; ``sums`` is scratch of four rows.
    """
    one_version()
    nodes = parent.shape[0]
    for p in range(B.shape[0]):
        a, b = A[p if A.shape[0] > 1 else 0], B[p]
        equal = True
        for k in range(nodes):
            sums[0, k], sums[1, k], sums[2, k], sums[3, k] = a[k], 0.0, b[k], 0.0
            equal = equal and a[k] == b[k]
        for k in range(nodes - 1, 0, -1):
            up = parent[k]
            sums[0, up], sums[1, up] = _add(sums[0, up], sums[1, up], sums[0, k], sums[1, k])
            sums[2, up], sums[3, up] = _add(sums[2, up], sums[3, up], sums[2, k], sums[3, k])
        # What the totals exceed 1 by, as a share of them: the normalised sums are smaller by it.
        over_a, over_b = (sums[0, 0] - 1.0) + sums[1, 0], (sums[2, 0] - 1.0) + sums[3, 0]
        over_a, over_b = over_a / (1.0 + over_a), over_b / (1.0 + over_b)
        excess[p] = max(abs(over_a), abs(over_b))
        X[p, 0], mass[p, 0] = 0.0, 0.0
        for k in range(1, nodes):
            below, other = sums[0, k], sums[2, k]
            x, rest = _add(below, sums[1, k], -other, -sums[3, k])
            x += rest - (over_a * below - over_b * other)
            X[p, k] = 0.0 if equal else x
            mass[p, k] = 0.0 if equal else below + other
