"""Work space of kernels: memory that begins at a cache line, and is kept from pair to pair.

NumPy aligns arrays to 16 bytes. Rows that begin there straddle cache lines, which takes a quarter
of the time of a sweep; whether they do would be chance. Imports no Numba.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt

__all__ = ["aligned", "kept"]

Array = npt.NDArray[Any]
Make = TypeVar("Make", bound=Callable[..., tuple[Array, ...]])

_LINE = 64  #: bytes
_MOST = 1 << 20  #: bytes that a thread keeps


def aligned(size: int, dtype: npt.DTypeLike = np.float64) -> Array:
    """A vector that begins at a cache line, not initialised.

    Examples
    --------
    >>> aligned(3).ctypes.data % 64
    0
    """
    dtype = np.dtype(dtype)
    memory = np.empty(size * dtype.itemsize + _LINE, np.uint8)
    first = -memory.__array_interface__["data"][0] % _LINE
    return memory[first : first + size * dtype.itemsize].view(dtype)


def kept(make: Make) -> Make:
    """`make`, with the small work space that it made last on a thread returned for the same sizes.

    Only for work space that holds nothing from one compiled call to the next.
    """
    own = threading.local()

    def make_or_keep(*sizes: int) -> tuple[Array, ...]:
        last: tuple[tuple[int, ...], tuple[Array, ...]] | None = getattr(own, "last", None)
        if last is not None and last[0] == sizes:
            return last[1]
        made = make(*sizes)
        own.last = (sizes, made) if sum(x.nbytes for x in made) <= _MOST else None
        return made

    return cast("Make", make_or_keep)
