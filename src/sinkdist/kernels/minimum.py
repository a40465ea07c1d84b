"""The lesser of two numbers as one machine instruction, so that loops over it become vectors.

Numba's own ``min`` compares and selects, which LLVM does not turn into vectors. The instruction
used here assumes that neither number is NaN.

Where the place of a minimum is wanted as well, and its last digits are not, the place goes into the
last bits of every number: the minimum then brings its place along. The bits of 0 with a place in
them are a subnormal number, which counts as 0 where the processor has been told so
(`torch.set_flush_denormal`, callbacks of XLA), and its place would be lost; hence `NORMAL` is added
first.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sinkdist.kernels.compiled import INTERPRETED

__all__ = ["lesser", "place_in", "placed"]

NORMAL = 2.0**-500  #: far above subnormal numbers, even with the digits of it that places take
#: Flags of an addition that LLVM may not move: an instruction without any would be given those of
#: the kernel around it, and ``(C + NORMAL) + w`` is 0 where ``(C + w) + NORMAL`` is not.
IN_PLACE = ("nsz",)


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


def _placed(typing_context: Any, x: Any, place: Any, mask: Any) -> Any:
    """Numba's description of `placed`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, place, mask = arguments
        number = builder.fadd(number, ir.Constant(number.type, NORMAL), flags=IN_PLACE)
        bits = builder.and_(builder.bitcast(number, place.type), builder.not_(mask))
        return builder.bitcast(builder.or_(bits, place), number.type)

    return types.float64(types.float64, types.int64, types.int64), generate


def _place_in(typing_context: Any, x: Any, mask: Any) -> Any:
    """Numba's description of `place_in`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, mask = arguments
        return builder.and_(builder.bitcast(number, mask.type), mask)

    return types.int64(types.float64, types.int64), generate


def _in_python(x: float, y: float) -> float:
    """Interpreted, an intrinsic cannot be called."""
    return x if x < y else y


def _placed_in_python(x: float, place: int, mask: int) -> float:
    bits = struct.unpack("q", struct.pack("d", x + NORMAL))[0] & ~int(mask) | int(place)
    return float(struct.unpack("d", struct.pack("q", bits))[0])


def _place_in_in_python(x: float, mask: int) -> int:
    return int(struct.unpack("q", struct.pack("d", x))[0]) & int(mask)


#: ``min(x, y)`` of two floats of one type.
lesser: Callable[[float, float], float] = (
    _in_python if INTERPRETED else cast("Any", intrinsic(_lesser))
)
#: A float64, `NORMAL` added, with ``place`` in its last bits, those of ``mask``.
placed: Callable[[float, int, int], float] = (
    _placed_in_python if INTERPRETED else cast("Any", intrinsic(_placed))
)
#: What `placed` has put there.
place_in: Callable[[float, int], int] = (
    _place_in_in_python if INTERPRETED else cast("Any", intrinsic(_place_in))
)
