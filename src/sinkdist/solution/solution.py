"""What a solve returns: `Solution`.

Numbers that cost a look at the whole plan (entropy, bounds) are computed when first asked for and
kept; the plan itself is computed on each access, because it is large.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground import Ground
from sinkdist.inputs.histograms import Histograms
from sinkdist.solution import certificates as bounds
from sinkdist.solution.certificates import Measures
from sinkdist.solution.plans import Plan, entropic_plan
from sinkdist.solution.status import Status

__all__ = ["Solution"]

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False, repr=False)
class Solution:
    """Transport between two histograms, or between many pairs of them.

    For one pair every number is a scalar; for many, an array with one entry per pair.

    Attributes
    ----------
    value : float or ndarray
        ``<P, M>``: the distance.
    marginal_error : float or ndarray
        ``|P1 - r|_1 + |P^T1 - c|_1`` of the plan that is returned.
    n_iter : int or ndarray
        Reads of the kernel: one per sweep, and what Newton needs.
    status : Status or ndarray
        How each pair ended; see `converged`.
    solver : str or ndarray
        What ran.
    lam : float or ndarray
        The strength of the entropy in the plan: 0 for the independence table, inf for a plan of the
        exact distance; where ``alpha`` was given, what was found.
    potentials : tuple of ndarray
        ``f, g`` in units of cost with ``P = exp(lam (f_i + g_j - M_ij))``; -inf on bins without
        mass. Where lam is so large that floats cannot hold the plan in this form, they are those of
        the exact distance, and so is the plan.
    ground : Ground
        The costs.

    Examples
    --------
    >>> import sinkdist as sd
    >>> sd.solve([0.5, 0.5], [0.2, 0.8], [[0, 1], [1, 0]], lam=10)
    Solution(value=0.3, marginal_error=5.2e-09, converged=True, solver='relaxed', n_iter=18)
    """

    value: Any
    marginal_error: Any
    n_iter: Any
    status: Any
    solver: Any
    lam: Any
    potentials: tuple[Array, Array] = field(repr=False)
    ground: Ground
    _r: Histograms = field(repr=False)
    _c: Histograms = field(repr=False)
    _plans: list[Plan | None] | None = field(default=None, repr=False)
    _brackets: list[tuple[float, float] | None] | None = field(default=None, repr=False)

    @property
    def converged(self) -> Any:
        """Whether the tolerance was reached."""
        return self.status == Status.CONVERGED

    @property
    def plan(self) -> npt.NDArray[np.float64]:
        """The coupling ``P``, of shape (d, d'), or (n, d, d') for many pairs."""
        plans = [self._plan(k) for k in range(self._pairs)]
        return plans[0] if self._is_single else np.array(plans).reshape(-1, *self.ground.shape)

    @property
    def entropy(self) -> Any:
        """``h(P)``."""
        return self._collect(lambda k, pair: pair.entropy)

    @property
    def alpha(self) -> Any:
        """``KL(P || r c^T)``: the radius of the ball on whose surface the plan lies."""
        return self._collect(lambda k, pair: pair.alpha)

    @property
    def objective(self) -> Any:
        """``<P, M> - h(P) / lam``: what the plan minimises; -inf at ``lam = 0``."""

        def objective(k: int, pair: Measures) -> float:
            lam = self._lam(k)
            return pair.value - pair.entropy / lam if lam > 0.0 else -np.inf

        return self._collect(objective)

    @property
    def emd_bounds(self) -> tuple[Any, Any]:
        """A lower and an upper bound on the exact EMD, valid whether converged or not."""
        return (
            self._collect(lambda k, pair: pair.lower),
            self._collect(lambda k, pair: pair.upper),
        )

    @property
    def gap(self) -> Any:
        """Objective of the plan, rounded to exact marginals, minus the dual's: 0 at the optimum."""
        return self._collect(lambda k, pair: pair.gap)

    @property
    def bracket(self) -> tuple[Any, Any]:
        """A proven lower and upper bound on the distance that was asked for."""
        pairs = [self._bracket(k) for k in range(self._pairs)]
        if self._is_single:
            return pairs[0]
        low, high = np.array(pairs).reshape(-1, 2).T
        return low, high

    @cached_property
    def _measures(self) -> list[Measures | None]:
        """Certificates of each pair; None where a histogram is empty."""
        return [self._measure(k) for k in range(self._pairs)]

    def _measure(self, k: int) -> Measures | None:
        rows, columns, r, c = self._bins(k)
        if rows.size == 0 or columns.size == 0:
            return None
        f, g = self._potentials(k)
        M, P = self.ground.matrix, self._plan(k)
        if P.shape != (rows.size, columns.size):
            M, P = M[np.ix_(rows, columns)], P[np.ix_(rows, columns)]
        lam, known = self._lam(k), self._known_bracket(k)
        f, g, total = f[rows], g[columns], None
        if self._special(k) is not None and 0.0 < lam < np.inf:
            g, total = bounds.column_potential(M, lam, f, c), 1.0
        pair = bounds.measure(P, M, lam, f, g, r, c, total)
        if lam == np.inf and known is not None:  # proven by the solver, to the last bits
            pair = replace(pair, lower=known[0], upper=known[1], gap=known[1] - known[0])
        return pair

    def _bracket(self, k: int) -> tuple[float, float]:
        """Bounds on the distance asked for; they hold the value where it has converged."""
        low, high = self._proven(k)
        status = self.status if self._is_single else self.status[k]
        if status == Status.CONVERGED:
            value = float(self.value if self._is_single else self.value[k])
            return min(low, value), max(high, value)
        return low, high

    def _proven(self, k: int) -> tuple[float, float]:
        known = self._known_bracket(k)
        if known is not None:
            return known
        pair, lam = self._measures[k], self._lam(k)
        if pair is None:
            return np.nan, np.nan
        if lam == np.inf:
            return pair.lower, pair.upper
        rows, columns, r, c = self._bins(k)
        M = self.ground.matrix[np.ix_(rows, columns)]
        return bounds.bracket_of_penalised(pair, M, lam, r, c)

    def _known_bracket(self, k: int) -> tuple[float, float] | None:
        """What the solver has proven already."""
        return None if self._brackets is None else self._brackets[k]

    def _plan(self, k: int) -> npt.NDArray[np.float64]:
        """The plan of one pair, in the form that its lam asks for."""
        lam, special = self._lam(k), self._special(k)
        if special is not None:
            return special.dense(self.ground.matrix, lam)
        if lam == 0.0:
            return np.outer(_row(self._r, k), _row(self._c, k)).astype(np.float64)
        return entropic_plan(self.ground.matrix, lam, *self._potentials(k))

    def _special(self, k: int) -> Plan | None:
        """The plan, where potentials do not give it."""
        return None if self._plans is None else self._plans[k]

    def _bins(self, k: int) -> tuple[Array, Array, Array, Array]:
        """Bins with mass of one pair, and the masses, which sum to 1 in float64."""
        r, c = _row(self._r, k).astype(np.float64), _row(self._c, k).astype(np.float64)
        rows, columns = np.flatnonzero(r), np.flatnonzero(c)
        r, c = r[rows], c[columns]
        return rows, columns, r / (r.sum() or 1.0), c / (c.sum() or 1.0)

    def _lam(self, k: int) -> float:
        return float(self.lam if np.ndim(self.lam) == 0 else self.lam[k])

    def _potentials(self, k: int) -> tuple[Array, Array]:
        f, g = self.potentials
        return (f, g) if self._is_single else (f[k], g[k])

    @property
    def _is_single(self) -> bool:
        return self._r.is_vector and self._c.is_vector

    @property
    def _pairs(self) -> int:
        return 1 if self._is_single else len(self.value)

    def _collect(self, number: Callable[[int, Measures], float]) -> Any:
        """A number per pair: a float for one, an array for many, NaN for empty histograms."""
        numbers = [
            np.nan if pair is None else number(k, pair) for k, pair in enumerate(self._measures)
        ]
        return numbers[0] if self._is_single else np.array(numbers)

    def __repr__(self) -> str:
        if self._is_single:
            return (
                f"Solution(value={self.value:.4g}, marginal_error={self.marginal_error:.1e}, "
                f"converged={bool(self.converged)}, solver={self.solver!r}, n_iter={self.n_iter})"
            )
        worst = float(np.nanmax(self.marginal_error, initial=0.0))
        return (
            f"Solution({self.value.size} pairs, {int(np.sum(self.converged))} converged, "
            f"worst marginal_error={worst:.1e})"
        )


def _row(family: Histograms, k: int) -> Array:
    """One histogram of a family; the only one, if it has no other."""
    k = k if family.n > 1 else 0
    return np.asarray(family.dense(slice(k, k + 1))[0])
