"""The plan of a potential on a grid under Euclidean distances: every answer is a sum by tiles.

With ``s_i = sum_j exp(psi_j - lam M_ij)``, means under the plan are ``sum_j v_j exp(psi_j - lam
M_ij) / s_i``, and the sums of columns ``exp(psi_j) sum_i m_i exp(-lam M_ij) / s_i``; see `tiling`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid_axes import Run
from sinkdist.ground.tiling import Tiling, tiling_of

__all__ = ["RadialPlan"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class RadialPlan:
    """A `grid_plan.GridPlan` made of the potential and the sums.

    Attributes
    ----------
    log_sums : ndarray
        ``log sum_j exp(psi_j - lam M_ij)``, of the shape of the grid.
    """

    log_sums: Array
    _psi: Array
    _tiling: Tiling
    _run: Run = field(repr=False)

    @classmethod
    def of(cls, psi: Array, sharpness: tuple[float, ...], error: float, run: Run) -> RadialPlan:
        """The plan for a potential of the shape of the grid."""
        tiling = tiling_of(psi.shape, sharpness, error)
        return cls(tiling.log_sums(psi, run), psi, tiling, run)

    def average(self, values: Array) -> Array:
        """``(P v)_i / r_i``: the mean of values of columns, for every row."""
        return self._tiling.weighted(self._psi, values, self.log_sums, self._run)

    def spread(self, masses: Array) -> Array:
        """``P^T (m / r)``: where the masses of rows go; of ``r`` itself, the sums of columns."""
        with np.errstate(divide="ignore"):
            logs = np.log(np.abs(masses)) - self.log_sums
        return self._tiling.weighted(logs, np.sign(masses), -self._psi, self._run)

    def exponents(self, share: Array | None = None) -> tuple[Array, Array]:
        """For every row, the means of ``share_j`` and of ``lam M_ij share_j``; by default of 1."""
        part = np.ones_like(self.log_sums) if share is None else share
        found = self._tiling.weighted(self._psi, part, self.log_sums, self._run, costs=True)
        return part if share is None else self.average(part), np.maximum(found, 0.0)
