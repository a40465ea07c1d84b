"""The spanning tree of a basis, kept in preorder so that a subtree is a run of nodes.

Nodes are rows ``0 .. `` and columns ``first .. ``; every node but the root has an edge to its
parent, which is a move between a row and a column, with its flow. The preorder is a circular list
(`FOLLOWING`, `PRECEDING`); with the last node and the size of every subtree, cutting a subtree off
and hanging it up again by another node costs a few steps per node on the way between the two
(thread indices: Ahuja, Magnanti and Orlin, *Network Flows*, chapter 11).

Potentials are ``u`` of rows and ``-v`` of columns, so that all of a subtree move by one amount.
"""

from __future__ import annotations

import numpy as np
from numba import types

from sinkdist.kernels.compiled import FLOAT, INT, MATRIX, VECTOR, Array, one_version, shared

__all__ = ["LINKS", "NODES", "WHOLE", "build", "exchange", "flows", "set_potentials"]

LINKS = 8  #: rows of the array of links; the last ones are scratch of `exchange`
PARENT, FOLLOWING, PRECEDING, LAST, SIZE, MARK, PATH, _ = range(LINKS)
NODES = types.uint32[:, ::1]
WHOLE = types.int64[::1]
MOST = np.int64(2**63 - 1)


@shared(NODES, types.uint32[::1], INT, INT, allocates=False)
def build(links: Array, order: Array, count: int, root: int) -> None:
    """Make the preorder from parents; ``order`` lists nodes so that children precede parents."""
    one_version()
    parent, following, preceding = links[PARENT], links[FOLLOWING], links[PRECEDING]
    last, size, mark = links[LAST], links[SIZE], links[MARK]
    parent[root] = following[root] = preceding[root] = last[root] = root
    size[root], mark[root] = 1, 0
    for k in range(count):
        size[order[k]], mark[order[k]] = 1, 0
    for k in range(count):
        x = order[k]
        size[parent[x]] += size[x]
    for k in range(count):
        x = order[count - 1 - k]
        y = parent[x]
        after = following[y]
        following[y], preceding[x] = x, y
        following[x], preceding[after] = after, x
        last[x] = x
    x = preceding[root]
    while x != root:
        y = parent[x]
        if last[y] == y:
            last[y] = last[x]
        x = preceding[x]


@shared(NODES, MATRIX, INT, INT, VECTOR, allocates=False)
def set_potentials(links: Array, C: Array, first: int, root: int, potential: Array) -> float:
    """Compute all potentials from the root on; the range that they span."""
    one_version()
    parent, following = links[PARENT], links[FOLLOWING]
    potential[root] = 0.0
    low = high = 0.0
    x = following[root]
    while x != root:
        y = parent[x]
        if x < first:
            p = potential[y] + C[x, y - first]
        else:
            p = potential[y] - C[y, x - first]
        potential[x] = p
        low, high = min(low, p), max(high, p)
        x = following[x]
    return high - low


@shared(NODES, MATRIX, INT, VECTOR, VECTOR, allocates=False)
def flows(links: Array, C: Array, root: int, mass: Array, flow: Array) -> tuple[float, int]:
    """What the masses themselves let flow from every node to its parent; its cost, its largest.

    Flows that rounding makes negative are 0.
    """
    one_version()
    parent, preceding, first = links[PARENT], links[PRECEDING], C.shape[0]
    flow[root] = -mass[root]
    x = preceding[root]
    while x != root:
        flow[x] = mass[x] if x < first else -mass[x]
        x = preceding[x]
    value, top, x = 0.0, preceding[root], preceding[root]
    while x != root:
        y, net = parent[x], flow[x]
        flow[y] += net
        if x < first:
            flow[x], cost = max(net, 0.0), C[x, y - first]
        else:
            flow[x], cost = max(-net, 0.0), C[y, x - first]
        value += flow[x] * cost
        if flow[x] > flow[top]:
            top = x
        x = preceding[x]
    return value, 0 + int(top)  # the sum is an int64, of whatever type the node is


