"""Whether costs are a metric, and the largest metric below them.

Costs are a metric, in the sense of the paper's cone, when they are symmetric, 0 on the diagonal and
satisfy every triangle inequality; different bins may be at distance 0.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["BENT", "ROUNDED", "MetricCheck", "check_metric", "largest_metric_below", "looks_metric"]

Costs = npt.NDArray[np.float64]

BENT = 1e-12  #: of the largest cost: by how much a metric may violate the triangle inequality
#: The same where costs are rounded once: what their last digits, and those of a check, come to.
ROUNDED = 64 * 2.0**-53
_SAMPLE = 1000  # triangles of a quick look


@dataclass(frozen=True, slots=True)
class MetricCheck:
    """The answer to "is it a metric?"; true or false in a condition.

    Attributes
    ----------
    holds : bool
        The answer.
    reason : str
        A sentence about the worst violation, or that there is none.
    triangle : tuple of int or None
        Bins ``(i, j, k)`` for which going from i to j by way of k is cheapest against going
        directly.
    violation : float
        By how much; 0 where no triangle is violated.
    rounding : float
        By how much triangles of a metric are off all the same; at most 1e-12 of the largest cost.
    """

    holds: bool
    reason: str
    triangle: tuple[int, int, int] | None = None
    violation: float = 0.0
    rounding: float = 0.0

    def __bool__(self) -> bool:
        return self.holds


def check_metric(costs: Costs, largest: float, symmetric: bool) -> MetricCheck:
    """Check symmetry, the diagonal and all triangles; costs O(d^3)."""
    rows, columns = costs.shape
    if rows != columns:
        return MetricCheck(False, f"The matrix is not square: {rows} x {columns}.")
    diagonal = costs.diagonal()
    if diagonal.any():
        i = int(np.argmax(diagonal))
        return MetricCheck(False, f"Staying in bin {i} costs {diagonal[i]:.6g}, not 0.")
    if not symmetric:
        i, j = divmod(int(np.argmax(costs - costs.T)), columns)
        return MetricCheck(
            False,
            f"It is not symmetric: {costs[i, j]:.6g} from bin {i} to {j}, {costs[j, i]:.6g} back.",
        )
    from sinkdist.kernels.triangles import worst_triangle  # Numba, on first use

    excess, i, j, k = worst_triangle(costs)
    if excess <= BENT * largest:
        return MetricCheck(True, "All triangle inequalities hold.", rounding=max(excess, 0.0))
    return MetricCheck(
        False,
        f"Going from bin {i} to {j} costs {costs[i, j]:.6g}, "
        f"but {costs[i, j] - excess:.6g} by way of {k}.",
        (i, j, k),
        excess,
    )


def looks_metric(costs: Costs) -> bool:
    """Whether some triangles hold, by a quick check: False is certain, True is not.

    Examples
    --------
    >>> line = np.arange(4.0)
    >>> distances = np.abs(line[:, None] - line)
    >>> looks_metric(distances), looks_metric(distances**2)
    (True, False)
    """
    rows, columns = costs.shape
    if rows != columns or costs.diagonal().any():
        return False
    i, j, k = np.random.default_rng(0).integers(rows, size=(3, _SAMPLE))
    slack = BENT * float(costs.max())
    return bool((costs[i, j] <= costs[i, k] + costs[k, j] + slack).all())


def largest_metric_below(costs: Costs) -> Costs:
    """The largest metric that is nowhere above the costs: lengths of shortest paths."""
    from sinkdist.kernels.triangles import shortest_paths  # Numba, on first use

    metric = np.minimum(costs, costs.T)
    np.fill_diagonal(metric, 0.0)
    shortest_paths(metric)
    return np.minimum(metric, metric.T)
