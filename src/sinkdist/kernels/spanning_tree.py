"""Linear systems of plans that are nearly trees, preconditioned by the tree.

The Hessian of the dual, with the potentials of both sides as unknowns and the sign of one side
turned, is the Laplacian of a graph: bins are its nodes, the entries of the plan its edges. At a
large lam nearly all mass moves along few more edges than a tree has. The diagonal alone is a poor
preconditioner then: what happens at one leaf takes as many steps to reach another as there are
edges between them. The Laplacian of the heaviest spanning tree is solved by going to the root and
back.
"""

from __future__ import annotations

import numpy as np

from sinkdist.kernels.compiled import (
    FLOAT,
    INT,
    SHORT_INTEGERS,
    VECTOR,
    Array,
    one_version,
    part,
    shared,
)

__all__ = ["heaviest_tree", "solve_by_tree", "weigh_tree"]

# A tree is a vector of four parts, each with a number for every node: rows, then columns. Nodes
# from the root on; for each node its parent, its place among the entries, and its row.
ORDER, PARENT, ENTRY, ROW = range(4)


@part
def _find(above: Array, x: int) -> int:
    """The name of the component of a node; the way to it is halved."""
    while above[x] != x:
        above[x] = above[above[x]]
        x = above[x]
    return x


@shared(SHORT_INTEGERS, SHORT_INTEGERS, VECTOR, VECTOR, VECTOR, SHORT_INTEGERS)
def heaviest_tree(
    starts: Array, columns: Array, kernel: Array, u: Array, v: Array, tree: Array
) -> bool:
    """The heaviest spanning tree of the entries ``u_i kernel v_j`` of compressed rows (Boruvka).

    False where no tree reaches all rows and columns.
    """
    one_version()
    m, n = u.size, v.size
    above, best, chosen = (
        np.empty(m + n, np.int32),
        np.empty(m + n, np.int32),
        np.empty(m + n, np.int32),
    )
    weight = np.empty(m + n)
    rows, edges, count = np.empty(m + n, np.int32), np.empty(m + n, np.int32), 0
    for x in range(m + n):
        above[x] = x
    while count < m + n - 1:
        for x in range(m + n):
            weight[x] = 0.0
            best[x] = -1
        for i in range(m):
            a = _find(above, i)
            for k in range(starts[i], starts[i + 1]):
                b = _find(above, m + columns[k])
                if a == b:
                    continue
                w = u[i] * kernel[k] * v[columns[k]]
                if w > weight[a]:
                    weight[a], best[a], chosen[a] = w, k, i
                if w > weight[b]:
                    weight[b], best[b], chosen[b] = w, k, i
        before = count
        for x in range(m + n):
            if best[x] < 0:
                continue
            a, b = _find(above, chosen[x]), _find(above, m + columns[best[x]])
            if a != b:
                above[a] = b
                rows[count], edges[count] = chosen[x], best[x]
                count += 1
        if count == before:
            return False
    _hang(rows[:count], edges[:count], columns, m, tree)
    return True


@shared(SHORT_INTEGERS, SHORT_INTEGERS, SHORT_INTEGERS, INT, SHORT_INTEGERS)
def _hang(rows: Array, edges: Array, columns: Array, m: int, tree: Array) -> None:
    """Order the nodes of a tree, given by its edges, from the first row on."""
    one_version()
    nodes = rows.size + 1
    order, parent = tree[:nodes], tree[PARENT * nodes : ENTRY * nodes]
    entry, row = tree[ENTRY * nodes : ROW * nodes], tree[ROW * nodes :]
    first, after, around = np.empty(nodes, np.int32), np.empty(2 * nodes, np.int32), 0
    at = np.empty(2 * nodes, np.int32)
    for x in range(nodes):
        first[x] = parent[x] = entry[x] = row[x] = -1
    for e in range(rows.size):  # each node's edges as a list: twice the edge, and its side
        i, j = rows[e], m + columns[edges[e]]
        at[around], after[around], first[i] = e, first[i], around
        at[around + 1], after[around + 1], first[j] = e, first[j], around + 1
        around += 2
    order[0] = 0
    reached = 1
    for k in range(nodes):
        x = order[k]
        link = first[x]
        while link >= 0:
            e = at[link]
            i, j = rows[e], m + columns[edges[e]]
            other = j if x == i else i
            if other != parent[x]:
                parent[other], entry[other], row[other] = x, edges[e], i
                order[reached] = other
                reached += 1
            link = after[link]


