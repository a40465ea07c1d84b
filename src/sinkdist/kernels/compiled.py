"""How passes are compiled: decorators that give every kernel the same flags and one version.

The flags let LLVM vectorise sums and fuse multiply-adds. ``nnan`` and ``ninf`` are left out on
purpose: they would fold away the guards that notice an unrepresentable scaling.
Importing this module imports Numba; nothing outside ``passes`` and the bodies of solvers does.

One version: Numba links a copy of every kernel into each kernel that calls it, optimises the copy
once more, and lets the copy that was loaded first answer for all of the same name. With reordered
sums the copies differ in their last bits, and a search that adapts to them in more than that; so
results would depend on what a process called before. Hence a kernel that others call is `shared`:
it has one declared signature, is never inlined by LLVM (`one_version`), and is always loaded, in
the version compiled on its own, before any kernel that holds a copy of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Literal, TypeVar, cast

import numba
import numpy.typing as npt
from numba import njit, types
from numba.extending import intrinsic

from sinkdist.interrupts import Stop, beside_main

Array = npt.NDArray[Any]  #: what kernels work on; they are compiled for the dtypes they are given

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])

#: Whether kernels stay Python functions, for debuggers (NUMBA_DISABLE_JIT).
_INTERPRETED = bool(cast("Any", numba).config.DISABLE_JIT)

FASTMATH = {"reassoc", "nsz", "arcp", "contract", "afn"}

#: The types in signatures of shared kernels. Arrays are C-contiguous, aligned and writeable.
FLOAT, INT, BOOL = types.float64, types.int64, types.boolean
VECTOR, MATRIX = types.float64[::1], types.float64[:, ::1]
INTEGERS, INTEGER_MATRIX = types.int64[::1], types.int64[:, ::1]
SHORT_INTEGERS = types.int32[::1]
NODE = cast("Any", types).UniTuple(FLOAT, 4)  #: four numbers


def compiled(kernel: _Kernel) -> _Kernel:
    """Compile on first call, for the types of that call; for kernels that no other one calls."""
    return _compiled(kernel, FASTMATH)


def shared(*signature: Any, reorder: bool = True) -> Callable[[_Kernel], _Kernel]:
    """Compile for one signature: for kernels that others call, which begin with `one_version`.

    Without ``reorder`` sums stay as written: for kernels whose order of operations is their
    accuracy.
    """

    def decorate(kernel: _Kernel) -> _Kernel:
        dispatcher = _compiled(kernel, FASTMATH if reorder else FASTMATH - {"reassoc"})
        if not _INTERPRETED:
            cast("Any", dispatcher).declared = signature
        return dispatcher

    return decorate


def part(kernel: _Kernel) -> _Kernel:
    """A part of larger kernels, too small for a call: put in its place before compilation."""
    return _compiled(kernel, FASTMATH, "always")


def _forbid_inlining(typing_context: Any) -> Any:
    """Numba's description of `one_version`: it changes the kernel around it and does nothing."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), generate


def _do_nothing() -> None:
    """Interpreted, an intrinsic cannot be called, and there is nothing to inline."""


#: Keeps LLVM from inlining the kernel that calls it.
one_version: Callable[[], None] = (
    _do_nothing if _INTERPRETED else cast("Any", intrinsic(_forbid_inlining))
)


def _compiled(
    kernel: _Kernel, fastmath: set[str], inline: Literal["never", "always"] = "never"
) -> _Kernel:
    """Numba's dispatcher, under the signature of the function it compiles."""
    dispatcher = njit(
        kernel, fastmath=fastmath, nogil=True, cache=True, error_model="numpy", inline=inline
    )
    if not _INTERPRETED:
        _load_callees_first(dispatcher)
    return cast("_Kernel", dispatcher)


def _load_callees_first(dispatcher: Any) -> None:
    """Compiling a kernel, or loading it from disk, shall load the kernels it calls before it."""
    compile_it = dispatcher.compile

    def compile_bottom_up(signature: Any) -> Any:
        def work() -> Any:
            _load_callees(dispatcher.py_func)
            return compile_it(signature)

        # Beside the main thread: an interrupt in the middle would leave Numba in pieces.
        return beside_main(work, Stop())

    dispatcher.compile = compile_bottom_up


def _load_callees(function: Callable[..., Any]) -> None:
    """Load every shared kernel that a function calls, also by way of its parts."""
    for callee in _callees(function):
        if hasattr(callee, "declared"):
            callee.compile(callee.declared)
        else:  # a part, which has no version of its own
            _load_callees(callee.py_func)


def _callees(function: Callable[..., Any]) -> Iterator[Any]:
    """Kernels that a function names, directly or as an attribute of a module."""
    names, found = function.__code__.co_names, function.__globals__
    spaces = [found, *(vars(found[n]) for n in names if isinstance(found.get(n), ModuleType))]
    for space in spaces:
        for name in names:
            if hasattr(space.get(name), "py_func"):
                yield space[name]
