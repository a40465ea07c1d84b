"""When to stop: ``tol`` and ``max_iter``, or a fixed number of ``iterations``."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import Any

import numpy as np

from sinkdist.errors import InputError, InputTypeError
from sinkdist.wording import option, setting

__all__ = ["Stopping", "read"]

_TOL = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-4}
_MAX_ITER = 10_000


@dataclass(frozen=True, slots=True)
class Stopping:
    """A tolerance on the L1 marginal error with a cap, or exactly ``iterations`` steps."""

    tol: float
    max_iter: int
    iterations: int | None


def read(
    dtype: np.dtype[Any], *, tol: Any, max_iter: Any, iterations: Any, solver: str
) -> Stopping:
    """Check the three options against each other; None is a default.

    Examples
    --------
    >>> read(np.dtype(float), tol=None, max_iter=None, iterations=None, solver="auto")
    Stopping(tol=1e-06, max_iter=10000, iterations=None)
    """
    if iterations is not None:
        given = [
            name for name, value in (("tol", tol), ("max_iter", max_iter)) if value is not None
        ]
        if given:
            others = " and ".join(["{}"] * len(given))
            raise InputError(
                "{} runs exactly that many steps, without a test: leave out " + others + ".",
                option("iterations"), *map(option, given),
            )  # fmt: skip
        if solver != "auto":
            raise InputError(
                "{} runs the steps of Algorithm 1, which leaves no choice of solver: leave out {}.",
                option("iterations"), setting("solver", solver),
            )  # fmt: skip
        iterations = _whole("iterations", iterations)
    return Stopping(
        _TOL[dtype] if tol is None else _positive("tol", tol),
        _MAX_ITER if max_iter is None else _whole("max_iter", max_iter),
        iterations,
    )


def _whole(name: str, value: Any) -> int:
    """A whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputTypeError(
            "The {} option must be a whole number. Got {!r} instead.", option(name), value
        )
    if value < 1:
        raise InputError("The {} option must be at least 1. Got {} instead.", option(name), value)
    return int(value)


def _positive(name: str, value: Any) -> float:
    """A positive, finite number."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        raise InputTypeError(
            "The {} option must be a number. Got {!r} instead.", option(name), value
        )
    number = float(value)
    if not 0.0 < number < math.inf:
        raise InputError(
            "The {} option must be positive and finite. Got {} instead.", option(name), value
        )
    return number
