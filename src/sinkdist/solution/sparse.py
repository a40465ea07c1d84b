"""Plans as sparse matrices, and what a threshold cuts off them.

Built from pieces of a plan (`Evidence.pieces`), each of some rows, so that no dense matrix of all
bins is formed.
"""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from sinkdist.errors import InputError, InputTypeError
from sinkdist.solution.plans import SparsePlan

__all__ = ["ThresholdedPlan", "check_threshold", "thresholded"]

_MOST = 1 << 27  #: entries of a sparse plan, which then takes 3 GB while it is made


class ThresholdedPlan(NamedTuple):
    """A plan without its small entries, and what these were.

    Attributes
    ----------
    plan : scipy.sparse.csr_array
        The entries of at least the threshold.
    dropped_mass : float
        The sum of all others: the marginals of ``plan`` lack this much.
    dropped_entries : int
        How many positive entries that are.
    """

    plan: Any
    dropped_mass: float
    dropped_entries: int


def thresholded(
    pieces: Iterable[SparsePlan], shape: tuple[int, int], threshold: float
) -> ThresholdedPlan:
    """The entries of a plan that are at least a threshold, in CSR format."""
    from scipy.sparse import coo_array

    kept: list[SparsePlan] = []
    dropped: list[float] = []
    count = entries = 0
    for piece in pieces:
        small = piece.mass < threshold
        dropped.append(math.fsum(piece.mass[small]))
        count += int(small.sum())
        kept.append(piece if not small.any() else piece.only(~small))
        entries += kept[-1].mass.size
        if entries > _MOST:
            raise InputError(
                f"The plan has more than {_MOST:,} entries of at least {threshold:g}: call "
                "to_sparse with a larger threshold."
            )
    rows = np.concatenate([np.zeros(0, np.intp), *(x.rows for x in kept)])
    columns = np.concatenate([np.zeros(0, np.intp), *(x.columns for x in kept)])
    mass = np.concatenate([np.zeros(0), *(x.mass for x in kept)])
    plan = coo_array((mass, (rows, columns)), shape=shape).tocsr()
    plan.sort_indices()
    return ThresholdedPlan(plan, math.fsum(dropped), count)


def check_threshold(threshold: Any) -> float:
    """A threshold as a number of at least 0."""
    if isinstance(threshold, bool) or not isinstance(threshold, numbers.Real):
        raise InputTypeError(
            "The 'threshold' option must be a number. "
            f"Got an object of type {type(threshold).__name__} instead."
        )
    if not 0.0 <= float(threshold) < math.inf:
        raise InputError(
            f"The 'threshold' option must be at least 0 and finite. Got {threshold} instead."
        )
    return float(threshold)
