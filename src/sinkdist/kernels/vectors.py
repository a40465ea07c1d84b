"""Sums and minima over short rows of a table, one number for each of `LANES` queries or potentials.

As loops, LLVM would look again and again whether arrays overlap, which takes longer than the sums.
The functions that are made here keep a vector in a register until it is finished.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sinkdist.kernels.compiled import INTERPRETED, Array

__all__ = ["HUGE", "LANES", "Vectors", "least_sums", "over_rows"]

HUGE: Any = np.float32(1e30)  #: of no way at all
LANES = 16  #: that are served together, as single numbers of one vector
GROUP = 4  #: rows that share the loads of a vector

_code = cast("Any", cgutils)
FLAGS = ("nnan", "ninf", "nsz", "contract")
_VECTOR, _PLACE = ir.VectorType(ir.FloatType(), LANES), ir.IntType(32)

Rows = Callable[[Array, Array, Array, int, Array], None]


class Vectors:
    """Instructions on vectors of `LANES` single numbers, for the steps of `over_rows`."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder

    @staticmethod
    def number(value: float) -> Any:
        """The same number in all lanes."""
        return ir.Constant(_VECTOR, [ir.Constant(ir.FloatType(), float(value))] * LANES)

    def everywhere(self, x: Any) -> Any:
        """A single number, in all lanes."""
        nothing, first = ir.Constant(_VECTOR, ir.Undefined), ir.Constant(_PLACE, 0)
        lanes = ir.Constant(ir.VectorType(_PLACE, LANES), [first] * LANES)
        x = self.builder.insert_element(nothing, x, first)
        return self.builder.shuffle_vector(x, nothing, lanes)

    def lesser(self, x: Any, y: Any) -> Any:
        """The lesser number in every lane; neither is NaN."""
        kind = ir.FunctionType(_VECTOR, (_VECTOR, _VECTOR))
        name = f"llvm.minnum.v{LANES}f32"
        function = _code.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, (x, y), fastmath=FLAGS[:3])

    def plus(self, x: Any, y: Any) -> Any:
        """The sum in every lane."""
        return self.builder.fadd(x, y, flags=FLAGS)

    def minus(self, x: Any, y: Any) -> Any:
        """The difference in every lane."""
        return self.builder.fsub(x, y, flags=FLAGS)

    def times(self, x: Any, y: Any) -> Any:
        """The product in every lane."""
        return self.builder.fmul(x, y, flags=FLAGS)


def over_rows(
    step: Callable[[Vectors, Any, list[Any], Any], Any], first: float, parts: int,
    in_python: Rows,
) -> Rows:  # fmt: skip
    """A function ``(table, at, number, count, out)`` that kernels call.

    It begins with ``first`` in every entry of ``out``, and for each ``a < count`` puts ``step(out,
    table[at_a], number_a)`` there.

    Parameters
    ----------
    step : callable
        Makes the instructions for some lanes.
    parts : int
        Of a row of the table, each as long as ``out``, whole vectors.
    in_python : callable
        The same where kernels are interpreted.
    """
    if INTERPRETED:
        return in_python

    def describe(context: Any, table: Any, at: Any, number: Any, count: Any, out: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            rows, places, numbers, found = (
                context.make_array(signature.args[k])(context, builder, arguments[k])
                for k in (0, 1, 2, 4)
            )
            vectors, count = Vectors(builder), arguments[3]
            size, pointer = count.type, _VECTOR.as_pointer()
            width = builder.extract_value(rows.shape, 1)
            length = builder.extract_value(found.shape, 0)
            zero, lanes = ir.Constant(size, 0), ir.Constant(size, LANES)
            with _code.for_range_slice(builder, zero, length, lanes, intp=size) as (p, _):
                held = _code.alloca_once(builder, _VECTOR)
                builder.store(vectors.number(first), held)
                with _code.for_range(builder, count, intp=size) as loop:
                    place = builder.load(builder.gep(places.data, [loop.index]))
                    if place.type != size:
                        place = builder.sext(place, size)
                    where = builder.add(builder.mul(place, width), p)
                    row = []
                    for _ in range(parts):
                        begin = builder.bitcast(builder.gep(rows.data, [where]), pointer)
                        row.append(builder.load(begin, align=4))
                        where = builder.add(where, length)
                    x = vectors.everywhere(builder.load(builder.gep(numbers.data, [loop.index])))
                    builder.store(step(vectors, builder.load(held), row, x), held)
                end = builder.bitcast(builder.gep(found.data, [p]), pointer)
                builder.store(builder.load(held), end, align=4)
            return context.get_dummy_value()

        return types.none(table, at, number, count, out), generate

    return cast("Rows", cast("Any", intrinsic)(describe))


def _least_sums(context: Any, T: Any, V: Any, G: Any) -> Any:
    """Numba's description of `least_sums`."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        costs, shifts, found = (
            context.make_array(kind)(context, builder, x)
            for kind, x in zip(signature.args, arguments, strict=True)
        )
        vectors, pointer = Vectors(builder), _VECTOR.as_pointer()
        count, width = (builder.extract_value(costs.shape, k) for k in (0, 1))
        terms, length = (builder.extract_value(shifts.shape, k) for k in (0, 1))
        size = count.type
        zero, one, lanes, group = (ir.Constant(size, x) for x in (0, 1, LANES, GROUP))
        last = builder.sub(count, one)
        with _code.for_range_slice(builder, zero, count, group, intp=size) as (j, _):
            rows = []
            for k in range(GROUP):
                row = builder.add(j, ir.Constant(size, k))
                inside = builder.icmp_signed("<", row, last)
                rows.append(builder.select(inside, row, last))
            with _code.for_range_slice(builder, zero, length, lanes, intp=size) as (p, _):
                held = [_code.alloca_once(builder, _VECTOR) for _ in rows]
                for one_held in held:
                    builder.store(vectors.number(HUGE), one_held)
                with _code.for_range(builder, terms, intp=size) as loop:
                    where = builder.add(builder.mul(loop.index, length), p)
                    shift = builder.bitcast(builder.gep(shifts.data, [where]), pointer)
                    shift = builder.load(shift, align=4)
                    for row, one_held in zip(rows, held, strict=True):
                        where = builder.add(builder.mul(row, width), loop.index)
                        x = vectors.everywhere(builder.load(builder.gep(costs.data, [where])))
                        least = vectors.lesser(builder.load(one_held), vectors.plus(x, shift))
                        builder.store(least, one_held)
                for row, one_held in zip(rows, held, strict=True):
                    where = builder.add(builder.mul(row, length), p)
                    end = builder.bitcast(builder.gep(found.data, [where]), pointer)
                    builder.store(builder.load(one_held), end, align=4)
        return context.get_dummy_value()

    return types.none(T, V, G), generate


def _least_sums_in_python(T: Array, V: Array, G: Array) -> None:
    for row, out in zip(T, G, strict=False):
        out[:] = (row[: len(V), None] + V).min(axis=0)


#: ``G_jp = min_i T_ji + V_ip`` over the rows of ``V``, which are whole vectors, as those of ``G``.
least_sums: Callable[[Array, Array, Array], None] = (
    _least_sums_in_python if INTERPRETED else cast("Any", intrinsic(_least_sums))
)
