"""Costs between the pixels of a grid that are sums over its axes: squared and cityblock distances.

Their kernel is a product over axes, and so are products with it: one small matrix along each axis.
Where that kernel is not representable, sums are taken of logarithms, along one axis after another
(`axis_sums`). Both kinds of costs are symmetric, and 0 on the diagonal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sinkdist.solution.reductions import log
from sinkdist.solvers.arrays.axis_sums import AxisSums, places
from sinkdist.solvers.arrays.linear import Coupling
from sinkdist.solvers.arrays.operators import (
    CostOperator,
    MatrixCosts,
    Measured,
    Potentials,
    System,
)
from sinkdist.solvers.arrays.products import Array

__all__ = ["Axes", "AxesCosts", "operator_of"]

_TINY = 1e-300  #: keeps a quotient finite


@dataclass(frozen=True, slots=True)
class Axes:
    """A grid, as far as it is known before any array is looked at.

    Attributes
    ----------
    power : int
        2 for squared distances, 1 for cityblock ones.
    sides : tuple of int
        Pixels along every axis; bins are in row-major order.
    widths : tuple of int
        Pixels of a run along every axis, for sums of logarithms.
    """

    power: int
    sides: tuple[int, ...]
    widths: tuple[int, ...]

    @classmethod
    def of(
        cls, power: int, sides: tuple[int, ...], sharpness: Sequence[float], exponent: float
    ) -> Axes:
        """Runs within which no exponent is larger than a given one, of nearly equal widths.

        ``sharpness`` is lam times the cost of a step along every axis.

        Examples
        --------
        >>> Axes.of(2, (128, 100), (0.02, 5.0), 500.0).widths
        (128, 10)
        """
        widths = []
        for side, sharp in zip(sides, sharpness, strict=True):
            reach = (exponent / max(sharp, _TINY)) ** (1.0 / power)
            runs = -(-side // (1 + int(min(reach, side - 1.0))))
            widths.append(-(-side // runs))
        return cls(power, sides, tuple(widths))

    @property
    def kept(self) -> int:
        """The numbers that the sums of one pair keep."""
        runs = sum(-(-n // width) for n, width in zip(self.sides, self.widths, strict=True))
        return 2 * math.prod(self.sides) * runs


class AxesCosts(NamedTuple):
    """Costs that are sums over axes; ``steps`` is what a step along each of them costs."""

    xp: Any
    axes: Axes
    steps: Array

    @property
    def largest(self) -> Array:
        """The cost from one corner to the opposite one."""
        parts = [
            self.steps[a] * float(n - 1) ** self.axes.power for a, n in enumerate(self.axes.sides)
        ]
        return self.xp.sum(self.xp.stack(parts))

    @property
    def turned(self) -> AxesCosts:
        """The same: costs are symmetric."""
        return self

    def kernel(self, lam: Any) -> AxesKernel:
        """``exp(-lam M)``."""
        return AxesKernel(self.xp, self.axes.sides, (self._factors(lam),))

    def priced(self, lam: Any, unit: Any = 1.0) -> AxesKernel:
        """``exp(-lam M) * M``: a sum of products, each with costs in the factor of one axis."""
        factors = self._factors(lam)
        terms = []
        for a, factor in enumerate(factors):
            costs = factor * (self._costs(a) / unit)
            terms.append((*factors[:a], costs, *factors[a + 1 :]))
        return AxesKernel(self.xp, self.axes.sides, tuple(terms))

    def unit_kernel(self, lam: Any) -> tuple[AxesKernel, Array]:
        """The kernel, whose diagonal is 1."""
        bins = math.prod(self.axes.sides)
        return self.kernel(lam), self.xp.zeros(bins, dtype=self.steps.dtype, device=_device(self))

    def row_update(
        self, lam: Array, R: Array, G: Array, floor: float = 0.0
    ) -> tuple[WeightedMeans, Array]:
        """By log-sum-exp along one axis after another."""
        sums = self._sums(lam * G, lam)
        F = (log(self.xp, R) - sums.log_sums) / lam
        return WeightedMeans(self.xp, sums, R, floor), F

    def measured(self, lam: Array, potentials: Potentials) -> Measured:
        """Means under plans."""
        xp, (F, G) = self.xp, potentials
        sums = self._sums(lam * G, lam)
        rows = xp.exp(lam * F + sums.log_sums)
        value = xp.sum(rows * sums.exponents(), axis=1) / lam[:, 0]
        return Measured(value, rows, sums.spread(rows))

    def system(self, lam: Array, potentials: Potentials, unit: Any) -> System:
        """Plans as means; costs by columns are those of the same plan from its other side."""
        xp, (F, G) = self.xp, potentials
        sums, turned = self._sums(lam * G, lam), self._sums(lam * F, lam)
        rows, columns = xp.exp(lam * F + sums.log_sums), xp.exp(lam * G + turned.log_sums)
        plans = Coupling(WeightedMeans(xp, sums, rows), xp.ones_like(F), xp.ones_like(G))
        paid = (x * y.exponents() / (lam * unit) for x, y in ((rows, sums), (columns, turned)))
        return System(plans, *paid)

    def means(self, R: Array) -> Array:
        """A sum over axes of means of the marginals along them."""
        xp, sides, n = self.xp, self.axes.sides, int(R.shape[0])
        images = xp.reshape(R, (n, *sides))
        total = xp.zeros_like(images)
        for a, side in enumerate(sides):
            others = tuple(b + 1 for b in range(len(sides)) if b != a)
            marginal = xp.sum(images, axis=others) if others else images
            around = [side if b == a else 1 for b in range(len(sides))]
            total = total + xp.reshape(marginal @ self._costs(a), (n, *around))
        return xp.reshape(total, tuple(R.shape))

    def _costs(self, a: int) -> Array:
        """What moves along an axis add, between all its pixels."""
        x = places(self.xp, self.steps, self.axes.sides[a])
        far = self.xp.abs(x[:, None] - x)
        return self.steps[a] * (far * far if self.axes.power == 2 else far)

    def _factors(self, lam: Any) -> tuple[Array, ...]:
        """The kernel of every axis."""
        return tuple(self.xp.exp(-lam * self._costs(a)) for a in range(len(self.axes.sides)))

    def _sums(self, psi: Array, lam: Array) -> GridSums:
        """Log-sum-exp over all pixels, for potentials of all pairs."""
        stages, phi = [], psi
        for a in reversed(range(len(self.axes.sides))):
            n, width = self.axes.sides[a], self.axes.widths[a]
            lines = _lines(self.xp, phi, n)
            axis, out = AxisSums.of(self.xp, lines, lam * self.steps[a], self.axes.power, width)
            stages.append(axis)
            phi = self.xp.reshape(out, tuple(phi.shape))
        return GridSums(self.xp, phi, tuple(stages))


class AxesKernel(NamedTuple):
    """A sum of products over axes, each a factor per axis; one for every pair, and symmetric."""

    xp: Any
    sides: tuple[int, ...]
    terms: tuple[tuple[Array, ...], ...]

    def rows(self, V: Array) -> Array:
        """``K v`` of every pair."""
        total = self._product(V, self.terms[0])
        for factors in self.terms[1:]:
            total = total + self._product(V, factors)
        return total

    def columns(self, U: Array) -> Array:
        """``K^T u`` of every pair."""
        return self.rows(U)

    def _product(self, values: Array, factors: tuple[Array, ...]) -> Array:
        """Along the last axis, which then becomes the first: after all of them, as before."""
        shape = tuple(values.shape)
        for n, factor in zip(reversed(self.sides), reversed(factors), strict=True):
            found = _lines(self.xp, values, n) @ factor
            values = self.xp.reshape(self.xp.permute_dims(found, (0, 2, 1)), shape)
        return values


class GridSums(NamedTuple):
    """The plan of a potential with rows that sum to 1: weights along one axis after another."""

    xp: Any
    log_sums: Array  #: ``log sum_j exp(psi_j - lam M_ij)``
    stages: tuple[AxisSums, ...]

    def average(self, values: Array) -> Array:
        """Means of values of columns, for every row."""
        for axis in self.stages:
            values = self._as(values, axis.average(_lines(self.xp, values, axis.n)))
        return values

    def spread(self, masses: Array) -> Array:
        """The adjoint: where the masses of rows go."""
        for axis in reversed(self.stages):
            n, lines = axis.n, int(masses.shape[1]) // axis.n
            given = self.xp.reshape(masses, (int(masses.shape[0]), n, lines))
            masses = self._as(masses, axis.spread(given))
        return masses

    def exponents(self) -> Array:
        """The mean of ``lam M_ij`` for every row."""
        paid = self.xp.zeros_like(self.log_sums)
        for axis in self.stages:
            moved = axis.average(_lines(self.xp, paid, axis.n)) + axis.exponents()
            paid = self._as(paid, moved)
        return paid

    def _as(self, like: Array, values: Array) -> Array:
        """In the shape of another array."""
        return self.xp.reshape(values, tuple(like.shape))


class WeightedMeans(NamedTuple):
    """``diag(m) A`` of every pair, the rows of ``A`` summing to 1; kept above a floor."""

    xp: Any
    sums: GridSums
    masses: Array
    floor: float = 0.0

    def rows(self, V: Array) -> Array:
        """``diag(m) A v`` of every pair."""
        return self._kept(self.masses * self.sums.average(V))

    def columns(self, U: Array) -> Array:
        """``A^T diag(m) u`` of every pair."""
        return self._kept(self.sums.spread(self.masses * U))

    def _kept(self, found: Array) -> Array:
        return self.xp.maximum(found, self.floor) if self.floor else found


def operator_of(xp: Any, axes: Axes | None, costs: Array) -> CostOperator:
    """Costs as loops ask for them: a matrix, or the cost of a step along every axis of a grid."""
    return MatrixCosts(xp, costs) if axes is None else AxesCosts(xp, axes, costs)


def _lines(xp: Any, values: Array, n: int) -> Array:
    """As lines of n pixels along the last axis, of every pair."""
    pairs, bins = values.shape
    return xp.reshape(values, (int(pairs), int(bins) // n, n))


def _device(costs: AxesCosts) -> Any:
    """Where costs are; None where JAX is only tracing."""
    return getattr(costs.steps, "device", None)
