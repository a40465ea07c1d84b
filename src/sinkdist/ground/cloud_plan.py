"""The transport plan of a potential between two clouds of points: costs on the fly.

As on a grid (`grid_plan`), the plan of a potential ``psi`` has exact rows. Work goes through the
rows in parts whose number is fixed, each with sums of columns of its own: the same bits on any
number of threads. Vectors are in the order of the clouds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.cloud import Cloud, in_runs, neighbours_together
from sinkdist.ground.on_demand import PointCosts
from sinkdist.interrupts import Stop
from sinkdist.kernels.cloud import METRICS

__all__ = ["ACCURATE", "PARTS", "CloudPair", "CloudPlan", "Clouds", "Team", "cut_of", "in_turn"]

Array = npt.NDArray[Any]
#: How to call a function of a part's number for every part: in turn, or on threads.
Team = Callable[[int, Callable[[int], None]], None]

PARTS = 16  #: of the rows
_PIECE = 1 << 24  #: pairs of points that are gone through before anybody looks for an interrupt
ACCURATE = 1e-17  #: what certificates leave out of a row


def in_turn(parts: int, work: Callable[[int], None]) -> None:
    """One part after another."""
    for k in range(parts):
        work(k)


def cut_of(error: float, terms: int) -> float:
    """The exponent from which ``terms`` shares together are below ``error``.

    Examples
    --------
    >>> round(cut_of(1e-6, 10_000), 2)
    23.03
    """
    return math.log(terms / error)


@dataclass(frozen=True, eq=False)
class Clouds:
    """Two clouds, the costs between them, and how to get through them.

    Attributes
    ----------
    x, y : Cloud
        The bins of the rows and of the columns.
    metric : int
        A code of `kernels.cloud.runs.METRICS`.
    unit : float
        What costs are divided by.
    """

    x: Cloud
    y: Cloud
    metric: int
    unit: float = 1.0
    team: Team = field(default=in_turn, repr=False)
    stop: Stop = field(default_factory=Stop, repr=False)

    @property
    def swapped(self) -> Clouds:
        """Rows and columns exchanged."""
        return Clouds(self.y, self.x, self.metric, self.unit, self.team, self.stop)

    def sweep(
        self, lam: float, psi: Array, phi: Array, log_r: Array, omega: float = 1.0,
        error: float = ACCURATE, single: bool = False,
    ) -> tuple[Array, Array, Array]:  # fmt: skip
        """A row update by ``omega``, and what it leads to: sums of columns, mean exponents of rows.

        ``phi`` is the potential that the rows have; -inf where nothing is known of them.
        """
        from sinkdist.kernels.cloud.sweeps import sweep_rows

        x, y, kind = self._runs(single)
        psi = in_runs(psi, -np.inf).astype(kind)
        heights, phi, cut = psi.max(axis=1), phi.copy(), cut_of(error, len(self.y))
        columns, exponents = np.zeros((PARTS, *psi.shape)), np.empty(len(self.x))

        def work(part: int, start: int, stop: int) -> None:
            sweep_rows(
                x.points, y.runs, y.low, y.high, self.metric, lam / self.unit, psi, heights, cut,
                omega, log_r, start, stop, phi, columns[part], exponents,
            )  # fmt: skip

        self._go(work)
        return phi, columns.sum(axis=0).ravel()[: len(self.y)], exponents

    def largest(self, lam: float, psi: Array) -> Array:
        """``max_j (psi_j - lam M_ij)`` for every row."""
        from sinkdist.kernels.cloud.sweeps import largest_terms

        x, y, _ = self._runs(False)
        psi, out = in_runs(psi, -np.inf), np.empty(len(self.x))
        heights, scale = psi.max(axis=1), lam / self.unit
        self._go(
            lambda part, start, stop: largest_terms(
                x.points, y.runs, y.low, y.high, self.metric, scale, psi, heights, start, stop, out
            )
        )
        return out

    def mean_costs(self, c: Array) -> Array:
        """``M c``."""
        from sinkdist.kernels.cloud.moments import mean_costs

        x, y, _ = self._runs(False)
        c, out = in_runs(c, 0.0), np.empty(len(self.x))
        self._go(
            lambda part, start, stop: mean_costs(x.points, y.runs, self.metric, c, start, stop, out)
        )
        return out / self.unit

    def moments(
        self, lam: float, psi: Array, log_sums: Array, weights: Array, values: Array
    ) -> tuple[Array, Array, Array]:
        """Means of values, of values times exponents, and sums of columns; see the kernel."""
        from sinkdist.kernels.cloud.moments import plan_moments

        x, y, _ = self._runs(False)
        psi, values = in_runs(psi, -np.inf), in_runs(values, 0.0)
        heights, cut = psi.max(axis=1), cut_of(ACCURATE, len(self.y))
        means, exponents = np.empty(len(self.x)), np.empty(len(self.x))
        columns, shift = np.zeros((PARTS, *psi.shape)), -log_sums

        def work(part: int, start: int, stop: int) -> None:
            plan_moments(
                x.points, y.runs, y.low, y.high, self.metric, lam / self.unit, psi, heights, cut,
                shift, weights, values, start, stop, means, exponents, columns[part],
            )  # fmt: skip

        self._go(work)
        return means, exponents, columns.sum(axis=0).ravel()[: len(self.y)]

    def _runs(self, single: bool) -> Any:
        """What kernels are given, and its type."""
        if single:
            return self.x.single, self.y.single, np.float32
        return self.x.double, self.y.double, np.float64

    def _go(self, work: Callable[[int, int, int], None]) -> None:
        """Through all parts of the rows, in pieces."""
        ends = np.linspace(0, len(self.x), PARTS + 1).astype(int).tolist()
        step = max(1, _PIECE // len(self.y))

        def through(part: int) -> None:
            for start in range(ends[part], ends[part + 1], step):
                self.stop.check()
                work(part, start, min(start + step, ends[part + 1]))

        self.team(PARTS, through)


@dataclass(frozen=True, slots=True, eq=False)
class CloudPair:
    """The clouds of a pair's bins with mass.

    Attributes
    ----------
    row_order, column_order : ndarray
        The place among the bins with mass of every place in the order of a cloud.
    """

    clouds: Clouds
    row_order: Array
    column_order: Array

    @classmethod
    def of(
        cls, costs: PointCosts, rows: Array, columns: Array, team: Team = in_turn,
        stop: Stop | None = None,
    ) -> CloudPair:  # fmt: skip
        """The clouds between some bins; one cloud, where both sides have the same."""
        same = np.array_equal(rows, columns)
        sides = [costs.points[b].astype(np.float64) for b in ((rows,) if same else (rows, columns))]
        metric, unit = costs.metric, costs.unit
        if metric == "cosine":  # half the squared distance of directions
            metric, unit = "sqeuclidean", 2.0 * unit
            sides = [z / np.linalg.norm(z, axis=1, keepdims=True) for z in sides]
        low = np.min([z.min(axis=0) for z in sides], axis=0)
        high = np.max([z.max(axis=0) for z in sides], axis=0)
        size = 2.0 ** math.frexp(float((high - low).max()))[1]  # coordinates up to 1/2
        orders = [neighbours_together(z) for z in sides]
        clouds = [
            Cloud((z[o] - 0.5 * (low + high)) / size) for z, o in zip(sides, orders, strict=True)
        ]
        unit /= size**2 if metric == "sqeuclidean" else size
        found = Clouds(clouds[0], clouds[-1], METRICS[metric], unit, team, stop or Stop())
        return cls(found, orders[0], orders[-1])

    @property
    def swapped(self) -> CloudPair:
        """Rows and columns exchanged."""
        return CloudPair(self.clouds.swapped, self.column_order, self.row_order)


@dataclass(frozen=True, slots=True, eq=False)
class CloudPlan:
    """A `grid_plan.GridPlan` between two clouds.

    Attributes
    ----------
    log_sums : ndarray
        ``log sum_j exp(psi_j - lam M_ij)``, one for every row.
    """

    log_sums: Array
    _clouds: Clouds
    _lam: float
    _psi: Array

    @classmethod
    def of(cls, clouds: Clouds, lam: float, psi: Array) -> CloudPlan:
        """The plan for a potential of the columns."""
        nothing, zeros = np.full(len(clouds.x), -np.inf), np.zeros(len(clouds.x))
        phi, _, _ = clouds.sweep(lam, psi, nothing, zeros)
        return cls(-phi, clouds, lam, psi)

    def average(self, values: Array) -> Array:
        """``(P v)_i / r_i``: the mean of values of columns, for every row."""
        return self._moments(np.zeros(len(self.log_sums)), values)[0]

    def spread(self, masses: Array) -> Array:
        """``P^T (m / r)``: where the masses of rows go; of ``r`` itself, the sums of columns."""
        return self._moments(masses, np.zeros(len(self._psi)))[2]

    def exponents(self, share: Array | None = None) -> tuple[Array, Array]:
        """For every row, the means of ``share_j`` and of ``lam M_ij share_j``; by default of 1."""
        share = np.ones(len(self._psi)) if share is None else share
        means, exponents, _ = self._moments(np.zeros(len(self.log_sums)), share)
        return means, exponents

    def _moments(self, weights: Array, values: Array) -> tuple[Array, Array, Array]:
        return self._clouds.moments(self._lam, self._psi, self.log_sums, weights, values)
