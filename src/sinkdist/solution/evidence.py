"""Where a `Solution` takes what it has not computed yet: plans, certificates, brackets.

`Evidence` is what it asks for, `HostEvidence` the answer for NumPy arrays, pair by pair on the bins
that have mass. The answer for arrays of other libraries stands with their solvers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt

from sinkdist.errors import InputError
from sinkdist.ground.grid_plan import has_plan
from sinkdist.ground.on_demand import is_dense_cloud
from sinkdist.inputs.histograms import Histograms
from sinkdist.solution import certificates, host_arrays
from sinkdist.solution.certificates import Measures
from sinkdist.solution.plan_certificates import (
    bracket_without_matrix,
    measure_independence,
    measure_without_matrix,
)
from sinkdist.solution.plan_sums import CloudSums, GridSums, PlanSums
from sinkdist.solution.plans import Plan, SparsePlan, entropic_plan
from sinkdist.solution.projection import projected, projected_without_matrix
from sinkdist.wording import option

if TYPE_CHECKING:
    from sinkdist.solution.solution import Solution

__all__ = ["Evidence", "HostEvidence", "entry_of", "row_of"]

Array = npt.NDArray[Any]
Bounds = tuple[Any, Any]

_PIECE = 1 << 20  #: entries of a plan that are formed together
_MOST = 1 << 33  #: that are gone through one by one
_INSTEAD = "Ask for some of its rows by plan_rows, or for the map that it makes by transport_map"
_NOTHING = Measures(*[np.nan] * len(Measures._fields))


class Evidence(Protocol):
    """What a solution rests on; numbers are of shape (n,) until they are ``shaped``."""

    @property
    def xp(self) -> Any:
        """The library of the numbers."""

    def plan(self, s: Solution) -> Any:
        """All plans, or the only one."""

    def each(self, answer: Callable[[int], Any]) -> Any:
        """A list of what a function of a pair's number gives; only that, for a single pair."""

    def pieces(self, s: Solution, k: int) -> Iterator[SparsePlan]:
        """The positive entries of one pair's plan on the host, in pieces of some rows each."""

    def rows(self, s: Solution, k: int, index: Array) -> Any:
        """Some rows of one pair's plan."""

    def projection(self, s: Solution, k: int, places: Array) -> Array:
        """Where the mass of every row goes on average, on the host."""

    def costs_at(self, s: Solution, rows: Array, columns: Array) -> Array:
        """Costs of some moves, on the host."""

    def measures(self, s: Solution) -> Measures:
        """Certificates of all pairs."""

    def proven(self, s: Solution) -> Bounds:
        """Bounds on the distances that were asked for."""

    def entropy(self, s: Solution) -> Any:
        """``h(P)``, shaped."""

    def objective(self, s: Solution) -> Any:
        """``<P, M> - h(P) / lam``, shaped."""

    def objective_bounds(self, s: Solution) -> Bounds:
        """Proven bounds on the least objective, shaped."""

    def shaped(self, numbers: Any) -> Any:
        """One number per pair as users see them: the only one, for a single pair."""

    def bounds(self, low: Any, high: Any) -> Bounds:
        """The same of bounds, which stay bounds where their dtype changes."""

    def on_host(self, numbers: Any) -> Array | None:
        """Numbers that can be printed; None while they are not known."""


