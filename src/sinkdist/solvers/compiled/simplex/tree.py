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

LINKS = 5  #: rows of the array of links
PARENT, FOLLOWING, PRECEDING, LAST, SIZE = range(LINKS)
NODES = types.uint32[:, ::1]
WHOLE = types.int64[::1]
MOST = np.int64(2**63 - 1)


@shared(NODES, types.uint32[::1], INT, INT)
def build(links: Array, order: Array, count: int, root: int) -> None:
    """Make the preorder from parents; ``order`` lists nodes so that children precede parents."""
    one_version()
    parent, following, preceding = links[PARENT], links[FOLLOWING], links[PRECEDING]
    last, size = links[LAST], links[SIZE]
    parent[root] = following[root] = preceding[root] = last[root] = root
    size[root] = 1
    for k in range(count):
        size[order[k]] = 1
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


@shared(NODES, MATRIX, INT, INT, VECTOR)
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


@shared(NODES, MATRIX, INT, VECTOR, VECTOR)
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


@shared(NODES, WHOLE, VECTOR, types.float32[::1], INT, INT, INT, INT, FLOAT)
def exchange(
    links: Array, flow: Array, potential: Array, single: Array, first: int, total: int, i: int,
    j: int, reduced: float,
) -> None:  # fmt: skip
    """Let the move between the nodes ``i`` (a row) and ``j`` (a column) enter the tree.

    As much mass as possible goes round the cycle that the move closes; the edge that is emptied
    leaves. ``reduced`` is the reduced cost of the move, by which the part cut off is shifted;
    the tree has ``total`` nodes. ``single`` follows the potentials in single precision, if it is
    not empty.
    """
    one_version()
    parent, following, preceding = links[PARENT], links[FOLLOWING], links[PRECEDING]
    last, size = links[LAST], links[SIZE]
    # Climb from both ends to where they meet. Flow shrinks on edges from a row up to its parent on
    # the side of i, from a column up to its parent on the side of j.
    x, y = np.uint32(i), np.uint32(j)
    out, amount, at_row = x, MOST, True
    while x != y:
        if size[x] < size[y]:
            if x < first and flow[x] < amount:
                out, amount, at_row = x, flow[x], True
            x = parent[x]
        else:
            if y >= first and flow[y] < amount:
                out, amount, at_row = y, flow[y], False
            y = parent[y]
    join = x
    x = np.uint32(i)
    while x != join:
        flow[x] += -amount if x < first else amount
        x = parent[x]
    y = np.uint32(j)
    while y != join:
        flow[y] += amount if y < first else -amount
        y = parent[y]
    new_root, new_parent = (np.uint32(i), np.uint32(j)) if at_row else (np.uint32(j), np.uint32(i))
    # Take the subtree below the leaving edge out of the preorder.
    cut, end = size[out], last[out]
    top, before, after = parent[out], preceding[out], following[end]
    y = top
    while y != join:
        size[y] -= cut
        y = parent[y]
    y = new_parent
    while y != join:
        size[y] += cut
        y = parent[y]
    following[before], preceding[after] = after, before
    y = top
    while last[y] == end:
        last[y] = before
        if parent[y] == y:
            break
        y = parent[y]
    # Turn it round: every node on the way from the new root up to the old one becomes the child of
    # the node below it, followed by what is left of its own subtree.
    child, child_end, child_size = new_root, last[new_root], size[new_root]
    behind, ahead, tail = following[child_end], preceding[new_root], child_end
    up, carried = parent[new_root], flow[new_root]
    parent[new_root], flow[new_root], size[new_root] = new_parent, amount, cut
    while child != out:
        x = up
        x_end, x_ahead, x_size = last[x], preceding[x], size[x]
        following[tail], preceding[x] = x, tail
        tail = ahead
        if x_end != child_end:
            following[ahead], preceding[behind] = behind, ahead
            tail = x_end
            behind = following[x_end]
        up, parent[x] = parent[x], child
        carried, flow[x] = flow[x], carried
        size[x] = cut - child_size
        child, child_end, child_size, ahead = x, x_end, x_size, x_ahead
    x = out
    while x != new_root:
        last[x] = tail
        x = parent[x]
    last[new_root] = tail
    # Put it back behind its new parent.
    after = following[new_parent]
    following[new_parent], preceding[new_root] = new_root, new_parent
    following[tail], preceding[after] = after, tail
    y = new_parent
    while last[y] == new_parent:
        last[y] = tail
        if parent[y] == y:
            break
        y = parent[y]
    # The smaller side moves, from both of its ends.
    shift = reduced if at_row else -reduced
    x, y, count = new_root, tail, cut
    if 2 * cut > total:
        x, y, count, shift = following[tail], preceding[new_root], total - cut, -shift
    if single.size > 0:
        for _ in range(count):
            potential[x] += shift
            single[x] = potential[x]
            x = following[x]
        return
    for _ in range(count // 2):
        potential[x] += shift
        potential[y] += shift
        x, y = following[x], preceding[y]
    if count % 2 == 1:
        potential[x] += shift
