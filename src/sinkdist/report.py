"""Saying what came of a call: one warning for pairs that stopped short, potentials on all bins."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from sinkdist.errors import ConvergenceWarning
from sinkdist.solution import Status
from sinkdist.stopping import Stopping

__all__ = ["is_short", "potential_on_all_bins", "warn"]

Array = npt.NDArray[Any]


def is_short(status: Array) -> Array:
    """Whether each pair stopped short of the tolerance."""
    return np.asarray((status == Status.MAX_ITER) | (status == Status.STALLED))


def warn(status: Array, error: Array, stop: Stopping, depth: int = 3) -> None:
    """Warn once, with counts and the worst error, where pairs stopped short."""
    short = is_short(status)
    count = int(np.count_nonzero(short))
    if count == 0:
        return
    capped = int(np.count_nonzero(status == Status.MAX_ITER))
    reasons = [f"{capped} stopped at max_iter={stop.max_iter}"] if capped else []
    if count > capped:
        reasons.append(f"{count - capped} stalled at the limit of rounding")
    warnings.warn(
        f"{count} of {np.count_nonzero(status != Status.EMPTY)} pairs did not reach "
        f"tol={stop.tol:g}: "
        f"{' and '.join(reasons)}; the worst marginal error is {float(error[short].max()):.2g}. "
        "Raise max_iter or tol; the emd_bounds of solve hold anyway.",
        ConvergenceWarning,
        stacklevel=depth,
    )


def potential_on_all_bins(potential: Any, bins: Array | None, size: int) -> Array:
    """A potential known on some bins (None for all): -inf on those without mass."""
    if bins is None:
        return np.asarray(potential)
    out = np.full(size, -np.inf)
    out[bins] = potential
    return out
