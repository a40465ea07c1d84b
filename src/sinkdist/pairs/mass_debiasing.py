"""Debiasing where masses may differ: from dual values of pairs to the unbalanced divergence.

``S(r, c) = OT(r, c) - OT(r, r) / 2 - OT(c, c) / 2 + (sqrt(m) - sqrt(n))^2 / (2 lam)``, with ``OT``
the least objective and ``m, n`` the masses. The last term is what the masses of the three
references leave over; without them, ``OT'`` of a pair is the dual

    rho <r, 1 - exp(-f / rho)> + rho <c, 1 - exp(-g / rho)> - a^T K b / lam,

with ``a = r exp(lam f) / sqrt(m)``, ``b`` the same of the columns. At the potentials of both self
terms it is their mean and ``|a - b|_K^2 / (2 lam)`` more, so ``S`` is not negative where ``K`` is
positive semi-definite, as for balanced pairs; the larger of both values counts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.inputs.fingerprints import identities
from sinkdist.inputs.histograms import Histograms
from sinkdist.inputs.rows import Rows, masses, with_masses
from sinkdist.pairs.report import SHORT
from sinkdist.problem.problem import Problem
from sinkdist.scale import threads
from sinkdist.solution.status import Status
from sinkdist.solvers.members import Unbalanced, solve_pair
from sinkdist.solvers.outcome import Answers
from sinkdist.solvers.policy import ROUNDING_OF_DIVERGENCES
from sinkdist.solvers.prepared import Prepared, Wishes

__all__ = ["MassDebiasing", "mass_debiasing"]

Array = npt.NDArray[Any]

_AT_ONCE = 512  #: histograms against themselves in one block
_MOST_SWEEPS = 100  #: as for balanced self terms


@dataclass(frozen=True, slots=True, eq=False)
class _SelfTerms:
    """Histograms of a family against themselves: half of ``OT'``, scalings, ``a^T K a``."""

    half: Array
    mass: Array
    status: Array
    error: Array
    scalings: Rows

    def dense(self, index: Array) -> Array:
        """Scalings of some histograms."""
        chosen = self.scalings[index]
        return chosen if isinstance(chosen, np.ndarray) else np.asarray(chosen.toarray())


@dataclass(frozen=True, slots=True, eq=False)
class MassDebiasing:
    """What turns the answers of a tile into divergences."""

    lam: float
    rho: float
    kernel: Array
    first: _SelfTerms
    second: _SelfTerms
    first_identity: Array
    second_identity: Array

    @property
    def keep(self) -> bool:
        """Potentials of the pairs are wanted."""
        return True

    def __call__(self, part: Answers, R: Array, C: Array, i: Array, j: Array) -> None:
        """Rewrite the answers for pairs of rows ``i`` and ``j``, which are ``R`` and ``C``."""
        assert part.f is not None and part.g is not None
        R, C = R.astype(np.float64), C.astype(np.float64)
        one, plan = _pull(R, part.f, self.lam, self.rho)
        two, _ = _pull(C, part.g, self.lam, self.rho)
        own = one + two - plan / self.lam  # rows are exact in every state kept
        halves = self.first.half[i] + self.second.half[j]
        product = np.einsum(
            "kj,kj->k",
            *np.broadcast_arrays(self.first.dense(i) @ self.kernel, self.second.dense(j)),
        )
        bound = (0.5 * (self.first.mass[i] + self.second.mass[j]) - product) / self.lam
        value = own - halves
        value = np.where((value >= bound) | np.isnan(bound), value, bound)
        unit = ROUNDING_OF_DIVERGENCES * np.finfo(float).eps
        rounding = unit * (np.abs(own) + np.abs(halves))
        equal = self.first_identity[i] == self.second_identity[j]
        part.value = np.where(equal | (np.abs(value) <= rounding), 0.0, value)
        for terms, index in ((self.first, i), (self.second, j)):
            short = np.broadcast_to(np.isin(terms.status[index], SHORT), value.shape)
            part.status[short] = np.broadcast_to(terms.status[index], value.shape)[short]
            part.error[short] = np.broadcast_to(terms.error[index], value.shape)[short]


def mass_debiasing(
    problem: Problem, kernel: Array, A: Histograms, B: Histograms, workers: int
) -> MassDebiasing:
    """Solve the self terms of two families; refuse what has no divergence."""
    member = problem.member
    task = member.prepare(problem, Wishes(True, pairs=A.n + B.n, workers=workers, as_given=True))
    first = _self_terms(task, kernel, A, workers)
    second = first if A is B else _self_terms(task, kernel, B, workers)
    return MassDebiasing(member.lam, member.rho[0], kernel, first, second, *identities(A, B))


