"""The plan of a potential under squared distances, by matrix products along every axis.

Where the kernel is wide, most sources of a line matter to every target, and a product with the
whole line is quicker than windows of it (`separable_plan`). Scalings are in the unit of the
largest; sums must be so large that what underflows does not show beside them, else there is no such
plan.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ProductPlan", "is_wide"]

Array = npt.NDArray[Any]

_SEEN = 1e-280  #: sums beside which what underflows does not show
_LONGEST = 512  #: pixels of a line, at most
_WINDOWS = 6.0  #: times the reach of the kernel: lines up to this length are worth a product
_NEGLIGIBLE = 40.0  #: exponents from which terms do not show


def is_wide(shape: tuple[int, ...], sharpness: tuple[float, ...]) -> bool:
    """Whether products are worth it: lines are short, or the kernel reaches across them.

    Examples
    --------
    >>> is_wide((256, 256), (0.006, 0.006)), is_wide((256, 256), (0.25, 0.25))
    (True, False)
    """
    return all(
        n <= min(_LONGEST, _WINDOWS * math.sqrt(_NEGLIGIBLE / s))
        for n, s in zip(shape, sharpness, strict=True)
    )


@dataclass(frozen=True, slots=True, eq=False)
class ProductPlan:
    """A `grid_plan.GridPlan` made of scalings and sums.

    Attributes
    ----------
    log_sums : ndarray
        ``log sum_j exp(psi_j - lam M_ij)``, of the shape of the grid.
    """

    log_sums: Array
    _scaling: Array
    _inverse: Array
    _sharpness: tuple[float, ...]

    @classmethod
    def of(cls, psi: Array, sharpness: tuple[float, ...]) -> ProductPlan | None:
        """The plan for a potential; None where floats do not hold its sums."""
        top = float(psi.max())
        if not math.isfinite(top):
            return None
        scaling = np.exp(psi - top)
        sums = _product(scaling, sharpness, ())
        if not float(sums.min()) > _SEEN:
            return None
        return cls(np.log(sums) + top, scaling, 1.0 / sums, sharpness)

    def average(self, values: Array) -> Array:
        """``(P v)_i / r_i``: the mean of values of columns, for every row."""
        return self._inverse * _product(self._scaling * values, self._sharpness, ())

    def spread(self, masses: Array) -> Array:
        """``P^T (m / r)``: where the masses of rows go; of ``r`` itself, the sums of columns."""
        return self._scaling * _product(masses * self._inverse, self._sharpness, ())

    def exponents(self, share: Array | None = None) -> tuple[Array, Array]:
        """For every row, the means of ``share_j`` and of ``lam M_ij share_j``; by default of 1."""
        part = self._scaling if share is None else self._scaling * share
        costs = sum(_product(part, self._sharpness, (a,)) for a in range(part.ndim))
        means = np.ones_like(part) if share is None else self.average(share)
        return means, np.asarray(self._inverse * costs)


def _product(values: Array, sharpness: tuple[float, ...], costs: tuple[int, ...]) -> Array:
    """Products along every axis; with costs in them along some."""
    for axis, sharp in enumerate(sharpness):
        factor = _factor(values.shape[axis], sharp, axis in costs)
        if axis == values.ndim - 1:
            values = values @ factor
        else:
            lines = values.reshape(-1, values.shape[axis], math.prod(values.shape[axis + 1 :]))
            values = np.matmul(factor, lines).reshape(values.shape)
    return values


@lru_cache(maxsize=24)
def _factor(n: int, sharp: float, with_costs: bool) -> Array:
    """``exp(-x)``, or ``x exp(-x)``, of the exponents between the pixels of a line."""
    far = np.subtract.outer(np.arange(float(n)), np.arange(float(n)))
    exponents = sharp * far * far
    return np.asarray(np.exp(-exponents) * (exponents if with_costs else 1.0))
