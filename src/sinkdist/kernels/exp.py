"""The exponential of one number as instructions that loops turn into vectors.

``math.exp`` inside a compiled loop is a scalar call. Here the argument is reduced, a polynomial
follows, and the power of two is made from bits, all within registers: five times as fast. The
instructions are emitted one by one, because LLVM may not reorder them: the loops around them allow
that for their sums.

Rounding to the nearest whole number adds ``1.5 * 2**52``, whose last bits are then that number; the
conversion to an integer is no vector instruction everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sinkdist.kernels.compiled import INTERPRETED

__all__ = [
    "CEILING", "FLOOR", "LN2_HIGH", "LN2_LOW", "LOG2E", "SINGLE_LIMIT", "exp_of", "exp_single",
]  # fmt: skip

FLOOR = -690.0  #: arguments below it count as it: a normal number too small to matter
CEILING = 690.0
SINGLE_LIMIT = 85.0  #: of `exp_single`: beyond, the result is 0 or that of the limit
LOG2E = 1.4426950408889634
LN2_HIGH = 6.93147180369123816490e-01
LN2_LOW = 1.90821492927058770002e-10
_DEGREE, _DEGREE_SINGLE = 13, 7
_SHIFT = 1.5 * 2.0**52
_IN_PLACE = ("nsz", "contract")  #: without flags, those of the kernel around would be given


class _Emitter:
    """Arithmetic on values of LLVM, in the order in which it is written."""

    def __init__(self, builder: Any, kind: Any) -> None:
        self.builder, self.kind = builder, kind

    def times(self, x: Any, y: Any) -> Any:
        return self.builder.fmul(x, self._value(y), flags=_IN_PLACE)

    def plus(self, x: Any, y: Any) -> Any:
        return self.builder.fadd(x, self._value(y), flags=_IN_PLACE)

    def held(self, x: Any, low: float, high: float) -> Any:
        """``x`` between two limits; NaN stays."""
        for sign, limit in (("<", low), (">", high)):
            end = self._value(limit)
            x = self.builder.select(self.builder.fcmp_ordered(sign, x, end), end, x)
        return x

    def series(self, t: Any, degree: int) -> Any:
        """The exponential of a small number."""
        p = self._value(1.0 / math.factorial(degree))
        for k in range(degree - 1, -1, -1):
            p = self.plus(self.times(p, t), 1.0 / math.factorial(k))
        return p

    def _value(self, x: Any) -> Any:
        return ir.Constant(self.kind, x) if isinstance(x, float) else x


def _whole(emit: _Emitter, x: Any) -> tuple[Any, Any]:
    """The nearest whole number to ``x / log(2)``, and bits that end in it."""
    shifted = emit.plus(emit.times(x, LOG2E), _SHIFT)
    return emit.plus(shifted, -_SHIFT), emit.builder.bitcast(shifted, ir.IntType(64))


def _exp_of(typing_context: Any, x: Any) -> Any:
    """Numba's description of `exp_of`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit, integer = _Emitter(builder, ir.DoubleType()), ir.IntType(64)
        x = emit.held(arguments[0], FLOOR, CEILING)
        k, bits = _whole(emit, x)
        t = emit.plus(emit.plus(x, emit.times(k, -LN2_HIGH)), emit.times(k, -LN2_LOW))
        power = builder.add(builder.shl(bits, integer(52)), integer(1023 << 52))
        return emit.times(emit.series(t, _DEGREE), builder.bitcast(power, ir.DoubleType()))

    return types.float64(types.float64), generate


def _exp_single(typing_context: Any, x: Any) -> Any:
    """Numba's description of `exp_single`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        emit, integer, single = _Emitter(builder, ir.DoubleType()), ir.IntType(32), ir.FloatType()
        x = emit.held(arguments[0], -SINGLE_LIMIT, SINGLE_LIMIT)
        k, bits = _whole(emit, x)
        t = builder.fptrunc(emit.plus(x, emit.times(k, -math.log(2.0))), single)
        power = builder.shl(builder.trunc(bits, integer), integer(23))
        power = builder.bitcast(builder.add(power, integer(127 << 23)), single)
        small = _Emitter(builder, single)
        result = small.times(small.series(t, _DEGREE_SINGLE), power)
        tiny = builder.fcmp_ordered("<", arguments[0], ir.Constant(ir.DoubleType(), -SINGLE_LIMIT))
        return builder.select(tiny, ir.Constant(single, 0.0), result)

    return types.float32(types.float64), generate


def _exp_of_in_python(x: float) -> float:
    """Interpreted, an intrinsic cannot be called."""
    return math.exp(min(max(x, FLOOR), CEILING)) if x == x else x


def _exp_single_in_python(x: float) -> Any:
    if x < -SINGLE_LIMIT:
        return np.float32(0.0)
    return np.float32(math.exp(min(x, SINGLE_LIMIT)) if x == x else x)


#: ``exp(x)`` to a relative error of 4e-16; beyond `FLOOR` and `CEILING`, that of these.
exp_of: Callable[[float], float] = (
    _exp_of_in_python if INTERPRETED else cast("Any", intrinsic(_exp_of))
)
#: ``exp(x)`` of a float64 as a float32, to its rounding; 0 below ``-SINGLE_LIMIT``.
exp_single: Callable[[float], float] = (
    _exp_single_in_python if INTERPRETED else cast("Any", intrinsic(_exp_single))
)
