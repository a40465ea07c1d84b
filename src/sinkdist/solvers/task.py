"""What is asked of every pair: the costs, the member of the family, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass, field

from sinkdist.ground import Ground
from sinkdist.ground.gibbs import Gibbs
from sinkdist.interrupts import Stop
from sinkdist.problem.strength import Strength
from sinkdist.solvers.table import Solver

__all__ = ["Task"]


@dataclass(frozen=True, slots=True)
class Task:
    """A question, the same for all pairs of a call.

    Attributes
    ----------
    gibbs : Gibbs or None
        The kernel in float64 for the strength's lam; None where there is no such lam.
    block_gibbs : Gibbs or None
        The same in the dtype that blocks of pairs are computed in.
    keep_potentials : bool
        Whether potentials and plans are wanted, beside the value.
    metric : bool
        Whether the costs are known to be a metric.
    need_error : bool
        Whether the marginal error is wanted where it is not a by-product.
    unit : float
        What costs, and one over lam, are in here: a power of two, where the caller's costs are so
        large or small that products of them would leave the range of floats.
    asked_lam : float or None
        The lam that was asked for, in the caller's unit; None where there is none.
    stop : Stop
        Set when nobody waits for the answer any more.
    """

    ground: Ground
    strength: Strength
    gibbs: Gibbs | None
    block_gibbs: Gibbs | None
    solver: Solver
    tol: float
    max_iter: int
    iterations: int | None
    keep_potentials: bool
    metric: bool = False
    need_error: bool = False
    unit: float = 1.0
    asked_lam: float | None = None
    stop: Stop = field(default_factory=Stop)
