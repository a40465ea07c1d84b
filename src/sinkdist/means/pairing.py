"""Which histograms belong to which barycentre, as pairs in the order of barycentres.

A weight of 0 makes no pair: k clusters of n histograms are n pairs, not k n.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Pairing", "pairing_of"]

Array: TypeAlias = npt.NDArray[Any]
Index: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True, slots=True, eq=False)
class Pairing:
    """Pairs of a barycentre and a histogram with a positive weight.

    Attributes
    ----------
    barycenter : ndarray of int, shape (p,)
        The barycentre of each pair; ascending.
    histogram : ndarray of int, shape (p,)
        Its histogram.
    weight : ndarray, shape (p,)
        Its weight; those of a barycentre sum to 1.
    count : int
        Number of barycentres.
    """

    barycenter: Index
    histogram: Index
    weight: Array
    count: int

    @property
    def size(self) -> int:
        """Number of pairs."""
        return int(self.histogram.size)

    @property
    def starts(self) -> Index:
        """The first pair of each barycentre."""
        return np.searchsorted(self.barycenter, np.arange(self.count))

    def chosen(self, keep: npt.NDArray[np.bool_]) -> tuple[Pairing, npt.NDArray[np.bool_]]:
        """Some barycentres, numbered anew, and which pairs are theirs."""
        rows = keep[self.barycenter]
        number = np.cumsum(keep) - 1
        return (
            Pairing(
                number[self.barycenter[rows]],
                self.histogram[rows],
                self.weight[rows],
                int(np.count_nonzero(keep)),
            ),
            rows,
        )

    def largest(self, numbers: Array) -> Array:
        """The largest number among the pairs of each barycentre."""
        return np.asarray(np.maximum.reduceat(numbers, self.starts))

    def weighted_sums(self, rows: slice, values: Array) -> Array:
        """Weighted sums of the rows of some pairs, one for each barycentre from the first one's."""
        owner = self.barycenter[rows] - self.barycenter[rows.start]
        weights = np.zeros((int(owner[-1]) + 1, owner.size), values.dtype)
        weights[owner, np.arange(owner.size)] = self.weight[rows]
        return np.asarray(weights @ values)


def pairing_of(weights: Array) -> Pairing:
    """The pairs of a matrix of weights, one row for each barycentre.

    Examples
    --------
    >>> pairs = pairing_of(np.array([[0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]))
    >>> pairs.barycenter, pairs.histogram
    (array([0, 0, 1]), array([0, 1, 2]))
    """
    barycenter, histogram = np.nonzero(weights)
    return Pairing(barycenter, histogram, weights[barycenter, histogram], len(weights))
