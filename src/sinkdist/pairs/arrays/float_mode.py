"""Subnormal numbers as they are, also where a framework has told the processor to take them as 0.

XLA sets that mode for the thread on which it calls back, and threads inherit it. Compiled kernels
here rely on the arithmetic of the standard.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["standard_floats"]

_DEFAULT = ctypes.c_void_p(-1)  #: FE_DFL_ENV of the common C libraries
_BYTES = 256  #: more than any C library's record of the mode takes


@contextmanager
def standard_floats() -> Iterator[None]:
    """Standard arithmetic on this thread, and on those it starts; the mode is restored after."""
    name = ctypes.util.find_library("m")
    library = ctypes.CDLL(name) if name else None
    if library is None or not hasattr(library, "fesetenv"):
        yield
        return
    before = ctypes.create_string_buffer(_BYTES)
    library.fegetenv(before)
    library.fesetenv(_DEFAULT)
    try:
        yield
    finally:
        library.fesetenv(before)