@shared(NODES, WHOLE, VECTOR, types.float32[::1], INT, INT, INT, INT, FLOAT, INT, allocates=False)
def exchange(
    links: Array, flow: Array, potential: Array, single: Array, first: int, total: int, i: int,
    j: int, reduced: float, pivot: int,
) -> None:  # fmt: skip
    """Let the move between the nodes ``i`` (a row) and ``j`` (a column) enter the tree.

    As much mass as possible goes round the cycle that the move closes; the edge that is emptied
    leaves. ``reduced`` is the reduced cost of the move, by which the part cut off is shifted;
    the tree has ``total`` nodes. ``single`` follows the potentials in single precision, if it is
    not empty. ``pivot`` is a number that no exchange since `build` has had, and positive.
    """
    one_version()
    # Rows of links are not taken as arrays here: counting references to them would take longer
    # than what is done with them.
    by_i, by_j = np.uint32(2 * pivot), np.uint32(2 * pivot + 1)
    x, y, k = np.uint32(i), np.uint32(j), 0
    while True:  # climb from both ends at once, until one finds the other's mark
        links[PATH, k], links[PATH + 1, k] = x, y
        if links[MARK, x] == by_j:
            meet = x
            break
        links[MARK, x] = by_i
        if links[MARK, y] == by_i:
            meet = y
            break
        links[MARK, y] = by_j
        x, y = links[PARENT, x], links[PARENT, y]
        k += 1
    # Nodes on a path are rows and columns in turn. Flow shrinks on the edge above the first node,
    # grows on that above the second, and so on; for both paths, because one begins at a column.
    amount, at, at_row, len_i, len_j = MOST, 0, True, 0, 0
    while links[PATH, len_i] != meet:
        has = flow[links[PATH, len_i]]
        if has < amount and len_i % 2 == 0:
            amount, at = has, len_i
        len_i += 1
    while links[PATH + 1, len_j] != meet:
        has = flow[links[PATH + 1, len_j]]
        if has < amount and len_j % 2 == 0:
            amount, at, at_row = has, len_j, False
        len_j += 1
    stem, other, len_stem, len_other = PATH, PATH + 1, len_i, len_j
    if not at_row:
        stem, other, len_stem, len_other = PATH + 1, PATH, len_j, len_i
    out, new_root, new_parent = links[stem, at], links[stem, 0], links[other, 0]
    cut, end, before = links[SIZE, out], links[LAST, out], links[PRECEDING, out]
    # Paths above the leaving edge, and from the new parent up.
    change = amount
    for k in range(at + 1, len_stem):
        flow[links[stem, k]] += change
        links[SIZE, links[stem, k]] -= cut
        change = -change
    change = -amount
    for k in range(len_other):
        flow[links[other, k]] += change
        links[SIZE, links[other, k]] += cut
        change = -change
    # Take the subtree below the leaving edge out of the preorder.
    after, y = links[FOLLOWING, end], links[PARENT, out]
    links[FOLLOWING, before], links[PRECEDING, after] = after, before
    while links[LAST, y] == end:
        links[LAST, y] = before
        if links[PARENT, y] == y:
            break
        y = links[PARENT, y]
    # Turn it round: every node on the way from the new root up to the old one becomes the child of
    # the node below it, followed by what is left of its own subtree.
    final = end
    if at > 0 and links[LAST, links[stem, at - 1]] == end:
        final = links[PRECEDING, links[stem, at - 1]]
    child, child_end, child_size = new_root, links[LAST, new_root], links[SIZE, new_root]
    behind, ahead, tail = links[FOLLOWING, child_end], links[PRECEDING, new_root], child_end
    carried, change = flow[new_root] - amount, amount
    links[PARENT, new_root], links[SIZE, new_root], flow[new_root] = new_parent, cut, amount
    links[LAST, new_root] = final
    for k in range(1, at + 1):
        x = links[stem, k]
        x_end, x_ahead, x_size = links[LAST, x], links[PRECEDING, x], links[SIZE, x]
        links[FOLLOWING, tail], links[PRECEDING, x] = x, tail
        tail = ahead
        if x_end != child_end:
            links[FOLLOWING, ahead], links[PRECEDING, behind] = behind, ahead
            tail = x_end
            behind = links[FOLLOWING, x_end]
        links[PARENT, x], links[LAST, x], links[SIZE, x] = child, final, cut - child_size
        carried, flow[x] = flow[x] + change, carried
        change = -change
        child, child_end, child_size, ahead = x, x_end, x_size, x_ahead
    # Put it back behind its new parent.
    after, y = links[FOLLOWING, new_parent], new_parent
    links[FOLLOWING, new_parent], links[PRECEDING, new_root] = new_root, new_parent
    links[FOLLOWING, tail], links[PRECEDING, after] = after, tail
    while links[LAST, y] == new_parent:
        links[LAST, y] = tail
        if links[PARENT, y] == y:
            break
        y = links[PARENT, y]
    # The smaller side moves, from both of its ends.
    shift = reduced if at_row else -reduced
    x, y, count = new_root, tail, np.uint32(cut)
    if 2 * cut > total:
        x, y, shift = links[FOLLOWING, tail], links[PRECEDING, new_root], -shift
        count = np.uint32(total - cut)
    if single.size > 0:
        for _ in range(count >> 1):
            potential[x] += shift
            potential[y] += shift
            single[x], single[y] = potential[x], potential[y]
            x, y = links[FOLLOWING, x], links[PRECEDING, y]
    else:
        for _ in range(count >> 1):
            potential[x] += shift
            potential[y] += shift
            x, y = links[FOLLOWING, x], links[PRECEDING, y]
    if count & 1:
        potential[x] += shift
        if single.size > 0:
            single[x] = potential[x]
