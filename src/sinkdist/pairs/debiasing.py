"""Debiasing: from objectives of pairs to the Sinkhorn divergence, tile by tile.

The formula is that of `divergence`. Self terms are computed once per histogram, before any pair;
then each tile of pairs is debiased as soon as it is solved, while its potentials are there, so
that no more than a tile of them is ever held.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.ground import Ground
from sinkdist.ground.grid_plan import has_plan, kernel_of
from sinkdist.ground.on_demand import has_kernel
from sinkdist.inputs.fingerprints import identities
from sinkdist.inputs.histograms import Histograms
from sinkdist.inputs.rows import Rows, masses, with_masses
from sinkdist.kernels.exponential import gibbs_kernel
from sinkdist.pairs.divergence import debiased, refuse, self_objective
from sinkdist.pairs.mass_debiasing import MassDebiasing, mass_debiasing
from sinkdist.pairs.matched import pairs_at_once
from sinkdist.pairs.report import SHORT
from sinkdist.pairs.self_kernel import (
    CloudSelfKernel,
    GridSelfKernel,
    MatrixSelfKernel,
    SelfKernel,
)
from sinkdist.problem.problem import Problem
from sinkdist.scale import threads
from sinkdist.solution.reductions import weighted
from sinkdist.solution.status import Status
from sinkdist.solvers.bins import in_double
from sinkdist.solvers.members import solve_pair
from sinkdist.solvers.outcome import Answers
from sinkdist.solvers.prepared import Prepared, Wishes

__all__ = ["Debiasing", "debiasing"]

Array = npt.NDArray[Any]

_AT_ONCE = 512  #: histograms against themselves in one block


@dataclass(frozen=True, slots=True, eq=False)
class SelfTerms:
    """The histograms of a family against themselves; scalings only where lam is finite."""

    objective: Array
    status: Array
    error: Array
    mass: Array
    scalings: Rows | None = None

    def dense(self, index: Array) -> Array:
        """Scalings of some histograms."""
        assert self.scalings is not None
        chosen = self.scalings[index]
        return chosen if isinstance(chosen, np.ndarray) else np.asarray(chosen.toarray())


@dataclass(frozen=True, slots=True, eq=False)
class Debiasing:
    """What turns the answers of a tile into divergences."""

    lam: float
    kernel: SelfKernel | None
    first: SelfTerms
    second: SelfTerms
    first_identity: Array
    second_identity: Array

    @property
    def keep(self) -> bool:
        """Whether potentials of the pairs are wanted."""
        return self.kernel is not None

    def __call__(self, part: Answers, R: Array, C: Array, i: Array, j: Array) -> None:
        """Rewrite the answers for pairs of rows ``i`` and ``j``, which are ``R`` and ``C``."""
        own = part.value
        if part.f is not None and part.g is not None:  # the plan's mass is 1 in every state kept
            own = weighted(np, in_double(R), part.f) + weighted(np, in_double(C), part.g)
        halves = 0.5 * self.first.objective[i] + 0.5 * self.second.objective[j]
        equal, at_self = self.first_identity[i] == self.second_identity[j], None
        if self.kernel is not None:
            image, scalings = self.kernel.image(self.first.dense(i)), self.second.dense(j)
            product = np.einsum("kj,kj->k", *np.broadcast_arrays(image, scalings))
            at_self = product, 0.5 * (self.first.mass[i] + self.second.mass[j])
        value = debiased(np, own, halves, equal, self.lam, at_self)
        part.value = value
        for terms, index in ((self.first, i), (self.second, j)):
            short = np.broadcast_to(np.isin(terms.status[index], SHORT), value.shape)
            part.status[short] = np.broadcast_to(terms.status[index], value.shape)[short]
            part.error[short] = np.broadcast_to(terms.error[index], value.shape)[short]


def debiasing(
    problem: Problem, A: Histograms, B: Histograms, workers: int
) -> Debiasing | MassDebiasing:
    """Solve the self terms of two families; refuse what has no divergence."""
    member, ground = problem.member, problem.ground
    refuse(member, ground.is_symmetric, ground.shape)
    if member.any_total and member.has_kernel:
        return mass_debiasing(problem, _kernel(ground, member.lam), A, B, workers)
    kernel = self_kernel(ground, member.lam) if member.has_kernel else None
    wishes = Wishes(kernel is not None, pairs=A.n + B.n, workers=workers, as_given=True)
    task = member.prepare(problem, wishes)
    first = _self_terms(task, kernel, A, workers)
    second = first if A is B else _self_terms(task, kernel, B, workers)
    return Debiasing(member.lam, kernel, first, second, *identities(A, B))


def self_kernel(ground: Ground, lam: float) -> SelfKernel:
    """The kernel of self terms: without a matrix where the ground has none."""
    grid = ground.as_grid
    if grid is not None and has_plan(grid, lam):
        return GridSelfKernel(kernel_of(grid, lam), grid.sides)
    if ground.as_points is not None and has_kernel(ground.as_points, lam):
        return CloudSelfKernel(ground.as_points, lam)
    return MatrixSelfKernel(_kernel(ground, lam))


def _kernel(ground: Ground, lam: float) -> Array:
    """``exp(-lam (M_ij - M_ii / 2 - M_jj / 2))``, with ones on its diagonal.

    Half the diagonal moves from the costs into the potentials. Then no scaling is above 1, and an
    entry that underflows is one that does not matter: the kernel serves at any lam.
    """
    if not ground.diagonal.any():
        kernel: Array = ground.gibbs(lam, np.dtype(np.float64)).kernel
        return kernel
    half = 0.5 * ground.diagonal
    out = np.empty(ground.shape)
    gibbs_kernel(ground.block() - half[:, None] - half, lam, out)
    return out


def _self_terms(
    task: Prepared, kernel: SelfKernel | None, family: Histograms, workers: int
) -> SelfTerms:
    """Every histogram of a family with mass against itself, in blocks on threads."""
    n = family.n
    terms = SelfTerms(
        np.full(n, np.nan), np.full(n, Status.CONVERGED, np.int8), np.zeros(n), np.ones(n)
    )
    scalings = np.zeros(masses(family.rows).shape)
    full = np.flatnonzero(np.ones(n, bool) if family.empty is None else ~family.empty)

    def work(index: Array) -> None:
        R = in_double(family.dense(index))
        if kernel is None:
            _limit(task, R, index, terms)
            return
        U = _penalised(task, kernel, R, index, terms)
        if isinstance(family.rows, np.ndarray):
            scalings[index] = U
        else:  # the stored masses of these rows lie one after another
            start = family.rows.indptr
            scalings[start[index[0]] : start[index[-1] + 1]] = U[R > 0.0]

    size = min(_AT_ONCE, pairs_at_once(task.ground))
    blocks = (full[k : k + size] for k in range(0, full.size, size))
    threads.run(blocks, work, workers, task.stop)
    if kernel is None:
        return terms
    return replace(terms, scalings=with_masses(family.rows, scalings))


def _penalised(
    task: Prepared, kernel: SelfKernel, R: Array, index: Array, terms: SelfTerms
) -> Array:
    """The symmetric fixed point; ordinary pairs where the kernel is none that it suits."""
    lam, half = task.member.lam, 0.5 * task.ground.diagonal
    found = kernel.fixed_points(R, task.tol, task.stop)
    U, mass = found.U, found.mass
    terms.error[index] = found.error
    for k in np.flatnonzero(~(found.error <= task.tol)):
        outcome, bins, _ = solve_pair(task, R[k], R[k])
        terms.status[index[k]], terms.error[index[k]] = outcome.status, outcome.error
        assert outcome.f is not None and outcome.g is not None
        chosen = slice(None) if bins is None else bins
        U[k] = 0.0  # the mean of both potentials: the dual is concave, so it can only gain
        U[k, chosen] = np.exp(lam * (0.5 * (outcome.f + outcome.g) - half[chosen]))
        mass[k] = kernel.image(U[k : k + 1])[0] @ U[k]
    terms.objective[index] = self_objective(np, U, half, R, mass, lam)
    terms.mass[index] = mass
    return U


def _limit(task: Prepared, R: Array, index: Array, terms: SelfTerms) -> None:
    """Independence, or the exact distance, which is 0 where staying is free."""
    if task.member.is_one_product:
        terms.objective[index] = np.einsum("kj,kj->k", task.ground.mean_costs(R), R)
    elif not task.ground.diagonal.any():
        terms.objective[index] = 0.0
    else:
        for k, row in zip(index, R, strict=True):
            outcome, _, _ = solve_pair(task, row, row)
            terms.objective[k], terms.error[k] = outcome.value, outcome.error
            terms.status[k] = outcome.status
