"""What all pairs of a call share, prepared once: the operators of the ground, and when to stop.

Both records are named tuples: every call makes them, and a frozen dataclass takes three times as
long to make.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from sinkdist.ground import Ground
from sinkdist.ground.gibbs import Gibbs
from sinkdist.interrupts import Stop
from sinkdist.problem.problem import Solver

__all__ = ["Prepared", "Wishes"]


class Wishes(NamedTuple):
    """What a caller wants of every pair beside its value, and how many pairs there will be.

    Attributes
    ----------
    keep_potentials : bool
        Whether potentials and plans are wanted.
    need_error : bool
        Whether the marginal error is wanted where it is not a by-product.
    pairs : int
        How many there will be.
    workers : int
        Threads that may prepare what pairs share.
    entries : float
        Of a pair's costs, on average, between bins with mass; 0 where that is not known.
    as_given : bool
        Whether to keep the caller's unit of cost, however large or small costs are.
    """

    keep_potentials: bool = False
    need_error: bool = False
    pairs: int = 1
    workers: int = 1
    entries: float = 0.0
    as_given: bool = False


class Prepared(NamedTuple):
    """A problem ready to be solved for any pair.

    Attributes
    ----------
    member : Member
        The member of the family, in the unit of cost below.
    stop : Stop
        Set when nobody waits for the answer any more.
    unit : float
        What costs, and one over lam, are in here: a power of two, where the caller's costs are so
        large or small that products of them would leave the range of floats.
    asked_lam : float or None
        The lam that was asked for, in the caller's unit; None where there is none.
    gibbs : Gibbs or None
        The kernel in float64 for the member's lam; None where there is no such lam.
    block_gibbs : Gibbs or None
        The same in the dtype that blocks of pairs are computed in.
    metric : bool
        Whether the costs are known to be a metric.
    local : tuple or None
        What operators on a part of the ground are made from, where there is no matrix: the dtype
        and the wishes.
    workers : int
        Threads that one pair may use, where it is the only one.
    """

    ground: Ground
    member: Any
    solver: Solver
    tol: float
    max_iter: int
    iterations: int | None
    keep_potentials: bool
    need_error: bool
    stop: Stop
    unit: float = 1.0
    asked_lam: float | None = None
    gibbs: Gibbs | None = None
    block_gibbs: Gibbs | None = None
    metric: bool = False
    local: tuple[Any, Wishes] | None = None
    workers: int = 1
