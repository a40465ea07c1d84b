"""Exponentials of single numbers that loops turn into vectors, in both precisions.

`kernels.exp` takes numbers in float64 and gives them their last digits. Sums over a cloud want
less: a shorter polynomial, and a loop in float32 that stays one in float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sinkdist.kernels.compiled import INTERPRETED
from sinkdist.kernels.exp import LN2_HIGH, LN2_LOW, LOG2E

__all__ = ["LARGEST", "exponential"]

LARGEST = 80.0  #: exponents above this are this one
_LEAST = {32: -86.0, 64: -690.0}  #: exponents below are this one: too small to matter
_DEGREE = {32: 6, 64: 11}  #: of the polynomial: relative errors of 1e-7 and 6e-15
_BIAS, _DIGITS = {32: 127, 64: 1023}, {32: 23, 64: 52}


def _exponential(typing_context: Any, x: Any) -> Any:
    """Numba's description of `exponential`."""
    if x not in (types.float32, types.float64):
        return None
    bits = 32 if x == types.float32 else 64

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind, whole = context.get_value_type(x), ir.IntType(bits)
        fast = ("nsz", "arcp", "contract", "afn", "nnan")

        def times_plus(a: Any, b: Any, c: Any) -> Any:
            return builder.fadd(builder.fmul(a, b, flags=fast), c, flags=fast)

        low, high = kind(_LEAST[bits]), kind(LARGEST)
        t = arguments[0]
        t = builder.select(builder.fcmp_ordered(">", t, low), t, low)
        t = builder.select(builder.fcmp_ordered("<", t, high), t, high)
        floor = builder.module.declare_intrinsic("llvm.floor", [kind])
        k = builder.call(floor, [times_plus(t, kind(LOG2E), kind(0.5))])
        t = times_plus(k, kind(-LN2_HIGH if bits == 64 else -0.693359375), t)
        t = times_plus(k, kind(-LN2_LOW if bits == 64 else 2.12194440e-4), t)
        p = kind(1.0 / math.factorial(_DEGREE[bits]))
        for degree in range(_DEGREE[bits] - 1, -1, -1):
            p = times_plus(p, t, kind(1.0 / math.factorial(degree)))
        power = builder.fptosi(k, ir.IntType(32))
        power = power if bits == 32 else builder.sext(power, whole)
        power = builder.shl(builder.add(power, whole(_BIAS[bits])), whole(_DIGITS[bits]))
        return builder.fmul(p, builder.bitcast(power, kind), flags=fast)

    return x(x), generate


def _interpreted(x: float) -> float:
    return math.exp(min(max(x, _LEAST[64]), LARGEST))


#: ``exp(x)``; of exponents above `LARGEST` that of `LARGEST`.
exponential: Callable[[float], float] = (
    _interpreted if INTERPRETED else cast("Any", intrinsic(_exponential))
)
