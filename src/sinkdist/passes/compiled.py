"""How passes are compiled: one decorator, so that every kernel has the same flags.

The flags let LLVM vectorise sums and fuse multiply-adds. ``nnan`` and ``ninf`` are left out on
purpose: they would fold away the guards that notice an unrepresentable scaling.
Importing this module imports Numba; nothing outside ``passes`` and the bodies of solvers does.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

import numpy.typing as npt
from numba import njit

Array = npt.NDArray[Any]  #: what kernels work on; they are compiled for the dtypes they are given

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])

FASTMATH = {"reassoc", "nsz", "arcp", "contract", "afn"}


def compiled(kernel: _Kernel) -> _Kernel:
    """Compile on first call, for the types of that call."""
    return _compiled(kernel, FASTMATH)


def compiled_as_written(kernel: _Kernel) -> _Kernel:
    """The same without reassociation: for kernels whose order of operations is their accuracy."""
    return _compiled(kernel, FASTMATH - {"reassoc"})


def part(kernel: _Kernel) -> _Kernel:
    """A part of one larger kernel: put in its place before compilation, so compiled only once.

    A kernel that calls another is optimised together with it, and the other one apart as well.
    """
    return _compiled(kernel, FASTMATH, "always")


def _compiled(
    kernel: _Kernel, fastmath: set[str], inline: Literal["never", "always"] = "never"
) -> _Kernel:
    """Numba's dispatcher, under the signature of the function it compiles."""
    dispatcher = njit(
        kernel, fastmath=fastmath, nogil=True, cache=True, error_model="numpy", inline=inline
    )
    return cast("_Kernel", dispatcher)
