"""The lesser of two numbers as one machine instruction, so that loops over it become vectors.

Numba's own ``min`` compares and selects, which LLVM does not turn into vectors. The instruction
used here assumes that neither number is NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sinkdist.kernels.compiled import INTERPRETED

__all__ = ["lesser"]


def _lesser(typing_context: Any, x: Any, y: Any) -> Any:
    """Numba's description of `lesser`."""
    if x not in (types.float32, types.float64) or y != x:
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        shape = ir.FunctionType(kind, (kind, kind))
        function = builder.module.declare_intrinsic("llvm.minnum", (kind,), shape)
        return builder.call(function, arguments, fastmath=("nnan", "nsz", "ninf"))

    return x(x, y), generate


def _in_python(x: float, y: float) -> float:
    """Interpreted, an intrinsic cannot be called."""
    return x if x < y else y


#: ``min(x, y)`` of two floats of one type.
lesser: Callable[[float, float], float] = (
    _in_python if INTERPRETED else cast("Any", intrinsic(_lesser))
)
