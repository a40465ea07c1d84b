"""Reading weights of histograms in a mean: non-negative rows that sum to 1."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.inputs.arrays import is_sparse, real_array
from sinkdist.inputs.thresholds import slack
from sinkdist.wording import argument, option, setting

__all__ = ["read"]

Array: TypeAlias = npt.NDArray[Any]


def read(weights: Any, n: int, *, normalize: bool) -> tuple[npt.NDArray[np.float64], bool]:
    """Weights of n histograms, one row for each mean, and whether one mean was asked for.

    None stands for equal weights. With `normalize`, rows are divided by their sums.

    Examples
    --------
    >>> read([1, 3], 2, normalize=True)
    (array([[0.25, 0.75]]), True)
    """
    if weights is None:
        return np.full((1, n), 1.0 / n), True
    if is_sparse(weights):
        weights = weights.toarray()
    given = real_array(weights, "The 'weights' option").astype(np.float64)
    if given.ndim not in (1, 2) or given.shape[-1] != n:
        raise InputError(
            "The {} option must have one weight for each of the {} histograms in {}: shape ({},), "
            "or (m, {}) for m means. Got shape {} instead.",
            option("weights"), n, argument("X"), n, n, given.shape,
        )  # fmt: skip
    rows = np.atleast_2d(given)
    _check_entries(rows, given.ndim == 1)
    scaled = rows / np.maximum(rows.max(axis=1, keepdims=True, initial=0.0), np.finfo(float).tiny)
    totals = scaled.sum(axis=1)
    empty = np.flatnonzero(totals == 0.0)
    if empty.size:
        where = "" if given.ndim == 1 else f"Row {empty[0]} of "
        raise InputError(f"{where}{{}} has no positive weight.", option("weights"))
    sums = rows.sum(axis=1)
    off = np.flatnonzero(~(np.abs(sums - 1.0) <= slack("float64", n)))
    if off.size and not normalize:
        where = "" if given.ndim == 1 else f"Row {off[0]} of "
        raise InputError(
            f"{where}{{}} sums to {{:.7g}}, but weights must sum to 1: pass {{}} to divide by the "
            "sum.",
            option("weights"), float(sums[off[0]]), setting("normalize", True),
        )  # fmt: skip
    return scaled / totals[:, None], given.ndim == 1


def _check_entries(rows: Array, is_vector: bool) -> None:
    """Raise for a weight that is negative, infinite or not a number."""
    for wrong, must_be in ((~np.isfinite(rows), "finite"), (rows < 0.0, "non-negative")):
        if wrong.any():
            i, j = map(int, np.argwhere(wrong)[0])
            raise InputError(
                "Entry {} of {} is {:.7g}, but weights must be {}.",
                f"{j}" if is_vector else f"({i}, {j})", option("weights"), float(rows[i, j]),
                must_be,
            )  # fmt: skip
