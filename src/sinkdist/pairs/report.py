"""Saying what came of a call: one warning for pairs that stopped short."""

from __future__ import annotations

import warnings

from sinkdist.errors import ConvergenceWarning
from sinkdist.problem.stopping import Stopping
from sinkdist.scale.tally import Tally
from sinkdist.solution.status import Status

__all__ = ["SHORT", "warn"]

#: How pairs end that stopped short of the tolerance.
SHORT = (int(Status.MAX_ITER), int(Status.STALLED))


def warn(tally: Tally, stop: Stopping, depth: int = 3) -> None:
    """Warn once, with counts and the worst error, where pairs stopped short."""
    count = tally.count(SHORT)
    if count == 0:
        return
    capped = tally.counts.get(Status.MAX_ITER, 0)
    reasons = [f"{capped} stopped at max_iter={stop.max_iter}"] if capped else []
    if count > capped:
        reasons.append(f"{count - capped} stalled at the limit of rounding")
    worst = max(tally.worst.get(code, 0.0) for code in SHORT)
    answered = sum(tally.counts.values()) - tally.counts.get(Status.EMPTY, 0)
    warnings.warn(
        f"{count} of {answered} pairs did not reach tol={stop.tol:g}: {' and '.join(reasons)}; "
        f"the worst marginal error is {worst:.2g}. "
        "Raise max_iter or tol; the emd_bounds of solve hold anyway.",
        ConvergenceWarning,
        stacklevel=depth,
    )
