"""One axis of a grid: sums along its lines, and means under the weights that these are made of.

Each metric whose costs are sums over axes has a class of its own with the same three methods;
`SUMS` makes them. Lines lie along the last axis of what is given and along the first one of what is
returned; see `kernels.grid`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

__all__ = ["SUMS", "Axis", "Run", "cityblock_sums", "squared_sums"]

Array = npt.NDArray[Any]
#: How to get through the lines of a grid: in turn, or on threads.
Run = Callable[[int, Callable[[int, int], None]], None]


class Axis(Protocol):
    """The weights of an axis, for every line."""

    def averaged(self, values: Array, out: Array, run: Run) -> None:
        """Means of (lines, n), to (n, lines)."""

    def spread(self, masses: Array, out: Array, run: Run) -> None:
        """The adjoint: from (n, lines), to (lines, n)."""

    def with_costs(self, paid: Array, share: Array, unit: float, out: Array, run: Run) -> None:
        """Means of what has been paid, and of what moves along this axis add."""


def squared_sums(phi: Array, sharp: float, run: Run) -> tuple[SquaredAxis, Array]:
    """Log-sum-exp along (lines, n) under squared distances: the weights, and (n, lines)."""
    from sinkdist.kernels.grid.log_sums import log_sums, table_of
    from sinkdist.kernels.grid.windows import block_of, find_windows

    lines, n = phi.shape
    block, table = block_of(sharp), table_of(sharp, n)
    low, width, size = (np.empty((lines, -(-n // block)), np.int64) for _ in range(3))
    run(lines, lambda a, b: find_windows(phi, sharp, block, a, b, low, width, size))
    ends = np.cumsum(size)
    place = ends.reshape(size.shape) - size
    weights, base, sums = np.empty(int(ends[-1])), np.empty((n, lines)), np.empty((n, lines))
    run(
        lines,
        lambda a, b: log_sums(
            phi, sharp, block, table, a, b, low, width, size, place, weights, base, sums
        ),
    )
    base += np.log(sums)
    np.divide(1.0, sums, out=sums)
    return SquaredAxis(table, block, low, width, size, place, weights, sums), base


@dataclass(frozen=True, slots=True, eq=False)
class SquaredAxis:
    """Windows and their weights; see `kernels.grid.windows`."""

    table: Array
    block: int
    low: Array
    width: Array
    size: Array
    place: Array
    weights: Array
    inverse: Array

    def averaged(self, values: Array, out: Array, run: Run) -> None:
        """Means of (lines, n), to (n, lines)."""
        from sinkdist.kernels.grid.averages import averages

        run(len(values), lambda a, b: averages(values, out, *self._at(a, b)))

    def spread(self, masses: Array, out: Array, run: Run) -> None:
        """The adjoint: from (n, lines), to (lines, n)."""
        from sinkdist.kernels.grid.averages import spread

        run(len(out), lambda a, b: spread(masses, out, *self._at(a, b)))

    def with_costs(self, paid: Array, share: Array, unit: float, out: Array, run: Run) -> None:
        """Means of what has been paid, and of what moves along this axis add."""
        from sinkdist.kernels.grid.averages import costs_of_moves

        run(len(paid), lambda a, b: costs_of_moves(paid, share, unit, out, *self._at(a, b)))

    def _at(self, start: int, stop: int) -> Any:
        return (
            self.table, self.block, start, stop, self.low, self.width, self.size, self.place,
            self.weights, self.inverse,
        )  # fmt: skip


def cityblock_sums(phi: Array, sharp: float, run: Run) -> tuple[CityblockAxis, Array]:
    """Log-sum-exp along (lines, n) under cityblock distances: the shares, and (n, lines)."""
    from sinkdist.kernels.grid.cityblock import recursive_log_sums

    past, future, right = (np.empty(phi.shape) for _ in range(3))
    out = np.empty(phi.shape[::-1])
    run(
        len(phi),
        lambda a, b: recursive_log_sums(phi, sharp, a, b, past, future, right, out),
    )
    return CityblockAxis(past, future, right), out


@dataclass(frozen=True, slots=True, eq=False)
class CityblockAxis:
    """The shares of two recursions; see `kernels.grid.cityblock`."""

    past: Array
    future: Array
    right: Array

    def averaged(self, values: Array, out: Array, run: Run) -> None:
        """Means of (lines, n), to (n, lines)."""
        from sinkdist.kernels.grid.cityblock import recursive_averages

        shares = self.past, self.future, self.right
        run(len(values), lambda a, b: recursive_averages(values, out, a, b, *shares))

    def spread(self, masses: Array, out: Array, run: Run) -> None:
        """The adjoint: from (n, lines), to (lines, n)."""
        from sinkdist.kernels.grid.cityblock import recursive_spread

        shares = self.past, self.future, self.right
        run(len(out), lambda a, b: recursive_spread(masses, out, a, b, *shares))

    def with_costs(self, paid: Array, share: Array, unit: float, out: Array, run: Run) -> None:
        """Means of what has been paid, and of what moves along this axis add."""
        from sinkdist.kernels.grid.cityblock import costs_of_steps

        shares = self.past, self.future, self.right
        run(len(paid), lambda a, b: costs_of_steps(paid, share, unit, out, a, b, *shares))


#: Sums along an axis, by the metric whose costs are sums over axes.
SUMS: dict[str, Callable[[Array, float, Run], tuple[Axis, Array]]] = {
    "sqeuclidean": squared_sums,
    "cityblock": cityblock_sums,
}
