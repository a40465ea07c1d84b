"""Where the mass of a bin goes on average: the barycentric projection of a plan.

From pieces of any plan, or where there is no matrix from means under it, without any entry of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.ground.grid import GridCosts
from sinkdist.inputs.arrays import real_array
from sinkdist.solution.plan_sums import PlanSums
from sinkdist.solution.plans import SparsePlan

__all__ = ["projected", "projected_without_matrix", "read_places", "read_rows"]

Array = npt.NDArray[Any]


def projected(pieces: Iterable[SparsePlan], rows: int, places: Array) -> Array:
    """``sum_j P_ij y_j / sum_j P_ij`` for the places ``y`` of columns; NaN without mass."""
    mass, total = np.zeros(rows), np.zeros((rows, places.shape[1]))
    for piece in pieces:
        mass += np.bincount(piece.rows, piece.mass, rows)
        for axis in range(places.shape[1]):
            weights = piece.mass * places[piece.columns, axis]
            total[:, axis] += np.bincount(piece.rows, weights, rows)
    some = mass > 0.0
    return np.where(some[:, None], total / np.where(some, mass, 1.0)[:, None], np.nan)


def projected_without_matrix(
    sums: PlanSums, lam: float, g: Array, rows: int, places: Array
) -> Array:
    """The same for a potential and places on bins with mass, for as many rows."""
    plan = sums.plan(lam, sums.columns(lam * g, -np.inf))
    back = sums.rows(np.arange(rows), -1).ravel().astype(np.int64)
    out = np.empty((rows, places.shape[1]))
    for axis, column in enumerate(places.T):
        means = plan.average(sums.columns(column, 0.0)).ravel()
        out[back[back >= 0], axis] = means[back >= 0]
    return out


def read_places(places: Any, pixels: GridCosts | None, columns: int) -> Array:
    """The places of the columns' bins: given, or those of pixels."""
    if places is None:
        if pixels is None:
            raise InputError(
                "The places of bins are known for grids only: pass places=, an array of shape "
                f"({columns}, dimension)."
            )
        indices = np.unravel_index(np.arange(columns), pixels.sides)
        return np.asarray(np.stack(indices, axis=-1) * np.array(pixels.spacing))
    found = real_array(places, "'places'").astype(np.float64)
    if found.ndim != 2 or len(found) != columns or not np.isfinite(found).all():
        raise InputError(
            f"'places' must be finite numbers of shape ({columns}, dimension). Got shape "
            f"{found.shape} instead."
        )
    return found


def read_rows(rows: Any, bins: int) -> tuple[Array, bool]:
    """Indices of rows, of which the last may be counted backwards; and whether it is only one."""
    index = np.asarray(rows)
    if index.ndim > 1 or (index.size and not np.issubdtype(index.dtype, np.integer)):
        raise InputError(f"'rows' must be a whole number, or a list of them. Got {rows!r} instead.")
    index = index.astype(np.int64)
    bad = (index < -bins) | (index >= bins)
    if bad.any():
        worst = int(np.atleast_1d(index)[np.atleast_1d(bad)][0])
        raise InputError(f"There is no row {worst}: the first histogram has {bins} bins.")
    return np.atleast_1d(index % bins), index.ndim == 0
