"""First centres: k-means++ under any distance (Arthur and Vassilvitskii 2007).

Each centre is a row, drawn with a probability proportional to its distance from the nearest one so
far. What is minimised later is a sum of these distances, as squared ones are in k-means.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["draw_centers"]

Array: TypeAlias = npt.NDArray[Any]


def draw_centers(
    n: int, count: int, distances_to: Callable[[int], Array], random: np.random.RandomState
) -> tuple[npt.NDArray[np.intp], Array]:
    """Indices of `count` of n rows, and the distances of all rows to each, shape (n, count).

    Where all rows are at distance 0 from a centre, others are drawn without preference.
    """
    chosen: list[int] = []
    columns: list[Array] = []
    nearest = np.full(n, 1.0)
    for _ in range(count):
        total = float(nearest.sum())
        if total > 0.0:
            row = int(np.searchsorted(np.cumsum(nearest), random.uniform() * total, side="right"))
            row = min(row, n - 1)
        else:
            left = np.setdiff1d(np.arange(n), chosen)
            row = int(left[random.randint(left.size)])
        column = np.maximum(distances_to(row), 0.0)
        column[row] = 0.0
        nearest = np.minimum(nearest, column) if chosen else column
        chosen.append(row)
        columns.append(column)
    return np.array(chosen, np.intp), np.stack(columns, axis=1)
