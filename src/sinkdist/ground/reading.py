"""Reading what a `Ground` is made from: a matrix of costs, and the unit they are divided by."""

from __future__ import annotations

import math
import numbers
from typing import Any

import numpy as np

from sinkdist.errors import InputError, InputTypeError
from sinkdist.ground.costs import Costs
from sinkdist.inputs.arrays import is_sparse, real_array

__all__ = ["bad_cost", "read_matrix", "unit_of"]

_SUBJECT = "The ground matrix"
_UNAFFORDABLE = 1e6  # times the largest cost: what nothing is moved for, and doubles still resolve
_LARGEST = 1e300  # cost that is advised


def read_matrix(matrix: Any) -> Costs:
    """A contiguous float64 copy of what the caller holds, if it is a matrix of real numbers."""
    if is_sparse(matrix):
        raise InputTypeError(
            f"{_SUBJECT} must be dense, since what a sparse matrix does not store would cost 0: "
            "pass its .toarray(), or Ground.graph(...) if it holds the edges of a graph."
        )
    array = real_array(matrix, _SUBJECT)
    if array.ndim != 2:
        raise InputError(f"{_SUBJECT} must be 2-dimensional. Got shape {array.shape} instead.")
    if array.size == 0:
        raise InputError(f"{_SUBJECT} is empty: its shape is {array.shape}.")
    with np.errstate(over="ignore"):  # a long double beyond float64 is reported as inf
        return np.array(array, dtype=np.float64, order="C")


def bad_cost(matrix: Costs) -> str:
    """The sentence about the first cost that is negative, infinite or not a number."""
    i, j = np.argwhere(~((matrix >= 0.0) & (matrix < np.inf)))[0]
    cost = float(matrix[i, j])
    if cost < 0.0:
        rule = "costs must be non-negative. Adding a constant to all adds it to every distance"
    elif cost == np.inf:
        rule = _forbidding(matrix)
    else:
        rule = "costs must be finite numbers"
    return f"Cost ({i}, {j}) of the ground matrix is {cost:.7g}; {rule}."


def _forbidding(matrix: Costs) -> str:
    """What to do instead of an infinite cost, with a number that is safe and large enough."""
    top = float(matrix.max(where=np.isfinite(matrix), initial=0.0))
    times = "a million times the largest finite cost" if top > 0.0 else "no other cost is positive"
    cost = min(_UNAFFORDABLE * (top or 1.0), _LARGEST)
    return (
        "infinite costs are not accepted. To forbid a move, give it a finite cost that no plan can "
        f"afford, such as {cost:.6g} ({times}): plans then use it only where there is no other way"
    )


def unit_of(by: str | float, median: float, largest: float) -> tuple[float, str]:
    """The positive number that `by` stands for, and how the description names it."""
    if by == "median" or by == "max":
        unit = median if by == "median" else largest
        if unit > 0.0:
            return unit, str(by)
        other = " or by='max'" if by == "median" and largest > 0.0 else ""
        raise InputError(
            f"The {by} of the ground matrix is 0, which is no unit of cost: "
            f"scale by a number{other}."
        )
    if isinstance(by, bool) or not isinstance(by, numbers.Real):
        if isinstance(by, str):
            raise InputError(
                f"The 'by' option must be 'median', 'max' or a number. Got {by!r} instead."
            )
        raise InputTypeError(
            "The 'by' option must be 'median', 'max' or a number. "
            f"Got an object of type {type(by).__name__} instead."
        )
    if not 0.0 < by < math.inf:
        raise InputError(f"The 'by' option must be positive and finite. Got {by} instead.")
    return float(by), f"{by:.6g}"
