"""Medoids by swaps, from a matrix of distances: eager and fast, as in FasterPAM.

Written from Schubert and Rousseeuw, "Fast and eager k-medoids clustering" (2021). Every row is
tried as a medoid in turn. For all medoids at once it is known what a swap changes: a row that is
nearer to the candidate goes there whichever medoid leaves; any other row matters only to the swap
with its own medoid. The first swap that lowers the total is made.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["Medoids", "swapped"]

Array: TypeAlias = npt.NDArray[Any]
Index: TypeAlias = npt.NDArray[np.intp]

_GAIN = 1e-12  #: of the total: a swap that gains less is rounding


@dataclass(frozen=True, slots=True, eq=False)
class Medoids:
    """Medoids, the nearest of each row, the sum of distances, and passes over the rows."""

    indices: Index
    labels: Index
    inertia: float
    n_iter: int


def swapped(D: Array, medoids: Index, most: int) -> Medoids:
    """Swap medoids while that lowers the sum of distances; at most so many passes.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 2.0, 10.0, 11.0])
    >>> found = swapped(np.abs(x[:, None] - x), np.array([0, 1]), 10)
    >>> sorted(found.indices.tolist()), found.inertia
    ([1, 3], 3.0)
    """
    medoids = medoids.copy()
    n, passes = len(D), 0
    state = _nearest(D, medoids)
    since, candidate = 0, 0  # candidates tried since the last swap
    while since < n and passes < most:
        if candidate not in medoids:
            place, change = _best_swap(D[:, candidate], state, medoids.size)
            if change < -_GAIN * state.first.sum():
                medoids[place] = candidate
                state = _nearest(D, medoids)
                since = 0
        since, candidate = since + 1, candidate + 1
        if candidate == n:
            candidate, passes = 0, passes + 1
    return Medoids(medoids, state.label, float(state.first.sum()), max(passes, 1))


@dataclass(frozen=True, slots=True, eq=False)
class _Nearest:
    """For each row, its nearest medoid, and the distances to the two nearest."""

    label: Index
    first: Array
    second: Array
    loss: Array  #: for each medoid, what the total gains if it is taken away


def _nearest(D: Array, medoids: Index) -> _Nearest:
    """The state of some medoids; a medoid is its own, also where another is at distance 0."""
    to_medoids = D[:, medoids].astype(np.float64)
    label = to_medoids.argmin(axis=1)
    rows = np.arange(len(D))
    first = to_medoids[rows, label]
    if medoids.size == 1:
        second = np.full(len(D), np.inf)
    else:
        to_medoids[rows, label] = np.inf
        second = to_medoids.min(axis=1)
    loss = np.bincount(label, second - first, medoids.size)
    return _Nearest(label, first, second, loss)


def _best_swap(distances: Array, state: _Nearest, count: int) -> tuple[int, float]:
    """The medoid to give up for a candidate, and how the total changes by that swap."""
    d = distances.astype(np.float64)
    if count == 1:
        return 0, float((d - state.first).sum())
    nearer = d < state.first
    gain = float((d - state.first)[nearer].sum())
    between = ~nearer & (d < state.second)
    change = state.loss.copy()
    change += np.bincount(state.label[nearer], (state.first - state.second)[nearer], count)
    change += np.bincount(state.label[between], (d - state.second)[between], count)
    place = int(change.argmin())
    return place, gain + float(change[place])
