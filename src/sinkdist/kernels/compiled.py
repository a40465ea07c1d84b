"""How kernels are compiled: decorators that give every kernel the same flags and one version.

The flags let LLVM vectorise sums and fuse multiply-adds. ``nnan`` and ``ninf`` are left out on
purpose: they would fold away the guards that notice an unrepresentable scaling.
Importing this module imports Numba; nothing outside ``kernels`` and the bodies of solvers does.

One version: left to itself, Numba links a copy of every kernel into each kernel that calls it and
optimises the copy once more. That made up half of the time to compile; and with reordered sums the
copies differ in their last bits, and a search that adapts to them in more than that, so results
would depend on what a process called before. Hence a kernel that others call is `shared`: it has
one declared signature, is loaded before any kernel that calls it, and is called by a symbol
(`_publish`) where Numba would link a copy. `one_version` keeps LLVM from inlining it into the
wrapper by which Python calls it.

Kernels are plain loops over arrays that are handed in. Array expressions, assignments to slices,
``reshape``, ``view`` and ``np.zeros`` compile as well, but each pulls in code of Numba's own, up to
the formatting of error messages, which takes longer than all the rest of a kernel.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeVar, cast

import llvmlite.binding as llvm
import numba
import numpy.typing as npt
from numba import njit, types
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic

from sinkdist.interrupts import Stop, beside_main
from sinkdist.kernels.compiling import compiling, source_stamp

Array = npt.NDArray[Any]  #: what kernels work on; they are compiled for the dtypes they are given

_Kernel = TypeVar("_Kernel", bound=Callable[..., Any])

#: Whether kernels stay Python functions, for debuggers (NUMBA_DISABLE_JIT).
INTERPRETED = bool(cast("Any", numba).config.DISABLE_JIT)

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


def shared(
    *signature: Any, reorder: bool = True, allocates: bool = True
) -> Callable[[_Kernel], _Kernel]:
    """Compile for one signature: for kernels that others call, which begin with `one_version`.

    Without ``reorder`` sums stay as written: for kernels whose order of operations is their
    accuracy. A kernel that makes no arrays and says so (``allocates``) counts no references to
    those it is given: Numba's counters are atomic, and a handful of them, on the way in and out,
    takes as long as a short kernel.
    """

    def decorate(kernel: _Kernel) -> _Kernel:
        flags = FASTMATH if reorder else FASTMATH - {"reassoc"}
        dispatcher = _compiled(kernel, flags, allocates=allocates)
        if not INTERPRETED:
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
    _do_nothing if INTERPRETED else cast("Any", intrinsic(_forbid_inlining))
)


def _compiled(
    kernel: _Kernel,
    fastmath: set[str],
    inline: Literal["never", "always"] = "never",
    allocates: bool = True,
) -> _Kernel:
    """Numba's dispatcher, under the signature of the function it compiles."""
    dispatcher = cast("Any", njit)(
        kernel,
        fastmath=fastmath,
        nogil=True,
        cache=True,
        error_model="numpy",
        inline=inline,
        no_cfunc_wrapper=True,
        _nrt=allocates,
    )
    if not INTERPRETED:
        _load_callees_first(dispatcher)
        _compile_in_turn(dispatcher)
    return cast("_Kernel", dispatcher)


def _load_callees_first(dispatcher: Any) -> None:
    """Compiling a kernel, or loading it from disk, shall load the kernels it calls before it."""
    compile_it = dispatcher.compile

    def compile_bottom_up(signature: Any) -> Any:
        def work() -> Any:
            with compiling.scope():
                _load_callees(dispatcher.py_func)
                entry_point = compile_it(signature)
                if hasattr(dispatcher, "declared"):
                    _publish(dispatcher)
                return entry_point

        if cast("Any", global_compiler_lock).is_locked():  # by this thread, so stay on it
            return work()
        # Beside the main thread: an interrupt in the middle would leave Numba in pieces.
        return beside_main(work, Stop())

    dispatcher.compile = compile_bottom_up


def _compile_in_turn(dispatcher: Any) -> None:
    """What is really compiled, not loaded from disk, is compiled by one process at a time.

    One that had to wait finds the kernel on disk.
    """
    compiler, cache, context = dispatcher._compiler, dispatcher._cache, dispatcher.targetctx
    cache._cache_file._source_stamp = source_stamp(Path(__file__).parents[1])
    compile_it, save_it = compiler.compile, cache.save_overload
    loaded: list[Any] = []

    def compile_or_load(arguments: Any, return_type: Any) -> Any:
        if compiling.begin(lock_folder()):
            found = cache.load_overload(arguments, context)
            if found is not None:
                context.insert_user_function(found.entry_point, found.fndesc, [found.library])
                loaded.append(found)
                return found
        compiling.announce()
        return compile_it(arguments, return_type)

    def save_what_is_new(signature: Any, result: Any) -> None:
        if not any(result is found for found in loaded):
            save_it(signature, result)

    cache.save_overload = save_what_is_new
    compiler.compile = compile_or_load


def lock_folder() -> Path:
    """Where Numba keeps what it compiles of this module: the same folder for all processes."""
    return Path(cast("Any", njit(_do_nothing, cache=True))._cache.cache_path)


def _publish(dispatcher: Any) -> None:
    """Make a loaded kernel known to LLVM by name, and have kernels call it by that name.

    Python may call it with other types than the declared ones, kernels may not.
    """
    loaded = dispatcher.overloads.get(dispatcher.declared)
    if loaded is None or hasattr(dispatcher, "symbol"):
        return
    kernel, context = dispatcher.py_func, dispatcher.targetctx
    dispatcher.symbol = f"{kernel.__module__}.{kernel.__qualname__}"
    address = loaded.library.get_pointer_to_function(loaded.fndesc.llvm_func_name)
    llvm.add_symbol(dispatcher.symbol, address)
    described = copy.copy(loaded.fndesc)
    described.mangled_name = dispatcher.symbol
    context.remove_user_function(loaded.entry_point)
    context.insert_user_function(loaded.entry_point, described, ())  # and no library to link


def _load_callees(function: Callable[..., Any]) -> None:
    """Load every shared kernel that a function calls, also by way of its parts."""
    for callee in _callees(function):
        if hasattr(callee, "declared"):
            if not hasattr(callee, "symbol"):
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
