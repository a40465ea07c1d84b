"""Options of clusterings that are whole numbers, checked."""

from __future__ import annotations

import numbers
from typing import Any

from sinkdist.errors import InputError, InputTypeError
from sinkdist.wording import option

__all__ = ["check_clusters", "whole"]


def whole(name: str, value: Any) -> int:
    """A whole number of at least 1.

    Examples
    --------
    >>> whole("n_init", 0)
    Traceback (most recent call last):
    ...
    sinkdist.errors.InputError: The 'n_init' option must be at least 1. Got 0 instead.
    """
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise InputTypeError(
            "The {} option must be a whole number. Got {!r} instead.", option(name), value
        )
    if value < 1:
        raise InputError("The {} option must be at least 1. Got {} instead.", option(name), value)
    return int(value)


def check_clusters(count: Any, rows: int) -> int:
    """The ``n_clusters`` option, if there are so many rows."""
    number = whole("n_clusters", count)
    if number > rows:
        raise InputError(
            "The {} option must be at most the number of rows, n_samples = {} here. Got {} "
            "instead.",
            option("n_clusters"), rows, count,
        )  # fmt: skip
    return number
