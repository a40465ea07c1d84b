"""Options that are True or False, and `progress`, which may be a function: checked in one place.

Anything else would be taken for its truth, and the word "no" is true.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sinkdist.errors import InputTypeError
from sinkdist.wording import option

__all__ = ["flag", "listener"]


def flag(name: str, value: Any) -> bool:
    """`value` if it is True or False, NumPy's included; else an error that names the option.

    Examples
    --------
    >>> flag("normalize", "no")
    Traceback (most recent call last):
    ...
    sinkdist.errors.InputTypeError: The 'normalize' option must be True or False. Got 'no' instead.
    """
    if value is True or value is False:
        return bool(value)
    if isinstance(value, np.bool_):
        return bool(value)
    raise InputTypeError(
        "The {} option must be True or False. Got {!r} instead.", option(name), value
    )


def listener(progress: Any) -> Any:
    """The `progress` option: True for a bar, False for nothing, or a function to be called."""
    if progress is False or progress is True:
        return progress
    if isinstance(progress, np.bool_):
        return bool(progress)
    if callable(progress):
        return progress
    raise InputTypeError(
        "The {} option must be True, False or a function of one Progress record. "
        "Got {!r} instead.",
        option("progress"), progress,
    )  # fmt: skip
