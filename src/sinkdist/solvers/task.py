"""What is asked of every pair: the costs, the member of the family, and when to stop."""

from __future__ import annotations

from dataclasses import dataclass, field

from sinkdist.ground import Ground
from sinkdist.ground.gibbs import Gibbs
from sinkdist.interrupts import Stop
from sinkdist.solvers.table import Solver
from sinkdist.strength import Strength

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
    keep : bool
        Whether potentials and plans are wanted, beside the value.
    metric : bool
        Whether the costs are known to be a metric.
    measured : bool
        Whether the marginal error is wanted where it is not a by-product.
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
    keep: bool
    metric: bool = False
    measured: bool = False
    stop: Stop = field(default_factory=Stop)
