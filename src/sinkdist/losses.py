"""What the losses for torch and JAX share: which options there are, and their refusal.

Apart from both, so that neither needs the other's framework.
"""

from __future__ import annotations

from typing import Any

from sinkdist.errors import InputError

__all__ = ["check_reduction", "check_shapes"]

REDUCTIONS = ("mean", "sum", "none")


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
    if len(shape) not in (1, 2) or given != wanted:
        kind = "Bins as targets" if classes else "Histograms as targets"
        raise InputError(
            f"Predictions must be of shape (d,) or (n, d). {kind} must then be of shape "
            f"{wanted if len(shape) in (1, 2) else 'to match'}. Got {shape} and {given} instead."
        )
