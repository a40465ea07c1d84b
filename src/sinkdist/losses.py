"""What the losses for torch and JAX share: which options there are, and their refusal.

Apart from both, so that neither needs the other's framework.
"""

from __future__ import annotations

from typing import Any

from sinkdist.errors import InputError

__all__ = ["IGNORED", "check_bins", "check_reduction", "check_shapes"]

REDUCTIONS = ("mean", "sum", "none")
IGNORED = -100  #: the target that counts for nothing, as in torch


def check_reduction(reduction: Any) -> None:
    """Raise unless it is one of the three words that losses use."""
    if reduction not in REDUCTIONS:
        raise InputError(
            f"The 'reduction' option must be 'mean', 'sum' or 'none'. Got {reduction!r} instead."
        )


def check_shapes(prediction: Any, target: Any, classes: bool) -> None:
    """Raise unless targets match predictions: as histograms, or as the index of a bin each."""
    shape, given = tuple(prediction.shape), tuple(target.shape)
    wanted = shape[:-1] if classes else shape
    if len(shape) == 0 or given != wanted:
        kind = "Bins as targets" if classes else "Histograms as targets"
        raise InputError(
            f"Predictions must be of shape (d,), (n, d) or (..., d). {kind} must then be of shape "
            f"{wanted if shape else 'to match'}. Got {shape} and {given} instead."
        )


def check_bins(least: int, most: int, bins: int) -> None:
    """Raise for targets that are no bins, given the smallest and the largest of them."""
    if not (least >= 0 and most < bins):
        raise InputError(
            f"Targets must be bins from 0 to {bins - 1}, or the 'ignore_index'. Got "
            f"{least if least < 0 else most} instead."
        )
