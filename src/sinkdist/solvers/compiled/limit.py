"""Very large lam: where floats cannot hold the entropic plan, that of the exact distance answers.

A plan ``exp(lam (f_i + g_j - M_ij))`` is known to the rounding of its exponents. Once lam times the
potentials exceeds what floats resolve, sweeps and Newton's method find no better one; but by then
the entropy hardly counts: ``d^lam`` lies between the exact distance and ``min(h(r), h(c)) / lam``
above it. Where that is less than the tolerance, the plan of the exact distance, whose marginals
are exact, is the answer; where it is not, the pair keeps what it has, and its status.
"""

from __future__ import annotations

import numpy as np

from sinkdist.interrupts import Stop
from sinkdist.kernels.compiled import Array
from sinkdist.kernels.pair import mean_cost
from sinkdist.solvers.compiled.exact import exact_pair
from sinkdist.solvers.compiled.relaxation import HANDED_OVER
from sinkdist.solvers.outcome import SIMPLEX, STATUS_CONVERGED, STATUS_OF, Outcome

__all__ = ["at_the_limit", "is_lost", "reconsidered"]

LOST = 1e14  #: lam times the mean cost from which rounding hides the plan for certain
_POSSIBLE = (
    2.5  #: the error of a plan whose mass is 1 is at most 2: beyond, there is no plan at all
)
_SMALL = 1e-9  #: of the largest cost: a distance below it is as good as 0


def is_lost(costs: Array, lam: float, r: Array, c: Array) -> bool:
    """Whether to ask for the exact distance before anything else."""
    return lam * mean_cost(costs, r, c) > LOST


def reconsidered(
    outcome: Outcome, costs: Array, r: Array, c: Array, tol: float, stop: Stop
) -> Outcome:
    """An outcome on bins with mass; the exact one where rounding is why it is not solved."""
    if outcome.status == STATUS_CONVERGED:
        return outcome
    lost = not outcome.error <= _POSSIBLE
    hopeful = _entropy(r, c) <= tol * outcome.lam * float(costs.max())
    if not (lost or hopeful):
        return outcome
    other = at_the_limit(costs, outcome.lam, r, c, tol, stop)
    other.n_iter += outcome.n_iter
    if other.status != STATUS_CONVERGED:
        other.status = outcome.status
    return other if lost or other.status == STATUS_CONVERGED else outcome


def at_the_limit(costs: Array, lam: float, r: Array, c: Array, tol: float, stop: Stop) -> Outcome:
    """The exact distance in place of ``d^lam``; converged where they are the same to ``tol``."""
    end = exact_pair(costs, r, c, metric=False, stop=stop)
    allowed = tol * max(0.5 * end.value, _SMALL * float(costs.max()))
    solved = end.solved and _entropy(r, c) <= lam * allowed
    status = STATUS_CONVERGED if solved else STATUS_OF[HANDED_OVER]
    error = end.plan.marginal_error(r, c)
    return Outcome(end.value, error, 1, status, SIMPLEX, end.f, end.g, lam, end.plan)


def _entropy(r: Array, c: Array) -> float:
    """The smaller entropy: what a plan may have less of than another, at most."""
    return min(-float(r @ np.log(r)), -float(c @ np.log(c)))