@shared(SHORT_INTEGERS, VECTOR, VECTOR, VECTOR, SHORT_INTEGERS, VECTOR, allocates=False)
def weigh_tree(
    columns: Array, kernel: Array, u: Array, v: Array, tree: Array, weights: Array
) -> None:
    """The entry between each node and its parent."""
    one_version()
    nodes = weights.size
    entry, row = tree[ENTRY * nodes : ROW * nodes], tree[ROW * nodes :]
    for x in range(nodes):
        k = entry[x]
        weights[x] = u[row[x]] * kernel[k] * v[columns[k]] if k >= 0 else 0.0


@shared(
    SHORT_INTEGERS, SHORT_INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, SHORT_INTEGERS, FLOAT,
    INT, VECTOR,
)  # fmt: skip
def solve_by_tree(
    starts: Array, columns: Array, values: Array, r: Array, sums: Array, gradient: Array,
    weights: Array, tree: Array, forcing: float, most: int, y: Array,
) -> int:  # fmt: skip
    """The step ``y`` of the columns for a gradient, to the accuracy ``forcing``; steps taken.

    ``starts, columns, values`` is the plan, with row sums ``r`` and column sums ``sums``. The tree
    has ``weights`` between nodes and their parents.
    """
    one_version()
    m, n = r.size, y.size
    nodes = m + n
    x, residual, z = np.empty(nodes), np.empty(nodes), np.empty(nodes)
    p, Lp = np.empty(nodes), np.empty(nodes)
    mean = 0.0
    for j in range(n):
        mean += gradient[j]
    mean /= nodes
    for i in range(nodes):
        x[i] = 0.0
        residual[i] = -mean
    for j in range(n):
        residual[m + j] += gradient[j]
    _along_the_tree(tree, weights, residual, z)
    energy = 0.0
    for i in range(nodes):
        p[i] = z[i]
        energy += z[i] * residual[i]
    target, steps = forcing * forcing * energy, 0
    while steps < most and energy > target:
        steps += 1
        _laplacian(starts, columns, values, r, sums, p, Lp)
        curvature = 0.0
        for i in range(nodes):
            curvature += p[i] * Lp[i]
        if not curvature > 0.0:
            break
        length, previous = energy / curvature, energy
        for i in range(nodes):
            x[i] += length * p[i]
            residual[i] -= length * Lp[i]
        _along_the_tree(tree, weights, residual, z)
        energy = 0.0
        for i in range(nodes):
            energy += z[i] * residual[i]
        for i in range(nodes):
            p[i] = z[i] + energy / previous * p[i]
    for j in range(n):
        y[j] = x[m + j]
    return steps


@shared(SHORT_INTEGERS, VECTOR, VECTOR, VECTOR, allocates=False)
def _along_the_tree(tree: Array, weights: Array, residual: Array, z: Array) -> None:
    """Solve the Laplacian of the tree: what flows through each edge is what lies behind it."""
    one_version()
    nodes = weights.size
    order, parent = tree[:nodes], tree[PARENT * nodes : ENTRY * nodes]
    for x in range(nodes):
        z[x] = residual[x]
    for k in range(nodes - 1, 0, -1):
        x = order[k]
        z[parent[x]] += z[x]
    z[order[0]] = 0.0
    mean = 0.0
    for k in range(1, nodes):
        x = order[k]
        z[x] = z[parent[x]] + z[x] / weights[x]
        mean += z[x]
    mean /= nodes
    for x in range(nodes):
        z[x] -= mean


@shared(SHORT_INTEGERS, SHORT_INTEGERS, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, allocates=False)
def _laplacian(
    starts: Array, columns: Array, values: Array, r: Array, sums: Array, p: Array, out: Array
) -> None:
    """``(r x - P y, sums y - P^T x)`` for ``p = (x, y)``."""
    one_version()
    m, n = r.size, sums.size
    y, below = p[m : m + n], out[m : m + n]
    for j in range(n):
        below[j] = sums[j] * y[j]
    for i in range(m):
        s = 0.0
        for k in range(starts[i], starts[i + 1]):
            j = columns[k]
            s += values[k] * y[j]
            below[j] -= values[k] * p[i]
        out[i] = r[i] * p[i] - s
