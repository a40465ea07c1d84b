"""Sums of exponentials along one axis of a grid, from logarithms, however sharp the kernel is.

Of lines of n pixels, ``out_i = log sum_b exp(phi_b - s |i - b|^power)``. Lines are cut into runs. A
move from run c to run I costs ``s |D + t|^power``, with D between the centres and t the rest, which
is an offset, a slope times t, and what is left:

    squared    s D^2 + 2 s D t + s t^2
    cityblock  s |D| + s sign(D) t, and within a run s |t|

Offset and slope go into the unit and the weights of the sources, so that what is left is a small
matrix, whose exponents are bounded by the width of a run. The source of the largest weight of a run
has the weight 1, so no sum is smaller than that bound allows: what underflows does not show. A run
as long as the line is one matrix product; runs of one pixel are log-sum-exp as it is written.

Arrays are of shape (pairs, targets' run, sources' run, lines, pixels of a run).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sinkdist.solution.reductions import log
from sinkdist.solvers.arrays.products import Array

__all__ = ["AxisSums", "places"]


class _Left(NamedTuple):
    """What is left of the kernel between the pixels of two runs, the same for all of them.

    ``within`` says where the runs are one, if nothing is left between others.
    """

    xp: Any
    exponents: Array
    kernel: Array
    within: Array | None

    def sums(self, weights: Array) -> Array:
        """Of weighted sources, for every target."""
        found = weights @ self.kernel
        if self.within is None:
            return found
        return self.xp.where(self.within, found, self.xp.sum(weights, axis=4, keepdims=True))

    def paid(self, weights: Array) -> Array:
        """The same with exponents as factors."""
        found = weights @ (self.kernel * self.exponents)
        return found if self.within is None else self.xp.where(self.within, found, 0.0)


class AxisSums(NamedTuple):
    """The weights of an axis: of sources in the unit of their run, and of runs for every target."""

    xp: Any
    n: int
    width: int
    sources: Array
    runs: Array
    offset: Array
    slope: Array
    left: _Left

    @classmethod
    def of(
        cls, xp: Any, phi: Array, sharp: Array, power: int, width: int
    ) -> tuple[AxisSums, Array]:
        """The weights, and the sums; from (pairs, lines, n) to (pairs, n, lines).

        ``sharp`` is lam times the cost of a step, of shape (pairs, 1) or (1, 1).
        """
        n, s = int(phi.shape[2]), sharp[:, :, None, None, None]
        offset, slope, left = _split_costs(xp, s, power, width, -(-n // width))
        inner = _centred(xp, phi, width)
        tilted = _split(xp, phi, width, -xp.inf)[:, None, :, :, :] + slope * inner
        top = xp.max(tilted, axis=4, keepdims=True)
        some = top > -xp.inf
        top = xp.where(some, top, 0.0)
        sources = xp.exp(tilted - top)
        unit = top - offset - slope * inner
        out, runs = _over_runs(xp, unit, some, unit + log(xp, left.sums(sources)))
        return cls(xp, n, width, sources, runs, offset, slope, left), _joined(xp, out, n)

    def average(self, values: Array) -> Array:
        """Means of values, from (pairs, lines, n) to (pairs, n, lines)."""
        given = _split(self.xp, values, self.width, 0.0)[:, None, :, :, :]
        return self._collected(self.left.sums(self.sources * given))

    def spread(self, masses: Array) -> Array:
        """The adjoint, from (pairs, n, lines) to (pairs, lines, n)."""
        xp = self.xp
        lines = xp.permute_dims(masses, (0, 2, 1))
        given = _split(xp, lines, self.width, 0.0)[:, :, None, :, :]
        found = xp.sum(self.sources * self.left.sums(self.runs * given), axis=1)
        return xp.permute_dims(_joined(xp, found, self.n), (0, 2, 1))

    def exponents(self) -> Array:
        """Means of the exponents of moves along this axis, of shape (pairs, n, lines)."""
        paid = self.left.paid(self.sources)
        if self.width < self.n:
            inner = _centred(self.xp, self.sources, self.width)
            whole, moved = self.left.sums(self.sources), self.left.sums(self.sources * inner)
            paid = paid + (self.offset + self.slope * inner) * whole - self.slope * moved
        return self._collected(paid)

    def _collected(self, sums: Array) -> Array:
        """Over the runs of sources, for every target."""
        return _joined(self.xp, self.xp.sum(self.runs * sums, axis=2), self.n)


def places(xp: Any, like: Array, n: int) -> Array:
    """0, 1, ... as floats, where another array is; JAX knows no place while it is tracing."""
    return xp.arange(n, dtype=like.dtype, device=getattr(like, "device", None))


def _split_costs(
    xp: Any, s: Array, power: int, width: int, count: int
) -> tuple[Array, Array, _Left]:
    """Offset and slope between all runs, and what is left."""
    centre, inner = width * places(xp, s, count), _centred(xp, s, width)
    between = (centre[:, None] - centre)[None, :, :, None, None]
    far = inner[:, None] - inner
    if power == 2:
        rest = s * far * far
        return s * between * between, 2.0 * s * between, _Left(xp, rest, xp.exp(-rest), None)
    rest = s * xp.abs(far)
    within = between == 0.0 if count > 1 else None
    left = _Left(xp, rest, xp.exp(-rest), within)
    return s * xp.abs(between), s * xp.sign(between), left


def _over_runs(xp: Any, unit: Array, some: Array, terms: Array) -> tuple[Array, Array]:
    """Logarithms of sums over the runs of sources, and the weight of each; 0 for empty ones."""
    top = xp.max(terms, axis=2)
    finite = top > -xp.inf
    top = xp.where(finite, top, 0.0)
    out = top + log(xp, xp.sum(xp.exp(terms - top[:, :, None, :, :]), axis=2))
    base = xp.where(finite, out, 0.0)
    return out, xp.where(some, xp.exp(xp.where(some, unit - base[:, :, None, :, :], 0.0)), 0.0)


def _centred(xp: Any, like: Array, width: int) -> Array:
    """The places of the pixels of a run, from its centre."""
    return places(xp, like, width) - 0.5 * (width - 1)


def _split(xp: Any, lines: Array, width: int, fill: float) -> Array:
    """(pairs, lines, n) as (pairs, runs, lines, width); the last run is filled up."""
    pairs, count, n = (int(k) for k in lines.shape)
    lacking = -n % width
    if lacking:
        more = xp.zeros_like(lines[:, :, :lacking]) + fill
        lines = xp.concat([lines, more], axis=2)
    return xp.permute_dims(xp.reshape(lines, (pairs, count, -1, width)), (0, 2, 1, 3))


def _joined(xp: Any, runs: Array, n: int) -> Array:
    """(pairs, runs, lines, width) as (pairs, n, lines)."""
    pairs, count, lines, width = (int(k) for k in runs.shape)
    whole = xp.reshape(xp.permute_dims(runs, (0, 1, 3, 2)), (pairs, count * width, lines))
    return whole[:, :n, :]
