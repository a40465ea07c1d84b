"""The transport plan of a potential on a grid, under squared distances: never a matrix.

Squared distances are sums over axes, so their kernel is a product over axes, and so are sums with
it: log-sum-exp along one axis after another. For a potential ``psi = lam g`` of the columns,

    P_ij = r_i exp(psi_j - lam M_ij) / sum_j exp(psi_j - lam M_ij)

has exact rows whatever ``psi`` is. `GridPlan` keeps the weights that these sums are made of; means
under it (``P v / r``), its columns and its cost are then sums of products. All of it is one and the
same plan: what rounding does to exponents is in its weights, and so in everything it answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground.grid import GridCosts

__all__ = ["GridPlan", "Run", "has_plan", "in_turn", "log_sum"]

Array = npt.NDArray[Any]
#: How to get through the lines of a grid: in turn, or on threads.
Run = Callable[[int, Callable[[int, int], None]], None]

_FARTHEST = 1e10  #: lam times the largest cost beyond which doubles do not resolve exponents


def has_plan(grid: GridCosts | None, lam: float) -> bool:
    """Whether plans at this lam are those of this module."""
    return grid is not None and grid.metric == "sqeuclidean" and 0.0 < lam * grid.max <= _FARTHEST


def in_turn(lines: int, work: Callable[[int, int], None]) -> None:
    """All lines in one call."""
    work(0, lines)


@dataclass(frozen=True, slots=True, eq=False)
class _Axis:
    """Windows and weights along one axis, for every line; see `kernels.grid.windows`."""

    table: Array
    block: int
    low: Array
    width: Array
    size: Array
    place: Array
    weights: Array
    inverse: Array

    def at(self, start: int, stop: int) -> Any:
        """What the kernels of `averages` take of it."""
        return (
            self.table,
            self.block, start, stop, self.low, self.width, self.size, self.place, self.weights,
            self.inverse,
        )  # fmt: skip


def _sum_along(phi: Array, sharpness: float, run: Run) -> tuple[_Axis, Array]:
    """Log-sum-exp along the last axis of (lines, n); its weights, and the answer (n, lines)."""
    from sinkdist.kernels.grid.log_sums import log_sums, table_of
    from sinkdist.kernels.grid.windows import block_of, find_windows

    lines, n = phi.shape
    block, table = block_of(sharpness), table_of(sharpness, n)
    low, width, size = (np.empty((lines, -(-n // block)), np.int64) for _ in range(3))
    run(lines, lambda a, b: find_windows(phi, sharpness, block, a, b, low, width, size))
    ends = np.cumsum(size)
    place = ends.reshape(size.shape) - size
    weights, base, sums = np.empty(int(ends[-1])), np.empty((n, lines)), np.empty((n, lines))
    run(
        lines,
        lambda a, b: log_sums(
            phi, sharpness, block, table, a, b, low, width, size, place, weights, base, sums
        ),
    )
    base += np.log(sums)
    np.divide(1.0, sums, out=sums)
    return _Axis(table, block, low, width, size, place, weights, sums), base


def log_sum(phi: Array, sharpness: tuple[float, ...], run: Run = in_turn) -> Array:
    """``log sum_j exp(phi_j - sum_a sharp_a (i_a - j_a)^2)`` for every pixel ``i``."""
    shape = phi.shape
    for axis in range(len(shape)):
        n = phi.shape[-1]
        _, out = _sum_along(phi.reshape(-1, n), sharpness[-1 - axis], run)
        phi = out.reshape(n, *phi.shape[:-1])
    return phi


@dataclass(frozen=True, slots=True, eq=False)
class GridPlan:
    """The plan of a potential ``psi`` of the columns, with exact rows.

    Attributes
    ----------
    log_sums : ndarray
        ``log sum_j exp(psi_j - lam M_ij)``, of the shape of the grid.
    """

    log_sums: Array
    _sharpness: tuple[float, ...]
    _axes: list[_Axis]
    _run: Run = field(repr=False)

    @classmethod
    def of(cls, psi: Array, sharpness: tuple[float, ...], run: Run = in_turn) -> GridPlan:
        """The plan for a potential of the shape of the grid, and ``lam`` times the cost of a step
        along every axis.
        """  # fmt: skip
        axes, phi = [], np.ascontiguousarray(psi)
        for axis in range(psi.ndim):
            n = phi.shape[-1]
            found, out = _sum_along(phi.reshape(-1, n), sharpness[-1 - axis], run)
            axes.append(found)
            phi = out.reshape(n, *phi.shape[:-1])
        return cls(phi, tuple(sharpness), axes, run)

    def average(self, values: Array) -> Array:
        """``(P v)_i / r_i``: the mean of values of columns, for every row."""
        for axis in self._axes:
            values = _averaged(values, axis, self._run)
        return values

    def spread(self, masses: Array) -> Array:
        """``P^T (m / r)``: where the masses of rows go; of ``r`` itself, the sums of columns."""
        for axis in reversed(self._axes):
            masses = _spread(masses, axis, self._run)
        return masses

    def exponents(self, share: Array | None = None) -> tuple[Array, Array]:
        """For every row, the means of ``share_j`` and of ``lam M_ij share_j``; by default of 1."""
        part = np.ones_like(self.log_sums) if share is None else share
        costs = np.zeros_like(part)
        for k, axis in enumerate(self._axes):
            costs = _with_costs(costs, part, self._sharpness[-1 - k], axis, self._run)
            part = _averaged(part, axis, self._run)
        return part, costs


def _averaged(values: Array, axis: _Axis, run: Run) -> Array:
    """Means along the last axis, which comes first then."""
    from sinkdist.kernels.grid.averages import averages

    n = values.shape[-1]
    flat = np.ascontiguousarray(values).reshape(-1, n)
    out = np.empty((n, len(flat)))
    run(len(flat), lambda a, b: averages(flat, out, *axis.at(a, b)))
    return out.reshape(n, *values.shape[:-1])


def _spread(masses: Array, axis: _Axis, run: Run) -> Array:
    """The adjoint: along the first axis, which comes last then."""
    from sinkdist.kernels.grid.averages import spread

    n = masses.shape[0]
    flat = np.ascontiguousarray(masses).reshape(n, -1)
    out = np.empty((flat.shape[1], n))
    run(len(out), lambda a, b: spread(flat, out, *axis.at(a, b)))
    return out.reshape(*masses.shape[1:], n)


def _with_costs(paid: Array, part: Array, unit: float, axis: _Axis, run: Run) -> Array:
    """Means along the last axis of what has been paid, and of what moves along it cost."""
    from sinkdist.kernels.grid.averages import costs_of_moves

    n = paid.shape[-1]
    flat, share = (np.ascontiguousarray(x).reshape(-1, n) for x in (paid, part))
    out = np.empty((n, len(flat)))
    run(len(flat), lambda a, b: costs_of_moves(flat, share, unit, out, *axis.at(a, b)))
    return out.reshape(n, *paid.shape[:-1])
