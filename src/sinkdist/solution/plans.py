"""Transport plans: ``exp(lam (f_i + g_j - M_ij))``, and two forms where potentials do not suffice.

Potentials in floats give a plan to the rounding of lam times them. Where that would show, a
`ScaledPlan` holds scalings beside them; a plan with few entries is a `SparsePlan`. Both know
nothing of costs and lam: they are given them, as the potentials are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "Plan",
    "ScaledPlan",
    "SparsePlan",
    "entropic_plan",
    "in_units",
    "is_blurred",
    "on_all_bins",
    "value_and_error",
]

Array = npt.NDArray[Any]
Bins = Array | None  #: bins with mass; None for all of them

_EPS = 2.0**-53
_FINITE = 600.0  #: the largest exponent of an entry; entries of couplings are at most 1
_VISIBLE = 1e-12  #: what rounding may change in the marginals unseen


@dataclass(frozen=True, slots=True, eq=False)
class SparsePlan:
    """A plan with few entries: masses at rows and columns."""

    rows: Array
    columns: Array
    mass: Array

    @classmethod
    def of(cls, P: Array) -> SparsePlan:
        """The entries of a matrix that are not 0."""
        rows, columns = np.nonzero(P)
        return cls(rows, columns, P[rows, columns])

    def dense(self, M: Array, lam: float) -> npt.NDArray[np.float64]:
        """The plan as a matrix of the shape of the costs."""
        P = np.zeros(M.shape)
        np.add.at(P, (self.rows, self.columns), self.mass)
        return P

    def only(self, some: Array) -> SparsePlan:
        """Some of the entries."""
        return SparsePlan(self.rows[some], self.columns[some], self.mass[some])

    def on(self, rows: Array, columns: Array) -> SparsePlan:
        """The same among some bins, in rising order, which are those with mass."""
        at, to = np.searchsorted(rows, self.rows), np.searchsorted(columns, self.columns)
        here = np.append(rows, -1)[at] == self.rows
        here &= np.append(columns, -1)[to] == self.columns
        return SparsePlan(at[here], to[here], self.mass[here])

    def placed(self, rows: Bins, columns: Bins, shape: tuple[int, int]) -> SparsePlan:
        """The same among all bins."""
        return SparsePlan(
            self.rows if rows is None else rows[self.rows],
            self.columns if columns is None else columns[self.columns],
            self.mass,
        )

    def marginal_error(self, r: Array, c: Array) -> float:
        """``|P1 - r|_1 + |P^T1 - c|_1``."""
        rows = np.bincount(self.rows, self.mass, r.size)
        columns = np.bincount(self.columns, self.mass, c.size)
        return float(np.abs(rows - r).sum() + np.abs(columns - c).sum())


@dataclass(frozen=True, slots=True, eq=False)
class ScaledPlan:
    """``P = diag(u) exp(lam (f_i + g_j - M_ij)) diag(v)``.

    The scalings make up for the rounding of the potentials, and of their sums with costs.
    """

    f: Array
    g: Array
    u: Array
    v: Array

    def dense(self, M: Array, lam: float) -> npt.NDArray[np.float64]:
        """The plan as a matrix."""
        P = entropic_plan(M, lam, self.f, self.g)
        P *= self.u[:, None]
        P *= self.v
        return P

    def on(self, rows: Array, columns: Array) -> ScaledPlan:
        """The same among some bins."""
        return ScaledPlan(self.f[rows], self.g[columns], self.u[rows], self.v[columns])

    def placed(self, rows: Bins, columns: Bins, shape: tuple[int, int]) -> ScaledPlan:
        """The same among all bins; those without mass have the scaling 0."""
        m, n = shape
        return ScaledPlan(
            on_all_bins(self.f, rows, m, -np.inf), on_all_bins(self.g, columns, n, -np.inf),
            on_all_bins(self.u, rows, m, 0.0), on_all_bins(self.v, columns, n, 0.0),
        )  # fmt: skip


#: A plan that is not that of the potentials which go with it.
Plan = SparsePlan | ScaledPlan


def in_units(plan: Plan | None, unit: float) -> Plan | None:
    """A plan whose potentials are costs in a ``unit``, in the caller's."""
    if not isinstance(plan, ScaledPlan):
        return plan
    return ScaledPlan(plan.f * unit, plan.g * unit, plan.u, plan.v)


def entropic_plan(M: Array, lam: float, f: Array, g: Array) -> npt.NDArray[np.float64]:
    """``P = exp(lam (f_i + g_j - M_ij))``, finite whatever the potentials are."""
    P = f[:, None] + g - M
    with np.errstate(over="ignore"):
        P *= lam
    np.minimum(P, _FINITE, out=P)
    return np.asarray(np.exp(P, out=P), dtype=np.float64)


def value_and_error(P: Array, M: Array, r: Array, c: Array) -> tuple[float, float]:
    """``<P, M>`` and ``|P1 - r|_1 + |P^T1 - c|_1``."""
    with np.errstate(over="ignore"):  # an error beyond all numbers is one too
        error = np.abs(P.sum(axis=1) - r).sum() + np.abs(P.sum(axis=0) - c).sum()
        return float(np.vdot(P, M)), float(error)


def is_blurred(lam: float, f: Array, g: Array, tol: float) -> bool:
    """Whether rounding the potentials may change the marginals of their plan by what counts."""
    largest = float(max(np.maximum.reduce(np.abs(f)), np.maximum.reduce(np.abs(g))))
    return 8.0 * _EPS * lam * largest > min(1e-3 * tol, _VISIBLE)


def on_all_bins(values: Array, bins: Bins, size: int, elsewhere: float) -> Array:
    """Values known on some bins, with another one on all others."""
    if bins is None:
        return values
    out = np.full(size, elsewhere)
    out[bins] = values
    return out
