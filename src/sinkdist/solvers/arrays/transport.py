"""From histograms and costs to plans: what every framework runs, and what derivatives start from.

Pure functions of arrays. A `BlockSpec` is what is known before any array is looked at, so that JAX
can compile for it; numbers that may change from call to call are `Parameters`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sinkdist.solution.reductions import log, weighted
from sinkdist.solution.status import Status
from sinkdist.solvers.arrays import constrained, stabilised
from sinkdist.solvers.arrays.axes import Axes, operator_of
from sinkdist.solvers.arrays.control import Control
from sinkdist.solvers.arrays.operators import CostOperator, Measured, Potentials
from sinkdist.solvers.arrays.products import Array
from sinkdist.solvers.arrays.sweeps import ConvergenceState, fixed, to_tolerance
from sinkdist.solvers.outcome import ALGORITHM1, CONSTRAINED, LOG, NEWTON, PLAIN, RELAXED
from sinkdist.solvers.policy import GENTLE, NEWTON_AFTER, safe_exponent

__all__ = ["Answer", "BlockSpec", "Domain", "Parameters", "answer", "resolve_domain"]


class Domain(enum.Enum):
    """Where sweeps are computed."""

    SCALING = enum.auto()
    LOG = enum.auto()
    CONSTRAINED = enum.auto()  #: the log domain, with a lam for each pair
    AUTO = enum.auto()  #: scaling or log, by costs that are not known yet


@dataclass(frozen=True, slots=True)
class BlockSpec:
    """What is asked of a block of pairs."""

    domain: Domain
    iterations: int | None  #: steps of Algorithm 1, instead of a tolerance
    relax: bool  #: whether sweeps may be over-relaxed
    keep: bool  #: whether more than the value is wanted
    learns: bool  #: whether the costs may need a gradient
    #: The grid whose steps the costs are; None where they are a matrix.
    axes: Axes | None = None


class Parameters(NamedTuple):
    """The strength (``lam``, or the radius ``alpha``) and when to stop."""

    strength: Any
    tol: Any
    max_iter: Any


class Answer(NamedTuple):
    """One entry, or row, per pair; only ``value`` and ``objective`` have gradients.

    The objective is 0 where it is not wanted; at a lam that was searched for it has no gradient.
    ``ran`` is what ran, by its place in `sinkdist.solvers.outcome.RAN`.
    """

    value: Array
    objective: Array
    F: Array
    G: Array
    error: Array
    n_iter: Array
    status: Array
    lam: Array
    ran: Array


def resolve_domain(
    asked: BlockSpec, numbers: Parameters, largest: Callable[[], float], dtype: Any
) -> BlockSpec:
    """The block with its domain chosen by the largest cost, looked up only if needed."""
    if asked.domain is not Domain.AUTO:
        return asked
    fits = numbers.strength * largest() <= safe_exponent(dtype)
    return replace(asked, domain=Domain.SCALING if fits else Domain.LOG)


def answer(
    xp: Any, control: Control, asked: BlockSpec, numbers: Parameters, R: Array, C: Array, M: Array
) -> Answer:
    """Solve a block of pairs; ``R`` has one row, shared, or one per pair.

    ``M`` is the matrix of costs, or the cost of a step along every axis of a grid.
    """
    costs = operator_of(xp, asked.axes, M)
    if asked.domain is Domain.SCALING:
        return _by_scaling(xp, control, asked, numbers, R, C, costs)
    tol, limit = numbers.tol, numbers.max_iter
    if asked.domain is Domain.CONSTRAINED:
        search = constrained.search(xp, control, M, numbers.strength, R, C, tol, limit)
        lam, potentials, convergence = search.lam[:, None], search.potentials, search.convergence
    else:
        lam = xp.zeros_like(C[:, :1]) + numbers.strength
        if asked.iterations is not None:
            potentials = stabilised.fixed(xp, control, costs, lam, R, C, asked.iterations)
            convergence = None
        else:
            potentials, convergence = stabilised.to_tolerance(
                xp, control, costs, lam, R, C, tol, limit, asked.relax, None,
                xp.zeros_like(lam[:, 0]) + _doublings(xp, lam[0, 0] * costs.largest),
            )  # fmt: skip
    measured = costs.measured(lam, potentials)
    found = _answer(xp, asked, numbers, measured, potentials, lam[:, 0], convergence, R, C)
    if asked.domain is Domain.CONSTRAINED or convergence is None:
        return found._replace(
            ran=found.ran + (CONSTRAINED if convergence is not None else ALGORITHM1)
        )
    helped = asked.relax & (convergence.n_iter > NEWTON_AFTER)
    return found._replace(ran=xp.where(helped, found.ran + NEWTON, found.ran + LOG))


def _by_scaling(
    xp: Any, control: Control, asked: BlockSpec, numbers: Parameters, R: Array, C: Array,
    costs: CostOperator,
) -> Answer:  # fmt: skip
    """On one kernel, by matrix products."""
    lam = numbers.strength
    products, convergence, rows = costs.kernel(lam), None, R
    if asked.iterations is not None:
        U, V = fixed(xp, control, products, R, C, asked.iterations)
        columns = C
    else:
        (U, V, A), convergence = to_tolerance(
            control, products, R, C, numbers.tol, numbers.max_iter, asked.relax
        )
        columns = V * A
    potentials = Potentials(log(xp, U) / lam, log(xp, V) / lam)
    if asked.keep:  # what is returned is the plan of the potentials, with their rounding
        U, V = (xp.exp(lam * x) for x in potentials)
        rows, columns = U * products.rows(V), V * products.columns(U)
    value = xp.sum(U * costs.priced(lam).rows(V), axis=1)
    all_lam, measured = xp.zeros_like(value) + lam, Measured(value, rows, columns)
    found = _answer(xp, asked, numbers, measured, potentials, all_lam, convergence, R, C)
    if convergence is None:
        return found._replace(ran=found.ran + ALGORITHM1)
    relaxed = asked.relax & (convergence.n_iter > 1)  # the first look comes after one
    return found._replace(ran=xp.where(relaxed, found.ran + RELAXED, found.ran + PLAIN))


def _answer(
    xp: Any, asked: BlockSpec, numbers: Parameters, measured: Measured, potentials: Potentials,
    lam: Array, convergence: ConvergenceState | None, R: Array, C: Array,
) -> Answer:  # fmt: skip
    """Put together; ``<P, M> - h(P) / lam`` is the marginals' product with the potentials.

    The error is that of the rows and columns of the plan that is returned: at a large lam,
    rounding of the potentials shows in it, and not in the errors that sweeps see.
    """
    (F, G), (value, rows, columns) = potentials, measured
    objective = xp.zeros_like(value)
    if asked.keep:
        objective = weighted(xp, rows, F) + weighted(xp, columns, G)
    whole = xp.astype(xp.zeros_like(value), xp.int32)
    error = xp.sum(xp.abs(rows - R), axis=1) + xp.sum(xp.abs(columns - C), axis=1)
    if convergence is None:
        n_iter, status = whole + asked.iterations, whole + int(Status.FIXED)
    else:
        n_iter = convergence.n_iter
        swept = convergence.error <= numbers.tol
        capped = (convergence.going | (n_iter >= numbers.max_iter)) & ~swept
        short = xp.where(capped, int(Status.MAX_ITER), int(Status.STALLED) + whole)
        fine = error <= numbers.tol
        if asked.domain is Domain.CONSTRAINED:
            fine = fine & (convergence.failures == 0)
        status = xp.where(fine, int(Status.CONVERGED), short)
    return Answer(value, objective, F, G, error, n_iter, status, lam, whole)


def _doublings(xp: Any, exponent: Array) -> Array:
    """How many times lam is halved to begin gently."""
    ratio = xp.maximum(exponent / GENTLE, 1.0)
    return xp.ceil(xp.log2(ratio))
