"""Warnings for pairs that did not converge: one for a call."""

from __future__ import annotations

import warnings

from sinkdist.errors import ConvergenceWarning
from sinkdist.problem.stopping import Stopping
from sinkdist.scale.tally import Tally
from sinkdist.solution.status import Status
from sinkdist.wording import either, option

__all__ = ["SHORT", "warn"]

#: How pairs end that stopped short of the tolerance.
SHORT = (int(Status.MAX_ITER), int(Status.STALLED))


def warn(tally: Tally, stop: Stopping, depth: int = 3) -> None:
    """Warn once, with counts and the worst error, where pairs stopped short."""
    count = tally.count(SHORT)
    if count == 0:
        return
    capped = tally.counts.get(Status.MAX_ITER, 0)
    reasons = [f"{capped} stopped after {stop.max_iter:,} reads"] if capped else []
    if count > capped:
        reasons.append(f"{count - capped} stalled at the limit of rounding")
    worst = max(tally.worst.get(code, 0.0) for code in SHORT)
    answered = sum(tally.counts.values()) - tally.counts.get(Status.EMPTY, 0)
    message = ConvergenceWarning(
        f"{count} of {answered} pairs did not reach a tolerance of {stop.tol:g}: "
        f"{' and '.join(reasons)}; the worst marginal error is {worst:.2g}. "
        "Raise {} or {}; {}.",
        option("max_iter"), option("tol"),
        either("the emd_bounds of solve hold anyway",
               "bounds hold anyway, see 'sinkdist distance --all'"),
    )  # fmt: skip
    warnings.warn(message, stacklevel=depth)
