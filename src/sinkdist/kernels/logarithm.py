"""The logarithm of one number as instructions that loops turn into vectors; see `exp`.

A positive, normal number is a power of two times one near 1, by its bits; the logarithm of that is
a series in ``(m - 1) / (m + 1)``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sinkdist.kernels.compiled import INTERPRETED

__all__ = ["log_of"]

_TERMS = 11
_FLAGS = ("nsz", "contract")  #: without flags, those of the kernel around would be given
_ROOT_HALF = 0x3FE6A09E667F3BCD  #: bits of the root of 1/2
_SHIFT = 1.5 * 2.0**52  #: whose last bits are a whole number added to it
_SHIFT_BITS = 0x4338000000000000


def _log_of(typing_context: Any, x: Any) -> Any:
    """Numba's description of `log_of`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        real, integer = ir.DoubleType(), ir.IntType(64)

        def plus(a: Any, b: Any) -> Any:
            return builder.fadd(
                a, ir.Constant(real, b) if isinstance(b, float) else b, flags=_FLAGS
            )

        bits = builder.bitcast(arguments[0], integer)
        power = builder.ashr(builder.sub(bits, integer(_ROOT_HALF)), integer(52))
        m = builder.bitcast(builder.sub(bits, builder.shl(power, integer(52))), real)
        s = builder.fdiv(plus(m, -1.0), plus(m, 1.0), flags=_FLAGS)
        z = builder.fmul(s, s, flags=_FLAGS)
        series = ir.Constant(real, 2.0 / (2 * _TERMS - 1))
        for k in range(_TERMS - 2, -1, -1):
            series = plus(builder.fmul(series, z, flags=_FLAGS), 2.0 / (2 * k + 1))
        shifted = builder.bitcast(builder.add(power, integer(_SHIFT_BITS)), real)
        whole = builder.fmul(plus(shifted, -_SHIFT), ir.Constant(real, math.log(2.0)), flags=_FLAGS)
        return plus(builder.fmul(s, series, flags=_FLAGS), whole)

    return types.float64(types.float64), generate


#: ``log(x)`` of a positive, normal number to about a rounding of it or of 1; of others, anything.
log_of: Callable[[float], float] = (
    (lambda x: math.log(x) if x > 0.0 else -math.inf)
    if INTERPRETED
    else cast("Any", intrinsic(_log_of))
)