@dataclass(frozen=True, eq=False)
class HostEvidence:
    """Histograms on the host, and what solvers have given beside potentials.

    ``plans`` are there where potentials do not give them, ``brackets`` where the solver has proven
    its own.
    """

    r: Histograms
    c: Histograms
    plans: list[Plan | None] | None
    brackets: list[tuple[float, float] | None] | None
    xp = np

    def plan(self, s: Solution) -> Any:
        """All plans, or the only one."""
        plans = [self._plan(s, k) for k in range(self._n)]
        return plans[0] if self._single else np.array(plans).reshape(-1, *s.ground.shape)

    def each(self, answer: Callable[[int], Any]) -> Any:
        """One answer per pair; the only one, for a single pair."""
        return answer(0) if self._single else [answer(k) for k in range(self._n)]

    def pieces(self, s: Solution, k: int) -> Iterator[SparsePlan]:
        """A plan on its bins with mass, some rows at a time; a sparse one as it is."""
        special = self._special(k)
        if isinstance(special, SparsePlan):
            yield special.only(special.mass > 0.0)
            return
        rows, columns, _, _ = self._bins(k)
        if rows.size * columns.size > _MOST:
            raise _too_many(rows.size, columns.size)
        step = max(1, _PIECE // max(1, columns.size))
        for start in range(0, rows.size, step):
            some = rows[start : start + step]
            found = SparsePlan.of(self._plan_on(s, k, some, columns))
            yield found.placed(some, columns, s.ground.shape)

    def rows(self, s: Solution, k: int, index: Array) -> Array:
        """Some rows of one pair's plan, between all columns."""
        order, back = np.unique(index, return_inverse=True)
        return self._plan_on(s, k, order, np.arange(s.ground.shape[1]))[back]

    def projection(self, s: Solution, k: int, places: Array) -> Array:
        """Where the mass of every row goes on average."""
        rows, columns, _, _ = self._bins(k)
        sums, lam = self._sums(s, k, rows, columns), entry_of(s.lam, k)
        if sums is not None and lam > 0.0:
            out = np.full((s.ground.shape[0], places.shape[1]), np.nan)
            g = self._potentials(s, k)[1][columns]
            out[rows] = projected_without_matrix(sums, lam, g, rows.size, places[columns])
            return out
        return projected(self.pieces(s, k), s.ground.shape[0], places)

    def costs_at(self, s: Solution, rows: Array, columns: Array) -> Array:
        """Costs of some moves."""
        return np.asarray(s.ground.costs_at(rows, columns))

    def measures(self, s: Solution) -> Measures:
        """Certificates of all pairs, one after another."""
        pairs = [self._measure(s, k) for k in range(self._n)]
        return Measures(*np.array(pairs).reshape(-1, len(_NOTHING)).T)

    def proven(self, s: Solution) -> Bounds:
        """Bounds on the distances that were asked for."""
        pairs = [self._proven(s, k) for k in range(self._n)]
        low, high = np.array(pairs).reshape(-1, 2).T
        return low, high

    def entropy(self, s: Solution) -> Any:
        """``h(P)``."""
        return self.shaped(s._measures.entropy)

    def objective(self, s: Solution) -> Any:
        """``<P, M> - h(P) / lam``."""
        value, entropy = s._measures.value, s._measures.entropy
        lam = np.broadcast_to(s.lam, value.shape)
        some = lam > 0.0
        found = value - entropy / np.where(some, lam, 1.0)
        return self.shaped(np.where(some, found, -np.inf + 0.0 * value))

    def objective_bounds(self, s: Solution) -> Bounds:
        """Bounds on the least objective: see `MassEvidence`."""
        raise InputError(
            "objective_bounds are for solutions with {}; others have gap and emd_bounds.",
            option("mass_penalty"),
        )

    def shaped(self, numbers: Any) -> Any:
        """A float for one pair, an array for many."""
        return float(numbers[0]) if self._single else numbers

    def bounds(self, low: Any, high: Any) -> Bounds:
        """Bounds are in float64 whatever the dtype of values is."""
        return self.shaped(low), self.shaped(high)

    def on_host(self, numbers: Any) -> Array | None:
        """Numbers that can be printed."""
        return np.asarray(numbers)

    def _measure(self, s: Solution, k: int) -> Measures:
        rows, columns, r, c = self._bins(k)
        if rows.size == 0 or columns.size == 0:
            return _NOTHING
        f, g = self._potentials(s, k)
        sums = self._sums(s, k, rows, columns)
        if sums is not None:
            lam = entry_of(s.lam, k)
            if lam == 0.0:
                return measure_independence(sums, f[rows], g[columns], r, c)
            return measure_without_matrix(sums, lam, f[rows], g[columns], r, c)
        M, P = s.ground.block(rows, columns), self._plan_on(s, k, rows, columns)
        lam, known = entry_of(s.lam, k), self._known(k)
        f, g, total = f[rows], g[columns], None
        if self._special(k) is not None and 0.0 < lam < np.inf:
            g, total = certificates.column_potential(M, lam, f, c), 1.0
        pair = certificates.measure_pair(P, M, lam, f, g, r, c, total)
        if lam == np.inf and known is not None:  # proven by the solver, to the last bits
            pair = pair._replace(lower=known[0], upper=known[1], gap=known[1] - known[0])
        return pair

    def _proven(self, s: Solution, k: int) -> tuple[float, float]:
        known, lam = self._known(k), entry_of(s.lam, k)
        if known is not None:
            return known
        pair = Measures(*(x[k] for x in s._measures))
        if np.isnan(pair.value) or lam == np.inf:
            return pair.lower, pair.upper
        rows, columns, r, c = self._bins(k)
        sums = self._sums(s, k, rows, columns)
        if sums is not None:
            return bracket_without_matrix(sums, pair, lam, r, c)
        low, high = certificates.bracket_of_penalised(
            host_arrays, pair, s.ground.block(rows, columns), np.array([lam]), r[None], c[None]
        )
        return float(low[0]), float(high[0])

    def _sums(self, s: Solution, k: int, rows: Array, columns: Array) -> PlanSums | None:
        """Sums with the costs of a pair whose certificates need no matrix."""
        ground, lam = s.ground, entry_of(s.lam, k)
        if self._special(k) is not None:
            return None
        grid, points = ground.as_grid, ground.as_points
        if grid is not None and has_plan(grid, lam or 1.0 / grid.max):
            return GridSums(grid, rows, columns)
        if points is not None and is_dense_cloud(points, lam, rows.size, columns.size):
            from sinkdist.ground.cloud_plan import CloudPair

            return CloudSums(CloudPair.of(points, rows, columns), points.max)
        return None

    def _known(self, k: int) -> tuple[float, float] | None:
        """What the solver has proven already."""
        return None if self.brackets is None else self.brackets[k]

    def _plan(self, s: Solution, k: int) -> npt.NDArray[np.float64]:
        """The plan of one pair, in the form that its lam asks for."""
        refusal = s.ground.refusal("entries of the plan", _INSTEAD)
        if refusal is not None:
            raise refusal
        lam, special = entry_of(s.lam, k), self._special(k)
        if special is not None:
            return special.dense(s.ground.matrix, lam)
        if lam == 0.0:
            return np.outer(row_of(self.r, k), row_of(self.c, k)).astype(np.float64)
        return entropic_plan(s.ground.matrix, lam, *self._potentials(s, k))

    def _plan_on(self, s: Solution, k: int, rows: Array, columns: Array) -> npt.NDArray[np.float64]:
        """The same between some bins, without forming it between all."""
        lam, special = entry_of(s.lam, k), self._special(k)
        if lam == 0.0 and special is None:
            r, c = row_of(self.r, k)[rows], row_of(self.c, k)[columns]
            return np.outer(r, c).astype(np.float64)
        M = s.ground.block(rows, columns)
        if special is not None:
            return special.on(rows, columns).dense(M, lam)
        f, g = self._potentials(s, k)
        return entropic_plan(M, lam, f[rows], g[columns])

    def _special(self, k: int) -> Plan | None:
        """The plan, where potentials do not give it."""
        return None if self.plans is None else self.plans[k]

    def _bins(self, k: int) -> tuple[Array, Array, Array, Array]:
        """Bins with mass of one pair, and the masses, which sum to 1 in float64."""
        r, c = row_of(self.r, k).astype(np.float64), row_of(self.c, k).astype(np.float64)
        rows, columns = np.flatnonzero(r), np.flatnonzero(c)
        r, c = r[rows], c[columns]
        return rows, columns, r / (r.sum() or 1.0), c / (c.sum() or 1.0)

    def _potentials(self, s: Solution, k: int) -> tuple[Array, Array]:
        f, g = s.potentials
        return (f, g) if self._single else (f[k], g[k])

    @property
    def _single(self) -> bool:
        return self.r.is_vector and self.c.is_vector

    @property
    def _n(self) -> int:
        return self.c.n if self.r.is_vector else self.r.n


def _too_many(rows: int, columns: int) -> InputError:
    """The error for plans with more entries than anyone would wait for."""
    return InputError(
        f"This plan has {rows:,} x {columns:,} entries between bins with mass, too many to go "
        f"through one by one. {_INSTEAD}."
    )


def entry_of(numbers: Any, k: int) -> float:
    """The number of one pair, where they may all share one."""
    return float(numbers if np.ndim(numbers) == 0 else numbers[k])


def row_of(family: Histograms, k: int) -> Array:
    """One histogram of a family; the only one, if it has no other."""
    k = k if family.n > 1 else 0
    return np.asarray(family.dense(slice(k, k + 1))[0])
