"""The paper's advice on Algorithm 1: a number of iterations that depends on lambda only.

Apart from the solvers, which test for convergence and need no advice. The constants are what
`sinkdist_paper.fig5.fit` finds in the measurements of figure 5, which are kept in
``docs/paper/fig5/fig5.csv``.
"""

from __future__ import annotations

import math
import numbers
import reprlib
from typing import Any

from sinkdist.errors import InputError, InputTypeError
from sinkdist.ground import Ground
from sinkdist.problem.strength import relative_lam

__all__ = ["MEASURED_UP_TO", "iterations_for"]

#: ``ceil(AT_LEAST + FACTOR * L**POWER)`` iterations for ``L = lam * median(M)``.
AT_LEAST, FACTOR, POWER = 3.0, 0.00992, 3.98
#: The largest L that the measurements cover.
MEASURED_UP_TO = 25.0


def iterations_for(lam: float | str, ground: Any) -> int:
    """How many iterations of Algorithm 1 to ask for at this strength.

    The paper recommends a fixed number of iterations that depends on lambda only, since testing for
    convergence costs time on parallel machines. This is such a number, for ``iterations=``: a power
    of ``L = lam * median(M)``, by which the change of x is at most 0.01 in Euclidean norm, the
    paper's test, in 95 % of pairs drawn uniformly from simplices with 64 to 2,048 bins, under
    random metrics. L from 1 to 25 was measured: below 1 it is 4, and beyond 25 an extrapolation.

    Of such pairs with up to 512 bins, 95 % of the distances are then within a relative 4e-4 of
    their limits at L = 5 and within 2e-5 at L = 9 and beyond; of MNIST's digits, within 5e-3 at
    L = 5 and 2e-5 at L = 9 and beyond.
    That is for machines on which a test is dear. Elsewhere leave `iterations` out: solving to the
    default tolerance, with a guarantee, takes as long at L = 5, about half as long at L = 9 and a
    twentieth at L = 25 (families with 400 bins, one thread; ``python -m benchmarks.advice``).

    Parameters
    ----------
    lam : float or str
        The paper's lambda, positive and finite; or a text such as ``"9/median"``.
    ground : Ground or array_like
        Costs between bins.

    Returns
    -------
    int

    Examples
    --------
    >>> ground = Ground.grid(20, 20).scaled()
    >>> iterations_for(5, ground), iterations_for(9, ground)
    (10, 66)
    """
    unit = Ground.of(ground).median
    strength = _positive(relative_lam(lam, lambda: unit))
    if unit == 0.0:
        raise InputError(
            "The median of the ground matrix is 0, which is no unit of cost: the number of "
            "iterations cannot be computed from 'lam'. Pass 'tol' instead of 'iterations'."
        )
    try:
        return formula(strength * unit, AT_LEAST, FACTOR, POWER)
    except OverflowError:
        raise InputError(
            f"'lam' times the median cost is {strength * unit:.3g}, which asks for more iterations "
            "than can be counted. Pass 'tol' instead of 'iterations'."
        ) from None


def formula(strength: float, at_least: float, factor: float, power: float) -> int:
    """The number of iterations for ``L = lam * median(M)``."""
    return math.ceil(at_least + factor * math.pow(strength, power))


def _positive(lam: Any) -> float:
    """`lam` as a number that Algorithm 1 has a use for."""
    if isinstance(lam, bool) or not isinstance(lam, numbers.Real):
        raise InputTypeError(
            f"'lam' must be one real number. "
            f"Got {reprlib.repr(lam)} (of type {type(lam).__name__}) instead."
        )
    number = float(lam)
    if not 0.0 < number < math.inf:
        raise InputError(
            "'lam' must be positive and finite: at 0 and inf there is nothing to iterate. "
            f"Got {lam} instead."
        )
    return number
