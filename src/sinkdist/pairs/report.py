"""Warnings for pairs that did not converge: one for a call."""

from __future__ import annotations

from sinkdist.errors import ConvergenceWarning, warn_caller
from sinkdist.problem.stopping import Stopping
from sinkdist.scale.tally import Tally
from sinkdist.solution.status import Status
from sinkdist.wording import either, setting

__all__ = ["SHORT", "warn"]

#: How pairs end that stopped short of the tolerance.
SHORT = (int(Status.MAX_ITER), int(Status.STALLED))


def warn(tally: Tally, stop: Stopping) -> None:
    """Warn once, with counts and the worst error, where pairs stopped short."""
    count = tally.count(SHORT)
    if count == 0:
        return
    capped = tally.counts.get(Status.MAX_ITER, 0)
    reasons, parts = [], [setting("tol", stop.tol)]
    if capped:
        reasons.append(f"{capped} stopped at {{}}")
        parts.append(setting("max_iter", stop.max_iter))
    if count > capped:
        reasons.append(f"{count - capped} stalled at the limit of rounding")
    worst = max(tally.worst.get(code, 0.0) for code in SHORT)
    answered = sum(tally.counts.values()) - tally.counts.get(Status.EMPTY, 0)
    remedy = either(
        "Raise max_iter or tol; the emd_bounds of solve hold anyway",
        "Raise --max-iter or --tol; bounds hold anyway, see 'sinkdist distance --all'",
    )
    message = ConvergenceWarning(
        f"{count} of {answered} {'pair' if answered == 1 else 'pairs'} did not reach {{}}: "
        f"{' and '.join(reasons)}; the worst marginal error is {worst:.2g}. {{}}.",
        *parts, remedy,
    )  # fmt: skip
    warn_caller(message)