def _self_terms(task: Prepared, kernel: Array, family: Histograms, workers: int) -> _SelfTerms:
    """Every histogram of a family with mass against itself, in blocks on threads."""
    n, scalings = family.n, np.zeros(masses(family.rows).shape)
    half, mass, error = np.full(n, np.nan), np.ones(n), np.zeros(n)
    terms = _SelfTerms(half, mass, np.full(n, Status.CONVERGED, np.int8), error, family.rows)
    full = np.flatnonzero(np.ones(n, bool) if family.empty is None else ~family.empty)

    def work(index: Array) -> None:
        R = family.dense(index).astype(np.float64)
        S = _solve_block(task, kernel, R, index, terms)
        if isinstance(family.rows, np.ndarray):
            scalings[index] = S
        else:  # the stored masses of these rows lie one after another
            start = family.rows.indptr
            scalings[start[index[0]] : start[index[-1] + 1]] = S[R > 0.0]

    blocks = (full[k : k + _AT_ONCE] for k in range(0, full.size, _AT_ONCE))
    threads.run(blocks, work, workers, task.stop)
    return replace(terms, scalings=with_masses(family.rows, scalings))


def _solve_block(task: Prepared, kernel: Array, R: Array, index: Array, terms: _SelfTerms) -> Array:
    """The symmetric fixed point, or ordinary pairs where the kernel does not suit it; scalings."""
    member: Unbalanced = task.member
    lam, rho, half = member.lam, member.rho[0], 0.5 * task.ground.diagonal
    mass = R.sum(axis=1)
    X, error = _symmetric(kernel, R / mass[:, None], lam * half, lam * rho, task.tol)
    F = X / lam
    terms.error[index] = error
    for k in np.flatnonzero(~(error <= task.tol)):
        outcome, bins, _ = solve_pair(task, R[k], R[k])
        terms.status[index[k]], terms.error[index[k]] = outcome.status, outcome.error
        assert outcome.f is not None and outcome.g is not None
        chosen = np.arange(R.shape[1]) if bins is None else bins
        mean = 0.5 * (outcome.f + outcome.g)  # the dual is concave, so it can only gain
        F[k, chosen] = mean - (np.log(R[k, chosen]) - 0.5 * math.log(mass[k])) / lam
    with np.errstate(over="ignore", under="ignore"):
        S = np.where(R > 0.0, R * np.exp(lam * (F - half)), 0.0) / np.sqrt(mass)[:, None]
        less = -np.expm1(-F / rho)
    terms.mass[index] = np.einsum("kj,kj->k", S @ kernel, S)
    pulls = rho * np.einsum("kj,kj->k", R, np.where(R > 0.0, less, 0.0))
    terms.half[index] = pulls - 0.5 * terms.mass[index] / lam
    return np.asarray(S)


def _symmetric(K: Array, R: Array, half: Array, k: float, tol: float) -> tuple[Array, Array]:
    """Log scalings of histograms that sum to 1 against themselves, and their errors.

    ``K`` has a unit diagonal; ``half`` moved from it into the potentials. The mean of the scalings
    and their image is the next, as for balanced pairs, with the best total mass.
    """
    some = R > 0.0
    X = np.zeros(R.shape)
    with np.errstate(all="ignore"):  # what is not representable shows as an error that stays
        for sweep in range(_MOST_SWEEPS + 1):
            U = np.where(some, R * np.exp(X - half), 0.0)
            sums = np.where(some, U @ K, 1.0)
            pull, have = R * np.exp(-X / k), U * sums
            error = 2.0 * np.abs(have - pull).sum(axis=1)
            if sweep == _MOST_SWEEPS or not (error > tol).any():
                break
            shift = np.log(pull.sum(axis=1) / have.sum(axis=1)) / (2.0 + 1.0 / k)
            image = (half - np.log(sums) - shift[:, None]) / (1.0 + 1.0 / k)
            X = 0.5 * (X + shift[:, None] + image)
    return X, error


def _pull(H: Array, F: Array, lam: float, rho: float) -> tuple[Array, Array]:
    """``rho <h, 1 - exp(-f / rho)>`` of histograms, and ``<h, exp(-f / rho)>``.

    ``F`` are potentials of plans: with the logarithms of the reference.
    """
    some = H > 0.0
    logs = np.log(np.where(some, H, 1.0)) - 0.5 * np.log(H.sum(axis=1))[:, None]
    z = np.where(some, (np.where(some, F, 0.0) - logs / lam) / rho, 0.0)
    less = np.where(some, -np.expm1(-z), 0.0) * H
    return rho * less.sum(axis=1), (H - less).sum(axis=1)
