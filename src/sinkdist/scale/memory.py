"""The memory budget: how much there is, what was asked for, what fits.

A budget is for the whole process, so what it holds already (the interpreter, the histograms) is
taken off before anything is planned. `system` says how much that is, and how much is free.
"""

from __future__ import annotations

import math
import numbers
import re
from typing import Any

from sinkdist.errors import InputError, InputTypeError
from sinkdist.scale.system import available, held
from sinkdist.wording import option

__all__ = ["available", "held", "read", "text"]

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY_UNITS = {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}
_FORM = re.compile(r"\s*([0-9]*\.?[0-9]+(?:e[0-9]+)?)\s*(?:([kmgt]i?)?b?)\s*", re.IGNORECASE)
#: What may be used by default of the memory that is free.
_SHARE = 0.75
_MOST = 2**62  # bytes; who asks for more means no limit


def read(memory: Any) -> int:
    """The ``memory`` option in bytes; None is three quarters of what is free, and what is held.

    Parameters
    ----------
    memory : str, int or None
        Such as ``"2GB"``, ``"500 MB"``, ``"1.5GiB"`` or a number of bytes.

    Returns
    -------
    int

    Examples
    --------
    >>> read("2GB"), read("1.5 GiB"), read(10**6)
    (2000000000, 1610612736, 1000000)
    """
    if memory is None:
        return held() + int(_SHARE * available())
    if isinstance(memory, str):
        form = _FORM.fullmatch(memory)
        if form is None:
            raise InputError(
                "The {} option must be a size such as '2GB' or '500 MiB'. Got {!r} instead.",
                option("memory"),
                memory,
            )
        size = float(form[1]) * (_UNITS | _BINARY_UNITS)[(form[2] or "").upper()]
    elif isinstance(memory, bool) or not isinstance(memory, numbers.Real):
        raise InputTypeError(
            "The {} option must be a size such as '2GB', or a number of bytes. Got {!r} instead.",
            option("memory"),
            memory,
        )
    else:
        number: Any = memory  # integers beyond every float mean no limit
        whole = isinstance(memory, numbers.Integral)
        size = float(min(int(number), _MOST)) if whole else float(number)
    if not 0.0 < size < math.inf:
        raise InputError(
            "The {} option must be positive and finite. Got {!r} instead.", option("memory"), memory
        )
    return int(size)


def text(size: float) -> str:
    """A size as people write it.

    Examples
    --------
    >>> text(2_500_000_000), text(750_000), text(12)
    ('2.5 GB', '750 kB', '12 bytes')
    """
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if size >= 0.9995 * unit:  # three digits of which would be 1000 of the smaller unit
            return f"{size / unit:.3g} {name}"
    return f"{size:.0f} bytes"
