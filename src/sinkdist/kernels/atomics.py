"""Atomic operations on int64 entries, by which threads inside compiled code find one another.

All are sequentially consistent: what a thread wrote before is seen by one that reads after.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.core import cgutils as untyped_cgutils
from numba.extending import intrinsic
from numba.np import arrayobj as untyped_arrayobj

from sinkdist.kernels.compiled import INTERPRETED, Array

__all__ = ["CAN_YIELD", "fetch_add", "load", "replace", "store", "yield_core"]

cgutils, arrayobj = (cast("Any", module) for module in (untyped_cgutils, untyped_arrayobj))

_ORDER = "seq_cst"
_YIELD = "SwitchToThread" if sys.platform == "win32" else "sched_yield"
#: Whether this platform has `yield_core`; interpreted, kernels do not run beside one another.
CAN_YIELD = not INTERPRETED and (sys.platform == "win32" or hasattr(os, "sched_yield"))


def _place(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """The address of the entry that the first two arguments name."""
    kind = signature.args[0]
    array = arrayobj.make_array(kind)(context, builder, arguments[0])
    return cgutils.get_item_pointer(context, builder, kind, array, [arguments[1]])


def _fetch_add(typing_context: Any, x: Any, i: Any, value: Any) -> Any:
    """Numba's description of `fetch_add`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature, arguments)
        return builder.atomic_rmw("add", place, arguments[2], _ORDER)

    return types.int64(x, types.intp, types.int64), generate


def _load(typing_context: Any, x: Any, i: Any) -> Any:
    """Numba's description of `load`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.load_atomic(_place(context, builder, signature, arguments), _ORDER, 8)

    return types.int64(x, types.intp), generate


def _store(typing_context: Any, x: Any, i: Any, value: Any) -> Any:
    """Numba's description of `store`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature, arguments)
        builder.store_atomic(arguments[2], place, _ORDER, 8)
        return context.get_dummy_value()

    return types.none(x, types.intp, types.int64), generate


def _replace(typing_context: Any, x: Any, i: Any, old: Any, new: Any) -> Any:
    """Numba's description of `replace`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        place = _place(context, builder, signature, arguments)
        found = builder.cmpxchg(place, arguments[2], arguments[3], _ORDER, _ORDER)
        return builder.extract_value(found, 1)

    return types.boolean(x, types.intp, types.int64, types.int64), generate


def _yield_core(typing_context: Any) -> Any:
    """Numba's description of `yield_core`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = ir.FunctionType(ir.IntType(32), ())
        builder.call(cgutils.get_or_insert_function(builder.module, kind, _YIELD), ())
        return context.get_dummy_value()

    return types.none(), generate


def _fetch_add_in_python(x: Array, i: int, value: int) -> int:
    """Interpreted, an intrinsic cannot be called, and one thread works alone."""
    before = int(x[i])
    x[i] += value
    return before


def _load_in_python(x: Array, i: int) -> int:
    return int(x[i])


def _store_in_python(x: Array, i: int, value: int) -> None:
    x[i] = value


def _replace_in_python(x: Array, i: int, old: int, new: int) -> bool:
    if x[i] != old:
        return False
    x[i] = new
    return True


def _yield_core_in_python() -> None:
    pass


def _chosen(interpreted: Any, described: Any) -> Any:
    return interpreted if INTERPRETED else cast("Any", intrinsic(described))


#: Add to an entry; what it was before.
fetch_add: Callable[[Array, int, int], int] = _chosen(_fetch_add_in_python, _fetch_add)
#: An entry, as it is now.
load: Callable[[Array, int], int] = _chosen(_load_in_python, _load)
#: Set an entry.
store: Callable[[Array, int, int], None] = _chosen(_store_in_python, _store)
#: Set an entry that has a certain value; whether it had.
replace: Callable[[Array, int, int, int], bool] = _chosen(_replace_in_python, _replace)
#: Let another thread have this core.
yield_core: Callable[[], None] = _chosen(_yield_core_in_python, _yield_core)
