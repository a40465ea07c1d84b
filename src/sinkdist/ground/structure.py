"""What is known of costs beyond their numbers: a structure that gives the exact distance a formula.

A `Structure` is known by how a ground was made (`line`, `of_edges`), or found in the matrix
(`found_in`), where looking costs next to nothing: a matrix that has none fails on its first bins.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

__all__ = ["Structure", "found_in", "line", "of_edges"]

Costs = npt.NDArray[np.float64]
Nodes = npt.NDArray[np.int64]
Kind = Literal["line", "tree", "cycle", "star", "uniform", "constant"]

_SAME = 2.0**-50  #: relative difference of two costs that counts as rounding
_ROWS = 256  #: of a matrix that are looked at together


@dataclass(frozen=True, slots=True, eq=False)
class Structure:
    """Bins as nodes of a tree whose paths are the costs, or of one that has an edge more.

    Attributes
    ----------
    kind : str
        ``line``, ``tree``; ``cycle``: nodes in a circle; ``star``: ``M_ij = w_i + w_j``, 0 on the
        diagonal; ``uniform``: a star whose weights are all the same; ``constant``: one cost for all
        moves, also for staying, and no nodes.
    bins : ndarray
        The bin of every node; -1 for the centre of a star, which is no bin.
    parent : ndarray
        The node above every node, which comes before it; the root is node 0, and its own parent.
    lengths : ndarray
        Of the edge from every node to its parent. The root has none: there stands 0, the
        length of the edge that closes a cycle, or the only cost.
    """

    kind: Kind
    bins: Nodes
    parent: Nodes
    lengths: Costs

    def scaled(self, unit: float) -> Structure:
        """The same for costs that have been divided by a number."""
        with np.errstate(under="ignore"):
            return replace(self, lengths=self.lengths / unit)


def line(places: Costs, costs_at: Callable[[Nodes, Nodes], Costs]) -> Structure:
    """Bins on a line, with the distance between them as cost."""
    bins = np.argsort(places, kind="stable").astype(np.int64)
    gaps = costs_at(bins[:-1], bins[1:])  # differences of places may be less accurate
    return Structure("line", bins, _path(bins.size), np.concatenate([[0.0], gaps]))


def of_edges(graph: Any) -> Structure | None:
    """The structure of a connected graph in CSR format: a tree, a cycle, or none."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import breadth_first_order, depth_first_order

    nodes = graph.shape[0]
    coo = graph.tocoo()
    first, last = np.minimum(coo.row, coo.col), np.maximum(coo.row, coo.col)
    apart = first != last
    edges, at = np.unique(first[apart].astype(np.int64) * nodes + last[apart], return_inverse=True)
    is_cycle = edges.size == nodes and bool(
        (np.bincount(np.concatenate([edges // nodes, edges % nodes])) == 2).all()
    )
    if not (is_cycle or edges.size == nodes - 1):
        return None
    weights = np.full(edges.size, np.inf)
    np.minimum.at(weights, at, coo.data[apart])  # of two parallel edges the shorter counts
    # Lengths of 0 are edges too: the walk sees ones.
    ones = csr_array((np.ones(edges.size), (edges // nodes, edges % nodes)), (nodes, nodes))
    walk = depth_first_order if is_cycle else breadth_first_order
    bins, above = (x.astype(np.int64) for x in walk(ones, 0, directed=False))
    place = np.empty(nodes, np.int64)
    place[bins] = np.arange(nodes)
    above[0] = bins[-1] if is_cycle else 0
    up = above[bins]
    length_of = np.searchsorted(edges, np.minimum(bins, up) * nodes + np.maximum(bins, up))
    if is_cycle:
        return Structure("cycle", bins, _path(nodes), weights[length_of])
    lengths = np.zeros(nodes)
    lengths[1:] = weights[length_of[1:]]
    return Structure("tree", bins, place[up], lengths)


def found_in(matrix: Costs, least: float, most: float) -> Structure | None:
    """The structure of costs between ``least`` and ``most``: all equal, a star, or none."""
    if least == most:
        nothing = np.zeros(0, np.int64)
        return Structure("constant", nothing, nothing, np.array([most]))
    bins, others = matrix.shape
    if bins != others or least < 0.0 or matrix[0, 0] != 0.0:
        return None
    weights = _star_weights(matrix)
    if weights is None:
        return None
    even = bool((weights == weights[0]).all())
    return Structure(
        "uniform" if even else "star",
        np.arange(-1, bins, dtype=np.int64),
        np.zeros(bins + 1, np.int64),
        np.concatenate([[0.0], weights]),
    )


def _star_weights(matrix: Costs) -> Costs | None:
    """Weights of at least 0 with ``M_ij = w_i + w_j`` and 0 on the diagonal, if there are any."""
    bins = len(matrix)
    if bins == 2:
        weights: Costs = np.array([0.5, 0.5]) * matrix[0, 1]
    else:
        if bins > 3:  # four bins tell it of almost every matrix
            ways = matrix[0, 1] + matrix[2, 3], matrix[0, 2] + matrix[1, 3]
            if not _is_same(*ways):
                return None
        low = int(matrix[0, 1:].argmin()) + 1  # the weight that others lose least digits to
        a, b = [k for k in range(3) if k != low][:2]
        own = 0.5 * (matrix[low, a] + matrix[low, b] - matrix[a, b])
        weights = matrix[low] - own
        weights[low] = own
    if not (weights >= 0.0).all() or matrix.diagonal().any():
        return None
    for start in range(0, bins, _ROWS):
        some = np.arange(start, min(start + _ROWS, bins))
        sums = weights[some, None] + weights
        sums[some - start, some] = 0.0
        if not _is_same(matrix[some], sums).all():
            return None
    return weights


def _is_same(a: Any, b: Any) -> Any:
    """Whether numbers differ by no more than rounding."""
    return np.abs(a - b) <= _SAME * np.minimum(np.abs(a), np.abs(b))


def _path(nodes: int) -> Nodes:
    """Parents of nodes in a row."""
    return np.maximum(np.arange(-1, nodes - 1), 0).astype(np.int64)
