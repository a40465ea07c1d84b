"""Relaxed transport to many histograms in compressed rows: every unit of mass takes its cheapest
way, whatever the other units do; see `search.relaxed` for what that proves.

Single precision: the caller takes off a margin for it.

What is summed over the bins of a histogram are short rows of a table, one number for each query. As
loops, LLVM would look again and again whether arrays overlap, which takes longer than the sums.
`over_rows` makes a function of them that keeps a vector in a register until it is finished.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sinkdist.kernels.compiled import INTERPRETED, Array, compiled
from sinkdist.kernels.minimum import lesser

__all__ = ["HUGE", "LANES", "least_costs", "over_rows", "relaxed_alone", "relaxed_transport"]

SINGLE: Any = np.float32
NOTHING: Any = np.float32(0.0)
HUGE: Any = np.float32(1e30)  #: of no way at all
LANES = 16  #: queries that are served together, as single numbers of one vector
COLUMNS = 2048  #: whose costs are looked at together

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


def _pay(vectors: Vectors, held: Any, row: list[Any], mass: Any) -> Any:
    """``held - min(free - mass, 0) pays``."""
    pays, free = row
    beyond = vectors.lesser(vectors.minus(free, mass), vectors.number(0.0))
    return vectors.minus(held, vectors.times(beyond, pays))


def _pay_in_python(table: Array, at: Array, mass: Array, count: int, out: Array) -> None:
    pays, free = table[at[:count], : out.size], table[at[:count], out.size :]
    out[:] = (np.maximum(mass[:count, None] - free, NOTHING) * pays).sum(axis=0)


_paid = over_rows(_pay, 0.0, 2, _pay_in_python)


@compiled
def least_costs(M: Array, rows: Array, own: Array, out: Array) -> None:
    """``out_j = min_i M_ij`` over some rows, without the entries in columns ``own_i``; 0 where
    nothing is left.

    Parameters
    ----------
    rows : ndarray of int
        The rows of ``M``.
    own : ndarray of int
        For each of them the column that it leaves out; -1 for none.
    out : ndarray of float32
    """
    for first in range(0, out.size, COLUMNS):
        part = out[first : first + COLUMNS]
        for j in range(part.size):
            part[j] = HUGE
        for i in range(rows.size):
            line, at = M[rows[i], first : first + COLUMNS], own[i] - first
            inside = at >= 0 and at < part.size
            before = part[at] if inside else NOTHING
            for j in range(part.size):
                part[j] = lesser(part[j], SINGLE(line[j]))
            if inside:
                part[at] = before
        for j in range(part.size):
            part[j] = NOTHING if part[j] >= HUGE else part[j]


@compiled
def relaxed_alone(
    start: Array, bins: Array, mass: Array, pays: Array, free: Array, margin: float, out: Array
) -> None:
    """``out_k = max(sum_j max(c_kj - free_j, 0) pays_j - margin, 0)`` for all rows ``c_k``.

    Parameters
    ----------
    start, bins, mass : ndarray
        Compressed rows, masses of float32.
    pays, free : ndarray of float32, shape (d,)
        For every bin: what a unit of mass pays, and how much need not pay.
    out : ndarray of float64, shape (n,)
    """
    for k in range(out.size):
        total = NOTHING
        some, masses = bins[start[k] : start[k + 1]], mass[start[k] : start[k + 1]]
        for e in range(some.size):
            j = some[e]
            total -= lesser(free[j] - masses[e], NOTHING) * pays[j]
        out[k] = max(total - margin, 0.0)


@compiled
def relaxed_transport(
    start: Array, bins: Array, mass: Array, table: Array, margins: Array, sums: Array, out: Array
) -> None:
    """The same for some queries.

    Parameters
    ----------
    table : ndarray of float32, shape (d, 2 LANES)
        For every bin: what each query pays, and then how much need not pay.
    margins : ndarray, shape (queries,)
        What is taken off.
    sums : ndarray of float32, shape (LANES,)
        Scratch.
    out : ndarray of float64, shape (queries, n)
    """
    for k in range(out.shape[1]):
        a, b = start[k], start[k + 1]
        _paid(table, bins[a:b], mass[a:b], b - a, sums)
        for q in range(out.shape[0]):
            out[q, k] = max(sums[q] - margins[q], 0.0)
