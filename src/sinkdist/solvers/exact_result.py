"""What every way to the exact distance hands back: a plan, potentials, and the bounds they prove.

Apart from the transport simplex and the closed forms, which both make it.
"""

from __future__ import annotations

from dataclasses import dataclass

from sinkdist.kernels.compiled import Array
from sinkdist.solution.plans import SparsePlan

__all__ = ["GAP", "Exact"]

GAP = 1e-9  #: of the value: what counts as solved


@dataclass(frozen=True, slots=True)
class Exact:
    """A plan, feasible potentials, and the bounds they prove.

    Attributes
    ----------
    value : float
        The cost of the plan.
    lower, upper : float
        Bounds on the distance, with their rounding.
    left_out : float
        About what the mass would cost that the plan has too much or too little.
    pivots : int
        Steps of the simplex; 1 for a closed form.
    """

    plan: SparsePlan
    f: Array
    g: Array
    value: float
    lower: float
    upper: float
    left_out: float = 0.0
    pivots: int = 1

    @property
    def solved(self) -> bool:
        """Whether primal and dual agree."""
        return 0.0 <= self.upper - self.lower <= GAP * self.upper
