"""`Neighbors`: what a search returns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError

__all__ = ["Neighbors"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Neighbors:
    """The nearest rows of a family for each query, nearest first; equal distances by index.

    Attributes
    ----------
    indices : ndarray of int64, shape (queries, k)
        Rows of the family that was searched; -1 where there are fewer.
    distances : ndarray, shape (queries, k)
        Their distances, NaN where there are fewer. With ``radius=``, ``k`` is the largest number of
        neighbours that a query has.
    proven : ndarray of bool, shape (queries, k)
        Whether no row that was not solved can be nearer. False only where ``budget=`` or
        ``order="heuristic"`` ended a search early.
    solved : ndarray of int64, shape (queries,)
        How many distances were computed for each query.
    bounds : tuple of str
        The bounds that ruled out the other rows.
    searched : int
        Rows of the family.
    query_labels, labels : pandas.Index or None
        Of the queries and of the rows that were searched, where they came as DataFrames.

    Examples
    --------
    >>> import sinkdist as sd
    >>> found = sd.neighbors([[1, 0, 0]], [[0, 0, 1], [0, 1, 0]], ground=sd.Ground.grid(3),
    ...                      k=1, lam=float("inf"))
    >>> found.indices, found.distances
    (array([[1]]), array([[1.]]))
    """

    indices: Array
    distances: Array
    proven: Array
    solved: Array
    bounds: tuple[str, ...]
    searched: int
    query_labels: Any = None
    labels: Any = None

    def to_frame(self) -> Any:
        """A pandas DataFrame with one row for each neighbour, by label where rows have labels.

        Examples
        --------
        >>> import pandas as pd
        >>> import sinkdist as sd
        >>> X = pd.DataFrame([[1, 0, 0], [0, 1, 0], [0, 0, 1]], index=["red", "green", "blue"])
        >>> found = sd.neighbors(X, ground=sd.Ground.grid(3), k=1, lam=float("inf"))
        >>> print(found.to_frame().to_string(index=False))
        query  rank neighbour  distance  proven
          red     1     green       1.0    True
        green     1       red       1.0    True
         blue     1     green       1.0    True
        """
        import pandas as pd

        query, rank = np.nonzero(self.indices >= 0)
        index = self.indices[query, rank]
        return pd.DataFrame(
            {
                "query": query if self.query_labels is None else self.query_labels[query],
                "rank": rank + 1,
                "neighbour": index if self.labels is None else self.labels[index],
                "distance": self.distances[query, rank],
                "proven": self.proven[query, rank],
            }
        )

    def to_graph(self, symmetric: bool = False) -> Any:
        """A CSR array, one row for each query: distances in the columns of its neighbours.

        Distances of 0 are stored, as scikit-learn expects of a graph of neighbours.

        Parameters
        ----------
        symmetric : bool
            Of one family: an edge of either row is one of both, as HDBSCAN wants it.

        Examples
        --------
        >>> import sinkdist as sd
        >>> X = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
        >>> sd.neighbors(X, ground=sd.Ground.grid(3), k=1, lam=float("inf")).to_graph().toarray()
        array([[0., 1., 0.],
               [1., 0., 0.],
               [0., 1., 0.]])
        """
        from scipy.sparse import csr_array

        there = self.indices >= 0
        indptr = np.concatenate([[0], np.cumsum(there.sum(axis=1))])
        shape = (len(self.indices), self.searched)
        parts = self.distances[there], self.indices[there], indptr
        if not symmetric:
            return csr_array(parts, shape=shape)
        if shape[0] != shape[1]:
            raise InputError(
                f"A graph from {shape[0]} queries to {shape[1]} rows has no other direction: "
                "symmetric=True is for the neighbours of one family."
            )
        return _both_ways(*parts, shape[0])

    def __len__(self) -> int:
        """The number of queries."""
        return len(self.indices)

    def __repr__(self) -> str:
        queries, k = self.indices.shape
        mean = float(self.solved.mean()) if queries else 0.0
        there = self.indices >= 0
        share = float(self.proven[there].mean()) if there.any() else 1.0
        proven = "proven" if share == 1.0 else f"{share:.0%} proven"
        words = " and ".join(self.bounds) or "no bounds"
        return (
            f"Neighbors({queries} x {k} of {self.searched}, {mean:.4g} pairs solved for each, "
            f"{proven}, by {words})"
        )


def _both_ways(distances: Array, indices: Array, indptr: Array, n: int) -> Any:
    """A graph with every edge in both directions; the larger of two distances, which hardly differ.

    Distances of 0 stay: sums and maxima of sparse arrays would lose them.
    """
    from scipy.sparse import csr_array

    rows = np.repeat(np.arange(n), np.diff(indptr))
    start, end = np.concatenate([rows, indices]), np.concatenate([indices, rows])
    weight = np.concatenate([distances, distances])
    order = np.lexsort((-weight, end, start))
    start, end, weight = start[order], end[order], weight[order]
    first = np.ones(start.size, bool)
    first[1:] = (np.diff(start) != 0) | (np.diff(end) != 0)
    counts = np.bincount(start[first], minlength=n)
    ends = np.concatenate([[0], np.cumsum(counts)])
    return csr_array((weight[first], end[first], ends), shape=(n, n))
